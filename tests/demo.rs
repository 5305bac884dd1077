//! The demo session is what its generator writes, byte for byte.

#[path = "../examples/generate_demo/demo/mod.rs"]
mod demo;

use std::path::Path;

fn committed() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo"))
}

#[test]
fn regenerating_the_demo_changes_nothing() {
    let files = demo::files().unwrap();
    for (name, text) in &files {
        let found = std::fs::read_to_string(committed().join(name)).unwrap();
        assert!(
            found == *text,
            "{name} differs: run `cargo run --example generate_demo`"
        );
    }
    let logs = std::fs::read_dir(committed().join("logs")).unwrap();
    assert_eq!(
        logs.count(),
        files.len() - 1,
        "assets/demo/logs holds a file that is not generated"
    );
}
