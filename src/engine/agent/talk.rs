//! An agent's side that its host calls share with it: the conversation so far, and what guard calls used.

use crate::disk::transcript_writer::UsageRecord;
use crate::engine::run::usage_record;
use crate::provider::{Message, Usage};
use crate::repl::ToolInfo;
use std::sync::{Mutex, PoisonError};

/// Shared between an agent and its host.
#[derive(Debug, Default)]
pub(super) struct Talk {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    messages: Vec<Message>,
    guard: Option<Usage>,
    tools: Vec<String>,
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

    /// Adds what a guard call used, for the step that caused it.
    pub(super) fn add_guard(&self, used: &Usage) {
        self.with(|state| {
            let sum = state.guard.map_or(*used, |before| add(&before, used));
            state.guard = Some(sum);
        });
    }

    pub(super) fn take_guard_usage(&self) -> Option<UsageRecord> {
        self.with(|state| state.guard.take()).map(|usage| usage_record(&usage))
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An unknown cost makes the sum unknown.
fn add(a: &Usage, b: &Usage) -> Usage {
    Usage {
        prompt_tokens: a.prompt_tokens.saturating_add(b.prompt_tokens),
        completion_tokens: a.completion_tokens.saturating_add(b.completion_tokens),
        total_tokens: a.total_tokens.saturating_add(b.total_tokens),
        cached_tokens: a.cached_tokens.saturating_add(b.cached_tokens),
        reasoning_tokens: a.reasoning_tokens.saturating_add(b.reasoning_tokens),
        cost_nano: a.cost_nano.zip(b.cost_nano).map(|(a, b)| a.saturating_add(b)),
        ..*a
    }
}
