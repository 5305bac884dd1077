//! What actions do on one screen: the words that help and footer have for them there.

use super::Action;
use crate::text::Glyphs;

/// What an action does on a screen.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The action.
    pub action: Action,
    /// One or two words for the footer; empty for those of the table.
    pub hint: &'static str,
    /// A line for help; empty for that of the table.
    pub doc: &'static str,
}

impl Use {
    /// It does what the table says.
    pub const fn plain(action: Action) -> Self {
        Self::new(action, "", "")
    }

    /// It does this here.
    pub const fn new(action: Action, hint: &'static str, doc: &'static str) -> Self {
        Self { action, hint, doc }
    }
}

/// A mark that a screen draws, and what it means.
pub type Legend = (fn(&Glyphs) -> &'static str, &'static str);

/// What works on a screen. The default says nothing of it: that of popups, whose own words they draw themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Here {
    /// The actions that the screen takes itself, in the order of help.
    pub uses: &'static [Use],
    /// The marks that want explaining.
    pub legend: &'static [Legend],
}

impl Here {
    fn find(&self, action: Action) -> Option<&Use> {
        self.uses.iter().find(|used| used.action == action)
    }

    /// The screen takes it.
    pub fn has(&self, action: Action) -> bool {
        self.find(action).is_some()
    }

    /// One or two words for the footer.
    pub fn hint(&self, action: Action) -> &'static str {
        let own = self.find(action).map(|used| used.hint).filter(|hint| !hint.is_empty());
        own.or_else(|| Some(action.entry()?.hint)).unwrap_or_default()
    }

    /// A line for help.
    pub fn doc(&self, action: Action) -> &'static str {
        let own = self.find(action).map(|used| used.doc).filter(|doc| !doc.is_empty());
        own.or_else(|| Some(action.entry()?.doc)).unwrap_or_default()
    }
}
