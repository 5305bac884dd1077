//! Exit codes: which of them an error is.

use super::setup::Failure;
use crate::cli::refused;
use crate::client;
use crate::disk::lock::LockError;
use crate::engine::{BeginError, RunError};
use crate::lab::LabError;
use crate::store::StoreError;
use crate::text::SafeText;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{ExitCode, Termination};

/// What the shell is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: the run ended in an error.
    Failed,
    /// 2: usage, or an input that cannot be used.
    Usage,
    /// 3: a limit stopped the run.
    Limit,
    /// 4: another process has the session.
    Busy,
    /// 75: it waits for an answer.
    Parked,
    /// 130: cancelled.
    Cancelled,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Limit => 3,
            Self::Busy => 4,
            Self::Parked => 75,
            Self::Cancelled => 130,
        }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        self.code().into()
    }
}

/// A command of the Python package,
pub(super) const ACP: &str = "acp";
/// and what to do instead.
pub(super) const NO_ACP: &str = "ACP is no backend here: agents are asked as cli:NAME?model=MODEL (docs/models.md)";

/// Help and version go to stdout with 0, wrong usage to stderr with 2.
pub(super) fn usage(words: &[OsString], error: clap::Error) -> Exit {
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
    let unquoted = error.kind() == ErrorKind::ArgumentConflict && error.to_string().contains("the subcommand '");
    let first = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    if exit == Exit::Usage && first == ACP {
        return tell(&Failure::Usage(format!("{ACP}: {NO_ACP}")));
    }
    if let Some(meant) = super::mistyped(first).filter(|_| exit == Exit::Usage) {
        return tell(&Failure::Usage(super::no_command(first, &meant)));
    }
    if let Err(cause) = refused::tell(super::command(), words, error) {
        return tell(&Failure::Output(cause));
    }
    if unquoted {
        let _ = writeln!(io::stderr(), "\n  tip: a prompt of several words is put in quotes");
    }
    exit
}

/// `fast-rlm` alone says what it is for, which it did not do.
pub(super) fn help(command: &mut clap::Command) -> Result<Exit, Failure> {
    let help = command.render_help();
    let _ = match io::stderr().is_terminal() {
        true => write!(io::stderr(), "{}", help.ansi()),
        false => write!(io::stderr(), "{help}"),
    };
    Ok(Exit::Usage)
}

/// Tells a failure in one line and gives its code.
pub(super) fn tell(failure: &Failure) -> Exit {
    if matches!(failure, Failure::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe) {
        // Whoever read the pipe has had enough, and knows.
        return Exit::Failed;
    }
    let _ = writeln!(io::stderr(), "fast-rlm: {}", SafeText::line(&failure.to_string()));
    match failure {
        Failure::Begin(error) => {
            if let BeginError::Parked { dir, .. } = error {
                super::outcome::tell_how_to_answer(dir);
            }
            begin(error)
        }
        Failure::Library(error) => library(error),
        Failure::Session(error) => error.exit(),
        Failure::Store(error) => store(error),
        Failure::Write { cause, .. } => files(cause),
        Failure::Prepare(_) | Failure::Runtime(_) | Failure::Output(_) => Exit::Failed,
        Failure::Config(_) | Failure::Usage(_) => Exit::Usage,
    }
}

/// A query that ended without FINAL.
pub(in crate::cli) fn run(error: &RunError) -> Exit {
    match error {
        RunError::Limit(_) => Exit::Limit,
        RunError::Cancelled => Exit::Cancelled,
        RunError::Tools { .. } => Exit::Usage,
        RunError::Parked(_) => Exit::Parked,
        _ => Exit::Failed,
    }
}

/// A query that could not begin.
fn begin(error: &BeginError) -> Exit {
    match error {
        BeginError::Lock(LockError::Busy { .. }) => Exit::Busy,
        BeginError::Cancelled => Exit::Cancelled,
        BeginError::Parked { .. } => Exit::Parked,
        BeginError::NothingParked { .. }
        | BeginError::AnsweredMeanwhile { .. }
        | BeginError::NotAnOption { .. }
        | BeginError::NothingCut { .. } => Exit::Usage,
        BeginError::Input(_) | BeginError::Schema(_) | BeginError::Prefix { .. } | BeginError::SecretName { .. } => {
            Exit::Usage
        }
        _ => Exit::Failed,
    }
}

/// An error of the library.
pub(in crate::cli) fn library(error: &client::Error) -> Exit {
    use client::Error as E;
    match error {
        error if error.is_busy() => Exit::Busy,
        E::Run(failed) => run(&failed.error),
        E::Begin(error) => begin(error),
        E::Lab(error) => lab(error),
        E::Store(error) => store(error),
        E::File { cause, .. } => files(cause),
        E::Cancelled => Exit::Cancelled,
        E::Lock(_) | E::Memory(_) | E::Python(_) | E::Runtime(_) | E::Panicked => Exit::Failed,
        _ => Exit::Usage,
    }
}

/// An error of the lab: mostly a recording that does not do for what was asked.
pub(in crate::cli) fn lab(error: &LabError) -> Exit {
    match error {
        LabError::TailHalted { .. } | LabError::LeftBehind { .. } | LabError::Repl(_) => Exit::Failed,
        LabError::Begin(error) => begin(error),
        LabError::Store(error) => store(error),
        LabError::File { cause, .. } => files(cause),
        _ => Exit::Usage,
    }
}

/// An error of a store: a file that is none is an input that cannot be used, a full disk is not.
pub(in crate::cli) fn store(error: &StoreError) -> Exit {
    match error {
        StoreError::Io { source, .. } => files(source),
        StoreError::Locked { .. } | StoreError::Database { .. } | StoreError::Fenced { .. } => Exit::Failed,
        _ => Exit::Usage,
    }
}

/// What is named and is not there, or is there and should not be, was named wrongly; anything else the system refused.
fn files(cause: &io::Error) -> Exit {
    use io::ErrorKind as K;
    match cause.kind() {
        K::NotFound | K::NotADirectory | K::IsADirectory | K::AlreadyExists => Exit::Usage,
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_wrong_usage() {
        let lab_error = |kind: io::ErrorKind| LabError::File {
            path: "bundle".into(),
            doing: "writing",
            cause: kind.into(),
        };
        assert_eq!(lab(&lab_error(io::ErrorKind::StorageFull)), Exit::Failed);
        assert_eq!(lab(&lab_error(io::ErrorKind::AlreadyExists)), Exit::Usage);
        let store_error = |kind: io::ErrorKind| StoreError::Io {
            path: "events.db".into(),
            doing: "writing",
            source: kind.into(),
        };
        assert_eq!(store(&store_error(io::ErrorKind::ReadOnlyFilesystem)), Exit::Failed);
        assert_eq!(store(&store_error(io::ErrorKind::NotFound)), Exit::Usage);
        assert_eq!(library(&client::Error::Cancelled).code(), 130);
    }
}
