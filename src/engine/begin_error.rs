//! Why a query cannot begin.

use super::error::RunError;
use super::input::InputError;
use super::journal::RecoverError;
use super::memory::MemoryError;
use super::person::Question;
use super::schema::BadSchema;
use crate::disk::advice::advice;
use crate::disk::lock::LockError;
use crate::disk::transcript_writer::TranscriptError;
use crate::store::StoreError;
use std::io;
use std::path::PathBuf;

/// A query that could not begin: nothing of the session was changed.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// Another writer has the session.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// It was cancelled while it waited for the session.
    #[error("cancelled while waiting for the session; nothing of it was changed")]
    Cancelled,
    /// A directory could not be made.
    #[error("cannot create {}: {cause}; {}", path.display(), on_directory(cause))]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// It waits for an answer first.
    #[error("session {} waits for an answer: {question}", dir.display())]
    Parked {
        /// The session's directory.
        dir: PathBuf,
        /// What it asks.
        question: Question,
    },
    /// The turn cannot go on.
    #[error("session {}: {reason}", dir.display())]
    NothingCut {
        /// The session's directory.
        dir: PathBuf,
        /// Why not, and what to do.
        reason: String,
    },
    /// There is no question to answer.
    #[error("session {} does not wait for an answer: ask it something new", dir.display())]
    NothingParked {
        /// The session's directory.
        dir: PathBuf,
    },
    /// The question that is meant is open no more.
    #[error("session {}: the question that was meant is open no more; {}", dir.display(), now_asked(waits.as_ref()))]
    AnsweredMeanwhile {
        /// The session's directory.
        dir: PathBuf,
        /// What it asks by now.
        waits: Option<Question>,
    },
    /// The answer is none of the question's options.
    #[error("{answer:?} is not one of the answers to choose from: {question}")]
    NotAnOption {
        /// What was given.
        answer: String,
        /// What it asks.
        question: Question,
    },
    /// Its memory could not be read or written.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Its log could not be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its files and log could not be brought in step.
    #[error(transparent)]
    Recover(#[from] RecoverError),
    /// The query could not be kept as begun.
    #[error(transparent)]
    Keep(RunError),
    /// Its transcript could not be opened.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// The transcript's name would not be that of a file in its directory.
    #[error(
        "the prefix {prefix:?} is no beginning of a file name: no / or \\, no control characters, at most 100 bytes"
    )]
    Prefix {
        /// As it was given.
        prefix: String,
    },
    /// A name that the program writes would give a secret away.
    #[error("the {what} holds the secret {secret}, which is written nowhere: choose another one")]
    SecretName {
        /// Which name.
        what: &'static str,
        /// The secret's own name.
        secret: String,
    },
    /// The input cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The output schema is none.
    #[error("output schema: {0}")]
    Schema(#[from] BadSchema),
}

/// What a session asks by now, and what to do about it.
fn now_asked(waits: Option<&Question>) -> String {
    match waits {
        Some(question) => format!("now it asks: {question}; give that an answer of its own"),
        None => "it does not wait for an answer now: ask it something new".into(),
    }
}

/// What to do about a directory that cannot be made.
fn on_directory(cause: &io::Error) -> &'static str {
    use io::ErrorKind as K;
    match cause.kind() {
        K::NotFound => "none can be made there: name another directory",
        K::NotADirectory => "a part of the path is a file: name another directory",
        K::ReadOnlyFilesystem => "the file system is read-only: name a directory on another one",
        _ => advice(cause),
    }
}
