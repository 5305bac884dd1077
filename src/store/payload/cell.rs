//! Leaf calls: the cells of the cassette.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::recorded;
use crate::model::{Cost, Time, Usage};
use crate::store::Digest;

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
    /// The code gave it up, or its step ended before it.
    Cancelled,
    /// The run was stopped, or parked, before it had ended: kept for what it used, and never served.
    Stopped,
}

impl std::fmt::Display for CellOutcome {
    /// For people, in one line as long as the value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Returned(value) => write!(f, "{value}"),
            Self::Raised { kind, message } => write!(f, "{kind}: {message}"),
            Self::Denied { reason } => write!(f, "denied: {reason}"),
            Self::Truncated { head, bytes, .. } => write!(f, "{head}… ({bytes} bytes, not kept)"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl Default for CellOutcome {
    fn default() -> Self {
        Self::Returned(Value::Null)
    }
}

/// Of [`Fact::LeafCall`](crate::store::Fact::LeafCall): a cell.
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
    /// A returned value as Python has it, a base64 pickle, where that is more than its JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pickle: Option<String>,
    /// Something of it was redacted.
    pub redacted: bool,
    /// The run that it started.
    pub child_run: Option<String>,
    /// Tokens of that run, where reported.
    #[serde(with = "recorded::usage")]
    pub usage: Option<Usage>,
    /// Nano-dollars of that run, where known.
    #[serde(with = "recorded::cost")]
    pub cost: Cost,
    /// Start.
    pub started: Time,
    /// End.
    pub ended: Time,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn how_a_call_ended_comes_back_as_it_was_written() {
        let written = |outcome: &CellOutcome| serde_json::to_value(outcome).unwrap();
        for (outcome, stored) in [
            (CellOutcome::Returned(json!([1])), json!({"returned": [1]})),
            (
                CellOutcome::Denied { reason: "no".into() },
                json!({"denied": {"reason": "no"}}),
            ),
            (CellOutcome::Cancelled, json!("cancelled")),
            (CellOutcome::Stopped, json!("stopped")),
        ] {
            assert_eq!(written(&outcome), stored);
            assert_eq!(serde_json::from_value::<CellOutcome>(stored).unwrap(), outcome);
        }
    }
}
