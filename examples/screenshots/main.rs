//! `cargo run --example screenshots [DIR]`: each screen of the demo session, dark and light, and a run in every theme, as
//! SVG (into `screenshots/` unless told otherwise).
//!
//! The frames are the program's own: keys go into its state, effects are answered from the session's files
//! ([`stage`]), and what it draws is turned into a picture.

mod scenes;
mod stage;

use fast_rlm::tui::svg::{self, Look};
use fast_rlm::tui::theme::{Depth, Theme};
use scenes::{SCENES, Scene, THEMED};
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
            let picture = picture(scene, named(ground)?, &look)?;
            std::fs::write(dir.join(format!("{}-{ground}.svg", scene.name)), picture)?;
        }
    }
    for name in Theme::names() {
        let theme = named(name)?;
        let picture = picture(&THEMED, theme.clone(), &Look::of(&theme))?;
        std::fs::write(dir.join(format!("theme-{name}.svg")), picture)?;
    }
    Ok(())
}

fn named(theme: &str) -> Result<Theme, Error> {
    Theme::named(theme, Depth::True).ok_or_else(|| format!("there is no theme {theme}").into())
}

fn picture(scene: &Scene, theme: Theme, look: &Look) -> Result<String, Error> {
    let mut stage = Stage::open(scene, theme)?;
    scene.keys.iter().try_for_each(|key| stage.press(key))?;
    Ok(svg::render(&stage.frame()?, scene.title, look))
}
