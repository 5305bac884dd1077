//! Grafting a live run onto the run that was derived from disk, and taking it off again.

use super::{LiveAgent, LiveEvent, LiveRun, Phase};
use crate::model::gather::blank_agent;
use crate::model::{AgentId, Final, Label, Link, Outcome, Placement, Query, Run, Session, StepKind, Time};
use std::collections::HashMap;

/// What was grafted, so that it can be taken off.
#[derive(Clone, Debug)]
pub(in crate::model) struct Grafted {
    query: usize,
    /// The query as it was derived; `None` for one that no file speaks of yet.
    before: Option<Box<(Run, Outcome)>>,
}

impl Grafted {
    /// The query that is alive.
    pub(in crate::model) fn query(&self) -> usize {
        self.query
    }
}

impl Session {
    /// The run of this session that is alive in this program.
    pub fn live(&self) -> Option<&LiveRun> {
        self.raw.live.as_ref()
    }

    /// The live run, where `query` is the one that it answers.
    pub fn live_of(&self, query: &Query) -> Option<&LiveRun> {
        let index = self.raw.grafted.as_ref()?.query;
        let is_it = self.queries.get(index).is_some_and(|live| {
            std::ptr::eq(live, query) || (live.label == query.label && live.run.log == query.run.log)
        });
        self.live().filter(|_| is_it)
    }

    /// Takes the live run away, to be given back with [`LiveEvent::Back`]: the session is left while it goes on.
    pub fn leave_live(&mut self) -> Option<LiveRun> {
        self.take_graft_off();
        self.raw.changed = true;
        self.raw.live.take()
    }

    /// Takes an event of the live run. Texts that grow change nothing that is derived.
    pub(in crate::model) fn take_live(&mut self, event: LiveEvent) {
        match event {
            LiveEvent::Over => {
                self.raw.changed |= self.raw.live.take().is_some();
            }
            LiveEvent::Began { .. } | LiveEvent::Back(_) => {
                self.raw.live.get_or_insert_default().apply(event);
                self.raw.changed = true;
            }
            event => {
                if let Some(live) = &mut self.raw.live {
                    self.raw.changed |= live.apply(event);
                }
            }
        }
    }

    /// Takes off what was grafted: the queries are as they were derived.
    pub(in crate::model) fn take_graft_off(&mut self) {
        let Some(Grafted { query, before }) = self.raw.grafted.take() else {
            return;
        };
        match before {
            None => drop(self.queries.pop()),
            Some(before) => {
                if let Some(query) = self.queries.get_mut(query) {
                    (query.run, query.outcome) = *before;
                }
            }
        }
    }

    /// Grafts the live run onto its query; onto a new one while no file speaks of it.
    pub(in crate::model) fn graft(&mut self) {
        let Some(live) = &mut self.raw.live else { return };
        let on_disk = self.queries.last().is_some_and(|query| live.is_of(query));
        if !on_disk {
            self.queries.push(unwritten(live));
        }
        let index = self.queries.len() - 1;
        let Some(query) = self.queries.last_mut() else { return };
        let before = on_disk.then(|| Box::new((query.run.clone(), query.outcome.clone())));
        live.forget_what_is_in(&query.run);
        live.graft_onto(&mut query.run);
        if query.result == Final::Unset {
            let asks = live.agents().iter().any(|agent| agent.asks && !agent.ended);
            query.outcome = match asks {
                true => Outcome::Parked(String::new()),
                false => Outcome::Running,
            };
        }
        self.raw.grafted = Some(Grafted { query: index, before });
    }
}

/// A query that was sent a moment ago.
fn unwritten(live: &LiveRun) -> Query {
    Query {
        label: Label::Pending,
        text: live.query.clone(),
        text_cut: false,
        result: Final::Unset,
        outcome: Outcome::Running,
        link: Link::Unlinked,
        log_file: None,
        run_id: None,
        run: Run::default(),
        code: Vec::new(),
        started: Some(live.began),
    }
}

