//! An agent's side that its host calls share with it: the conversation so far, leaf calls under way, and a
//! question that nobody is there to answer.

use super::calls::Calls;
use crate::engine::journal::Tape;
use crate::engine::person::Question;
use crate::engine::questions::Questions;
use crate::provider::Message;
use crate::repl::ToolInfo;
use crate::store::payload::{LeafCall, ModelCall};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Shared between an agent and its host.
#[derive(Debug, Default)]
pub(super) struct Talk {
    state: Mutex<State>,
    parked: Notify,
    /// Leaf calls under way.
    pub(super) calls: Calls,
}

#[derive(Debug, Default)]
struct State {
    messages: Vec<Message>,
    /// A sub-agent's guard questions; the root's are in the log.
    guard_calls: Vec<ModelCall>,
    tools: Vec<String>,
    parked: Option<Question>,
    /// The step in flight parks with a question that it has asked: no other one waits then.
    parks: bool,
    /// Numbers of the questions asked in the step in flight.
    asked: BTreeSet<u32>,
    /// Tools that the step in flight let appear.
    shown: Vec<String>,
    /// Python tools that run.
    tool_calls: Vec<LeafCall>,
    /// What a parked step got before it parked, while it runs again.
    tape: Option<Arc<Tape>>,
}

impl Talk {
    pub(super) fn push(&self, message: Message) {
        self.with(|state| state.messages.push(message));
    }

    pub(super) fn messages(&self) -> Vec<Message> {
        self.with(|state| state.messages.clone())
    }

    pub(super) fn know_tools(&self, tools: &[ToolInfo]) {
        self.with(|state| state.tools = tools.iter().map(|tool| tool.name.clone()).collect());
    }

    pub(super) fn tools(&self) -> Vec<String> {
        self.with(|state| state.tools.clone())
    }

    /// Keeps a sub-agent's guard question.
    pub(super) fn keep_guard_call(&self, call: ModelCall) {
        self.with(|state| state.guard_calls.push(call));
    }

    pub(super) fn take_guard_calls(&self) -> Vec<ModelCall> {
        self.with(|state| std::mem::take(&mut state.guard_calls))
    }

    /// A step begins: with the tape of its first attempt, if it was parked.
    pub(super) fn begin_step(&self, tape: Option<Arc<Tape>>) {
        self.with(|state| {
            state.asked.clear();
            state.parks = false;
            state.tool_calls.clear();
            state.tape = tape;
        });
    }

    /// These tools are there from now on.
    pub(super) fn show_tools(&self, names: Vec<String>) {
        self.with(|state| state.shown.extend(names));
    }

    /// Tools that appeared since this was asked last.
    pub(super) fn take_shown(&self) -> Vec<String> {
        self.with(|state| std::mem::take(&mut state.shown))
    }

    /// A Python tool begins to run.
    pub(super) fn tool_begins(&self, cell: LeafCall) {
        self.with(|state| state.tool_calls.push(cell));
    }

    /// The first tool that runs with this input has ended.
    pub(super) fn tool_ended(&self, call: &str, input: &Value) -> Option<LeafCall> {
        self.with(|state| {
            let is_it = |cell: &LeafCall| cell.call == call && cell.shown_input.as_ref() == Some(input);
            let at = state.tool_calls.iter().position(is_it)?;
            Some(state.tool_calls.remove(at))
        })
    }

    /// Tools that have not ended.
    pub(super) fn take_tool_calls(&self) -> Vec<LeafCall> {
        self.with(|state| std::mem::take(&mut state.tool_calls))
    }

    pub(super) fn tape(&self) -> Option<Arc<Tape>> {
        self.with(|state| state.tape.clone())
    }

    /// The number of a question that the step asks now.
    pub(super) fn number_of(&self, question: &str) -> u32 {
        self.with(|state| {
            let none = Questions::default();
            let before = state.tape.as_ref().map_or(&none, |tape| tape.questions());
            let number = before.number(question, &state.asked);
            state.asked.insert(number);
            number
        })
    }

    /// Whether the step is to park with this question: one at a time waits, whatever else was asked at once.
    pub(super) fn begins_to_park(&self) -> bool {
        self.with(|state| !std::mem::replace(&mut state.parks, true))
    }

    /// Parks the step: its agent gives it up.
    pub(super) fn park(&self, question: Question) {
        self.with(|state| state.parked = Some(question));
        self.parked.notify_one();
    }

    /// Resolves when the step is parked, with its question.
    pub(super) async fn parked(&self) -> Question {
        loop {
            if let Some(question) = self.with(|state| state.parked.take()) {
                return question;
            }
            self.parked.notified().await;
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
