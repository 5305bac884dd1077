//! A parked turn goes on: its answer is taken, the conversation and the step in flight come back from the log.

use super::agent::Onward;
use super::blocks::repl_code;
use super::journal::{ParkedTurn, Tape};
use super::onward::{Rerun, prelude};
use crate::provider::{CostSource, Finish, Message, Reply, RequestHash, Timings, Usage};
use crate::store::payload::ModelCall;
use std::sync::Arc;
use std::time::Duration;

impl ParkedTurn {
    /// The conversation up to the reply whose step parked; `None` when the log lost it.
    pub(super) fn onward(&self) -> Option<ParkedTalk> {
        let mut messages = Vec::new();
        for call in &self.calls {
            messages.extend(call.added.iter().map(|added| match added.role.as_str() {
                "assistant" => Message::assistant(added.text.as_str()),
                _ => Message::user(added.text.as_str()),
            }));
            messages.push(Message::assistant(call.reply.as_str()));
        }
        Some(ParkedTalk {
            messages,
            steps: u64::from(self.step) + 1,
            reply: reply(self.calls.last()?),
            rerun: None,
        })
    }
}

/// The conversation of a parked turn.
pub(super) struct ParkedTalk {
    messages: Vec<Message>,
    steps: u64,
    reply: Reply,
    /// Steps to be run again first.
    pub(super) rerun: Option<Rerun>,
}

impl ParkedTalk {
    /// The code of the step that parked.
    pub(super) fn code(&self) -> String {
        repl_code(&self.reply.text).unwrap_or_default()
    }

    /// It goes on with the step that parked, which gets from `tape` what it got before.
    pub(super) fn with_tape(self, tape: Tape) -> Onward {
        Onward {
            messages: self.messages,
            unlogged: 0,
            steps: self.steps,
            copied: 0,
            again: Some((self.reply, Arc::new(tape))),
            script: None,
            prelude: self.rerun.map(prelude),
        }
    }
}

/// A reply as it was, from the log.
pub(super) fn reply(call: &ModelCall) -> Reply {
    let span = |end: i64| Duration::from_millis(u64::try_from(end.saturating_sub(call.started)).unwrap_or_default());
    Reply {
        text: call.reply.clone(),
        reasoning: call.reasoning.clone().unwrap_or_default(),
        usage: used(call),
        finish: call
            .finish_reason
            .as_deref()
            .map_or(Finish::Unstated, Finish::from_word),
        timings: Timings {
            started_unix_ms: call.started,
            first_delta: call.first_piece.map(span),
            total: span(call.ended),
            waited: Duration::ZERO,
        },
        attempts: 1,
        request_hash: RequestHash(call.request.map(|digest| *digest.as_bytes()).unwrap_or_default()),
        served_by: None,
        id: None,
    }
}

/// What a call used, from the log.
pub(super) fn used(call: &ModelCall) -> Usage {
    let used = call.usage.unwrap_or_default();
    Usage {
        prompt_tokens: used.prompt,
        completion_tokens: used.completion,
        total_tokens: used.total,
        cached_tokens: used.cached,
        reasoning_tokens: used.reasoning,
        cost_nano: call.cost.whole(),
        part_nano: call.cost.part().unwrap_or_default(),
        cost_source: CostSource::Unknown,
        reported: call.usage.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cost;
    use crate::store::payload::Message as Recorded;

    #[test]
    fn a_reply_comes_back_as_it_was() {
        let call = ModelCall {
            added: vec![Recorded {
                role: "user".into(),
                text: "hi".into(),
            }],
            reply: "```repl\n1\n```".into(),
            cost: Cost::Known(7),
            started: 1_000,
            ended: 1_250,
            ..ModelCall::default()
        };
        let back = reply(&call);
        assert_eq!((back.text.as_str(), back.usage.cost_nano), ("```repl\n1\n```", Some(7)));
        assert_eq!(back.timings.total, Duration::from_millis(250));
        assert!(!back.usage.reported);
        let part = ModelCall {
            cost: Cost::AtLeast(5),
            ..call
        };
        assert_eq!(reply(&part).usage.cost(), Cost::AtLeast(5));
    }
}