impl LiveRun {
    /// Whether this is the run of a query as the files have it.
    fn is_of(&self, query: &Query) -> bool {
        let recorded = query
            .run
            .root()
            .map(|root| root.run_id.as_str())
            .or(query.run_id.as_deref());
        match (self.root(), recorded) {
            _ if query.label != Label::Pending => false,
            (Some(root), Some(recorded)) => root.run_id == recorded,
            // Another run of before, that was interrupted, has a run id; this one has none yet.
            (None, Some(_)) => self.resumes,
            (_, None) => true,
        }
    }

    /// Steps that the files have are told by them.
    fn forget_what_is_in(&mut self, run: &Run) {
        for agent in &run.agents {
            if let Some(step) = agent.steps.last() {
                self.forget_kept(&agent.run_id, step.number);
            }
        }
    }

    fn graft_onto(&self, run: &mut Run) {
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, agent) in run.agents.iter().enumerate() {
            places.entry(agent.run_id.clone()).or_insert(place);
        }
        for live in self.agents() {
            let known = places.get(&live.run_id).copied();
            if known.is_none() && live.ended && live.steps.is_empty() {
                continue;
            }
            let place = known.unwrap_or_else(|| add_agent(run, live, &mut places));
            self.grow(run, place, live);
        }
        for live in self.agents() {
            hang(run, live, &places);
        }
        run.sum_up();
    }

    /// Adds its steps to an agent that is on disk or was just added, and lets it last until now.
    fn grow(&self, run: &mut Run, place: usize, live: &LiveAgent) {
        let Some(agent) = run.agents.get_mut(place) else { return };
        agent.steps.extend(live.steps.iter().map(|step| step.as_step(self.now)));
        if agent.task.is_empty() {
            agent.task.clone_from(&live.task);
        }
        agent.started.get_or_insert(live.started);
        if !live.ended {
            agent.ended = agent.ended.max(Some(self.now));
        }
    }
}

/// An agent that no file speaks of yet.
fn add_agent(run: &mut Run, live: &LiveAgent, places: &mut HashMap<String, usize>) -> usize {
    let place = run.agents.len();
    let parent = live.parent.as_ref().and_then(|parent| places.get(parent)).copied();
    let mut agent = blank_agent(&live.run_id);
    agent.started = Some(live.started);
    agent.ended = Some(live.started);
    agent.parent = parent.map(id);
    agent.depth = parent
        .and_then(|parent| run.agents.get(parent))
        .map_or(0, |parent| parent.depth.saturating_add(1));
    if parent.is_none() && live.parent.is_some() {
        (agent.orphan, agent.parent_run_id) = (true, live.parent.clone());
    }
    if parent.is_none() {
        run.roots.push(id(place));
    }
    run.agents.push(agent);
    places.insert(live.run_id.clone(), place);
    place
}

/// Hangs a sub-agent under the step in flight that spawned it: the files do not have that step yet, and would guess.
fn hang(run: &mut Run, live: &LiveAgent, places: &HashMap<String, usize>) {
    let Some(place) = places.get(&live.run_id).copied() else {
        return;
    };
    let Some((parent, old)) = run
        .agents
        .get(place)
        .and_then(|agent| Some((agent.parent?, agent.parent_step)))
    else {
        return;
    };
    let Some(holder) = run.agents.get_mut(parent.0 as usize) else {
        return;
    };
    let spawner = holder
        .steps
        .iter()
        .rposition(|step| spawned(step.timings.exec_start, step.kind, live.started));
    let Some(step) = spawner.or(holder.steps.len().checked_sub(1)) else {
        return;
    };
    if old == Some(step) {
        return;
    }
    if let Some(old) = old.and_then(|old| holder.steps.get_mut(old)) {
        old.children.retain(|child| *child != id(place));
    }
    if let Some(step) = holder.steps.get_mut(step) {
        step.children.push(id(place));
    }
    if let Some(agent) = run.agents.get_mut(place) {
        (agent.parent_step, agent.placement) = (Some(step), Placement::Timed);
    }
}

/// Whether a step's code ran already when an agent started.
fn spawned(exec_start: Option<Time>, kind: StepKind, started: Time) -> bool {
    kind == StepKind::Reply && exec_start.is_some_and(|from| from <= started)
}

fn id(place: usize) -> AgentId {
    AgentId(u32::try_from(place).unwrap_or(u32::MAX))
}

impl Phase {
    /// It still works.
    pub fn is_alive(self) -> bool {
        self != Self::Ended
    }
}
