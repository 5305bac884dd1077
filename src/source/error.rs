//! Why a target cannot be opened, in one line that says what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::state_file::StateError;

/// A target that cannot be opened. Paths are raw: sanitise the message before it goes to a terminal.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is nothing at that path.
    #[error("{} does not exist: give a session directory, its state.json, a run's .jsonl, or a directory of sessions", path.display())]
    Missing {
        /// As given.
        path: PathBuf,
    },
    /// A directory with nothing to show.
    #[error("{} holds no session: no state.json in it or in its directories, and no transcript in logs/; fast-rlm \"…\" --session-dir DIR --session-id NAME begins one", path.display())]
    NoSession {
        /// As given.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// As given.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A transcript without a line in it.
    #[error("{} is empty: no line was written yet; open its session directory instead", path.display())]
    EmptyLog {
        /// The transcript.
        path: PathBuf,
    },
    /// A file in which no line is a transcript's.
    #[error("{} is no transcript: none of its first lines is a JSON object with a run_id", path.display())]
    NoTranscript {
        /// The file.
        path: PathBuf,
    },
    /// A transcript that is no UTF-8.
    #[error("{} is UTF-16: convert it to UTF-8 first, for example with `iconv -f UTF-16 -t UTF-8`", path.display())]
    Utf16 {
        /// The transcript.
        path: PathBuf,
    },
    /// state.json cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
}

impl OpenError {
    pub(super) fn of_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            // A message of its own says which link leads nowhere.
            io::ErrorKind::NotFound if source.get_ref().is_none() => Self::Missing { path },
            _ => Self::Unreadable { path, source },
        }
    }
}
