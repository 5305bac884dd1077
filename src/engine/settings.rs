//! What a query is run with: model, limits, grants. Where the values come from (flags, environment, file) is the
//! command line's business.

use super::budget::Allowance;
use super::gate::{Approver, Tool};
use super::groups::{Observation, ToolGroup};
use super::limits::Limits;
use super::schema::{BadSchema, OutputSchema};
use crate::mcp::ServerSpec;
use crate::provider::Provider;
use crate::repl::{Backend, ToolModule};
use crate::store::DEFAULT_CELL_CAP;
use crate::text::secret::Secrets;
use serde_json::Value;
use std::sync::Arc;

/// A model: the string that selects it, and the backend that answers for it.
#[derive(Clone, Debug)]
pub struct Model {
    /// As the user gave it, prefix included.
    pub name: String,
    /// Its backend.
    pub provider: Arc<dyn Provider>,
}

/// The compression guard: asks before a sub-agent is given nearly everything its parent has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard {
    /// On by default.
    pub enabled: bool,
    /// Characters of the parent's context from which on it watches.
    pub min_chars: usize,
    /// Share of the parent's context from which on it asks, 0 to 1.
    pub ratio: f64,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            enabled: true,
            min_chars: 5_000,
            ratio: 0.6,
        }
    }
}

/// What every query of a run is bound by and given.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The root's model.
    pub model: Model,
    /// The sub-agents' model.
    pub sub_model: Model,
    /// Limits.
    pub limits: Limits,
    /// What a person allows beyond them while a query runs.
    pub allowance: Allowance,
    /// The compression guard.
    pub guard: Guard,
    /// Added to the end of the root's system prompt.
    pub instruction: Option<String>,
    /// JSON Schema that the root's FINAL must fit.
    pub schema: Option<Value>,
    /// Dicts and lists reach agents as such, and schemas count: recorded with each query.
    pub structured_io: bool,
    /// Python files whose functions are the root's tools.
    pub tools: Vec<ToolModule>,
    /// Tools that the host runs.
    pub host_tools: Vec<Arc<dyn Tool>>,
    /// Tools that are hidden until something is observed.
    pub groups: Vec<ToolGroup>,
    /// What is observed from the start.
    pub ambient: Vec<Observation>,
    /// Who decides about tool calls and questions; without anyone, all given tools are allowed.
    pub approver: Option<Arc<dyn Approver>>,
    /// Results of leaf calls are recorded, so that the query can be replayed.
    pub cassette: bool,
    /// Bytes of such a result, as JSON, up to which it is kept whole.
    pub cell_cap: u64,
    /// Sub-agents get all tools of their parent where they are not named.
    pub inherit_tools: bool,
    /// MCP servers that the root may call. Their credentials are registered as secrets by who fills this in.
    pub mcp: Vec<ServerSpec>,
    /// Sub-agents get all MCP servers of their parent where they are not named.
    pub inherit_mcp: bool,
    /// Which Python the REPLs are: recorded with each query. It is loaded by who asks.
    pub repl: Backend,
    /// `os.environ` of the REPLs. Every value is a secret.
    pub env: Vec<(String, String)>,
    /// A resumed agent is shown the code of earlier queries.
    pub code_in_context: bool,
    /// What must appear in no file, event or message.
    pub secrets: Secrets,
}

impl Settings {
    /// Defaults for a model, which is the sub-agents' too.
    pub fn new(model: Model) -> Self {
        Self {
            sub_model: model.clone(),
            model,
            limits: Limits::default(),
            allowance: Allowance::default(),
            guard: Guard::default(),
            instruction: None,
            schema: None,
            structured_io: true,
            tools: Vec::new(),
            host_tools: Vec::new(),
            groups: Vec::new(),
            ambient: Vec::new(),
            approver: None,
            cassette: true,
            cell_cap: DEFAULT_CELL_CAP,
            inherit_tools: false,
            mcp: Vec::new(),
            inherit_mcp: false,
            repl: Backend::default(),
            env: Vec::new(),
            code_in_context: true,
            secrets: Secrets::default(),
        }
    }

    /// The schema that the root's FINAL is held to.
    pub(super) fn output_schema(&self) -> Result<Option<OutputSchema>, BadSchema> {
        let wanted = self.schema.as_ref().filter(|_| self.structured_io);
        wanted.map(OutputSchema::compile).transpose()
    }

    /// Said at the start of a query whose schema does not count: nobody should rely on an answer that was not checked.
    pub(super) fn unchecked(&self) -> Option<String> {
        let ignored = self.schema.is_some() && !self.structured_io;
        ignored.then(|| {
            "The answer is not checked against the output schema: enable_structured_io is off. Turn it on, or leave \
             the schema out."
                .to_owned()
        })
    }
}
