//! `cargo run --release --example record_demo [DIR]`: records the demo session (into `assets/demo` unless told
//! otherwise). It takes about two minutes, because the scripted model takes its time as a real one would.
//!
//! `story/` holds the queries and what the model replies; everything else in the session is what the engine and its
//! Python made of that. `tests/demo.rs` records it again and compares.

mod demo;

use std::path::PathBuf;

fn main() -> Result<(), demo::Error> {
    let dir = std::env::args_os().nth(1).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo")),
        PathBuf::from,
    );
    for (name, text) in demo::record(demo::Pace::AsWritten)? {
        let path = dir.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}
