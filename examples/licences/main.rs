//! `cargo run --example licences [FILE]`: the licences of all dependencies in one file (`THIRD-PARTY-LICENSES` unless told
//! otherwise), for packages. Reads what cargo has already downloaded; opens no connection.

mod collect;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os()
        .nth(1)
        .map_or_else(|| "THIRD-PARTY-LICENSES".into(), PathBuf::from);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    std::fs::write(file, collect::notices(&root)?)?;
    Ok(())
}
