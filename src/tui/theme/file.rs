//! Theme files: a palette of named colours, and a style for each role.
//!
//! ```toml
//! base = "dark"                       # roles and colours that are not named are as there
//! [palette]
//! ink = "#d8dee9"
//! night = "#10141c"
//! [styles]
//! text = { fg = "ink", bg = "night" } # the ground of all others; bg = "none" leaves the terminal's own
//! title = { fg = "#88c0d0", bold = true }
//! ```

use super::{Depth, ROLES, Rgb, Role, Theme, built_in, nearest};
use crate::source::config::{is_name, nearest as nearest_name, read_small};
use ratatui::style::{Color, Modifier, Style};
use std::collections::BTreeMap;
use std::path::Path;

/// Why a theme was refused.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// The file could not be read.
    #[error("theme {path}: {source}; --theme takes auto, {}, or a theme file", names())]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is no theme of that name.
    #[error(
        "there is no theme {name:?}{advice}; there are auto, {}, and any theme file",
        names()
    )]
    Absent {
        /// The name.
        name: String,
        /// What was probably meant.
        advice: String,
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

/// Deepest chain of themes that each start from another one.
const DEEPEST_BASE: u8 = 2;

fn names() -> String {
    built_in::names().collect::<Vec<_>>().join(", ")
}

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
    /// The built-in theme of a name, or that of a theme file.
    ///
    /// # Errors
    /// A file that cannot be read, or that is not understood.
    pub fn load(name: &str, depth: Depth) -> Result<Self, ThemeError> {
        if let Some(theme) = Self::named(name, depth) {
            return Ok(theme);
        }
        if is_name(name) && !Path::new(name).exists() {
            let meant = nearest_name(name, built_in::names());
            return Err(ThemeError::Absent {
                name: name.to_owned(),
                advice: meant.map_or_else(String::new, |meant| format!(", did you mean {meant}")),
            });
        }
        let text = read_small(Path::new(name)).map_err(|source| ThemeError::Read {
            path: name.to_owned(),
            source,
        })?;
        let stem = Path::new(name).file_stem();
        let stem = stem.map_or(name.into(), |stem| stem.to_string_lossy());
        Self::parse(&stem, &text, depth)
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

fn resolve(name: &str, text: &str) -> Result<Vec<Resolved>, ThemeError> {
    let file = whole(name, text, 0)?;
    let mut styles = vec![Resolved::default(); ROLES.len()];
    for (role, written) in &file.styles {
        let place = ROLES.iter().position(|(_, known)| known == role);
        let style = place
            .and_then(|place| styles.get_mut(place))
            .ok_or_else(|| ThemeError::Role(name.to_owned(), role.clone()))?;
        *style = resolve_style(name, written, &file.palette)?;
    }
    Ok(styles)
}

/// The file with what it starts from: its own colours and styles over those of its base.
fn whole(name: &str, text: &str, depth: u8) -> Result<File, ThemeError> {
    let syntax = |message: String| ThemeError::Syntax(name.to_owned(), message);
    let file: File = toml::from_str(text).map_err(|error| syntax(crate::text::toml_fault(text, &error)))?;
    let Some(base) = file.base.as_deref() else {
        return Ok(file);
    };
    let text = built_in::text(base).filter(|_| depth < DEEPEST_BASE);
    let text = text.ok_or_else(|| syntax(format!("base = \"{base}\": there are {}", names())))?;
    let mut whole = whole(base, text, depth + 1)?;
    whole.palette.extend(file.palette);
    whole.styles.extend(file.styles);
    Ok(whole)
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
            let least = ROLES.get(place).map_or(4.5, |(role, _)| role.least_contrast());
            let shown_ground = on.map(|bg| (shown(bg, depth), least));
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

    #[test]
    fn built_in_themes_name_every_role_and_colour() {
        let dark: File = toml::from_str(built_in::text("dark").unwrap()).unwrap();
        for (_, name) in ROLES {
            assert!(dark.styles.contains_key(*name), "{name}");
        }
        for (name, text) in built_in::THEMES {
            let file: File = toml::from_str(text).unwrap();
            assert!(file.palette.keys().eq(dark.palette.keys()), "{name}");
        }
    }

    #[test]
    fn there_are_dark_themes_and_light_ones() {
        let light = |name: &&str| {
            let ground = resolve(name, built_in::text(name).unwrap()).unwrap()[0].bg.unwrap();
            crate::tui::theme::luminance(ground) > 0.5
        };
        let themes: Vec<_> = built_in::names().collect();
        let (light, dark): (Vec<_>, Vec<_>) = themes.iter().partition(|name| light(name));
        assert_eq!((dark.len(), light), (5, vec![&"light", &"mist", &"paper"]));
    }

    fn rgb(colour: Option<Color>) -> Rgb {
        match colour.unwrap() {
            Color::Rgb(r, g, b) => (r, g, b),
            Color::Indexed(index) => crate::tui::theme::indexed_rgb(index),
            other => panic!("{other:?}"),
        }
    }

    /// Text 4.5, lines and bars 3, in every theme and depth of colour; also on the ground of the selected row, where a
    /// list without the focus leaves the colours of its text.
    #[test]
    fn everything_can_be_read_in_every_theme() {
        for name in built_in::names() {
            for depth in [Depth::True, Depth::Ansi256, Depth::Ansi16] {
                let theme = Theme::named(name, depth).unwrap();
                for (role, role_name) in ROLES {
                    let style = theme.style(*role);
                    let found = contrast(rgb(style.fg), rgb(style.bg));
                    let least = role.least_contrast();
                    assert!(found >= least, "{role_name} of {name} at {depth:?}: {found:.2}");
                    let beside = matches!(role, Role::Border | Role::Track | Role::Match | Role::MatchCurrent);
                    if depth == Depth::True && !beside {
                        let selected = contrast(rgb(style.fg), rgb(theme.style(Role::Selection).bg));
                        assert!(selected >= least, "{role_name} of {name}, selected: {selected:.2}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_selected_row_differs_from_the_ground_in_every_theme() {
        for name in built_in::names() {
            for depth in [Depth::True, Depth::Ansi256] {
                let theme = Theme::named(name, depth).unwrap();
                assert_ne!(
                    theme.style(Role::Selection).bg,
                    theme.style(Role::Text).bg,
                    "{name} at {depth:?}"
                );
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
        // A colour of the base's palette changes all that is painted with it.
        let theme = Theme::parse("mine", "base = \"mist\"\n[palette]\nsky = \"#004488\"\n", Depth::True).unwrap();
        assert_eq!(theme.style(Role::CodeKey).fg, Some(Color::Rgb(0, 0x44, 0x88)));
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
        let error = Theme::load("papre", Depth::True).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no theme \"papre\", did you mean paper; there are auto, dark, dusk, ember, moss, contrast, light, mist, \
             paper, and any theme file"
        );
        let error = Theme::load("/nonexistent.toml", Depth::True).unwrap_err().to_string();
        assert!(
            error.contains("/nonexistent.toml") && error.contains("--theme"),
            "{error}"
        );
    }
}
