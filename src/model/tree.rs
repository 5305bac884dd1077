//! The tree of a transcript's agents: parents by id, cycles broken, ordered by start. Nothing recurses: depth and
//! shape come from untrusted files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::findings::{Findings, quoted};
use super::gather::{Draft, gather};
use super::lines::LogLines;
use super::placement::place_children;
use super::{AgentId, LogId, Placement, Problem, ProblemKind, Run, Time};

/// Derives the run that a transcript holds, with everything odd about it.
pub(super) fn derive_run(id: LogId, log: &LogLines) -> (Run, Vec<Problem>) {
    let mut findings = Findings::of(id);
    let mut drafts = gather(log, &mut findings);
    let parents = link(&mut drafts, log, &mut findings);
    let parents = in_order(&mut drafts, &parents);
    let mut run = Run {
        log: Some(id),
        lines: log.lines().len() as u64,
        unreadable: log.read.unwrap_or(0),
        complete: log.read.is_some(),
        ..Run::default()
    };
    place_children(&mut run, drafts, parents, &mut findings);
    run.sum_up();
    (run, findings.finish())
}

/// Each agent's parent by index; orphans and members of broken cycles become roots.
fn link(drafts: &mut [Draft], log: &LogLines, findings: &mut Findings) -> Vec<Option<usize>> {
    let mut by_name = vec![None; log.names()];
    for (index, draft) in drafts.iter().enumerate() {
        if let Some(slot) = by_name.get_mut(draft.name as usize) {
            *slot = Some(index);
        }
    }
    let mut parents = Vec::with_capacity(drafts.len());
    for draft in drafts.iter_mut() {
        let parent = draft
            .parent
            .and_then(|name| by_name.get(name as usize).copied().flatten());
        if draft.parent.is_some() && parent.is_none() {
            orphan(draft, log, "its parent has no line in this transcript", findings);
        }
        parents.push(parent);
    }
    for index in cycle_heads(&parents) {
        if let (Some(parent), Some(draft)) = (parents.get_mut(index), drafts.get_mut(index)) {
            *parent = None;
            orphan(draft, log, "its ancestry is a cycle", findings);
        }
    }
    parents
}

fn orphan(draft: &mut Draft, log: &LogLines, why: &str, findings: &mut Findings) {
    draft.agent.orphan = true;
    draft.agent.parent_run_id = draft.parent.map(|parent| log.name(parent).to_owned());
    let (run_id, parent) = (
        &draft.agent.run_id,
        draft.agent.parent_run_id.as_deref().unwrap_or_default(),
    );
    findings.add(ProblemKind::Structure, None, || {
        format!(
            "agent {} (parent {}) is shown as a root: {why}",
            quoted(run_id),
            quoted(parent)
        )
    });
}

/// The first member of every cycle: where it is cut.
fn cycle_heads(parents: &[Option<usize>]) -> Vec<usize> {
    let mut walk_of = vec![0_usize; parents.len()];
    let mut heads = Vec::new();
    for start in 0..parents.len() {
        let mut at = Some(start);
        while let Some(index) = at {
            match walk_of.get_mut(index) {
                Some(walk) if *walk == 0 => *walk = start + 1,
                Some(walk) if *walk == start + 1 => {
                    heads.push(first_of_cycle(parents, index));
                    break;
                }
                _ => break,
            }
            at = parents.get(index).copied().flatten();
        }
    }
    heads
}

fn first_of_cycle(parents: &[Option<usize>], member: usize) -> usize {
    let (mut first, mut at) = (member, parents.get(member).copied().flatten());
    while let Some(index) = at.filter(|index| *index != member) {
        first = first.min(index);
        at = parents.get(index).copied().flatten();
    }
    first
}

/// Orders agents by their first sign of life, parents before children; each one's parent in that order. An agent
/// without any instant keeps its place after its parent, by line.
fn in_order(drafts: &mut [Draft], parents: &[Option<usize>]) -> Vec<Option<AgentId>> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); drafts.len()];
    let mut heap: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
    for (index, (draft, parent)) in drafts.iter().zip(parents).enumerate() {
        match parent.and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(index),
            None => heap.push(Reverse((draft.agent.started.unwrap_or(Time::MIN), index))),
        }
    }
    let mut places = vec![0_u32; drafts.len()];
    let mut order = Vec::with_capacity(drafts.len());
    let mut in_order = Vec::with_capacity(drafts.len());
    while let Some(Reverse((time, index))) = heap.pop() {
        if let Some(place) = places.get_mut(index) {
            *place = u32::try_from(order.len()).unwrap_or(u32::MAX);
        }
        for child in children.get(index).into_iter().flatten() {
            let started = drafts.get(*child).and_then(|child| child.agent.started);
            heap.push(Reverse((started.unwrap_or(time), *child)));
        }
        let parent = parents.get(index).copied().flatten();
        in_order.push(
            parent
                .and_then(|parent| places.get(parent))
                .map(|place| AgentId(*place)),
        );
        order.push(index);
    }
    arrange(drafts, order);
    in_order
}

/// Puts items into an order of their indices, each of which stands in it once, without room for a second copy of them.
fn arrange<T>(items: &mut [T], mut order: Vec<usize>) {
    for start in 0..items.len() {
        let mut at = start;
        // Along a cycle: what belongs here comes from there, where something else belongs in turn.
        while let Some(from) = order.get_mut(at).map(|from| std::mem::replace(from, at)) {
            if from == at || from == start {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

impl Run {
    /// Puts the query's own root first, the others in their order behind it; without one, all in order.
    pub(super) fn lead_with(&mut self, run_id: Option<&str>) {
        self.roots.sort();
        let own = run_id
            .and_then(|run_id| self.root_of(run_id))
            .and_then(|own| self.roots.iter().position(|id| *id == own));
        if let Some(head) = own.and_then(|own| self.roots.get_mut(..=own)) {
            head.rotate_right(1);
        }
    }

    /// The root with this id.
    pub fn root_of(&self, run_id: &str) -> Option<AgentId> {
        let is_it = |id: &AgentId| self.agent(*id).is_some_and(|agent| agent.run_id == run_id);
        self.roots.iter().copied().find(is_it)
    }

    /// Only the trees of the given roots, as a run of its own.
    pub(super) fn restricted(&self, keep: impl Fn(AgentId) -> bool) -> Self {
        let mut places: Vec<Option<AgentId>> = Vec::with_capacity(self.agents.len());
        let mut part = Self {
            log: self.log,
            lines: self.lines,
            unreadable: self.unreadable,
            complete: self.complete,
            ..Self::default()
        };
        for (index, agent) in self.agents.iter().enumerate() {
            let parent = agent.parent.and_then(|id| places.get(id.0 as usize).copied().flatten());
            let id = AgentId(u32::try_from(index).unwrap_or(u32::MAX));
            if parent.is_none() && !(agent.placement == Placement::Root && keep(id)) {
                places.push(None);
                continue;
            }
            let place = AgentId(u32::try_from(part.agents.len()).unwrap_or(u32::MAX));
            places.push(Some(place));
            part.agents.push(super::Agent {
                parent,
                ..agent.clone()
            });
            if parent.is_none() {
                part.roots.push(place);
            }
        }
        for step in part.agents.iter_mut().flat_map(|agent| &mut agent.steps) {
            let moved = step
                .children
                .iter()
                .filter_map(|id| places.get(id.0 as usize).copied().flatten());
            step.children = moved.collect();
        }
        part.sum_up();
        part
    }
}
