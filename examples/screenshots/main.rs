//! `cargo run --example screenshots [DIR]`: each screen of the demo session, dark and light, as SVG (into
//! `screenshots/` unless told otherwise).
//!
//! The frames are the program's own: keys go into its state, effects are answered from the session's files
//! ([`stage`]), and what it draws is turned into a picture.

mod scenes;
mod stage;

use fast_rlm::tui::svg::{self, Look};
use scenes::SCENES;
use stage::Stage;
use std::path::PathBuf;

/// What can go wrong: a session that does not open, a file that cannot be written.
type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let dir = std::env::args_os().nth(1).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/screenshots")),
        PathBuf::from,
    );
    std::fs::create_dir_all(&dir)?;
    // A scene of several sessions works in a directory of its own.
    let dir = dir.canonicalize()?;
    for scene in SCENES {
        for (ground, look) in [("dark", Look::dark()), ("light", Look::light())] {
            let mut stage = Stage::open(scene, ground == "dark")?;
            scene.keys.iter().try_for_each(|key| stage.press(key))?;
            let picture = svg::render(&stage.frame()?, scene.title, &look);
            std::fs::write(dir.join(format!("{}-{ground}.svg", scene.name)), picture)?;
        }
    }
    Ok(())
}
