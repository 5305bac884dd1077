//! When things happened: the rows of a gantt chart, for one run or for a whole session on one folded wall clock.
//! Pure data; screens scale and draw it.

mod axis;
mod worked;

pub use axis::{Axis, Break, SessionTimeline};
pub use worked::{activity, worked, worked_by};

use super::{Agent, AgentId, Run, Time};

/// What an agent did in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Waited for its model.
    Call,
    /// Ran code (and waited for the sub-agents that the code called).
    Exec,
}

/// A stretch of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Index into the agent's `steps`.
    pub step: usize,
    /// What it was.
    pub activity: Activity,
    /// Its start.
    pub from: Time,
    /// Its end; never before its start.
    pub to: Time,
}

/// One agent's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whose.
    pub agent: AgentId,
    /// For the colour.
    pub depth: u32,
    /// Steps, the probe not counted.
    pub steps: u64,
    /// First and last sign of it; `None` when no instant was recorded.
    pub span: Option<(Time, Time)>,
    /// In the order of its steps.
    pub segments: Vec<Segment>,
    /// Some end lies before its start, or a step before the one before it, or the agent starts before its parent, or an instant is years away from the
    /// run; drawn as length 0, or at the run's edge, and marked.
    pub skewed: bool,
}

/// The rows of one run, in the order of its agents.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Timeline {
    /// A row an agent.
    pub rows: Vec<Row>,
    /// First and last instant.
    pub span: Option<(Time, Time)>,
    /// Groups of sub-agents that one step spawned and that ran at the same time, each of two at least.
    pub groups: Vec<Vec<AgentId>>,
}

impl Timeline {
    /// The timeline of a run.
    pub fn of_run(run: &Run) -> Self {
        let rows: Vec<Row> = (0..)
            .zip(&run.agents)
            .map(|(id, agent)| row(run, AgentId(id), agent))
            .collect();
        Self {
            rows,
            span: run.span,
            groups: groups(run),
        }
    }
}

/// Milliseconds from one instant to another; 0 when they lie the wrong way round.
pub fn length(from: Time, to: Time) -> u64 {
    u64::try_from(i128::from(to) - i128::from(from)).unwrap_or(0)
}

fn row(run: &Run, id: AgentId, agent: &Agent) -> Row {
    let mut segments = Vec::new();
    let parent = agent.parent.and_then(|parent| run.agent(parent));
    let before_parent = |parent: &Agent| {
        parent
            .started
            .zip(agent.started)
            .is_some_and(|(parent, child)| child < parent)
    };
    let mut skewed = agent.backwards || parent.is_some_and(before_parent);
    let hold = |time: Time| run.span.map_or(time, |(first, last)| time.min(last).max(first));
    for (step, timings) in agent.steps.iter().map(|step| step.timings).enumerate() {
        // A call without a recorded end lasts until its code runs.
        let call = (timings.call_start, timings.call_end.or(timings.exec_start));
        for (activity, (from, to)) in [
            (Activity::Call, call),
            (Activity::Exec, (timings.exec_start, timings.exec_end)),
        ] {
            let Some(from) = from else { continue };
            let to = to.unwrap_or(from);
            skewed |= to < from || hold(from) != from || hold(to) != to;
            let (from, to) = (hold(from), hold(to));
            segments.push(Segment {
                step,
                activity,
                from,
                to: to.max(from),
            });
        }
    }
    Row {
        agent: id,
        depth: agent.depth,
        steps: agent.own_steps(),
        span: agent.started.zip(agent.ended),
        segments,
        skewed,
    }
}

/// Sub-agents of one step whose spans overlap, step by step.
fn groups(run: &Run) -> Vec<Vec<AgentId>> {
    let steps = run.agents.iter().flat_map(|agent| &agent.steps);
    steps
        .filter(|step| step.children.len() > 1)
        .flat_map(|step| overlapping(run, &step.children))
        .collect()
}

fn overlapping(run: &Run, children: &[AgentId]) -> Vec<Vec<AgentId>> {
    let span = |id: &AgentId| {
        run.agent(*id)
            .and_then(|agent| Some((agent.started?, agent.ended?, *id)))
    };
    let mut spans: Vec<(Time, Time, AgentId)> = children.iter().filter_map(span).collect();
    spans.sort_unstable();
    let mut groups: Vec<(Time, Vec<AgentId>)> = Vec::new();
    for (from, to, id) in spans {
        match groups.last_mut() {
            Some((end, group)) if from < *end => {
                *end = to.max(*end);
                group.push(id);
            }
            _ => groups.push((to, vec![id])),
        }
    }
    groups
        .into_iter()
        .map(|(_, group)| group)
        .filter(|group| group.len() > 1)
        .collect()
}

#[cfg(test)]
mod tests;
