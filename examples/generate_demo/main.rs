//! `cargo run --example generate_demo [DIR]`: writes the demo session (`assets/demo` unless told otherwise).
//!
//! The story, its code and its outputs are in `story/`; `demo/` turns them into the formats on disk. The result is
//! the same byte for byte every time, which `tests/demo.rs` checks.

mod demo;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args_os().nth(1).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo")),
        PathBuf::from,
    );
    for (name, text) in demo::files()? {
        let path = dir.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}
