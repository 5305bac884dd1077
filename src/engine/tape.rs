//! Recorded results of leaf calls, served in place of calling. What is served, and what a call that was never recorded
//! means, is decided by who hands the tape in: a step that runs again, a fork, a what-if.

use super::person::Question;
use crate::repl::{HostError, PythonException};
use crate::store::Digest;
use crate::store::payload::{CellOutcome, LeafCall};
use serde_json::{Value, json};
use std::time::Duration;

/// A call that the code gave up when it was recorded is not waited for longer than this: something must be different
/// now.
const PATIENCE: Duration = Duration::from_secs(600);

/// Serves the leaf calls of a query's root.
pub trait Tape: Send + Sync {
    /// What the call gets.
    fn serve(&self, call: &Call<'_>) -> Served;

    /// What `question` got, where the step that asked it had to wait for the answer.
    fn answer(&self, _step: u32, _question: &Question) -> Option<Value> {
        None
    }

    /// Whether the gate is asked about calls that are served, too.
    fn asks_first(&self) -> bool {
        false
    }
}

/// A leaf call of the root.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What is called: `llm_query`, `ask`, a tool's name.
    pub name: &'a str,
    /// The step that calls, 0-based.
    pub step: u32,
    /// By which its cell is found.
    pub digest: Digest,
    /// Its input.
    pub input: &'a Value,
}

/// What a tape says of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Served {
    /// This, as it was recorded.
    Recorded(Recorded),
    /// Nothing is recorded: make the call.
    Live,
    /// Nothing is recorded, and nothing may be called: the query ends here, for this reason.
    Halt(String),
}

/// A recorded result.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// How the call ended.
    pub outcome: CellOutcome,
    /// The value as Python has it, a base64 pickle, where it is more than its JSON.
    pub pickle: Option<String>,
}

impl Recorded {
    /// What the code gave up before there was a result has none now either, until the code gives it up again.
    pub async fn wait(&self) {
        if self.outcome == CellOutcome::Cancelled {
            tokio::time::sleep(PATIENCE).await;
        }
    }

    /// As it reached Python then.
    ///
    /// # Errors
    ///
    /// What was raised, or that it was refused.
    pub fn answer(self) -> Result<Value, HostError> {
        match self.outcome {
            CellOutcome::Returned(value) => Ok(value),
            CellOutcome::Raised { kind, message } => Err(HostError {
                exception: PythonException::named(&kind),
                message,
            }),
            CellOutcome::Denied { reason } => Err(HostError {
                exception: PythonException::Permission,
                message: reason,
            }),
            CellOutcome::Truncated { head, .. } => Ok(head.into()),
            CellOutcome::Cancelled | CellOutcome::Stopped => Err(HostError::new(
                "this call was given up when it was recorded, and is waited for now",
            )),
        }
    }

    /// As the wrapper of Python's tools in the REPL takes it.
    ///
    /// # Errors
    ///
    /// That it was refused.
    pub fn tool_reply(self) -> Result<Value, HostError> {
        match (self.outcome, self.pickle) {
            (CellOutcome::Returned(_), Some(pickle)) => Ok(json!({ "pickle": pickle })),
            (CellOutcome::Raised { kind, message }, _) => Ok(json!({"raise": {"type": kind, "message": message}})),
            (outcome, _) => {
                let recorded = Self { outcome, pickle: None };
                recorded.answer().map(|value| json!({ "value": value }))
            }
        }
    }
}

/// The name of a tool that is called, and its input as cells keep it, from the arguments of `tool_begin` and its like.
pub fn tool_input(args: &Value) -> (String, Value) {
    let part = |key: &str| args.get(key).cloned().unwrap_or_default();
    let name = args.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let input = json!({"name": part("name"), "args": part("args"), "kwargs": part("kwargs")});
    (name, input)
}

impl From<LeafCall> for Recorded {
    fn from(cell: LeafCall) -> Self {
        Self {
            outcome: cell.outcome,
            pickle: cell.pickle,
        }
    }
}
