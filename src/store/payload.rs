//! Payloads of events, one struct a kind ([`Fact`](super::Fact)), stored as JSON objects.
//!
//! Fields that are missing read as their defaults and unknown ones are ignored, so that a field can be added without a
//! new schema version. Times are unix milliseconds. Numbers of turns and steps are 0-based.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Digest, Origin};
use crate::model::{Cost, Time, Usage};

/// Of [`Fact::SessionStarted`](super::Fact::SessionStarted).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionStarted {
    /// Program and version that made it.
    pub made_by: String,
}

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

/// Of [`Fact::TurnStarted`](super::Fact::TurnStarted).
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

/// Of [`Fact::ModelCall`](super::Fact::ModelCall): a call of the root's own.
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
    #[serde(with = "recorded_usage")]
    pub usage: Option<Usage>,
    /// Nano-dollars, where known.
    #[serde(with = "recorded_cost")]
    pub cost: Cost,
    /// Why the reply ended.
    pub finish_reason: Option<String>,
    /// What failed instead.
    pub error: Option<String>,
    /// Start.
    pub started: Time,
    /// First piece of the reply.
    pub first_piece: Option<Time>,
    /// End.
    pub ended: Time,
}

/// Of [`Fact::StepStarted`](super::Fact::StepStarted): written before the code runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepStarted {
    /// Its exact code.
    pub code: String,
    /// Digest of the code.
    pub code_digest: Option<Digest>,
    /// Digest of its syntax tree: the same for a change of comments or layout.
    pub tree_digest: Option<Digest>,
}

/// How a leaf call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellOutcome {
    /// With a value.
    Returned(Value),
    /// With an exception.
    Raised {
        /// Python type.
        kind: String,
        /// Its text.
        message: String,
    },
    /// It was not allowed.
    Denied {
        /// Why.
        reason: String,
    },
    /// With a value larger than the cap: only its beginning is kept, for people. Never served.
    Truncated {
        /// The beginning of its JSON.
        head: String,
        /// Bytes of its JSON.
        bytes: u64,
        /// The cap, bytes.
        cap: u64,
    },
}

impl Default for CellOutcome {
    fn default() -> Self {
        Self::Returned(Value::Null)
    }
}

/// Of [`Fact::LeafCall`](super::Fact::LeafCall): a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeafCall {
    /// What was called: `llm_query`, a tool's name, `clock`, …
    pub call: String,
    /// Which call of its step, 0-based, in the order of starting.
    pub number: u64,
    /// The run that called, and so whose cassette it belongs to.
    pub run_id: String,
    /// Digest of the exact input, after redaction. Cells match on (call, input).
    pub input: Option<Digest>,
    /// The input, for people.
    pub shown_input: Option<Value>,
    /// How it ended.
    pub outcome: CellOutcome,
    /// Something of it was redacted.
    pub redacted: bool,
    /// The run that it started.
    pub child_run: Option<String>,
    /// Tokens of that run, where reported.
    #[serde(with = "recorded_usage")]
    pub usage: Option<Usage>,
    /// Nano-dollars of that run, where known.
    #[serde(with = "recorded_cost")]
    pub cost: Cost,
    /// Start.
    pub started: Time,
    /// End.
    pub ended: Time,
}

/// An exception.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Raised {
    /// Python type.
    pub kind: String,
    /// Its text.
    pub message: String,
    /// Its traceback.
    pub traceback: String,
}

/// A name that a step bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Written {
    /// The name.
    pub name: String,
    /// Python type.
    pub type_name: String,
    /// Its `repr`, cut.
    pub preview: String,
    /// Its value; `None` if it could not be saved.
    pub digest: Option<Digest>,
    /// Its digest differs between equal runs.
    pub weak: bool,
}

/// Of [`Fact::StepEnded`](super::Fact::StepEnded).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepEnded {
    /// What it printed, as shown to the model.
    pub output: String,
    /// `output` is the end of something longer.
    pub output_cut: bool,
    /// The exception that ended it.
    pub exception: Option<Raised>,
    /// Names it bound.
    pub written: Vec<Written>,
    /// Names it deleted.
    pub deleted: Vec<String>,
    /// Milliseconds of execution, waiting included.
    pub duration_ms: u64,
}

/// A name that could not be saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// The name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Of [`Fact::Swept`](super::Fact::Swept).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Swept {
    /// Digest of the state.json that is written next; `None` when it is put off.
    pub state: Option<Digest>,
    /// Names that could not be saved.
    pub dropped: Vec<Dropped>,
    /// Import statements that a resumed REPL runs again.
    pub imports: Vec<String>,
}

/// Of [`Fact::Asked`](super::Fact::Asked).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// Which `ask` of its step, 0-based.
    pub number: u32,
    /// The question.
    pub question: String,
    /// Answers to choose from; empty: any.
    pub options: Vec<String>,
    /// JSON Schema of the answer.
    pub schema: Option<Value>,
}

/// Of [`Fact::Answered`](super::Fact::Answered).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answered {
    /// Which `ask` of its step, 0-based.
    pub number: u32,
    /// The answer.
    pub answer: Value,
}

/// Of [`Fact::Final`](super::Fact::Final).
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

/// Of [`Fact::TurnEnded`](super::Fact::TurnEnded).
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

/// Of [`Fact::ForkedFrom`](super::Fact::ForkedFrom).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The session it branched off.
    pub session: String,
    /// That session's turn.
    pub turn: u32,
    /// Before this step.
    pub step: u32,
    /// Fork or what-if.
    pub origin: Origin,
    /// What was changed, for people.
    #[serde(default)]
    pub change: Option<String>,
}

/// Of [`Fact::Adopted`](super::Fact::Adopted).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adopted {
    /// Digest of the file.
    pub state: Digest,
    /// Its whole text.
    pub text: String,
}

/// Why a session counts as cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClearReason {
    /// `clear()` was called.
    #[default]
    Asked,
    /// state.json was gone.
    FileMissing,
}

/// Of [`Fact::Cleared`](super::Fact::Cleared).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cleared {
    /// Why.
    pub reason: ClearReason,
}

/// Of [`Fact::Custom`](super::Fact::Custom).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Custom {
    /// The host's name for it.
    pub name: String,
    /// Anything.
    pub data: Value,
}

/// `null`, or an object of token counts.
mod recorded_usage {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::Usage;

    #[derive(Serialize, Deserialize, Default)]
    #[serde(default)]
    struct Tokens {
        prompt: u64,
        completion: u64,
        total: u64,
        cached: u64,
        reasoning: u64,
    }

    pub(super) fn serialize<S: Serializer>(usage: &Option<Usage>, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(Usage {
            prompt,
            completion,
            total,
            cached,
            reasoning,
        }) = *usage
        else {
            return serializer.serialize_none();
        };
        Tokens {
            prompt,
            completion,
            total,
            cached,
            reasoning,
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Usage>, D::Error> {
        Ok(Option::<Tokens>::deserialize(deserializer)?.map(|t| Usage {
            prompt: t.prompt,
            completion: t.completion,
            total: t.total,
            cached: t.cached,
            reasoning: t.reasoning,
        }))
    }
}

/// `null` for unknown, else nano-dollars.
mod recorded_cost {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::Cost;

    pub(super) fn serialize<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
        match cost {
            Cost::Unknown => serializer.serialize_none(),
            Cost::Known(nano) => nano.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cost, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map_or(Cost::Unknown, Cost::Known))
    }
}
