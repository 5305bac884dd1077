//! What a person can do, each thing once.
//!
//! One table ([`ACTIONS`]) holds every action's name, context, default keys and one-line doc. Key dispatch, footer
//! hints, the `?` overlay, the command palette, `docs/keys.md` and the names in a keymap file all come from it. What an
//! action does is the business of the screens.

mod ability;
mod context;
mod here;
mod table;

pub use ability::Abilities;
pub use context::Context;
pub use here::{Here, Legend, Use};
pub use table::ACTIONS;

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The action.
    pub action: Action,
    /// Its name in keymap files and in the palette: `search-next`.
    pub name: &'static str,
    /// Where its keys work.
    pub context: Context,
    /// Default keys, in the notation of [`Chord`](super::keymap::Chord); may be empty: palette only.
    pub keys: &'static [&'static str],
    /// One or two words for the footer.
    pub hint: &'static str,
    /// One line for help, palette and documentation.
    pub doc: &'static str,
}

/// Something a person can do. The table says how, [`Action::entry`] finds its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // Each one's doc is its row in the table.
pub enum Action {
    MoveUp,
    MoveDown,
    MoveLeft,
    MoveRight,
    PageUp,
    PageDown,
    First,
    Last,
    Open,
    Back,
    Search,
    SearchNext,
    SearchPrevious,
    SearchSession,
    Palette,
    Help,
    Problems,
    Ask,
    Memory,
    Timeline,
    Sessions,
    Copy,
    OpenExternally,
    Export,
    Fold,
    Raw,
    LineNumbers,
    Wrap,
    ZoomIn,
    ZoomOut,
    ZoomReset,
    NextPane,
    Quit,
    Suspend,
    Interrupt,
    StepPrevious,
    StepNext,
    Parent,
    FirstChild,
    SiblingNext,
    SiblingPrevious,
    CodeUp,
    CodeDown,
    OutputUp,
    OutputDown,
    Input,
    Reasoning,
    Final,
    RunPrevious,
    RunNext,
    Fork,
    Diff,
    Replay,
    Resume,
    Budget,
    NewSession,
    Rename,
    EntryPrevious,
    EntryNext,
    DetailDown,
    DetailUp,
    Sort,
    Accept,
    Cancel,
    SelectPrevious,
    SelectNext,
    Send,
    NewLine,
    Undo,
    Redo,
    HistorySearch,
    Editor,
    Complete,
    Settings,
    LeaveBox,
}

impl Action {
    /// Its row of the table.
    pub fn entry(self) -> Option<&'static Entry> {
        ACTIONS.iter().find(|entry| entry.action == self)
    }

    /// Its name in keymap files, `""` for none (which the table's test rules out).
    pub fn name(self) -> &'static str {
        self.entry().map_or("", |entry| entry.name)
    }

    /// The action of that name.
    pub fn named(name: &str) -> Option<Self> {
        ACTIONS
            .iter()
            .find(|entry| entry.name == name)
            .map(|entry| entry.action)
    }

    /// Why it cannot be done now; `None` when it can. What cannot be done is neither advertised nor silently ignored:
    /// pressing its key shows this sentence.
    pub fn unavailable(self, can: &Abilities) -> Option<&'static str> {
        can.lacks(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_action_has_one_row_and_names_are_unique() {
        let actions: HashSet<_> = ACTIONS.iter().map(|entry| entry.action).collect();
        let names: HashSet<_> = ACTIONS.iter().map(|entry| entry.name).collect();
        assert_eq!((actions.len(), names.len()), (ACTIONS.len(), ACTIONS.len()));
        // `LeaveBox` is the last variant: with as many distinct rows as variants, none is missing.
        assert_eq!(Action::LeaveBox as usize + 1, ACTIONS.len());
    }

    #[test]
    fn names_lead_back_to_their_action() {
        for entry in ACTIONS {
            assert_eq!(Action::named(entry.name), Some(entry.action));
        }
    }
}
