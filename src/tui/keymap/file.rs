//! Keys from files: which actions get other keys.
//!
//! ```toml
//! preset = "vim"            # optional: start from a built-in keymap
//! [everywhere]
//! search = ["/", "ctrl-f"]  # replaces the action's keys; [] takes them away
//! [run]
//! fork = "F"                # the same as ["F"]
//! ```
//!
//! The same tables stand under `[keys]` in a configuration file.

use super::error::{Conflict, KeymapError, Written};
use super::{Chord, Keymap, stored};
use crate::source::config::{Node, nearest, parse_nodes};
use crate::tui::action::{ACTIONS, Action, Context};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Names of presets; the first one is what the table of actions says.
pub const PRESETS: [&str; 2] = ["arrows", "vim"];

const VIM: &str = include_str!("../../../assets/keymaps/vim.toml");

/// Keys while files change them.
#[derive(Clone, Debug)]
pub struct KeymapBuilder {
    keys: HashMap<Action, Vec<Chord>>,
    /// Where the keys of an action were changed by a file of the user's.
    written: HashMap<Action, Written>,
    /// Changed by a preset.
    preset: Vec<Action>,
}

impl Default for KeymapBuilder {
    fn default() -> Self {
        Self {
            keys: Keymap::default().by_action,
            written: HashMap::new(),
            preset: Vec::new(),
        }
    }
}

impl Keymap {
    /// The keymap of a file's text: the default one, or its preset, with its changes.
    ///
    /// # Errors
    /// Anything that is not understood, and every conflict.
    pub fn parse(path: &Path, text: &str) -> Result<Self, KeymapError> {
        let mut builder = KeymapBuilder::default();
        builder.file(path, &parse_nodes(path, text)?, false)?;
        builder.build()
    }

    /// A preset with nothing changed; `None` when there is none of that name.
    pub fn preset(name: &str) -> Option<Self> {
        let mut builder = KeymapBuilder::default();
        builder.preset(name).ok()?.build().ok()
    }
}

impl KeymapBuilder {
    /// Starts from a preset.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn preset(&mut self, name: &str) -> Result<&mut Self, KeymapError> {
        match name {
            // The name it had before.
            "arrows" | "default" => {}
            "vim" => {
                let path = PathBuf::from("the vim preset");
                self.tables(&path, &parse_nodes(&path.with_extension("toml"), VIM)?)?;
                self.preset = self.written.drain().map(|(action, _)| action).collect();
            }
            other => return Err(KeymapError::Absent(other.to_owned())),
        }
        Ok(self)
    }

    /// Adds a keymap file. Its preset does not count where one was chosen elsewhere.
    ///
    /// # Errors
    /// Whatever in it is not understood.
    pub fn file(&mut self, path: &Path, nodes: &[Node], is_chosen: bool) -> Result<&mut Self, KeymapError> {
        let (presets, tables): (Vec<Node>, Vec<Node>) = nodes.iter().cloned().partition(|node| node.name == "preset");
        for node in presets {
            let at = written(path, &node);
            let name = node.value.as_str().unwrap_or_default().to_owned();
            if !PRESETS.contains(&name.as_str()) && name != "default" {
                return Err(KeymapError::Preset { at, name });
            }
            if !is_chosen {
                self.preset(&name)?;
            }
        }
        self.tables(path, &tables)
    }

    /// Adds tables of contexts, as under `[keys]` in a configuration.
    ///
    /// # Errors
    /// Whatever in them is not understood.
    pub fn tables(&mut self, path: &Path, contexts: &[Node]) -> Result<&mut Self, KeymapError> {
        for section in contexts {
            let context = Context::named(&section.name).ok_or_else(|| KeymapError::Context {
                at: written(path, section),
                name: section.name.clone(),
            })?;
            if !section.value.is_object() {
                return Err(shape(path, section));
            }
            for node in &section.children {
                let action = action_in(context, path, node)?;
                self.keys.insert(action, chords(context, action, path, node)?);
                self.written.insert(action, written(path, node));
            }
        }
        Ok(self)
    }

    /// The keymap.
    ///
    /// # Errors
    /// A key that would mean two things.
    pub fn build(&self) -> Result<Keymap, KeymapError> {
        let taken = self.taken()?;
        self.check_hidden(&taken)?;
        Ok(Keymap::from_bindings(self.keys.clone()))
    }

    /// What each key means in its context: one thing.
    fn taken(&self) -> Result<HashMap<(Context, Chord), Action>, KeymapError> {
        let mut taken: HashMap<(Context, Chord), Action> = HashMap::new();
        for entry in ACTIONS {
            for chord in self.keys.get(&entry.action).into_iter().flatten() {
                let chord = stored(entry.context, *chord);
                let other = taken.insert((entry.context, chord), entry.action);
                if let Some(other) = other.filter(|other| *other != entry.action) {
                    return Err(self.conflict(chord, entry.context, other, entry.action));
                }
            }
        }
        Ok(taken)
    }

    /// No changed binding hides one of everywhere, or is hidden by it: the table's own overrides, such as `↑` in a run,
    /// are meant.
    fn check_hidden(&self, taken: &HashMap<(Context, Chord), Action>) -> Result<(), KeymapError> {
        for (&(context, chord), &action) in taken {
            let Some(&hidden) = taken.get(&(Context::Everywhere, chord.folded())) else {
                continue;
            };
            let reaches = !context.types_text() || chord.passes_prompts();
            let is_changed = |action: &Action| self.written.contains_key(action) || self.preset.contains(action);
            let meant = !is_changed(&action) && !is_changed(&hidden);
            if context != Context::Everywhere && reaches && !meant && !share_a_default(action, hidden) {
                return Err(self.conflict(chord, context, hidden, action));
            }
        }
        Ok(())
    }

    fn conflict(&self, chord: Chord, context: Context, first: Action, second: Action) -> KeymapError {
        let places = [second, first].map(|action| self.written.get(&action).cloned());
        let [last, other] = places;
        // A preset alone has no conflict: a test sees to it.
        let none = || Written {
            path: PathBuf::from("the keymap"),
            line: 1,
        };
        let both = last.is_some() && last != other;
        KeymapError::Conflict(Box::new(Conflict {
            other: other.clone().filter(|_| both),
            at: last.or(other).unwrap_or_else(none),
            key: chord.label(true),
            context: context.name(),
            first: first.name(),
            second: second.name(),
        }))
    }
}

