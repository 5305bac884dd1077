//! Steps: code, what came of it, the sweep, questions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::Digest;

/// Of [`Fact::StepStarted`](crate::store::Fact::StepStarted): written before the code runs.
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

/// Of [`Fact::StepEnded`](crate::store::Fact::StepEnded).
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
    /// What randomness began anew with before it; `None` where it went on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A name that could not be saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// The name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Of [`Fact::Swept`](crate::store::Fact::Swept).
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

/// Of [`Fact::Asked`](crate::store::Fact::Asked).
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

/// Of [`Fact::Answered`](crate::store::Fact::Answered).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answered {
    /// Which `ask` of its step, 0-based.
    pub number: u32,
    /// The answer.
    pub answer: Value,
}

impl Answered {
    /// The answer as text.
    pub fn into_text(self) -> String {
        match self.answer {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }
}
