//! Names of places: what to open, said in terms that survive changes of the model.

use super::Naming;
use crate::model::{AgentId, Label, LogId, Query, Session};
use std::path::PathBuf;

/// A screen and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// The queries of the session.
    Overview,
    /// The transcript of a run.
    Run {
        /// Which.
        query: QueryKey,
        /// Where in it; its root's first step when not said.
        at: Option<Place>,
    },
    /// When each agent of a run worked.
    Timeline {
        /// Which.
        query: QueryKey,
    },
    /// The same for all runs, on one clock.
    SessionTimeline,
    /// What the session remembers.
    Memory {
        /// The entry to select.
        name: Option<String>,
    },
    /// The list of sessions.
    Picker,
    /// Damage and oddities.
    Problems,
    /// Matches in the whole session.
    SearchResults {
        /// What to search for; empty asks.
        pattern: String,
    },
    /// What to export, and how.
    Export {
        /// The run that is on screen, if one is.
        query: Option<QueryKey>,
    },
    /// What to compare a run with.
    DiffWith {
        /// Which.
        query: QueryKey,
    },
    /// Two runs, or two sessions, side by side.
    Diff(Sides),
    /// A run step by step, with its names as they were.
    Scrub {
        /// Which.
        query: QueryKey,
        /// After which step, as screens number them.
        step: Option<u64>,
    },
    /// A fork before a step of a run, or the fork that goes on.
    Fork {
        /// Which run.
        query: QueryKey,
        /// Before which step, as screens number it.
        step: u64,
    },
    /// All keys.
    Help,
    /// Actions by name.
    Palette,
    /// A name for a session.
    Naming {
        /// What it is for.
        naming: Naming,
        /// What was typed before, and could not be taken.
        typed: Option<String>,
    },
    /// A run goes on: whether to leave all the same.
    Leaving,
}

impl Route {
    /// Whether going to `other` from here means the same screen: `m` on the memory screen opens no second one.
    pub fn same_screen(&self, other: &Route) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Two runs of the session.
    Runs(QueryKey, QueryKey),
    /// The whole session with another one, by its directory.
    Session(PathBuf),
    /// A run of the session with what became of it in a branch, by its directory.
    Branch(QueryKey, PathBuf),
}

/// A place in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The agent.
    pub agent: AgentId,
    /// Index into its steps; `None` for the agent as a whole.
    pub step: Option<usize>,
}

/// A query by identity. Indices and the labels of runs without FINAL move while a session is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueryKey {
    /// Its label when it was named.
    pub label: Label,
    /// Its transcript, if it had one.
    pub log: Option<LogId>,
}

impl QueryKey {
    /// The key of a query.
    pub fn of(query: &Query) -> Self {
        Self {
            label: query.label,
            log: query.run.log,
        }
    }

    /// Its index now: by label and transcript, else by transcript, else by label. `None` when it is gone.
    pub fn index(&self, session: &Session) -> Option<usize> {
        let by = |fits: &dyn Fn(&Query) -> bool| session.queries.iter().position(fits);
        let same_log = |query: &Query| self.log.is_some() && query.run.log == self.log;
        by(&|query| query.label == self.label && (self.log.is_none() || same_log(query)))
            .or_else(|| by(&same_log))
            .or_else(|| by(&|query| query.label == self.label))
    }

    /// The query itself.
    pub fn find<'a>(&self, session: &'a Session) -> Option<&'a Query> {
        session.queries.get(self.index(session)?)
    }
}
