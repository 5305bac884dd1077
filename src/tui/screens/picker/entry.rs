//! A session in the list.

use crate::model::{Time, Totals};
use crate::source::{BadEnd, SessionSummary, SessionTotals};
use std::time::Duration;

/// A session and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) summary: SessionSummary,
    pub(super) known: Known,
    /// It changed since its totals were asked for.
    pub(super) stale: bool,
    /// They are read again not before this moment.
    pub(super) rests: Duration,
}

impl Entry {
    pub(super) fn new(summary: SessionSummary) -> Self {
        Self {
            summary,
            known: Known::Not,
            stale: false,
            rests: Duration::ZERO,
        }
    }

    /// The same session, as it is now; what was known of it is shown until it has been read again.
    pub(super) fn become_like(&mut self, summary: SessionSummary) {
        self.stale |= self.summary != summary;
        self.summary = summary;
    }

    /// Its totals are to be read.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        match self.known {
            Known::Not => true,
            Known::Asked | Known::Again(_) => false,
            Known::Nothing | Known::Totals(_) => self.stale && self.rests <= now,
        }
    }

    /// They are read from now on.
    pub(super) fn ask(&mut self) {
        self.stale = false;
        self.known = match std::mem::take(&mut self.known) {
            Known::Totals(totals) => Known::Again(totals),
            _ => Known::Asked,
        };
    }
}

/// Whether its totals are known: they take reading its transcripts.
#[derive(Clone, Debug, Default)]
pub(super) enum Known {
    /// Not yet.
    #[default]
    Not,
    /// They are being read.
    Asked,
    /// They cannot be read.
    Nothing,
    Totals(Box<SessionTotals>),
    /// They are being read again.
    Again(Box<SessionTotals>),
}

impl Known {
    fn totals(&self) -> Option<&SessionTotals> {
        match self {
            Self::Totals(totals) | Self::Again(totals) => Some(totals),
            Self::Not | Self::Asked | Self::Nothing => None,
        }
    }
}

impl Entry {
    /// Of completed queries and runs without FINAL, where they are known.
    pub(super) fn totals(&self) -> Option<Totals> {
        let totals = self.known.totals()?;
        let mut sum = totals.completed;
        sum.merge(&totals.lost);
        Some(sum)
    }

    /// Runs without FINAL, where they are known.
    pub(super) fn lost(&self) -> u64 {
        self.known.totals().map_or(0, |totals| totals.lost_runs)
    }

    /// When something was done in it: files can be newer, as copies are.
    pub(super) fn last_activity(&self) -> Option<Time> {
        let read = self.known.totals().and_then(|totals| totals.last_activity);
        read.or(self.summary.last_activity)
    }

    /// What was asked last, but for a query that is pending.
    pub(super) fn last_query(&self) -> Option<&str> {
        let unanswered = self.known.totals().and_then(|totals| totals.unanswered.as_deref());
        unanswered.or(self.summary.last_query.as_deref())
    }

    /// How its last run ended, where that is known and was badly.
    pub(super) fn last_end(&self) -> Option<BadEnd> {
        self.known.totals()?.last_end
    }
}

/// For tests: a healthy session of which only the name is known.
#[cfg(test)]
impl Entry {
    pub(super) fn named(name: &str) -> Self {
        let summary = SessionSummary {
            path: std::path::Path::new("/runs").join(name),
            name: name.into(),
            queries: 0,
            pending: None,
            waits: None,
            last_query: None,
            last_activity: None,
            parent: None,
            health: crate::source::Health::Good,
        };
        Self::new(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_its_transcripts_say_is_better_than_what_its_files_look_like() {
        let mut entry = Entry::named("copied");
        entry.summary.last_activity = Some(9);
        entry.summary.last_query = Some("answered".into());
        assert_eq!((entry.last_activity(), entry.last_query()), (Some(9), Some("answered")));
        let totals = SessionTotals {
            last_activity: Some(5),
            unanswered: Some("failed".into()),
            ..SessionTotals::default()
        };
        entry.known = Known::Totals(Box::new(totals));
        assert_eq!((entry.last_activity(), entry.last_query()), (Some(5), Some("failed")));
    }
}
