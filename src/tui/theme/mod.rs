//! How things look: styles by meaning, from a built-in or a user's theme file, in as many colours as there are.

mod built_in;
mod color;
mod file;
mod role;

pub use color::{Depth, Rgb, contrast, indexed_rgb, luminance, nearest};
pub use file::ThemeError;
pub use role::{ROLES, Role};

use ratatui::style::{Modifier, Style};

/// A theme, ready for a terminal's colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    name: String,
    depth: Depth,
    styles: Vec<Style>,
}

impl Theme {
    /// The built-in theme for dark grounds, or for light ones.
    pub fn built_in(dark: bool, depth: Depth) -> Self {
        built_in::named(if dark { "dark" } else { "light" }, depth)
    }

    /// The built-in theme of a name.
    pub fn named(name: &str, depth: Depth) -> Option<Self> {
        built_in::names()
            .any(|known| known == name)
            .then(|| built_in::named(name, depth))
    }

    /// Names of the built-in themes: dark ones, then light ones.
    pub fn names() -> impl Iterator<Item = &'static str> {
        built_in::names()
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// The style of a role, bold.
    pub fn bold(&self, role: Role) -> Style {
        self.style(role).add_modifier(Modifier::BOLD)
    }

    /// Its name: a built-in one, or that of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The colours it was made for.
    pub fn depth(&self) -> Depth {
        self.depth
    }
}
