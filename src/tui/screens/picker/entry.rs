//! A session in the list.

use crate::model::{Time, Totals};
use crate::source::{BadEnd, SessionSummary, SessionTotals};

/// A session and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) summary: SessionSummary,
    pub(super) known: Known,
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
}

impl Entry {
    /// Of completed queries and runs without FINAL, where they are known.
    pub(super) fn totals(&self) -> Option<Totals> {
        match &self.known {
            Known::Totals(totals) => {
                let mut sum = totals.completed;
                sum.merge(&totals.lost);
                Some(sum)
            }
            Known::Not | Known::Asked | Known::Nothing => None,
        }
    }
}

impl Entry {
    /// Runs without FINAL, where they are known.
    pub(super) fn lost(&self) -> u64 {
        match &self.known {
            Known::Totals(totals) => totals.lost_runs,
            Known::Not | Known::Asked | Known::Nothing => 0,
        }
    }

    /// When something was done in it: files can be newer, as copies are.
    pub(super) fn last_activity(&self) -> Option<Time> {
        match &self.known {
            Known::Totals(totals) => totals.last_activity.or(self.summary.last_activity),
            Known::Not | Known::Asked | Known::Nothing => self.summary.last_activity,
        }
    }

    /// What was asked last, but for a query that is pending.
    pub(super) fn last_query(&self) -> Option<&str> {
        let unanswered = match &self.known {
            Known::Totals(totals) => totals.unanswered.as_deref(),
            Known::Not | Known::Asked | Known::Nothing => None,
        };
        unanswered.or(self.summary.last_query.as_deref())
    }

    /// How its last run ended, where that is known and was badly.
    pub(super) fn last_end(&self) -> Option<BadEnd> {
        match &self.known {
            Known::Totals(totals) => totals.last_end,
            Known::Not | Known::Asked | Known::Nothing => None,
        }
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
        Self {
            summary,
            known: Known::Not,
        }
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
