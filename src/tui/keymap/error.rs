//! Why keys were refused: what, in which file and line, and what to do.

use crate::source::config::ConfigError;
use crate::tui::action::Context;
use std::fmt;
use std::path::PathBuf;

/// Where a binding is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)
    }
}

/// The names of all contexts.
fn contexts() -> String {
    Context::ALL.map(Context::name).join(", ")
}

/// Why keys were refused.
#[derive(Debug, thiserror::Error)]
pub enum KeymapError {
    /// A file cannot be read, or is not valid.
    #[error(transparent)]
    File(#[from] ConfigError),
    /// There is no such keymap.
    #[error("there is no keymap {0:?}: it is no file, and there are the presets arrows and vim")]
    Absent(String),
    /// There is no such preset.
    #[error("{at}: there is no preset {name:?}; there are: arrows, vim")]
    Preset {
        /// Where.
        at: Written,
        /// The name.
        name: String,
    },
    /// There is no such context.
    #[error("{at}: there is no context [{name}]; there are: {}", contexts())]
    Context {
        /// Where.
        at: Written,
        /// The name.
        name: String,
    },
    /// There is no such action in that context.
    #[error("{at}: [{context}] has no action {action:?}{advice}; docs/keys.md lists them all")]
    Action {
        /// Where.
        at: Written,
        /// The section.
        context: &'static str,
        /// The name.
        action: String,
        /// What was probably meant.
        advice: String,
    },
    /// Something else than a list of keys.
    #[error("{at}: {name} wants a list of keys, like [\"m\", \"ctrl-f\"]")]
    Shape {
        /// Where.
        at: Written,
        /// What.
        name: String,
    },
    /// A key that cannot be read.
    #[error("{at}: {key:?} for {action} is no key; examples: \"g\", \"ctrl-p\", \"shift-tab\", \"pgup\"")]
    Key {
        /// Where.
        at: Written,
        /// The key as written.
        key: String,
        /// The action.
        action: &'static str,
    },
    /// A key that writes text, where text is written.
    #[error(
        "{at}: {key:?} for {action} could not be typed in [{context}] any more; give it ctrl- or alt-, or a named key"
    )]
    Types {
        /// Where.
        at: Written,
        /// The key as written.
        key: String,
        /// The action.
        action: &'static str,
        /// In what context.
        context: &'static str,
    },
    /// A key would do two things.
    #[error("{0}")]
    Conflict(Box<Conflict>),
}

/// A key that would do two things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Where the last of the two is written.
    pub at: Written,
    /// Where the other one is, where a file sets it, too.
    pub other: Option<Written>,
    /// The key.
    pub key: String,
    /// In what context.
    pub context: &'static str,
    /// One action.
    pub first: &'static str,
    /// The other one.
    pub second: &'static str,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            key,
            context,
            first,
            second,
            ..
        } = self;
        write!(
            f,
            "{at}: {key} would mean both {first} and {second} in [{context}]; give one of them another key"
        )?;
        match &self.other {
            Some(other) => write!(f, " (the other one is in {other})"),
            None => Ok(()),
        }
    }
}
