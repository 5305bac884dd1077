//! Why a state.json cannot be read, in a line that says what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::json::Fault;

/// A state.json that cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("{} is empty: restore a backup, or open a transcript in logs/ instead", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is no UTF-8.
    #[error("{} is UTF-16: convert it to UTF-8 first, for example with `iconv -f UTF-16 -t UTF-8`", path.display())]
    Utf16 {
        /// The file.
        path: PathBuf,
    },
    /// It ends too early.
    #[error("{} is cut off at byte {byte}: restore a backup, or open a transcript in logs/ instead", path.display())]
    CutOff {
        /// The file.
        path: PathBuf,
        /// Where it ends.
        byte: u64,
    },
    /// It is no JSON object.
    #[error("{} is damaged (expected {expected} at byte {byte}): restore a backup, or open a transcript in logs/ instead", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What JSON asks for.
        expected: &'static str,
        /// Where.
        byte: u64,
    },
}

impl StateError {
    pub(super) fn of_open(path: &Path, source: io::Error) -> Self {
        Self::Unreadable {
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn of_fault(path: &Path, fault: Fault, first: Option<u8>) -> Self {
        let path = path.to_owned();
        match fault {
            Fault::Io(source) => Self::Unreadable { path, source },
            Fault::End { .. } if first.is_none_or(|byte| byte == 0) => Self::Empty { path },
            Fault::End { byte } => Self::CutOff { path, byte },
            Fault::Unexpected { byte, .. } if first == Some(0) => Self::Damaged {
                path,
                expected: "text instead of NUL bytes",
                byte,
            },
            Fault::Unexpected { expected, byte } => Self::Damaged { path, expected, byte },
            Fault::Enough => Self::Damaged {
                path,
                expected: "less",
                byte: 0,
            },
        }
    }
}
