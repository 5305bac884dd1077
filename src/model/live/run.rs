//! The reducer: a live run from its events. Late and odd events change nothing, or only what they name.

use super::{LiveEvent, LiveNews, LiveStep, Phase};
use crate::model::{Cost, CostSum, Time};
use std::collections::HashMap;

/// An agent that is alive, or whose end was not read from disk yet.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveAgent {
    /// Its id in transcripts.
    pub run_id: String,
    /// Its parent's.
    pub parent: Option<String>,
    /// What it was given to do, one line, cut. Raw.
    pub task: String,
    /// When it started.
    pub started: Time,
    /// It ended.
    pub ended: bool,
    /// It waits for a person.
    pub asks: bool,
    /// Steps that are not on disk yet, in order; at most the last one is in flight.
    pub steps: Vec<LiveStep>,
}

/// A run that is alive in this program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveRun {
    /// Its query's text, raw.
    pub query: String,
    /// When it was sent.
    pub began: Time,
    /// It goes on with a run that was pending.
    pub resumes: bool,
    /// The present, as last told.
    pub now: Time,
    /// Its agents, in the order in which they started.
    agents: Vec<LiveAgent>,
    places: HashMap<String, usize>,
    /// Tokens of finished calls.
    pub tokens: u64,
    /// Cost of finished calls.
    pub cost: CostSum,
}

impl LiveRun {
    /// A run that was just sent.
    pub fn begun(query: String, time: Time, resumes: bool) -> Self {
        Self {
            query,
            began: time,
            now: time,
            resumes,
            ..Self::default()
        }
    }

    /// Takes an event; says whether more changed than a text.
    pub fn apply(&mut self, event: LiveEvent) -> bool {
        match event {
            LiveEvent::Began { query, time, resumes } => *self = Self::begun(query, time, resumes),
            LiveEvent::Back(run) => *self = *run,
            LiveEvent::Now(now) => self.now = self.now.max(now),
            LiveEvent::Over => *self = Self::default(),
            LiveEvent::Agent {
                run_id,
                parent,
                time,
                news,
            } => {
                self.now = self.now.max(time);
                return self.take(&run_id, parent, time, news);
            }
        }
        true
    }

    fn take(&mut self, run_id: &str, parent: Option<String>, time: Time, news: LiveNews) -> bool {
        let text = news.is_text();
        if let LiveNews::Replied { usage, cost, .. } = &news {
            self.count(usage.map_or(0, |usage| usage.total), *cost);
        }
        let place = self.place_of(run_id, parent, time);
        if let Some(agent) = self.agents.get_mut(place) {
            agent.take(time, news);
        }
        !text
    }

    fn count(&mut self, tokens: u64, cost: Cost) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost.add(cost);
    }

    /// The place of the agent of that id; one that nobody heard of starts now.
    fn place_of(&mut self, run_id: &str, parent: Option<String>, time: Time) -> usize {
        if let Some(place) = self.places.get(run_id) {
            return *place;
        }
        self.agents.push(LiveAgent::new(run_id, parent, time));
        self.places.insert(run_id.to_owned(), self.agents.len() - 1);
        self.agents.len() - 1
    }

    /// All agents, in the order in which they started.
    pub fn agents(&self) -> &[LiveAgent] {
        &self.agents
    }

    /// An agent by its id in transcripts.
    pub fn agent(&self, run_id: &str) -> Option<&LiveAgent> {
        self.agents.get(*self.places.get(run_id)?)
    }

    /// The query's own agent, once it has started.
    pub fn root(&self) -> Option<&LiveAgent> {
        self.agents.iter().find(|agent| agent.parent.is_none())
    }

    /// A step that is not on disk yet.
    pub fn step(&self, run_id: &str, number: u64) -> Option<&LiveStep> {
        self.agent(run_id)?.steps.iter().find(|step| step.number == number)
    }

    /// What an agent is doing; `None` for one that is not known here.
    pub fn phase(&self, run_id: &str) -> Option<Phase> {
        let agent = self.agent(run_id)?;
        Some(match agent.phase() {
            Phase::Running => match self.children_of(run_id) {
                0 => Phase::Running,
                children => Phase::Awaiting(children),
            },
            phase => phase,
        })
    }

    /// Sub-agents that have not ended.
    pub fn helpers(&self) -> usize {
        let alive = self
            .agents
            .iter()
            .filter(|agent| agent.parent.is_some() && !agent.ended);
        alive.count()
    }

    fn children_of(&self, run_id: &str) -> usize {
        let alive = |agent: &&LiveAgent| !agent.ended && agent.parent.as_deref() == Some(run_id);
        self.agents.iter().filter(alive).count()
    }

    /// Forgets steps up to the number that the files have of an agent.
    pub(super) fn forget_kept(&mut self, run_id: &str, number: u64) {
        let agent = self.places.get(run_id).and_then(|place| self.agents.get_mut(*place));
        if let Some(agent) = agent {
            agent.steps.retain(|step| step.number > number);
        }
    }
}

impl LiveAgent {
    fn new(run_id: &str, parent: Option<String>, time: Time) -> Self {
        Self {
            run_id: run_id.to_owned(),
            parent,
            task: String::new(),
            started: time,
            ended: false,
            asks: false,
            steps: Vec::new(),
        }
    }

    /// What it is doing, but for its sub-agents.
    fn phase(&self) -> Phase {
        match self.in_flight() {
            _ if self.ended => Phase::Ended,
            _ if self.asks => Phase::Asking,
            None => Phase::Starting,
            Some(step) if step.replied.is_some() => Phase::Running,
            Some(_) => Phase::Calling,
        }
    }

    /// The step in flight.
    pub fn in_flight(&self) -> Option<&LiveStep> {
        self.steps.last().filter(|step| step.kept.is_none() && !self.ended)
    }

    fn last_mut(&mut self) -> Option<&mut LiveStep> {
        self.steps.last_mut().filter(|step| step.kept.is_none())
    }

    fn take(&mut self, time: Time, news: LiveNews) {
        match news {
            LiveNews::Started(task) => self.task = task,
            LiveNews::Calling(number) => self.begin(number, time),
            LiveNews::Asks(asks) => self.asks = asks,
            LiveNews::Ended => self.ended = true,
            LiveNews::Kept(number) => self.keep(number, time),
            LiveNews::Text(text) => self.with_last(|step| step.text.push(&text)),
            LiveNews::Reasoning(text) => self.with_last(|step| step.reasoning.push(&text)),
            LiveNews::Output(text) => self.with_last(|step| step.output.push(&text)),
            LiveNews::Replied { code, usage, cost } => self.with_last(|step| {
                step.replied = Some(time.max(step.called));
                (step.code, step.usage, step.cost) = (code, usage, cost);
            }),
        }
    }

    /// The call of a step begins; a retry of the same one starts its texts anew.
    fn begin(&mut self, number: u64, time: Time) {
        self.steps.retain(|step| step.number < number);
        self.steps.push(LiveStep::new(number, time));
    }

    fn keep(&mut self, number: u64, time: Time) {
        self.asks = false;
        if let Some(step) = self.steps.iter_mut().find(|step| step.number == number) {
            step.kept = Some(time);
            step.replied.get_or_insert(time);
        }
    }

    fn with_last(&mut self, change: impl FnOnce(&mut LiveStep)) {
        if let Some(step) = self.last_mut() {
            change(step);
        }
    }
}
