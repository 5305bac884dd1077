//! Everything that can go wrong for a caller of the library, as one type: each error says what, where, and what to do.

use crate::disk::advice::{advice, on_named};
use crate::disk::lock::LockError;
use crate::engine::{BeginError, MemoryError, Question, RunError, Spent};
use crate::lab::LabError;
use crate::mcp::SpecError;
use crate::provider::OpenError;
use crate::repl::PrepareError;
use crate::store::StoreError;
use crate::text::secret::SecretError;
use std::io;
use std::path::PathBuf;

/// An error of the library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A session id without a directory: there is nothing it could be an id in.
    #[error(
        "session id {id:?} needs a session directory: give both, or neither for a session that ends with its object"
    )]
    IdWithoutDirectory {
        /// The id.
        id: String,
    },
    /// The session was closed, by this handle or another one of it.
    #[error("the session is closed: open it again, or start another one")]
    Closed,
    /// The query was cancelled before it began; nothing of the session was changed.
    #[error("the query was cancelled before it began")]
    Cancelled,
    /// Another writer has the session.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// An option cannot be used.
    #[error("option {name}: {reason}")]
    Option {
        /// Its name.
        name: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] OpenError),
    /// A secret cannot be protected.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// MCP servers are not declared as they should be.
    #[error(transparent)]
    Mcp(#[from] SpecError),
    /// The file system refused.
    #[error("{doing} {}: {cause}; {}", path.display(), advice(cause))]
    File {
        /// The file or directory.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A file of tools, or another one that was named, cannot be read.
    #[error("cannot read {}: {cause}; {}", path.display(), on_named(cause))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Python could not be prepared or loaded.
    #[error(transparent)]
    Python(#[from] PrepareError),
    /// The threads that run queries could not be started.
    #[error("cannot start the threads that run queries: {}; {}", .0, advice(.0))]
    Runtime(#[source] io::Error),
    /// state.json cannot be read, or comes from a newer build.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The session's log cannot be read or written, or a session id is none.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session waits for an answer, and what was sent is none: [`Session::send`](crate::Session::send) of a text.
    #[error("session {} waits for an answer, which is a text: {question}", dir.display())]
    NotAnAnswer {
        /// The session's directory.
        dir: PathBuf,
        /// What it asks.
        question: Question,
    },
    /// The query could not begin; nothing of the session was changed.
    #[error(transparent)]
    Begin(BeginError),
    /// The query ended without FINAL. The session keeps every completed step and stays usable.
    #[error("{}; its transcript: {}", .0.error, .0.transcript.display())]
    Run(Box<FailedRun>),
    /// A recorded run could not be run again.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A defect of this library, or of a caller's own provider: the query's task panicked.
    #[error("the query's task panicked; the session keeps every completed step, and can be queried again")]
    Panicked,
}

/// A query that ended without FINAL.
#[derive(Debug)]
pub struct FailedRun {
    /// Why.
    pub error: RunError,
    /// The session that keeps it.
    pub session: String,
    /// What it used.
    pub usage: Spent,
    /// Steps of the root that were recorded.
    pub steps: u64,
    /// Its root run.
    pub run_id: String,
    /// Its transcript.
    pub transcript: PathBuf,
}

impl From<BeginError> for Error {
    fn from(error: BeginError) -> Self {
        match error {
            BeginError::Cancelled => Self::Cancelled,
            BeginError::Lock(error) => Self::Lock(error),
            BeginError::Memory(error) => Self::Memory(error),
            BeginError::Store(error) => Self::Store(error),
            other => Self::Begin(other),
        }
    }
}

impl Error {
    /// Another writer has the session: worth another try when it is done.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Lock(LockError::Busy { .. }))
    }

    /// The query was cancelled, before it began or while it ran.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Cancelled => true,
            Self::Run(failed) => matches!(failed.error, RunError::Cancelled),
            _ => false,
        }
    }
}
