//! The themes that ship.

use super::{Depth, Theme};

/// Names and files: dark ones, then light ones.
pub(super) const THEMES: [(&str, &str); 8] = [
    ("dark", include_str!("../../../assets/themes/dark.toml")),
    ("dusk", include_str!("../../../assets/themes/dusk.toml")),
    ("ember", include_str!("../../../assets/themes/ember.toml")),
    ("moss", include_str!("../../../assets/themes/moss.toml")),
    ("contrast", include_str!("../../../assets/themes/contrast.toml")),
    ("light", include_str!("../../../assets/themes/light.toml")),
    ("mist", include_str!("../../../assets/themes/mist.toml")),
    ("paper", include_str!("../../../assets/themes/paper.toml")),
];

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    THEMES.iter().map(|(name, _)| *name)
}

/// The text of a theme.
pub(super) fn text(name: &str) -> Option<&'static str> {
    let theme = THEMES.iter().find(|(known, _)| *known == name);
    theme.map(|(_, text)| *text)
}

/// A theme that ships: tests see to it that it parses.
pub(super) fn named(name: &str, depth: Depth) -> Theme {
    let parsed = Theme::parse(name, text(name).unwrap_or_default(), depth);
    parsed.unwrap_or_else(|_| Theme {
        name: name.to_owned(),
        depth,
        styles: Vec::new(),
    })
}
