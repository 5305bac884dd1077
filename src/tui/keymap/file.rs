//! A keymap file: which actions get other keys.
//!
//! ```toml
//! preset = "vim"            # optional: start from a built-in keymap
//! [everywhere]
//! search = ["/", "ctrl-f"]  # replaces the action's keys; [] takes them away
//! ```

use super::{Chord, Keymap, stored};
use crate::tui::action::{ACTIONS, Action, Context};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Why a keymap file was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum KeymapError {
    /// It is no TOML, or its shape is wrong.
    #[error("keymap: {0}")]
    Syntax(String),
    /// There is no such preset.
    #[error("keymap: there is no preset \"{0}\"; there are: default, vim")]
    Preset(String),
    /// There is no such context.
    #[error("keymap: there is no context [{0}]; there are: everywhere, run, memory, picker, prompt, box")]
    Context(String),
    /// There is no such action in that context.
    #[error("keymap: [{context}] has no action \"{action}\"; docs/keys.md lists them all")]
    Action {
        /// The section.
        context: String,
        /// The name.
        action: String,
    },
    /// A key that cannot be read.
    #[error("keymap: \"{key}\" for {action} is no key; examples: \"g\", \"ctrl-p\", \"shift-tab\", \"pgup\"")]
    Key {
        /// The key as written.
        key: String,
        /// The action.
        action: &'static str,
    },
    /// A key would do two things.
    #[error("keymap: {key} would mean both {first} and {second} in [{context}]; give one of them another key")]
    Conflict {
        /// The key.
        key: String,
        /// Where.
        context: &'static str,
        /// One action.
        first: &'static str,
        /// The other one.
        second: &'static str,
    },
}

const VIM: &str = include_str!("../../../assets/keymaps/vim.toml");

type Bindings = HashMap<Action, Vec<Chord>>;

impl Keymap {
    /// The keymap of a file's text: the defaults, or its preset, with its changes.
    ///
    /// # Errors
    /// Anything that is not understood, and every conflict.
    pub fn parse(text: &str) -> Result<Self, KeymapError> {
        let mut bindings = Self::default().by_action;
        let mut changed = HashSet::new();
        overlay(text, &mut bindings, &mut changed, true)?;
        check(&bindings, &changed)?;
        Ok(Self::from_bindings(bindings))
    }
}

