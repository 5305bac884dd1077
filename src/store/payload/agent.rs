//! Sub-agents: what it takes to run one again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ModelCall, StepEnded};

/// Of [`Fact::SubAgent`](crate::store::Fact::SubAgent): a sub-agent that ended, written with the cell of its result.
/// Its context is that cell's input, and its leaf calls are cells of its own run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubAgent {
    /// Its run.
    pub run_id: String,
    /// The run that started it.
    pub parent: String,
    /// How deep it stood; the root has depth 0.
    pub depth: u32,
    /// It stood at the greatest depth, and could start none of its own.
    pub leaf: bool,
    /// It was given MCP servers.
    pub mcp: bool,
    /// Its tools, as the `tools` event of a turn lists the root's.
    pub tools: Value,
    /// Where its randomness began.
    pub seed: Option<u64>,
    /// Its steps, in order.
    pub steps: Vec<AgentStep>,
    /// Its questions whether a sub-agent of its own may start.
    pub guards: Vec<ModelCall>,
    /// Its last call, where that gave no reply and is billed all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<ModelCall>,
    /// Why it has no FINAL.
    pub error: Option<String>,
}

/// A step of a sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentStep {
    /// The reply that it came from.
    pub call: ModelCall,
    /// Its code, empty where the reply had none.
    pub code: String,
    /// What came of it; `None` where it did not end. Values of sub-agents are not kept: `written` has names only.
    pub ended: Option<StepEnded>,
    /// What the clocks showed it, nanoseconds.
    pub readings: Vec<u64>,
}
