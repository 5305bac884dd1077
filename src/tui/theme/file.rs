//! Theme files: a palette of named colours, and a style for each role.
//!
//! ```toml
//! base = "dark"                       # roles that are not named look as there
//! [palette]
//! ink = "#d8dee9"
//! night = "#10141c"
//! [styles]
//! text = { fg = "ink", bg = "night" } # the ground of all others; bg = "none" leaves the terminal's own
//! title = { fg = "#88c0d0", bold = true }
//! ```

use super::{Depth, ROLES, Rgb, Role, Theme, nearest};
use ratatui::style::{Color, Modifier, Style};
use std::collections::BTreeMap;
use std::path::Path;

/// Why a theme was refused.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// The file could not be read.
    #[error("theme {path}: {source}; --theme takes dark, light, auto, or a theme file")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is no TOML, or its shape is wrong.
    #[error("theme {0}: {1}")]
    Syntax(String, String),
    /// There is no such role.
    #[error("theme {0}: there is no style \"{1}\"")]
    Role(String, String),
    /// A colour that cannot be read.
    #[error("theme {0}: \"{1}\" is no colour: write #rrggbb, a name of [palette], or none")]
    Colour(String, String),
}

const DARK: &str = include_str!("../../../assets/themes/dark.toml");
const LIGHT: &str = include_str!("../../../assets/themes/light.toml");

/// A style as written.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a style, like { fg = \"#88c0d0\", bold = true }")]
struct Written {
    fg: Option<String>,
    bg: Option<String>,
    #[serde(default)]
    bold: bool,
    #[serde(default)]
    dim: bool,
    #[serde(default)]
    italic: bool,
    #[serde(default)]
    underline: bool,
    #[serde(default)]
    reverse: bool,
}

#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    base: Option<String>,
    #[serde(default)]
    palette: BTreeMap<String, String>,
    #[serde(default)]
    styles: BTreeMap<String, Written>,
}

/// A style with its colours resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Resolved {
    fg: Option<Rgb>,
    bg: Option<Rgb>,
    modifier: Modifier,
}

impl Theme {
    /// The theme called `dark` or `light`, or that of a theme file.
    ///
    /// # Errors
    /// A file that cannot be read, or that is not understood.
    pub fn load(name: &str, depth: Depth) -> Result<Self, ThemeError> {
        match name {
            "dark" => Ok(Self::built_in(true, depth)),
            "light" => Ok(Self::built_in(false, depth)),
            path => {
                let text = std::fs::read_to_string(path).map_err(|source| ThemeError::Read {
                    path: path.to_owned(),
                    source,
                })?;
                let stem = Path::new(path)
                    .file_stem()
                    .map_or(path.into(), |stem| stem.to_string_lossy());
                Self::parse(&stem, &text, depth)
            }
        }
    }

    /// The theme of a file's text.
    ///
    /// # Errors
    /// Anything that is not understood.
    pub fn parse(name: &str, text: &str, depth: Depth) -> Result<Self, ThemeError> {
        let resolved = resolve(name, text)?;
        Ok(Self {
            name: name.to_owned(),
            depth,
            styles: for_depth(&resolved, depth),
        })
    }
}

/// The built-in themes are checked by tests: they always parse.
pub(super) fn built_in(dark: bool, depth: Depth) -> Theme {
    let (name, text) = if dark { ("dark", DARK) } else { ("light", LIGHT) };
    Theme::parse(name, text, depth).unwrap_or_else(|_| Theme {
        name: name.to_owned(),
        depth,
        styles: Vec::new(),
    })
}

fn resolve(name: &str, text: &str) -> Result<Vec<Resolved>, ThemeError> {
    let syntax = |message: String| ThemeError::Syntax(name.to_owned(), message);
    let file: File = toml::from_str(text).map_err(|error| syntax(crate::text::toml_fault(text, &error)))?;
    let mut styles = match file.base.as_deref() {
        Some("dark") => resolve("dark", DARK)?,
        Some("light") => resolve("light", LIGHT)?,
        Some(other) => return Err(syntax(format!("base = \"{other}\": there are dark and light"))),
        None => vec![Resolved::default(); ROLES.len()],
    };
    for (role, written) in &file.styles {
        let place = ROLES.iter().position(|(_, known)| known == role);
        let style = place
            .and_then(|place| styles.get_mut(place))
            .ok_or_else(|| ThemeError::Role(name.to_owned(), role.clone()))?;
        *style = resolve_style(name, written, &file.palette)?;
    }
    Ok(styles)
}

fn resolve_style(name: &str, written: &Written, palette: &BTreeMap<String, String>) -> Result<Resolved, ThemeError> {
    let colour = |text: &Option<String>| match text.as_deref() {
        None | Some("none") => Ok(None),
        Some(text) => hex(palette.get(text).map_or(text, String::as_str))
            .map(Some)
            .ok_or_else(|| ThemeError::Colour(name.to_owned(), text.to_owned())),
    };
    let mut modifier = Modifier::empty();
    modifier.set(Modifier::BOLD, written.bold);
    modifier.set(Modifier::DIM, written.dim);
    modifier.set(Modifier::ITALIC, written.italic);
    modifier.set(Modifier::UNDERLINED, written.underline);
    modifier.set(Modifier::REVERSED, written.reverse);
    Ok(Resolved {
        fg: colour(&written.fg)?,
        bg: colour(&written.bg)?,
        modifier,
    })
}

