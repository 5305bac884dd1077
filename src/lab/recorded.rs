//! A session's turns as the log has them: what was asked, each step with its leaf calls, how it ended.

use super::reading::Reading;
use super::rows::Place;
use crate::engine::{CLOCK, Questions, TOOLS};
use crate::store::payload::{
    Asked, CellOutcome, Custom, ForkedFrom, LeafCall, Message, ModelCall, StepEnded, StepStarted, SubAgent, TurnEnded,
    TurnStarted,
};
use crate::store::{Digest, Fact, Store, StoreError};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Name of the cells of questions that somebody was there to answer.
pub(super) const ASK: &str = "ask";

/// A tool as a turn's root had it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct RecordedTool {
    /// Its name.
    pub name: String,
    /// Its signature.
    pub signature: String,
    /// Its docstring.
    pub doc: Option<String>,
    /// It has to be awaited.
    pub is_async: bool,
    /// The host ran it.
    pub host: bool,
}

/// A step of a turn's root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedStep {
    /// The reply that it came from; `None` where the log lost it.
    pub call: Option<ModelCall>,
    /// Place of the reply in the log.
    pub call_seq: Option<u64>,
    /// Its code, empty where the reply had none; `None` where the log lost it.
    pub code: Option<String>,
    /// Digest of the program that the code is, comments and layout left out.
    pub tree: Option<Digest>,
    /// The root's leaf calls, in the order of starting.
    pub cells: Vec<LeafCall>,
    /// Leaf calls of sub-agents.
    pub nested: Vec<LeafCall>,
    /// Leaf calls of the root that were under way when it was stopped or parked.
    pub stopped: Vec<LeafCall>,
    /// Sub-agents that ended, at any depth.
    pub agents: Vec<SubAgent>,
    /// What the clocks showed.
    pub clock: Vec<u64>,
    /// Questions that parked it, by number.
    pub asked: BTreeMap<u32, Asked>,
    /// Answers to them, by number.
    pub answers: BTreeMap<u32, String>,
    /// What came of it; `None` while it runs, or where it was cut.
    pub ended: Option<StepEnded>,
    /// Place of its end in the log.
    pub end_seq: Option<u64>,
}

/// A turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedTurn {
    /// 0-based.
    pub number: u32,
    /// Place of its start in the log.
    pub start_seq: u64,
    /// When it began, unix milliseconds.
    pub start: i64,
    /// Query, models, settings.
    pub started: TurnStarted,
    /// The root's tools.
    pub tools: Vec<RecordedTool>,
    /// Its steps.
    pub steps: Vec<RecordedStep>,
    /// Guard questions of the root.
    pub guards: Vec<ModelCall>,
    /// Calls of the root that gave no reply, and are billed all the same.
    pub unanswered: Vec<ModelCall>,
    /// FINAL.
    pub result: Option<Value>,
    /// How it ended; `None` while it is pending.
    pub ended: Option<TurnEnded>,
    /// When it ended, unix milliseconds.
    pub end: Option<i64>,
}

/// All turns of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The session.
    pub session: String,
    /// Its turns, in order.
    pub turns: Vec<RecordedTurn>,
    /// What it branched off.
    pub forked_from: Option<ForkedFrom>,
}

impl Recording {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn read(store: &Store, session: &str) -> Result<Self, StoreError> {
        Reading::WHOLE.read(store, session)
    }

