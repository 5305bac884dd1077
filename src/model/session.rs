//! The model of one session: raw facts as they arrived, and what is derived from them.

use super::raw::Raw;
use super::{Label, Lineage, LogFacts, Memory, Outcome, Problem, Query, SessionFacts, Totals};

/// A session, as far as it is known. Built by [`Session::apply`] and [`Session::settle`].
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
    /// Sum over runs without FINAL, a pending one included.
    pub lost: Totals,
    /// Every known transcript was read to its end.
    pub complete: bool,
    /// Where it comes from, and what branched off it.
    pub lineage: Lineage,
    /// What events said and is not derived from yet, or is needed to derive again.
    pub(super) raw: Raw,
}

impl Session {
    /// The query that can go on, as far as the session's files say: the last one, when it was interrupted. A record of
    /// which nothing else is left may be of any time.
    pub fn cut(&self) -> Option<&Query> {
        let is_last = |query: &&Query| query.label == Label::Pending || !query.run.agents.is_empty();
        let last = self
            .queries
            .last()
            .filter(|query| query.outcome == Outcome::Interrupted);
        last.filter(is_last)
    }

    /// Completed queries.
    pub fn completed_count(&self) -> usize {
        self.queries.iter().filter(|query| query.label.is_completed()).count()
    }
}
