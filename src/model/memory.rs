//! What a session remembers: variables, functions, and what could not be saved.

use super::{Label, MemoryKind};

/// Where a name was last bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Index into [`Session::queries`](super::Session::queries).
    pub query: usize,
    /// Its label.
    pub label: Label,
    /// The root step's number.
    pub step: u64,
}

/// One remembered name.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryEntry {
    /// Raw; identifiers, but nothing guarantees it.
    pub name: String,
    /// Variable, function or dropped.
    pub kind: MemoryKind,
    /// Type of a variable (`list`); `function` or `class` for source.
    pub type_name: String,
    /// A variable's preview, a function's source, or the reason why it was dropped.
    pub text: String,
    /// Comment beside its assignment.
    pub comment: Option<String>,
    /// Note given to `commit`.
    pub note: Option<String>,
    /// `commit` was called on it.
    pub committed: bool,
    /// The query and step that last bound it, when `code_log` tells.
    pub bound: Option<Binding>,
    /// Bytes of its pickle, as base64; 0 for others.
    pub pickle_bytes: u64,
}

/// Everything remembered, in the order of the memory screen: committed variables, commented ones, the rest (each by
/// name in code-point order), functions and dropped names in file order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Memory {
    /// In screen order.
    pub entries: Vec<MemoryEntry>,
}
