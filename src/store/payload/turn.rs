//! Turns: the query, the model's calls, the end.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::recorded;
use crate::model::{Cost, Time, Usage};
use crate::store::Digest;

/// What a turn's runs have in common, so that they can be repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pinned {
    /// Time zone.
    pub timezone: String,
    /// Locale.
    pub locale: String,
    /// The interpreter's hash seed.
    pub hash_seed: u64,
    /// The seed of `random`.
    pub random_seed: u64,
}

/// Of [`Fact::TurnStarted`](crate::store::Fact::TurnStarted).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnStarted {
    /// The whole query: a string, or structured.
    pub query: Value,
    /// Instruction added to the system prompt.
    pub instruction: Option<String>,
    /// The root's model.
    pub model: String,
    /// The sub-agents' model.
    pub sub_model: Option<String>,
    /// Every other setting, by its name.
    pub settings: Value,
    /// Its root run.
    pub run_id: String,
    /// Its transcript, relative to the session directory.
    pub log_file: Option<String>,
    /// Leaf calls are recorded.
    pub cassette: bool,
    /// What replay needs to be the same.
    pub pinned: Option<Pinned>,
}

/// One message of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `user` or `assistant`.
    pub role: String,
    /// Its text.
    pub text: String,
}

/// Of [`Fact::ModelCall`](crate::store::Fact::ModelCall): a call of the root's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelCall {
    /// Its run.
    pub run_id: String,
    /// The model asked.
    pub model: String,
    /// It only asked whether a sub-agent may start.
    pub guard: bool,
    /// Messages that it added to the conversation of the call before.
    pub added: Vec<Message>,
    /// Digest of the whole request.
    pub request: Option<Digest>,
    /// The reply.
    pub reply: String,
    /// Reasoning.
    pub reasoning: Option<String>,
    /// Tokens, where reported.
    #[serde(with = "recorded::usage")]
    pub usage: Option<Usage>,
    /// Nano-dollars, where known.
    #[serde(with = "recorded::cost")]
    pub cost: Cost,
    /// Why the reply ended.
    pub finish_reason: Option<String>,
    /// What failed instead: there is no step of it then, only what it used.
    pub error: Option<String>,
    /// Start.
    pub started: Time,
    /// First piece of the reply.
    pub first_piece: Option<Time>,
    /// End.
    pub ended: Time,
}

impl ModelCall {
    /// A model was asked: what a script replied was no call.
    pub fn was_asked(&self) -> bool {
        self.usage.is_some() || self.cost != Cost::Known(0)
    }

    /// It gave the reply of a step.
    pub fn is_reply(&self) -> bool {
        !self.guard && self.error.is_none()
    }
}

/// Of [`Fact::Final`](crate::store::Fact::Final).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Final {
    /// The value, as documented JSON.
    pub value: Value,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// With FINAL.
    Ok,
    /// In an error.
    #[default]
    Error,
    /// A person or the host stopped it.
    Cancelled,
    /// A limit stopped it.
    Limit,
    /// It waits for a human.
    Suspended,
    /// A fork's or what-if's tail could not go on.
    Halted,
    /// Its process died; found by the next one.
    Interrupted,
}

/// Of [`Fact::TurnEnded`](crate::store::Fact::TurnEnded).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnEnded {
    /// How.
    pub outcome: Outcome,
    /// The error's text.
    pub error: Option<String>,
    /// The limit that stopped it.
    pub limit: Option<String>,
}
