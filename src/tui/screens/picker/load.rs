//! Reading what the list shows, off the screen's thread.

use crate::source::{OpenOptions, SessionSummary, SessionTotals, list_stored, session_totals};
use crate::tui::effect::Work;
use std::path::PathBuf;

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Loaded {
    /// The sessions of the directory.
    Sessions(Vec<SessionSummary>),
    /// The totals of one, by its path; `None` when they cannot be read.
    Totals(PathBuf, Option<Box<SessionTotals>>),
}

/// Lists the sessions of a directory.
pub(super) fn list(dir: PathBuf) -> Work {
    Work {
        name: "list sessions",
        run: Box::new(move |stop| Box::new(Loaded::Sessions(list_stored(&dir, stop)))),
    }
}

/// Reads the totals of a session, from the cache where that may be used.
pub(super) fn totals(path: PathBuf, use_cache: bool) -> Work {
    let options = OpenOptions {
        use_cache,
        ..OpenOptions::default()
    };
    Work {
        name: "session totals",
        run: Box::new(move |stop| {
            let totals = session_totals(&path, &options, stop).map(Box::new);
            Box::new(Loaded::Totals(path, totals))
        }),
    }
}
