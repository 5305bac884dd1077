//! Which step of its parent spawned a sub-agent: transcripts link them by time only.

use super::findings::{Findings, quoted};
use super::gather::Draft;
use super::{Agent, AgentId, Placement, ProblemKind, Run, Step, Time};

/// Intervals that are looked at backwards from the last one that starts in time. More overlap only when clocks lie.
const LOOKED_AT: usize = 8;

/// Moves ordered agents, whose parents are given, into the run and hangs each child under the step that spawned it.
pub(super) fn place_children(
    run: &mut Run,
    ordered: Vec<Draft>,
    parents: Vec<Option<AgentId>>,
    findings: &mut Findings,
) {
    let birth = |draft: &Draft| (draft.first_written.or(draft.agent.started), draft.first_offset);
    let births: Vec<_> = ordered.iter().map(birth).collect();
    // There may be very many: this takes the room that the drafts had.
    run.agents = ordered.into_iter().map(|draft| draft.agent).collect();
    for (agent, parent) in run.agents.iter_mut().zip(parents) {
        agent.parent = parent;
    }
    let indices: Vec<StepIndex> = step_indices(&run.agents);
    for (index, (time, offset)) in births.into_iter().enumerate() {
        let id = AgentId(u32::try_from(index).unwrap_or(u32::MAX));
        let Some(parent) = run.agents.get(index).and_then(|agent| agent.parent) else {
            run.roots.push(id);
            continue;
        };
        let (step, placement) = match indices.get(parent.0 as usize) {
            Some(steps) => steps.spawner(time, offset),
            None => (None, Placement::Guess),
        };
        attach(run, id, parent, step, placement, findings);
    }
}

fn attach(
    run: &mut Run,
    id: AgentId,
    parent: AgentId,
    step: Option<usize>,
    placement: Placement,
    findings: &mut Findings,
) {
    let Some(holder) = run.agents.get_mut(parent.0 as usize) else {
        return;
    };
    let (depth, started) = (holder.depth.saturating_add(1), holder.started);
    if let Some(step) = step.and_then(|step| holder.steps.get_mut(step)) {
        step.children.push(id);
    }
    if let Some(agent) = run.agents.get_mut(id.0 as usize) {
        (agent.depth, agent.parent_step, agent.placement) = (depth, step, placement);
        if started.zip(agent.started).is_some_and(|(parent, child)| child < parent) {
            findings.add(ProblemKind::Clock, None, || {
                format!("agent {} starts before its parent", quoted(&agent.run_id))
            });
        }
    }
}

/// One agent's steps, ready to be asked who spawned a child. Empty for agents without children.
#[derive(Default)]
struct StepIndex {
    /// Execution intervals with their step, by start.
    intervals: Vec<(Time, Time, usize)>,
    /// Offset of each step's line with its step, by offset.
    written: Vec<(u64, usize)>,
    /// The last step.
    last: Option<usize>,
}

fn step_indices(agents: &[Agent]) -> Vec<StepIndex> {
    let mut indices: Vec<StepIndex> = agents.iter().map(|_| StepIndex::default()).collect();
    let mut is_parent = vec![false; agents.len()];
    for parent in agents.iter().filter_map(|agent| agent.parent) {
        if let Some(flag) = is_parent.get_mut(parent.0 as usize) {
            *flag = true;
        }
    }
    for ((agent, index), is_parent) in agents.iter().zip(&mut indices).zip(is_parent) {
        if is_parent {
            *index = StepIndex::new(&agent.steps);
        }
    }
    indices
}

impl StepIndex {
    fn new(steps: &[Step]) -> Self {
        let mut index = Self {
            last: steps.len().checked_sub(1),
            ..Self::default()
        };
        for (at, step) in steps.iter().enumerate() {
            if let (Some(from), Some(to)) = (step.timings.exec_start, step.timings.exec_end) {
                index.intervals.push((from, to, at));
            }
            if let Some(body) = step.body {
                index.written.push((body.offset, at));
            }
        }
        index.intervals.sort_unstable();
        index.written.sort_unstable();
        index
    }

    /// The step that spawned a child whose first event has this time and this offset.
    fn spawner(&self, time: Option<Time>, offset: u64) -> (Option<usize>, Placement) {
        let next = self.written.partition_point(|(at, _)| *at < offset);
        let next = self.written.get(next).map(|(_, step)| *step);
        if let Some(step) = time.and_then(|time| self.running_at(time, next)) {
            return (Some(step), Placement::Timed);
        }
        match next {
            Some(step) => (Some(step), Placement::Order),
            None => (self.last, Placement::Guess),
        }
    }

    /// The step whose execution holds `time`. Where two touch at that instant, the one whose line was written next
    /// after the child's is meant, else the later.
    fn running_at(&self, time: Time, next: Option<usize>) -> Option<usize> {
        let started = self.intervals.partition_point(|(from, _, _)| *from <= time);
        let running = self.intervals.get(..started)?.iter().rev().take(LOOKED_AT);
        let mut holding = running.filter(|(_, to, _)| *to >= time).map(|(_, _, step)| *step);
        let latest = holding.next()?;
        Some(next.filter(|next| holding.any(|step| step == *next)).unwrap_or(latest))
    }
}
