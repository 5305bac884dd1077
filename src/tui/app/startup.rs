//! What is decided before the terminal is touched: theme, keymap, glyphs, movement.

use super::{TuiError, TuiOptions};
use crate::model::{Session, Time};
use crate::tui::action::{Abilities, Context};
use crate::tui::ctx::{ViewOptions, World};
use crate::tui::keymap::Keymap;
use crate::tui::motion;
use crate::tui::term::Terminal;
use crate::tui::theme::{Depth, Theme};
use std::path::PathBuf;
use std::time::Duration;

/// The program's state before anything was opened.
pub(super) fn world(options: &TuiOptions) -> Result<World, TuiError> {
    let var = |name: &str| std::env::var(name).ok();
    let depth = Depth::detect(var);
    let theme = match options.theme.as_deref() {
        None | Some("auto") => Theme::built_in(true, depth),
        Some(name) => Theme::load(&theme_file(name), depth)?,
    };
    Ok(World {
        session: Session::default(),
        theme,
        keymap: keymap(options)?,
        options: ViewOptions {
            ascii: options.view.ascii || !is_utf8(var),
            animation: motion::is_welcome(options.view.animation, var),
            ..options.view
        },
        can: Abilities::default(),
        base: Context::Everywhere,
        sessions: None,
        running: std::sync::Arc::default(),
        lab: crate::tui::live::LabDesk::default(),
        size: Terminal::size(),
        now: Duration::ZERO,
        wall: wall_clock(),
    })
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

/// The keymap of the file that was named, or of the user's own file where there is one.
fn keymap(options: &TuiOptions) -> Result<Keymap, TuiError> {
    let named = options
        .keymap
        .clone()
        .or_else(|| std::env::var_os("FAST_RLM_KEYMAP").map(PathBuf::from));
    let (path, must_exist) = match named {
        Some(path) => (path, true),
        None => match own_file() {
            Some(path) => (path, false),
            None => return Ok(Keymap::default()),
        },
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Keymap::parse(&text).map_err(|error| TuiError::Keymap { path, error }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(Keymap::default()),
        Err(error) => Err(TuiError::Read { path, error }),
    }
}

fn own_file() -> Option<PathBuf> {
    Some(config_dir()?.join("keymap.toml"))
}

/// A theme of the user's own by its name, where there is one; else what was given: a built-in name, or a path.
fn theme_file(name: &str) -> String {
    let is_name = !name.contains(['/', '\\', '.']);
    let own = config_dir().map(|dir| dir.join("themes").join(format!("{name}.toml")));
    match own.filter(|own| is_name && own.is_file()) {
        Some(own) => own.to_string_lossy().into_owned(),
        None => name.to_owned(),
    }
}

fn config_dir() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let dirs = etcetera::choose_base_strategy().ok()?;
    Some(dirs.config_dir().join("fast-rlm"))
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
