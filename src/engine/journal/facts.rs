//! What happened, in the terms of the log: calls, ends of steps, outcomes of leaf calls.

use crate::engine::clock::now;
use crate::engine::error::RunError;
use crate::provider::{Message, Reply, Role, Usage};
use crate::repl::{HostError, StepErrorKind, StepOutcome, Sweep};
use crate::store::Digest;
use crate::store::payload::{CellOutcome, Dropped, Message as RecordedMessage, ModelCall, Raised, StepEnded, Written};
use serde_json::Value;

/// Names that a sweep could not save.
pub(super) fn dropped(sweep: &Sweep) -> Vec<Dropped> {
    let one = |d: &crate::repl::Dropped| Dropped {
        name: d.name.clone(),
        reason: d.reason.clone(),
    };
    sweep.dropped.iter().map(one).collect()
}

/// A call of the root and its reply, as the log keeps them; `added` are the messages since the call before.
pub(in crate::engine) fn model_call(run_id: &str, model: &str, added: &[Message], reply: &Reply) -> ModelCall {
    let started = reply.timings.started_unix_ms;
    let after = |span: std::time::Duration| started.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX));
    ModelCall {
        run_id: run_id.into(),
        model: model.into(),
        guard: false,
        added: added.iter().filter_map(recorded).collect(),
        request: Digest::from_bytes(&reply.request_hash.0),
        reply: reply.text.clone(),
        reasoning: Some(reply.reasoning.clone()).filter(|text| !text.is_empty()),
        usage: reply.usage.tokens(),
        cost: reply.usage.cost(),
        finish_reason: Some(reply.finish.as_word().to_owned()).filter(|word| !word.is_empty()),
        error: None,
        started,
        first_piece: reply.timings.first_delta.map(after),
        ended: after(reply.timings.total),
    }
}

/// A call that gave no reply, for what it used.
pub(in crate::engine) fn unanswered_call(run_id: &str, model: &str, used: &Usage, error: &RunError) -> ModelCall {
    ModelCall {
        run_id: run_id.into(),
        model: model.into(),
        usage: used.tokens(),
        cost: used.cost(),
        error: Some(error.to_string()),
        ended: now(),
        ..ModelCall::default()
    }
}

/// System prompts are the program's own and are not kept.
fn recorded(message: &Message) -> Option<RecordedMessage> {
    let role = match message.role {
        Role::System => return None,
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    Some(RecordedMessage {
        role: role.into(),
        text: message.content.to_string(),
    })
}

/// What a step's end says, but for its names' digests, which are in the namespace.
pub(in crate::engine) fn step_ended(outcome: &StepOutcome, shown: &str) -> StepEnded {
    let exception = outcome.error.as_ref().map(|error| Raised {
        kind: exception_kind(error.kind, &error.text),
        message: error.text.lines().last().unwrap_or_default().to_owned(),
        traceback: error.text.clone(),
    });
    StepEnded {
        output: shown.to_owned(),
        output_cut: outcome.output.total_bytes > outcome.output.text.len() as u64,
        exception,
        written: outcome
            .written
            .iter()
            .map(|name| Written {
                name: name.clone(),
                ..Written::default()
            })
            .collect(),
        deleted: outcome.deleted.clone(),
        duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        seed: None,
    }
}

/// The exception's Python type, from the last line of its traceback; for what is no exception, the kind.
fn exception_kind(kind: StepErrorKind, text: &str) -> String {
    let named = text.lines().last().and_then(|line| line.split([':', ' ']).next());
    match (kind, named) {
        (StepErrorKind::Exception, Some(name)) if !name.is_empty() => name.to_owned(),
        _ => format!("{kind:?}").to_lowercase(),
    }
}

/// How a leaf call ended, as its cell keeps it.
pub(in crate::engine) fn cell_outcome(answer: &Result<Value, HostError>) -> CellOutcome {
    match answer {
        Ok(value) => CellOutcome::Returned(value.clone()),
        Err(error) => CellOutcome::Raised {
            kind: error.exception.name().into(),
            message: error.message.clone(),
        },
    }
}