    pub(super) fn of(session: &str) -> Self {
        Self {
            session: session.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn sort(&mut self) {
        let steps = self.turns.iter_mut().flat_map(|turn| &mut turn.steps);
        steps.for_each(|step| step.cells.sort_by_key(|cell| cell.number));
    }

    /// Takes an event; those of a session come in order.
    pub(super) fn take(&mut self, row: &Place, fact: Fact) {
        if let Fact::ForkedFrom(from) = &fact {
            self.forked_from = Some(from.clone());
        }
        let Some(number) = row.turn else { return };
        if self.turns.last().is_none_or(|turn| turn.number < number) {
            self.turns.push(RecordedTurn {
                number,
                start_seq: row.stream_seq,
                start: row.time,
                ..RecordedTurn::default()
            });
        }
        // From behind: it is the last one, but in a damaged log.
        if let Some(turn) = self.turns.iter_mut().rfind(|turn| turn.number == number) {
            turn.take(row, fact);
        }
    }
}

impl RecordedTurn {
    fn take(&mut self, row: &Place, fact: Fact) {
        if let Some(step) = row.step {
            return self.take_step(step, row, fact);
        }
        match fact {
            Fact::TurnStarted(started) => self.started = started,
            Fact::ModelCall(call) => self.unanswered.push(call),
            Fact::Final(result) => self.result = Some(result.value),
            Fact::TurnEnded(ended) => {
                self.ended = Some(ended);
                self.end = Some(row.time);
            }
            Fact::Custom(Custom { name, data }) if name == TOOLS => {
                self.tools = serde_json::from_value(data).unwrap_or_default();
            }
            _ => {}
        }
    }

    fn take_step(&mut self, number: u32, row: &Place, fact: Fact) {
        if let Fact::ModelCall(call) = fact {
            match call.guard {
                true => self.guards.push(call),
                false => {
                    let step = self.step(number);
                    step.call = Some(call);
                    step.call_seq = Some(row.stream_seq);
                }
            }
            return;
        }
        let of_root = |cell: &LeafCall| cell.run_id == self.started.run_id;
        let nested = matches!(&fact, Fact::LeafCall(cell) if !of_root(cell));
        let step = self.step(number);
        match fact {
            Fact::StepStarted(StepStarted { code, tree_digest, .. }) => {
                step.code = Some(code);
                step.tree = tree_digest;
            }
            Fact::LeafCall(cell) if nested => step.nested.push(cell),
            Fact::LeafCall(cell) if cell.call == CLOCK => step.clock = readings(cell),
            Fact::LeafCall(cell) if cell.outcome == CellOutcome::Stopped => step.stopped.push(cell),
            Fact::LeafCall(cell) => step.cells.push(cell),
            Fact::SubAgent(agent) => step.agents.push(agent),
            Fact::Asked(asked) => drop(step.asked.insert(asked.number, asked)),
            Fact::Answered(answered) => drop(step.answers.insert(answered.number, answered.into_text())),
            Fact::StepEnded(ended) => {
                step.ended = Some(ended);
                step.end_seq = Some(row.stream_seq);
            }
            _ => {}
        }
    }

    fn step(&mut self, number: u32) -> &mut RecordedStep {
        let at = number as usize;
        // Numbers come from the log, which may be damaged: a far one must not make a table of that length.
        let at = at.min(self.steps.len());
        if at == self.steps.len() {
            self.steps.push(RecordedStep::default());
        }
        let last = self.steps.len() - 1;
        #[allow(clippy::indexing_slicing, reason = "a step was just made sure of")]
        &mut self.steps[at.min(last)]
    }

    /// Steps that ended.
    pub fn completed(&self) -> usize {
        self.steps.iter().filter(|step| step.ended.is_some()).count()
    }

    /// The query as text.
    pub fn query(&self) -> String {
        match &self.started.query {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl RecordedStep {
    /// Messages that the model was told since the reply before.
    pub fn told(&self) -> &[Message] {
        self.call.as_ref().map(|call| call.added.as_slice()).unwrap_or_default()
    }

    /// The root's leaf calls but those of this name.
    pub(super) fn calls_but(&self, name: &str) -> Vec<&LeafCall> {
        self.cells.iter().filter(|cell| cell.call != name).collect()
    }

    /// What it asked and waited for, with the answers.
    pub(super) fn questions(&self) -> Questions {
        let asked = self
            .asked
            .iter()
            .map(|(number, asked)| (*number, asked.question.clone()));
        Questions::new(asked.collect(), self.answers.clone())
    }

    /// What its questions got, in the order of asking: from somebody who was there, or later.
    pub(super) fn answers_in_order(&self) -> Vec<String> {
        let mut given = self.cells.iter().filter(|cell| cell.call == ASK);
        let questions = given.clone().count() + self.answers.len();
        let numbers = 0..u32::try_from(questions).unwrap_or(u32::MAX);
        let answer = |number| match self.answers.get(&number) {
            Some(text) => Some(Value::from(text.as_str()).to_string()),
            None => given.next().map(|cell| cell.outcome.to_string()),
        };
        numbers.filter_map(answer).collect()
    }
}

fn readings(cell: LeafCall) -> Vec<u64> {
    match cell.outcome {
        CellOutcome::Returned(value) => serde_json::from_value(value).unwrap_or_default(),
        _ => Vec::new(),
    }
}
