//! `docs/keys.md` says what the table of actions says. `UPDATE_DOCS=1 cargo test --test keys_doc` writes it anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

use fast_rlm::tui::keymap::markdown;

#[test]
fn the_documented_keys_are_those_of_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/keys.md");
    let wanted = markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == wanted,
        "{path} is out of date: run UPDATE_DOCS=1 cargo test --test keys_doc"
    );
}
