//! Files that people write: keymaps, themes, options. They are understood or refused; saving an option keeps the rest.

use fast_rlm::source::config::{Scalar, parse_nodes, save_options};
use fast_rlm::tui::keymap::Keymap;
use fast_rlm::tui::theme::{Depth, Theme};
use serde_json::{Map, Value};
use std::path::Path;

pub(crate) fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = Keymap::parse(Path::new("fuzzed.toml"), &text);
    for depth in [Depth::True, Depth::Mono] {
        let _ = Theme::parse("fuzzed", &text, depth);
    }
    check_options(&text, "rlm_config.yaml");
    check_options(&text, "fast-rlm.toml");
}

fn check_options(text: &str, name: &str) {
    let path = super::scratch().join(name);
    std::fs::write(&path, text).unwrap();
    let options = [
        ("max_depth", Some(Scalar::Plain("7".into()))),
        ("primary_agent", Some(Scalar::Text("a: \"b\" # c".into()))),
        ("sub_agent", None),
    ];
    if save_options(Some(&path), &options).is_err() {
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            text,
            "a refusal changes nothing"
        );
        return;
    }
    let saved = std::fs::read_to_string(&path).unwrap();
    if let Some(mut before) = options_of(&path, text) {
        let mut after =
            options_of(&path, &saved).unwrap_or_else(|| panic!("no longer readable: {text:?} became {saved:?}"));
        assert_eq!(
            after.shift_remove("max_depth"),
            Some(7.into()),
            "{text:?} became {saved:?}"
        );
        assert_eq!(after.shift_remove("primary_agent"), Some("a: \"b\" # c".into()));
        assert_eq!(after.shift_remove("sub_agent"), None);
        for name in ["max_depth", "primary_agent", "sub_agent"] {
            before.shift_remove(name);
        }
        assert_eq!(after, before, "{text:?} became {saved:?}");
    }
}

/// The options of a text, if it is understood.
fn options_of(path: &Path, text: &str) -> Option<Map<String, Value>> {
    let nodes = parse_nodes(path, text).ok()?;
    Some(nodes.into_iter().map(|node| (node.name, node.value)).collect())
}
