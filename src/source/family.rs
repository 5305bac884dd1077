//! When a session's family is looked up again: somebody said that it changed, or the event log did, in which any process
//! writes down what it branches off.

use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::model::{Event, Lineage, TargetKind};
use crate::store::EVENTS_FILE;

use super::Source;
use super::lineage::lineage;
use super::session::Stamp;

/// Runs write to the log all the time: their events are no reason to look more often than this.
const PACE: Duration = Duration::from_secs(1);

/// A session's family as it was last told.
#[derive(Debug, Default)]
pub(super) struct Family {
    told: Lineage,
    is_known: bool,
    /// The logs as they were before it was looked up, and when that was.
    seen: Vec<Stamp>,
    looked: Option<Instant>,
    /// A log changed since then.
    is_due: bool,
}

impl Family {
    /// Whether it is to be looked up now that its logs are like this, which is noted as done.
    fn begin_look(&mut self, seen: Vec<Stamp>) -> bool {
        self.is_due = self.is_known && self.seen != seen;
        let wait = self.looked.is_some_and(|looked| looked.elapsed() < PACE);
        if self.is_known && (wait || !self.is_due) {
            return false;
        }
        *self = Self {
            told: std::mem::take(&mut self.told),
            is_known: true,
            seen,
            looked: Some(Instant::now()),
            is_due: false,
        };
        true
    }
}

impl Source {
    /// A branch was made of it: has [`Source::follow`] look its family up again.
    pub fn family_changed(&self) {
        self.family().is_known = false;
        self.nudge();
    }

    /// Whether its log is to be looked into: it may have changed since that was last done. Counts as done then.
    pub(super) fn begin_look(&self) -> bool {
        self.kind() == TargetKind::Session && self.family().begin_look(store_stamps(self.dir()))
    }

    /// Its family, when it is another one than was told last.
    pub(super) fn new_lineage(&self) -> Option<Event> {
        // Without the lock, which the screen may want. A log that cannot be read is told where it is needed.
        let found = lineage(self.dir()).unwrap_or_default();
        let mut family = self.family();
        let is_new = found != family.told && !(found.is_empty() && family.told.is_empty());
        family.told.clone_from(&found);
        is_new.then_some(Event::Lineage(found))
    }

    /// How long a change of the log may wait.
    pub(super) fn family_due(&self) -> Option<Duration> {
        let family = self.family();
        let looked = family.looked.filter(|_| family.is_due)?;
        Some(PACE.saturating_sub(looked.elapsed()))
    }

    fn family(&self) -> MutexGuard<'_, Family> {
        self.0.family.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The directory beside the session that holds its event log, where there is one and the session has none of its own.
pub(super) fn log_beside(dir: &Path) -> Option<PathBuf> {
    if dir.join(EVENTS_FILE).is_file() {
        return None;
    }
    let parent = dir.canonicalize().ok()?.parent()?.to_owned();
    parent.join(EVENTS_FILE).is_file().then_some(parent)
}

/// The files of the logs in which the session may be, in it and beside it. A log that is read may get an empty journal
/// for so long: that is as good as none.
pub(super) fn store_stamps(dir: &Path) -> Vec<Stamp> {
    let places = [Some(dir.to_owned()), log_beside(dir)];
    let files = places.iter().flatten().flat_map(|place| {
        let journal = place.join(format!("{EVENTS_FILE}-wal"));
        [place.join(EVENTS_FILE), journal]
    });
    files.map(|file| Stamp::of_filled(&file)).collect()
}
