//! Damage and oddities, each with its place and what was done about it.

use super::LogId;

/// What kind of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemKind {
    /// A line that could not be read, and was skipped.
    Unreadable,
    /// The last line has no end yet, or was torn.
    Incomplete,
    /// Something was repaired: lone surrogates, a BOM, trailing NULs.
    Repaired,
    /// A number that is none, or out of range.
    Number,
    /// A transcript that was found elsewhere.
    MovedLog,
    /// A transcript that was not found, or was refused.
    MissingLog,
    /// An event of an unknown type.
    UnknownEvent,
    /// Instants that contradict each other.
    Clock,
    /// A missing parent, a cycle, a repeated step.
    Structure,
    /// Damage of state.json.
    State,
    /// Other.
    Notice,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// The transcript, if it is about one; else state.json or the session.
    pub log: Option<LogId>,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Byte offset in the file.
    pub byte: Option<u64>,
    /// What is wrong, and what was done about it. Raw: may quote data.
    pub what: String,
}
