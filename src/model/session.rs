//! The model of one session: raw facts as they arrived, and what is derived from them.

use super::{Event, LogFacts, Memory, Problem, Query, SessionFacts, Totals};

/// A session, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Facts of the whole.
    pub facts: SessionFacts,
    /// Every run in its place in time: completed queries in ledger order, runs without FINAL between them, a pending
    /// one last.
    pub queries: Vec<Query>,
    /// What it remembers.
    pub memory: Memory,
    /// Transcripts, by [`LogId`](super::LogId).
    pub logs: Vec<LogFacts>,
    /// Problems, sorted.
    pub problems: Vec<Problem>,
    /// Sum over completed queries.
    pub completed: Totals,
    /// Sum over runs without FINAL.
    pub lost: Totals,
    /// Every known transcript was read to its end.
    pub complete: bool,
}

impl Session {
    /// Takes one event. Derived fields are stale until [`Session::settle`].
    pub fn apply(&mut self, event: Event) {
        let _ = event;
    }

    /// Derives everything that screens show from what was applied; work is proportional to what changed.
    pub fn settle(&mut self) {}

    /// Completed queries.
    pub fn completed_count(&self) -> usize {
        self.queries
            .iter()
            .filter(|q| matches!(q.label, super::Label::Completed(_)))
            .count()
    }
}
