//! What outlives a REPL: sweeps out of it, and restores into it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;
use std::time::Duration;

/// What persists of a namespace at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sweep {
    /// Variables that are saved.
    pub variables: Vec<SweptVariable>,
    /// Functions and classes defined in the REPL.
    pub functions: Vec<SweptFunction>,
    /// Names that cannot be saved.
    pub dropped: Vec<Dropped>,
    /// Import statements of the steps so far whose name is still bound, one name each.
    pub imports: Vec<String>,
    /// How long it took.
    pub duration: Duration,
    /// The instance ended on the way: what is here was taken before, and of other names nothing is known.
    pub lost: Option<SweepLost>,
}

/// How a sweep was cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepLost {
    /// The variable that was being saved.
    pub name: String,
    /// What ended the instance.
    pub why: String,
}

impl std::fmt::Display for SweepLost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, why } = self;
        write!(f, "Python was lost while the variable `{name}` was saved: {why}")
    }
}

/// A saved variable.
#[derive(Debug, Clone, PartialEq)]
pub struct SweptVariable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub pickle: SweptPickle,
    /// BLAKE2b of the pickle (32 bytes), equal as long as the value is.
    pub digest: [u8; 32],
    /// Name of its type.
    pub type_name: String,
    /// Its `repr`, at most 2,000 characters.
    pub preview: String,
    /// The comment at its assignment.
    pub comment: Option<String>,
    /// The note of `commit(name, note)`.
    pub note: Option<String>,
    /// Whether it was committed.
    pub committed: bool,
}

/// The value of a swept variable.
#[derive(Debug, Clone, PartialEq)]
pub enum SweptPickle {
    /// As in the sweep before (or in the restore, if there was none): keep the entry that is there.
    Unchanged,
    /// A pickle, protocol 4.
    Changed(Arc<[u8]>),
}

/// A function or class defined in the REPL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweptFunction {
    /// Its name.
    pub name: String,
    /// Its source, decorators included.
    pub source: String,
}

/// A name that cannot be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The name.
    pub name: String,
    /// Why: "not picklable: TypeError: cannot pickle 'generator' object".
    pub reason: String,
    /// Size of its pickle in bytes, if that is why.
    pub size: Option<u64>,
    /// Name of its type.
    pub type_name: String,
}

/// State to restore.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RestoreSet {
    /// Import statements.
    pub imports: Vec<String>,
    /// Code of successful steps, whose top-level import statements are run besides (for sessions without `imports`).
    pub import_sources: Vec<String>,
    /// Functions and classes: name and source.
    pub functions: Vec<(String, String)>,
    /// Variables.
    pub variables: Vec<SavedVariable>,
}

/// A variable to restore. Untrusted: it is only ever unpickled inside the sandbox.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedVariable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub pickle: Pickle,
    /// Its comment, handed on to the next sweep.
    pub comment: Option<String>,
    /// Its note, handed on to the next sweep.
    pub note: Option<String>,
    /// Whether it was committed.
    pub committed: bool,
}

/// A pickle in either form.
#[derive(Debug, Clone, PartialEq)]
pub enum Pickle {
    /// As in state.json.
    Base64(Arc<str>),
    /// As in a sweep.
    Bytes(Arc<[u8]>),
}

impl Pickle {
    /// Its bytes; `None` for text that is no base64.
    #[must_use]
    pub fn bytes(&self) -> Option<Arc<[u8]>> {
        match self {
            Self::Bytes(bytes) => Some(bytes.clone()),
            Self::Base64(text) => STANDARD.decode(text.as_bytes()).ok().map(Into::into),
        }
    }
}

/// What became of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RestoreReport {
    /// Variables that are there, by their name in the REPL.
    pub variables: Vec<String>,
    /// Functions and classes that are there.
    pub functions: Vec<String>,
    /// Variables that came under another name, because theirs is the engine's: (saved name, name now).
    pub renamed: Vec<(String, String)>,
    /// What is not there, and why.
    pub failed: Vec<RestoreFailure>,
    /// How long it took.
    pub duration: Duration,
}

/// An item that could not be restored.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct RestoreFailure {
    /// The name, or the import statement.
    pub name: String,
    /// What it is.
    pub kind: RestoreKind,
    /// Why.
    pub reason: String,
}

/// What an item of a restore is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RestoreKind {
    /// An import statement.
    Import,
    /// A function or class.
    Function,
    /// A variable.
    Variable,
}