/// `#rrggbb`.
fn hex(text: &str) -> Option<Rgb> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    let [_, r, g, b] = value.to_be_bytes();
    Some((r, g, b))
}

fn for_depth(styles: &[Resolved], depth: Depth) -> Vec<Style> {
    let ground = styles.first().copied().unwrap_or_default();
    let style = |(place, style): (usize, &Resolved)| match ROLES.get(place) {
        Some((role, _)) if depth == Depth::Mono => Style::new().add_modifier(mono(*role, style.modifier)),
        _ => {
            let on = style.bg.or(ground.bg);
            let shown_ground = on.map(|bg| shown(bg, depth));
            let fg = style.fg.or(ground.fg).map(|fg| nearest(fg, depth, shown_ground));
            let bg = on.map(|bg| nearest(bg, depth, None));
            Style {
                fg,
                bg,
                ..Style::new().add_modifier(style.modifier)
            }
        }
    };
    styles.iter().enumerate().map(style).collect()
}

/// The colour a ground really has at this depth, for what is to be read on it.
fn shown(rgb: Rgb, depth: Depth) -> Rgb {
    match nearest(rgb, depth, None) {
        Color::Indexed(index) => super::indexed_rgb(index),
        _ => rgb,
    }
}

/// Without colours, what colour alone would tell needs an attribute.
fn mono(role: Role, own: Modifier) -> Modifier {
    own | match role {
        Role::Selection => Modifier::REVERSED,
        Role::Match => Modifier::UNDERLINED,
        Role::MatchCurrent => Modifier::UNDERLINED | Modifier::REVERSED,
        Role::Focus | Role::Title | Role::Key | Role::Failure => Modifier::BOLD,
        _ => Modifier::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::contrast;

    /// Roles that draw lines and bars, not text.
    const GRAPHIC: &[Role] = &[Role::Border, Role::Track, Role::Thumb];

    fn pairs(text: &str) -> Vec<(Role, Rgb, Rgb)> {
        let styles = resolve("test", text).unwrap();
        let ground = styles[0];
        let pair = |(place, style): (usize, &Resolved)| {
            (
                ROLES[place].0,
                style.fg.or(ground.fg).unwrap(),
                style.bg.or(ground.bg).unwrap(),
            )
        };
        styles.iter().enumerate().map(pair).collect()
    }

    #[test]
    fn built_in_themes_name_every_role() {
        for text in [DARK, LIGHT] {
            let file: File = toml::from_str(text).unwrap();
            for (_, name) in ROLES {
                assert!(file.styles.contains_key(*name), "{name}");
            }
        }
    }

    #[test]
    fn text_can_be_read_in_every_depth() {
        for text in [DARK, LIGHT] {
            for (role, fg, bg) in pairs(text) {
                let bar = GRAPHIC.contains(&role) || role.name().starts_with("execution");
                for depth in [Depth::True, Depth::Ansi256, Depth::Ansi16] {
                    let bg = shown(bg, depth);
                    let fg = match nearest(fg, depth, Some(bg)) {
                        Color::Indexed(index) => crate::tui::theme::indexed_rgb(index),
                        _ => fg,
                    };
                    let least = if bar { 1.5 } else { 4.5 };
                    let found = contrast(fg, bg);
                    assert!(
                        found >= least,
                        "{} at {depth:?}: {fg:?} on {bg:?} is {found:.2}",
                        role.name()
                    );
                }
            }
        }
    }

    #[test]
    fn without_colours_selection_matches_and_failures_differ_by_attributes() {
        let theme = Theme::built_in(true, Depth::Mono);
        let plain = theme.style(Role::Text);
        for role in [
            Role::Selection,
            Role::Match,
            Role::MatchCurrent,
            Role::Failure,
            Role::Focus,
        ] {
            let style = theme.style(role);
            assert_eq!((style.fg, style.bg), (None, None));
            assert_ne!(style, plain, "{}", role.name());
        }
        assert_ne!(theme.style(Role::Match), theme.style(Role::MatchCurrent));
    }

    #[test]
    fn a_theme_file_changes_what_it_names() {
        let text = "base = \"light\"\n[palette]\nred = \"#aa0000\"\n[styles]\nfailure = { fg = \"red\" }\n";
        let theme = Theme::parse("mine", text, Depth::True).unwrap();
        assert_eq!(theme.style(Role::Failure).fg, Some(Color::Rgb(0xaa, 0, 0)));
        assert_eq!(
            theme.style(Role::Title),
            Theme::built_in(false, Depth::True).style(Role::Title)
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error_that_names_it() {
        for (text, part) in [
            ("[styles]\nfoo = { fg = \"#ffffff\" }", "foo"),
            ("[styles]\ndim = { fg = \"bluish\" }", "bluish"),
            ("[styles]\ndim = { blink = true }", "blink"),
            ("base = \"solarized\"", "solarized"),
            ("][", "theme mine"),
        ] {
            let error = Theme::parse("mine", text, Depth::True).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = Theme::load("/nonexistent.toml", Depth::True).unwrap_err().to_string();
        assert!(
            error.contains("/nonexistent.toml") && error.contains("--theme"),
            "{error}"
        );
    }
}
