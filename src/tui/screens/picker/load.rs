//! Reading what the list shows, off the screen's thread.

use super::summary::{SessionSummary, SessionTotals};
use crate::tui::effect::{Stop, Work};
use std::path::{Path, PathBuf};

/// What reads: the source room's functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loader {
    pub(super) list: fn(&Path, &Stop) -> Vec<SessionSummary>,
    pub(super) totals: fn(&Path, &Stop) -> Option<SessionTotals>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Loaded {
    /// The sessions of the directory.
    Sessions(Vec<SessionSummary>),
    /// The totals of one, by its path; `None` when they cannot be read.
    Totals(PathBuf, Option<Box<SessionTotals>>),
}

impl Loader {
    /// Lists the sessions of a directory.
    pub(super) fn list_work(self, dir: PathBuf) -> Work {
        Work {
            name: "list sessions",
            run: Box::new(move |stop| Box::new(Loaded::Sessions((self.list)(&dir, stop)))),
        }
    }

    /// Reads the totals of a session.
    pub(super) fn totals_work(self, path: PathBuf) -> Work {
        Work {
            name: "session totals",
            run: Box::new(move |stop| {
                let totals = (self.totals)(&path, stop).map(Box::new);
                Box::new(Loaded::Totals(path, totals))
            }),
        }
    }
}
