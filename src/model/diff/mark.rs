//! The marks of a comparison's rows: one set, on screens, in the shell and in the documents.

use super::DiffRow;
use std::fmt;

/// How a row compares, as one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiffMark {
    /// The same code, and the same came of it.
    Same,
    /// Another plan: other code.
    Plan,
    /// The left side only.
    Left,
    /// The right side only.
    Right,
    /// The same code with another result.
    Result,
}

impl DiffMark {
    /// The character.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => " ",
            Self::Plan => "~",
            Self::Left => "-",
            Self::Right => "+",
            Self::Result => "!",
        }
    }
}

impl fmt::Display for DiffMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl DiffRow {
    /// Its mark.
    pub fn mark(&self) -> DiffMark {
        match self {
            Self::Same { .. } => DiffMark::Same,
            Self::Plan { a: Some(_), b: Some(_) } => DiffMark::Plan,
            Self::Plan { a: Some(_), .. } => DiffMark::Left,
            Self::Plan { .. } => DiffMark::Right,
            Self::Output { .. } => DiffMark::Result,
        }
    }
}
