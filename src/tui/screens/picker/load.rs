//! Reading what the list shows, off the screen's thread.

use crate::source::{Listed, Listing, OpenOptions, SessionTotals, session_totals};
use crate::tui::effect::Work;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Loaded {
    /// The sessions of the directory, or what changed of them.
    Sessions(Listed),
    /// The totals of one, by its path, or why they cannot be read; `None` when nobody wants them any more. And how long that
    /// took.
    Totals(PathBuf, Result<Option<Box<SessionTotals>>, String>, Duration),
}

/// The listing of a directory, which a task has while it waits for changes.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    listing: Arc<Mutex<Listing>>,
    nudge: Sender<()>,
}

impl Follower {
    pub(super) fn of(dir: PathBuf) -> Self {
        let listing = Listing::of(dir);
        Self {
            nudge: listing.teller(),
            listing: Arc::new(Mutex::new(listing)),
        }
    }

    /// Has it look now.
    pub(super) fn nudge(&self) {
        // Nobody waits: it is looked at when somebody does.
        let _ = self.nudge.send(());
    }

    /// Waits for the next change; the first is that they are there.
    pub(super) fn next(&self) -> Work {
        let listing = self.listing.clone();
        Work {
            name: "follow sessions",
            run: Box::new(move |stop| {
                let mut listing = listing.lock().unwrap_or_else(PoisonError::into_inner);
                Box::new(listing.next(stop).map(Loaded::Sessions))
            }),
        }
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
            let since = Instant::now();
            let totals = session_totals(&path, &options, stop);
            let totals = totals
                .map(|totals| totals.map(Box::new))
                .map_err(|error| error.to_string());
            Box::new(Some(Loaded::Totals(path, totals, since.elapsed())))
        }),
    }
}
