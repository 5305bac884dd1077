//! A root whose replies are known: the steps of a fork's tail, or of a what-if. Only sub-agents ask a model then.

use super::clock;
use crate::provider::{CostSource, Finish, Reply, RequestHash, Timings, Usage};
use std::collections::VecDeque;
use std::time::Duration;

/// A reply that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedReply {
    /// Its text, code blocks included.
    pub text: String,
    /// Its step may raise, and the next reply follows; else the query halts there.
    pub may_raise: bool,
    /// What the clocks show its step, in order; `None`: the time as it is.
    pub readings: Option<Vec<u64>>,
}

/// Replies, one after another.
#[derive(Debug, Default)]
pub(super) struct Script {
    left: VecDeque<ScriptedReply>,
    may_raise: bool,
    readings: Option<Vec<u64>>,
}

impl Script {
    pub(super) fn new(replies: Vec<ScriptedReply>) -> Self {
        Self {
            left: replies.into(),
            ..Self::default()
        }
    }

    /// The next reply: no model was asked, and it cost nothing.
    pub(super) fn next(&mut self) -> Option<Reply> {
        let reply = self.left.pop_front()?;
        self.may_raise = reply.may_raise;
        self.readings = reply.readings;
        Some(Reply {
            text: reply.text,
            reasoning: String::new(),
            usage: Usage {
                cost_nano: Some(0),
                cost_source: CostSource::Table,
                ..Usage::default()
            },
            finish: Finish::Unstated,
            timings: Timings {
                started_unix_ms: clock::now(),
                first_delta: None,
                total: Duration::ZERO,
                waited: Duration::ZERO,
            },
            attempts: 0,
            request_hash: RequestHash([0; 32]),
            served_by: None,
            id: None,
        })
    }

    /// What the clocks show the step of the last reply.
    pub(super) fn readings(&self) -> Option<Vec<u64>> {
        self.readings.clone()
    }

    /// Whether the step of the last reply may raise.
    pub(super) fn may_raise(&self) -> bool {
        self.may_raise
    }
}
