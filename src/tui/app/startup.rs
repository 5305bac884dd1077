//! What is decided before the terminal is touched: theme, keymap, glyphs, movement.

use super::{TuiError, TuiOptions};
use crate::model::{Session, Time};
use crate::source::config::{is_name, read_nodes, user_dir};
use crate::tui::action::{Abilities, Context, Here};
use crate::tui::ctx::{ViewOptions, World};
use crate::tui::keymap::{Keymap, KeymapBuilder, KeymapError, PRESETS};
use crate::tui::motion;
use crate::tui::term::Terminal;
use crate::tui::theme::{Depth, Theme, ThemeError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The program's state before anything was opened.
pub(super) fn world(options: &TuiOptions) -> Result<World, TuiError> {
    let var = |name: &str| std::env::var(name).ok();
    Ok(World {
        session: Session::default(),
        theme: theme(options)?,
        keymap: keymap(options)?,
        options: ViewOptions {
            ascii: options.view.ascii || !is_utf8(var),
            animation: motion::is_welcome(options.view.animation, var),
            ..options.view
        },
        can: Abilities::default(),
        base: Context::Everywhere,
        here: Here::default(),
        exports: std::env::current_dir().unwrap_or_else(|_| ".".into()),
        sort: Default::default(),
        sessions: None,
        running: std::sync::Arc::default(),
        lab: crate::tui::live::LabDesk::default(),
        size: Terminal::size(),
        now: Duration::ZERO,
        wall: wall_clock(),
    })
}

fn theme(options: &TuiOptions) -> Result<Theme, ThemeError> {
    let depth = Depth::detect(|name| std::env::var(name).ok());
    match options.theme.as_deref() {
        None | Some("auto") => Ok(Theme::built_in(true, depth)),
        Some(name) => Theme::load(&theme_file(name), depth),
    }
}

/// Whether the theme can be used.
///
/// # Errors
/// Why not.
pub fn check_theme(options: &TuiOptions) -> Result<(), ThemeError> {
    theme(options).map(drop)
}

/// Whether the keys can be used.
///
/// # Errors
/// Why not.
pub fn check_keys(options: &TuiOptions) -> Result<(), KeymapError> {
    keymap(options).map(drop)
}

/// Unix milliseconds.
pub(super) fn wall_clock() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Whether the locale's encoding is UTF-8. A locale that is not set at all says nothing against it.
fn is_utf8(var: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name| var(name).filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// The preset or file that was chosen, else the user's own file where there is one, with the configuration's keys over it.
fn keymap(options: &TuiOptions) -> Result<Keymap, KeymapError> {
    let mut builder = KeymapBuilder::default();
    let chosen = options.keymap.as_deref();
    let is_preset = chosen.is_some_and(|name| PRESETS.contains(&name) || name == "default");
    let own = user_dir()
        .map(|dir| dir.join("keymap.toml"))
        .filter(|own| own.is_file());
    let file = match chosen {
        Some(preset) if is_preset => {
            builder.preset(preset)?;
            own
        }
        Some(name) if !Path::new(name).exists() && is_name(name) => return Err(KeymapError::Absent(name.to_owned())),
        Some(path) => Some(PathBuf::from(path)),
        None => own,
    };
    if let Some(path) = file {
        builder.file(&path, &read_nodes(&path)?, is_preset)?;
    }
    for (path, node) in &options.keys {
        builder.tables(path, &node.children)?;
    }
    builder.build()
}

/// A theme of the user's own by its name, where there is one; else what was given: a built-in name, or a path.
fn theme_file(name: &str) -> String {
    let own = user_dir().map(|dir| dir.join("themes").join(format!("{name}.toml")));
    match own.filter(|own| is_name(name) && own.is_file()) {
        Some(own) => own.to_string_lossy().into_owned(),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_locale_that_is_set_decides() {
        let utf8 = |vars: &[(&str, &str)]| {
            is_utf8(|name| {
                vars.iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(utf8(&[("LANG", "de_DE.UTF-8")]));
        assert!(utf8(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!utf8(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]));
        assert!(!utf8(&[("LANG", "ja_JP.eucJP")]));
        assert!(utf8(&[]));
    }
}
