//! Exports: one run or the whole session as Markdown, self-contained HTML, or JSON.
//!
//! The document is streamed: bodies are read one step at a time and written at once, so that memory does not grow
//! with the session. Every text passes through `clean::Cleaner` on its way, which sanitises it (unless raw text was
//! asked for) and masks secrets. Formats only lay out what they are handed (`part::Part`).

mod clean;
mod file;
mod html;
mod job;
mod json;
mod markdown;
mod part;
mod secrets;
mod strings;
#[cfg(test)]
mod tests;
mod walk;
mod write;

pub use clean::{Masked, SecretKind, masked};
pub use file::{Saved, default_name, save};
pub use job::{Job, News, Setting, run};
pub use write::{Report, write};

use crate::model::{BodyRef, Label};
use crate::source::{Body, Source};
use crate::text::secret::Secrets;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Markdown, all data in fences.
    Markdown,
    /// One HTML file without scripts or references to anything outside it.
    Html,
    /// JSON as `docs/export-json.md` describes it.
    Json,
}

impl Format {
    /// Every format, in menu order.
    pub const ALL: [Self; 3] = [Self::Markdown, Self::Html, Self::Json];

    /// The ending of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
        }
    }
}

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every run, memory and problems.
    Session,
    /// One run, by its index into [`Session::queries`](crate::model::Session::queries).
    Run(usize),
}

/// How to export.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format.
    pub format: Format,
    /// What.
    pub scope: Scope,
    /// Keep control characters and escape sequences as they were recorded. Secrets are masked all the same.
    pub raw: bool,
    /// Show instants in UTC rather than in the local zone (JSON always has UTC).
    pub utc: bool,
    /// Secrets that are known by value; those of known shapes are masked besides.
    pub secrets: Secrets,
}

/// Where bodies come from: one step's at a time.
pub trait Bodies {
    /// The body at `at`, or why it cannot be read.
    fn body(&mut self, at: BodyRef) -> Result<Body, String>;
}

impl Bodies for Source {
    fn body(&mut self, at: BodyRef) -> Result<Body, String> {
        Source::body(self, at).map_err(|error| error.to_string())
    }
}

/// How far an export is, in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps written.
    pub done: u64,
    /// Steps there are.
    pub all: u64,
}

/// Told after every step; `Break` stops the export and leaves no file behind.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Why an export failed. No file is left behind.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It was stopped.
    #[error("the export was cancelled; nothing was written")]
    Cancelled,
    /// The run does not exist.
    #[error("there is no run number {0} in this session")]
    NoSuchRun(usize),
    /// The run was there, and is not any more: the session changed.
    #[error("{0} is gone from this session; choose another run")]
    Gone(Label),
    /// A file could not be written.
    #[error("cannot write {path}: {error}; choose another directory")]
    Write {
        /// Where.
        path: PathBuf,
        /// The cause.
        #[source]
        error: std::io::Error,
    },
    /// The document could not be written to its destination.
    #[error("cannot write the export: {0}")]
    Output(#[from] std::io::Error),
}
