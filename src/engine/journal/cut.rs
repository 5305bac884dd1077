//! Turns that were cut: by a crash, or where a fork branched off. What it takes to go on with one.

use super::numbers::Numbers;
use super::{CLOCK, CONVERSATION, Journal, Tape, TurnSettings, TurnSpent};
use crate::engine::questions::Questions;
use crate::provider::Message;
use crate::store::payload::{Custom, LeafCall, Message as Recorded, ModelCall, StepEnded, TurnStarted};
use crate::store::{Fact, Select, SessionWriter, Store, StoreError, StoredEvent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Messages that the reply of a step answers.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Pending {
    /// 0-based.
    pub(crate) step: u32,
    pub(crate) messages: Vec<Recorded>,
}

/// A turn without an end of its own.
#[derive(Debug, Default)]
pub(in crate::engine) struct CutTurn {
    pub(in crate::engine) turn: u32,
    pub(in crate::engine) started: TurnStarted,
    /// The root's calls so far.
    pub(in crate::engine) calls: Vec<ModelCall>,
    /// Questions about delegations that the step in flight asked.
    pub(in crate::engine) guards: Vec<ModelCall>,
    /// The root's calls that came to nothing.
    pub(in crate::engine) unanswered: Vec<ModelCall>,
    /// Completed steps, the last one with what came of it.
    ended: Vec<StepEnded>,
    cells: BTreeMap<u32, Vec<LeafCall>>,
    questions: BTreeMap<u32, Questions>,
    numbers: Numbers,
    pub(in crate::engine) spent: TurnSpent,
    /// What the next reply answers, where that is known.
    pending: Option<Pending>,
}

impl CutTurn {
    /// Steps that were completed.
    pub(in crate::engine) fn completed(&self) -> u32 {
        u32::try_from(self.ended.len()).unwrap_or(u32::MAX)
    }

    /// A step has begun that did not end.
    pub(in crate::engine) fn in_flight(&self) -> bool {
        self.calls.len() > self.ended.len()
    }

    /// The conversation so far, and how many messages of it no call has in the log.
    pub(in crate::engine) fn messages(&self) -> (Vec<Message>, usize) {
        let mut messages = Vec::new();
        for call in &self.calls {
            messages.extend(call.added.iter().map(message));
            messages.push(Message::assistant(call.reply.as_str()));
        }
        let next = match (&self.pending, self.ended.last()) {
            _ if self.in_flight() => Vec::new(),
            (Some(pending), _) if pending.step == self.completed() => pending.messages.iter().map(message).collect(),
            (_, Some(ended)) => vec![Message::user(format!("Output:\n{}", ended.output))],
            (_, None) => Vec::new(),
        };
        let unlogged = next.len();
        messages.extend(next);
        (messages, unlogged)
    }

    /// What the step in flight got before it was cut.
    pub(in crate::engine) fn tape(&self) -> Tape {
        let step = self.completed();
        let cells = self.cells.get(&step).cloned().unwrap_or_default();
        Tape::new(cells, self.questions.get(&step).cloned().unwrap_or_default(), false)
    }

    /// The log of the turn as it goes on.
    pub(in crate::engine) fn journal(&self, writer: SessionWriter) -> Result<Journal, StoreError> {
        let settings = TurnSettings {
            attempt: writer.row()?.events,
            ..TurnSettings::of(&self.started)
        };
        let step = self.completed();
        let mut journal = Journal::at(writer, self.turn, step, settings);
        self.numbers.go_on(step, &mut journal);
        Ok(journal)
    }

    fn take(&mut self, event: StoredEvent) {
        self.spent.take(&event);
        self.numbers.take(&event);
        let step = event.step.unwrap_or_default();
        match event.fact {
            Fact::TurnStarted(started) => self.started = started,
            Fact::ModelCall(call) if call.is_reply() => {
                self.calls.push(call);
                self.guards.clear();
            }
            Fact::ModelCall(call) if call.guard => self.guards.push(call),
            Fact::ModelCall(call) => self.unanswered.push(call),
            Fact::StepEnded(ended) => self.ended.push(ended),
            Fact::LeafCall(cell) if cell.run_id == self.started.run_id && cell.call != CLOCK => {
                self.cells.entry(step).or_default().push(cell);
            }
            Fact::Asked(asked) => self.questions.entry(step).or_default().ask(asked),
            Fact::Answered(answered) => self.questions.entry(step).or_default().answered(answered),
            Fact::Custom(Custom { name, data }) if name == CONVERSATION => {
                self.pending = serde_json::from_value(data).ok();
            }
            _ => {}
        }
    }
}

fn message(recorded: &Recorded) -> Message {
    match recorded.role.as_str() {
        "assistant" => Message::assistant(recorded.text.as_str()),
        _ => Message::user(recorded.text.as_str()),
    }
}

/// The turn as the log has it.
pub(in crate::engine) fn load_cut(store: &Store, session: &str, turn: u32) -> Result<CutTurn, StoreError> {
    let events = store.events.read_all(session, &Select::turn(turn))?.events;
    let mut cut = CutTurn {
        turn,
        ..CutTurn::default()
    };
    events.into_iter().for_each(|event| cut.take(event));
    Ok(cut)
}
