//! What is drawn: a row an agent with what it covers of the axis, made once a change of the model.

use super::cover::Cover;
use crate::model::timeline::{Activity, Axis, Row, SessionTimeline, Timeline, activity, worked_by};
use crate::model::{Agent, AgentId, Query, Session};
use crate::tui::screens::QueryKey;
use std::ops::Range;

/// A row, in positions of the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChartRow {
    /// Index into the session's queries.
    pub(super) query: usize,
    pub(super) agent: AgentId,
    pub(super) depth: u32,
    pub(super) steps: u64,
    /// From its first to its last sign; `None` when no instant was recorded.
    pub(super) span: Option<Range<u64>>,
    /// Milliseconds that it worked: as everywhere, without pauses of more than a minute.
    pub(super) duration: Option<u64>,
    pub(super) skewed: bool,
    pub(super) calls: Cover,
    pub(super) executions: Cover,
}

impl ChartRow {
    pub(super) fn of<'a>(&self, session: &'a Session) -> Option<(&'a Query, &'a Agent)> {
        let query = session.queries.get(self.query)?;
        Some((query, query.run.agent(self.agent)?))
    }
}

/// The rows and their axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chart {
    pub(super) rows: Vec<ChartRow>,
    pub(super) axis: Axis,
    /// Milliseconds that its runs took, as their cards say.
    pub(super) worked: u64,
    /// Runs that are drawn.
    pub(super) runs: usize,
    /// Runs without any instant.
    pub(super) timeless: usize,
    /// Groups of sub-agents that ran in parallel.
    pub(super) groups: usize,
    /// Agents in the largest of them.
    pub(super) largest_group: usize,
}

impl Chart {
    /// Of one run.
    pub(super) fn of_run(key: QueryKey, session: &Session) -> Self {
        let Some(index) = key.index(session) else {
            return Self::default();
        };
        let run = session.queries.get(index).map(|query| &query.run);
        let timeline = run.map(Timeline::of_run).unwrap_or_default();
        let axis = Axis::new(run.map(activity).unwrap_or_default());
        Self::new(vec![(index, timeline)], axis, session)
    }

    /// Of all runs of a session.
    pub(super) fn of_session(session: &Session) -> Self {
        let SessionTimeline { runs, axis } = SessionTimeline::of_session(session);
        let timeless = session.queries.len() - runs.len();
        Self {
            timeless,
            ..Self::new(runs, axis, session)
        }
    }

    fn new(runs: Vec<(usize, Timeline)>, axis: Axis, session: &Session) -> Self {
        let run = |query: usize| session.queries.get(query).map(|query| &query.run);
        let row = |query: usize, row: &Row| {
            chart_row(query, row, &axis, run(query).and_then(|run| worked_by(run, row.agent)))
        };
        let groups = || runs.iter().flat_map(|(_, timeline)| &timeline.groups);
        Self {
            runs: runs.len(),
            timeless: 0,
            groups: groups().count(),
            largest_group: groups().map(Vec::len).max().unwrap_or(0),
            rows: runs
                .iter()
                .flat_map(|(query, timeline)| timeline.rows.iter().map(|of| row(*query, of)))
                .collect(),
            worked: runs
                .iter()
                .filter_map(|(query, _)| Some(run(*query)?.worked))
                .fold(0, u64::saturating_add),
            axis,
        }
    }

    /// The row of an agent.
    pub(super) fn index_of(&self, query: usize, agent: AgentId) -> Option<usize> {
        self.rows
            .iter()
            .position(|row| (row.query, row.agent) == (query, agent))
    }
}

fn chart_row(query: usize, row: &Row, axis: &Axis, worked: Option<u64>) -> ChartRow {
    let cover = |activity: Activity| {
        let segments = row.segments.iter().filter(|segment| segment.activity == activity);
        Cover::new(
            segments
                .map(|segment| axis.position(segment.from)..axis.position(segment.to))
                .collect(),
        )
    };
    ChartRow {
        query,
        agent: row.agent,
        depth: row.depth,
        steps: row.steps,
        span: row.span.map(|(from, to)| axis.position(from)..axis.position(to)),
        duration: worked,
        skewed: row.skewed,
        calls: cover(Activity::Call),
        executions: cover(Activity::Exec),
    }
}
