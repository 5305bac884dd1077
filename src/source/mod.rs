//! Opening a target and everything that follows from it: the viewer's only way to data. No engine, no screens.
//!
//! [`open`] gives the events that the first frame needs and a [`Source`]. [`Source::scan`] reads the transcripts on
//! all cores, [`Source::follow`] tells what others write from then on, [`Source::body`] reads what is looked at and
//! [`Source::search`] searches everything. All calls block: run them on threads. Texts are raw.

mod assemble;
mod colours;
mod compare;
pub mod config;
pub mod drafts;
mod error;
mod family;
mod follow;
mod lineage;
mod listing;
mod log_table;
mod manage;
mod open;
mod open_calls;
pub mod paths;
mod pattern;
mod progress;
mod read;
mod recorded;
mod scan;
mod search;
mod session;
mod sessions;
mod sought;
mod spent;
mod stop;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::logs::LogFinder;
use crate::model::{LogId, TargetKind};
use log_table::LogTable;
use session::SessionState;
#[cfg(feature = "engine")]
pub(crate) use session::name_of;

pub(crate) use crate::disk::advice::advice;
pub(crate) use crate::disk::descriptors::need_threads;
pub use crate::disk::transcript::{Body, BodyError, Field};
pub use compare::{Comparison, Side, read_session};
pub use error::OpenError;
pub use listing::{Listed, Listing};
pub use manage::{ManageError, check_rename, create, rename};
pub use open::{OpenOptions, Opened, open};
pub use pattern::SearchPattern;
pub use progress::Progress;
pub use search::Hit;
pub use sessions::{
    BadEnd, Health, SessionSummary, SessionTotals, list_sessions, list_stored, session_totals, totals_once,
};
pub use spent::{Paid, Spent};
pub use stop::Stop;

/// An opened session or transcript. Clones are the same.
#[derive(Clone, Debug)]
pub struct Source(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    target: PathBuf,
    dir: PathBuf,
    kind: TargetKind,
    use_cache: bool,
    inner: Mutex<Inner>,
    family: Mutex<family::Family>,
    /// Wakes whoever follows.
    nudge: Mutex<Option<Sender<()>>>,
    progress: progress::Counters,
}

/// What changes while a session is followed.
#[derive(Debug)]
struct Inner {
    /// `None` for a single transcript.
    finder: Option<LogFinder>,
    state: SessionState,
    table: LogTable,
}

impl Source {
    /// As it was given.
    pub fn target(&self) -> &Path {
        &self.0.target
    }

    /// The session's directory; of a lone transcript, that of the session it lies in.
    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// Session or single transcript.
    pub fn kind(&self) -> TargetKind {
        self.0.kind
    }

    /// How far the scan is.
    pub fn progress(&self) -> Progress {
        self.0.progress.now()
    }

    /// Where a transcript lies; `None` while it is missing.
    pub fn log_path(&self, log: LogId) -> Option<PathBuf> {
        self.inner().table.get(log)?.file.as_ref().map(|file| file.path.clone())
    }

    /// Has [`Source::follow`] look at the files now: this program has just written to them, and need not wait until
    /// the system says so. Does not block; nothing happens before the session is followed.
    pub fn nudge(&self) {
        let nudge = self.0.nudge.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*nudge {
            // Who followed has stopped: nobody is to be woken.
            let _ = sender.send(());
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
