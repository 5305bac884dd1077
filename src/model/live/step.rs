//! A step in flight.

use super::Tail;
use crate::model::{Cost, Step, StepKind, Time, Timings, Usage};

/// What an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It starts: its Python, its probe.
    Starting,
    /// It waits for its model.
    Calling,
    /// Its code runs.
    Running,
    /// Its code waits for this many sub-agents.
    Awaiting(usize),
    /// Its code waits for a person.
    Asking,
    /// It ended.
    Ended,
}

/// How far the reply is that an agent waits for. Displays in the words of every screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallState {
    /// Nothing has come yet.
    #[default]
    Waits,
    /// Reasoning comes.
    Thinks,
    /// The reply itself comes.
    Writes,
}

impl std::fmt::Display for CallState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Waits => "waits for the model",
            Self::Thinks => "the model thinks",
            Self::Writes => "the model writes",
        })
    }
}

/// A step that is not on disk yet.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveStep {
    /// From 1.
    pub number: u64,
    /// When its model call began.
    pub called: Time,
    /// When the reply was there.
    pub replied: Option<Time>,
    /// When it was kept: it is on disk, and will be read any moment.
    pub kept: Option<Time>,
    /// The reply, as far as it came. Raw.
    pub text: Tail,
    /// The reasoning, as far as it came. Raw.
    pub reasoning: Tail,
    /// The code that runs; `None` before the reply, and for a reply without code. Raw.
    pub code: Option<String>,
    /// What was printed so far. Raw.
    pub output: Tail,
    /// What the call used, where that was reported.
    pub usage: Option<Usage>,
    /// What the call cost.
    pub cost: Cost,
}

impl LiveStep {
    pub(super) fn new(number: u64, called: Time) -> Self {
        Self {
            number,
            called,
            replied: None,
            kept: None,
            text: Tail::default(),
            reasoning: Tail::default(),
            code: None,
            output: Tail::default(),
            usage: None,
            cost: Cost::Unknown,
        }
    }

    /// How far its reply is.
    pub fn call_state(&self) -> CallState {
        match (self.text.is_empty(), self.reasoning.is_empty()) {
            (false, _) => CallState::Writes,
            (true, false) => CallState::Thinks,
            (true, true) => CallState::Waits,
        }
    }

    /// As a step of the tree: what was begun lasts until `now`.
    pub(super) fn as_step(&self, now: Time) -> Step {
        let until = self.kept.unwrap_or(now).max(self.called);
        let timings = Timings {
            call_start: Some(self.called),
            call_end: Some(self.replied.unwrap_or(until)),
            exec_start: self.replied,
            exec_end: self.replied.map(|replied| until.max(replied)),
        };
        Step {
            number: self.number,
            kind: match self.replied {
                Some(_) => StepKind::Reply,
                None => StepKind::InFlight,
            },
            again: 0,
            failed: false,
            executed: false,
            usage: self.usage.unwrap_or_default(),
            usage_known: self.usage.is_some(),
            cost: self.cost,
            timings,
            time: None,
            body: None,
            twin: None,
            code: self.code.clone(),
            children: Vec::new(),
        }
    }
}