#[derive(serde::Deserialize)]
struct File {
    preset: Option<String>,
    #[serde(flatten)]
    sections: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

fn overlay(
    text: &str,
    bindings: &mut Bindings,
    changed: &mut HashSet<Action>,
    presets: bool,
) -> Result<(), KeymapError> {
    let file: File =
        toml::from_str(text).map_err(|error| KeymapError::Syntax(crate::text::toml_fault(text, &error)))?;
    match file.preset.as_deref() {
        None | Some("default") => {}
        Some("vim") if presets => overlay(VIM, bindings, changed, false)?,
        Some(other) => return Err(KeymapError::Preset(other.to_owned())),
    }
    for (section, actions) in &file.sections {
        let context = Context::named(section).ok_or_else(|| KeymapError::Context(section.clone()))?;
        for (name, keys) in actions {
            let action = action_in(context, name)?;
            bindings.insert(action, chords(action, keys)?);
            changed.insert(action);
        }
    }
    Ok(())
}

fn action_in(context: Context, name: &str) -> Result<Action, KeymapError> {
    let entry = ACTIONS
        .iter()
        .find(|entry| entry.name == name && entry.context == context);
    entry.map(|entry| entry.action).ok_or_else(|| KeymapError::Action {
        context: context.name().to_owned(),
        action: name.to_owned(),
    })
}

fn chords(action: Action, keys: &[String]) -> Result<Vec<Chord>, KeymapError> {
    let chord = |key: &String| {
        Chord::parse(key).ok_or_else(|| KeymapError::Key {
            key: key.clone(),
            action: action.name(),
        })
    };
    keys.iter().map(chord).collect()
}

/// No key means two things in one context, and no changed binding hides one of everywhere (or is hidden): the table's
/// own overrides, such as `↑` in a run, are meant.
fn check(bindings: &Bindings, changed: &HashSet<Action>) -> Result<(), KeymapError> {
    let mut taken: HashMap<(Context, Chord), Action> = HashMap::new();
    for entry in ACTIONS {
        for chord in bindings.get(&entry.action).into_iter().flatten() {
            let chord = stored(entry.context, *chord);
            let other = taken.insert((entry.context, chord), entry.action);
            if let Some(other) = other.filter(|other| *other != entry.action) {
                return Err(conflict(chord, entry.context, other, entry.action));
            }
        }
    }
    for (&(context, chord), &action) in &taken {
        let Some(&hidden) = taken.get(&(Context::Everywhere, chord.folded())) else {
            continue;
        };
        let reaches = !context.types_text() || chord.passes_prompts();
        let meant = !changed.contains(&action) && !changed.contains(&hidden);
        if context != Context::Everywhere && reaches && !meant && !share_a_default(action, hidden) {
            return Err(conflict(chord, context, hidden, action));
        }
    }
    Ok(())
}

/// Whether both actions share their keys by default, so that their meeting again is no accident.
fn share_a_default(action: Action, hidden: Action) -> bool {
    let keys = |action: Action| action.entry().map_or(&[] as &[_], |entry| entry.keys);
    keys(action).iter().any(|key| keys(hidden).contains(key))
}

fn conflict(chord: Chord, context: Context, first: Action, second: Action) -> KeymapError {
    KeymapError::Conflict {
        key: chord.label(true),
        context: context.name(),
        first: first.name(),
        second: second.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(keymap: &Keymap, context: Context, key: &str) -> Option<Action> {
        keymap.lookup(context, Chord::parse(key).unwrap())
    }

    #[test]
    fn a_file_replaces_the_keys_it_names_and_no_others() {
        let keymap = Keymap::parse("[everywhere]\nsearch = [\"ctrl-f\"]\n").unwrap();
        assert_eq!(action(&keymap, Context::Run, "ctrl-f"), Some(Action::Search));
        assert_eq!(action(&keymap, Context::Run, "/"), None);
        assert_eq!(action(&keymap, Context::Run, "m"), Some(Action::Memory));
    }

    #[test]
    fn the_vim_preset_moves_with_hjkl_and_scrolls_with_control_keys() {
        let keymap = Keymap::parse("preset = \"vim\"").unwrap();
        assert_eq!(action(&keymap, Context::Everywhere, "j"), Some(Action::MoveDown));
        assert_eq!(action(&keymap, Context::Run, "j"), Some(Action::StepNext));
        assert_eq!(action(&keymap, Context::Run, "ctrl-d"), Some(Action::OutputDown));
        assert_eq!(action(&keymap, Context::Memory, "k"), Some(Action::EntryPrevious));
    }

    #[test]
    fn two_actions_on_one_key_are_refused_by_name() {
        let error = Keymap::parse("[everywhere]\nsearch = [\"M\"]\n")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "keymap: m would mean both search and memory in [everywhere]; give one of them another key"
        );
    }

    #[test]
    fn a_binding_that_a_screen_would_hide_is_refused() {
        let error = Keymap::parse("[everywhere]\nsearch = [\"j\"]\n").unwrap_err();
        assert!(matches!(error, KeymapError::Conflict { .. }), "{error}");
        let error = Keymap::parse("[run]\nfork = [\"m\"]\n").unwrap_err();
        assert!(matches!(error, KeymapError::Conflict { .. }), "{error}");
    }

    #[test]
    fn what_is_not_understood_is_an_error_that_names_it() {
        for (text, part) in [
            ("preset = \"emacs\"", "emacs"),
            ("[runs]\nfork = []", "runs"),
            ("[run]\nsearch = []", "search"),
            ("[run]\nfork = [\"hyper-x\"]", "hyper-x"),
            ("[run]\nfork = 3", "invalid type"),
            ("[run", "keymap"),
        ] {
            let error = Keymap::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
