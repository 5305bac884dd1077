//! Keys to actions: the defaults of the action table, changed by a keymap file.
//!
//! A key is looked up in the context of the topmost layer first, then among those that hold everywhere. Two actions on
//! one key in one context are an error; so is a changed binding that hides another one, or is hidden by it.

mod chord;
mod doc;
mod error;
mod file;

pub use chord::Chord;
pub use doc::markdown;
pub use error::{Conflict, KeymapError, Written};
pub use file::{KeymapBuilder, PRESETS};

use super::action::{ACTIONS, Action, Context};
use std::collections::HashMap;

/// Which key does what.
#[derive(Clone, Debug)]
pub struct Keymap {
    by_key: HashMap<(Context, Chord), Action>,
    by_action: HashMap<Action, Vec<Chord>>,
}

impl Default for Keymap {
    fn default() -> Self {
        let bindings = ACTIONS.iter().map(|entry| {
            let chords = entry.keys.iter().filter_map(|key| Chord::parse(key));
            (entry.action, chords.collect())
        });
        Self::from_bindings(bindings.collect())
    }
}

impl Keymap {
    fn from_bindings(by_action: HashMap<Action, Vec<Chord>>) -> Self {
        let mut by_key = HashMap::new();
        for entry in ACTIONS {
            for chord in by_action.get(&entry.action).into_iter().flatten() {
                by_key.insert((entry.context, stored(entry.context, *chord)), entry.action);
            }
        }
        Self { by_key, by_action }
    }

    /// What `chord` does in `context`; `None` leaves it to be typed, or does nothing.
    pub fn lookup(&self, context: Context, chord: Chord) -> Option<Action> {
        let own = self.by_key.get(&(context, stored(context, chord)));
        if own.is_none() && context.types_text() && !chord.passes_prompts() {
            return None;
        }
        let anywhere = || self.by_key.get(&(Context::Everywhere, chord.folded()));
        own.or_else(anywhere).copied()
    }

    /// The keys of an action, the preferred one first.
    pub fn keys(&self, action: Action) -> &[Chord] {
        self.by_action.get(&action).map_or(&[], Vec::as_slice)
    }

    /// Its preferred key as people read it, or `None` when it has none.
    pub fn label(&self, action: Action, ascii: bool) -> Option<String> {
        self.keys(action).first().map(|chord| chord.label(ascii))
    }
}

/// The form in which a context keeps a chord: letters fold wherever they do not type.
fn stored(context: Context, chord: Chord) -> Chord {
    if context.types_text() && chord.types() {
        chord
    } else {
        chord.folded()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(context: Context, key: &str) -> Option<Action> {
        Keymap::default().lookup(context, Chord::parse(key).unwrap())
    }

    #[test]
    fn every_default_key_is_readable_and_reaches_its_action() {
        let keymap = Keymap::default();
        for entry in ACTIONS {
            assert_eq!(keymap.keys(entry.action).len(), entry.keys.len(), "{}", entry.name);
            for key in entry.keys {
                assert_eq!(
                    lookup(entry.context, key),
                    Some(entry.action),
                    "{key} in {:?}",
                    entry.context
                );
            }
        }
    }

    #[test]
    fn a_screens_own_keys_come_before_those_of_everywhere() {
        assert_eq!(lookup(Context::Run, "up"), Some(Action::StepPrevious));
        assert_eq!(lookup(Context::Everywhere, "up"), Some(Action::MoveUp));
        assert_eq!(lookup(Context::Run, "m"), Some(Action::Memory));
    }

    #[test]
    fn letters_work_in_both_cases_but_for_n_and_g() {
        assert_eq!(lookup(Context::Run, "R"), Some(Action::Reasoning));
        assert_eq!(lookup(Context::Run, "N"), Some(Action::SearchPrevious));
        assert_eq!(lookup(Context::Run, "n"), Some(Action::SearchNext));
        assert_eq!(lookup(Context::Run, "G"), Some(Action::Last));
    }

    #[test]
    fn printable_keys_type_in_prompts_and_only_control_keys_pass() {
        for key in ["q", "M", "/", "space", "alt-x", "left", "backspace"] {
            assert_eq!(lookup(Context::Box, key), None, "{key}");
        }
        assert_eq!(lookup(Context::Box, "ctrl-c"), Some(Action::Interrupt));
        assert_eq!(lookup(Context::Prompt, "pgdn"), Some(Action::PageDown));
        assert_eq!(lookup(Context::Box, "ctrl-p"), Some(Action::Palette));
        assert_eq!(lookup(Context::Prompt, "ctrl-p"), Some(Action::SelectPrevious));
    }
}