fn written(path: &Path, node: &Node) -> Written {
    Written {
        path: path.to_owned(),
        line: node.line,
    }
}

fn shape(path: &Path, node: &Node) -> KeymapError {
    KeymapError::Shape {
        at: written(path, node),
        name: node.name.clone(),
    }
}

fn action_in(context: Context, path: &Path, node: &Node) -> Result<Action, KeymapError> {
    let of_context = || ACTIONS.iter().filter(|entry| entry.context == context);
    let entry = of_context().find(|entry| entry.name == node.name);
    entry.map(|entry| entry.action).ok_or_else(|| {
        let meant = nearest(&node.name, of_context().map(|entry| entry.name));
        KeymapError::Action {
            at: written(path, node),
            context: context.name(),
            action: node.name.clone(),
            advice: meant.map_or_else(String::new, |meant| format!(", did you mean {meant:?}")),
        }
    })
}

fn chords(context: Context, action: Action, path: &Path, node: &Node) -> Result<Vec<Chord>, KeymapError> {
    let keys = match &node.value {
        Value::Array(keys) => keys.as_slice(),
        // One is a list of one.
        one @ Value::String(_) => std::slice::from_ref(one),
        _ => return Err(shape(path, node)),
    };
    let chord = |key: &Value| {
        let key = key.as_str().ok_or_else(|| shape(path, node))?;
        let chord = Chord::parse(key).ok_or_else(|| KeymapError::Key {
            at: written(path, node),
            key: key.to_owned(),
            action: action.name(),
        })?;
        match context.types_text() && chord.is_plain_text() {
            false => Ok(chord),
            true => Err(KeymapError::Types {
                at: written(path, node),
                key: key.to_owned(),
                action: action.name(),
                context: context.name(),
            }),
        }
    };
    keys.iter().map(chord).collect()
}

/// Whether both actions share their keys by default, so that their meeting again is no accident.
fn share_a_default(action: Action, hidden: Action) -> bool {
    let keys = |action: Action| action.entry().map_or(&[] as &[_], |entry| entry.keys);
    keys(action).iter().any(|key| keys(hidden).contains(key))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
