//! What keeps a recorded run from being run again.

use crate::disk::advice::{advice, on_named};
use crate::disk::atomic::WriteError;
use crate::engine::{BeginError, InputError, ProjectError};
use crate::repl::ReplError;
use crate::store::StoreError;
use crate::text::plural;
use std::io;
use std::path::PathBuf;

/// An error of the lab. Unless it says otherwise, nothing was changed. Messages count turns and steps from 1, as
/// screens do; fields from 0.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The recording does not suffice.
    #[error("session {session} cannot be replayed: {reason}")]
    NotReplayable {
        /// The session, as people know it.
        session: String,
        /// Why not, and what would help.
        reason: String,
    },
    /// There is no such turn.
    #[error(
        "session {session} has {}: there is no query {}",
        plural(*turns as u128, "query", "queries"),
        shown(*turn)
    )]
    TurnOutOfRange {
        /// The session.
        session: String,
        /// The turn that was asked for, 0-based.
        turn: u32,
        /// How many there are.
        turns: usize,
    },
    /// There is no such step.
    #[error(
        "query {} has {}: there is no step {}",
        shown(*turn),
        plural(*steps as u128, "step", "steps"),
        shown(*step)
    )]
    StepOutOfRange {
        /// The turn, 0-based.
        turn: u32,
        /// The step that was asked for, 0-based.
        step: u32,
        /// How many there are.
        steps: usize,
    },
    /// A value can be injected only for the one name that a step bound.
    #[error("step {} binds {}: edit its code instead", shown(*step), not_one(names))]
    NotABind {
        /// The step, 0-based.
        step: u32,
        /// What it bound.
        names: Vec<String>,
    },
    /// The recorded conversation is none that a model could go on with.
    #[error("session {session}: the recorded conversation is broken: {invariant}")]
    Conversation {
        /// The session.
        session: String,
        /// What does not hold.
        invariant: String,
    },
    /// A fork diverges once.
    #[error("fork {session} has diverged already: fork again")]
    AlreadyDiverged {
        /// The fork.
        session: String,
    },
    /// A fork's tail could not go on; the fork is kept, readable and closed.
    #[error("the tail of fork {session} halted: {exception}")]
    TailHalted {
        /// The fork.
        session: String,
        /// The exception, or what else stopped it.
        exception: String,
    },
    /// A branch came to nothing, and could not be removed, as on a full disk.
    #[error("{why}; the session {session} is left of it, unfinished: it could not be removed either")]
    LeftBehind {
        /// The branch.
        session: String,
        /// Why it came to nothing, and what to do.
        why: String,
    },
    /// A step that was given is no Python.
    #[error("step {} of those given cannot be compiled: {message}", step.saturating_add(1))]
    Syntax {
        /// Which, 0-based.
        step: usize,
        /// Python's words.
        message: String,
    },
    /// Nothing was substituted: the run made no such call.
    #[error("nothing was substituted: {what}")]
    SubstitutionUnused {
        /// What never came.
        what: String,
    },
    /// A what-if changes exactly one thing.
    #[error("a what-if changes exactly one thing: {given} changes were given")]
    NotOneChange {
        /// How many.
        given: usize,
    },
    /// A name cannot be bound.
    #[error("{name:?} is no name in Python")]
    BadName {
        /// The text.
        name: String,
    },
    /// What is to be made is there already.
    #[error("{} is there already: {advice}", path.display())]
    Exists {
        /// Which.
        path: PathBuf,
        /// What to do about it.
        advice: &'static str,
    },
    /// A file could not be read or written.
    #[error("{doing} {}: {cause}; {}", path.display(), advice_on(doing, cause))]
    File {
        /// Which.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A bundle is none, or not whole.
    #[error("{}: not a bundle that can be imported: {what}; export it again", path.display())]
    BadBundle {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// Its log cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its log holds something that is no state.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// Python could not be started.
    #[error(transparent)]
    Repl(#[from] ReplError),
    /// The recorded input cannot be used any more.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A tail could not begin.
    #[error(transparent)]
    Begin(#[from] BeginError),
}

impl From<WriteError> for LabError {
    fn from(error: WriteError) -> Self {
        Self::File {
            doing: error.phase.doing(),
            path: error.path,
            cause: error.source,
        }
    }
}

/// What is only read is not missed by its directory: it was named wrongly.
fn advice_on(doing: &str, cause: &io::Error) -> &'static str {
    match cause.kind() {
        _ if doing == "reading" => on_named(cause),
        io::ErrorKind::NotFound => "its directory is not there: check its name, or make it",
        _ => advice(cause),
    }
}

/// A turn or a step as people count them, from 1: as screens and the shell show it. Fields and arguments are 0-based.
pub(super) fn shown(number: u32) -> u32 {
    number.saturating_add(1)
}

fn not_one(names: &[String]) -> String {
    match names {
        [] => "no name".into(),
        names => format!("{}, not one name", names.join(", ")),
    }
}
