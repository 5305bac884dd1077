//! `fast-rlm` on recorded sessions: listed, replayed, forked, compared, asked what would have been, carried over.
//!
//! Numbers here are those that screens show, from 1; the library counts from 0.

mod args;
mod branches;
mod bundle;
mod ends;
mod failed;
mod list;
mod numbers;
mod reports;
mod store;
mod target;
mod tending;

pub use args::LabCommand;

use crate::cli::query::config::ConfigError;
use crate::cli::query::{Exit, exit, tell_how_to_go_on};
use crate::client;
use crate::disk::advice::advice;
use crate::engine::RunError;
use crate::lab::LabError;
use crate::store::StoreError;
use crate::text::{SafeText, shown_json};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Runs a command and gives its exit code; what went wrong is said on stderr.
pub fn run(command: &LabCommand) -> Exit {
    let done = match command {
        LabCommand::Sessions(args) => list::sessions(args),
        LabCommand::Replay(args) => reports::replay(args),
        LabCommand::Diff(args) => reports::diff(args),
        LabCommand::Fork(args) => branches::fork(args),
        LabCommand::WhatIf(args) => branches::what_if(args),
        LabCommand::Resume(args) => branches::resume(args),
        LabCommand::Export(args) => bundle::export(args),
        LabCommand::Import(args) => bundle::import(args),
    };
    done.unwrap_or_else(|failure| {
        let _ = writeln!(io::stderr(), "fast-rlm: {}", SafeText::line(&worded(command, &failure)));
        if let Failure::Cancelled { dir, .. } = &failure {
            tell_how_to_go_on(dir);
        }
        match command {
            // A comparison has two answers; anything else is no answer.
            LabCommand::Diff(_) => Exit::Usage,
            _ => failure.exit(),
        }
    })
}

/// A failure in words that are those of the command.
fn worded(command: &LabCommand, failure: &Failure) -> String {
    let verb = match command {
        LabCommand::Fork(_) => "forked",
        LabCommand::Diff(_) => "compared",
        LabCommand::Export(_) => "exported",
        LabCommand::WhatIf(_) => "run again",
        _ => return failure.to_string(),
    };
    match failure {
        Failure::Lab(LabError::NotReplayable { session, reason })
        | Failure::Client(client::Error::Lab(LabError::NotReplayable { session, reason })) => {
            format!("session {session} cannot be {verb}: {reason}")
        }
        failure => failure.to_string(),
    }
}

/// The directory of the session that was typed: its id in `dir`, its directory, or `last`.
pub(in crate::cli) fn session_dir(session: &str, dir: &Path) -> Result<PathBuf, Failure> {
    target::find(session, dir)
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum Failure {
    #[error(transparent)]
    Client(#[from] client::Error),
    #[error("{error}")]
    Cancelled { error: Box<client::Error>, dir: PathBuf },
    #[error(transparent)]
    Lab(#[from] LabError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{0}")]
    Usage(String),
    #[error("cannot start: {}; {}", .0, advice(.0))]
    Runtime(#[source] io::Error),
    #[error("cannot write the result to standard output: {0}")]
    Output(#[source] io::Error),
}

impl Failure {
    /// A run that failed, in the session of `dir`.
    fn of_run(error: client::Error, dir: &Path) -> Self {
        match error {
            client::Error::Run(failed) if matches!(failed.error, RunError::Cancelled) => Self::Cancelled {
                error: Box::new(client::Error::Run(failed)),
                dir: dir.to_owned(),
            },
            error => error.into(),
        }
    }

    pub(in crate::cli) fn exit(&self) -> Exit {
        match self {
            Self::Client(error) => exit::library(error),
            Self::Cancelled { error, .. } => exit::library(error),
            Self::Lab(error) => exit::lab(error),
            Self::Store(error) => exit::store(error),
            Self::Config(_) | Self::Usage(_) => Exit::Usage,
            Self::Runtime(_) | Self::Output(_) => Exit::Failed,
        }
    }
}

/// Waits for the library's work.
fn wait<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    Ok(runtime.map_err(Failure::Runtime)?.block_on(work))
}

/// Prints text, and nothing that a terminal would act on.
fn print(text: &str) -> Result<(), Failure> {
    put(SafeText::block(text).as_str())
}

fn put(text: &str) -> Result<(), Failure> {
    match writeln!(io::stdout(), "{text}") {
        // Who reads no more has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(Failure::Output),
    }
}

fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Output(error.into()))?;
    put(&shown_json(&text))
}
