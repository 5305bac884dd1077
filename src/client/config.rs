//! What a session's queries are run with: models, limits, grants, secrets, files. Names are those of the configuration
//! file. Nothing is opened, read or checked here; that happens when the first query begins.

use crate::engine::{Allowance, Approver, Guard, Limits, Observation, Tool, ToolGroup};
use crate::mcp::ServerSpec;
use crate::provider::{Provider, Settings as ProviderSettings};
use crate::repl::Backend;
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What queries are run with. Cheap to clone; a mistake in it is an error of the first query.
///
/// ```
/// use fast_rlm::Config;
///
/// let config = Config::new("z-ai/glm-5")
///     .sub_agent("z-ai/glm-5-air")
///     .max_money_spent(1.50)
///     .instruction("Answer in one sentence.");
/// # let _ = config;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(super) primary: ModelChoice,
    pub(super) sub: ModelChoice,
    pub(super) providers: Option<ProviderSettings>,
    pub(super) limits: Limits,
    pub(super) allowance: Allowance,
    /// US dollars, as given.
    pub(super) max_money_spent: Option<f64>,
    pub(super) guard: Guard,
    pub(super) instruction: Option<String>,
    pub(super) schema: Option<Value>,
    pub(super) no_structured_io: bool,
    pub(super) tools: Vec<ToolSource>,
    pub(super) no_tools: bool,
    pub(super) host_tools: Vec<Arc<dyn Tool>>,
    pub(super) groups: Vec<ToolGroup>,
    pub(super) ambient: Vec<Observation>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) no_cassette: bool,
    pub(super) cell_cap: Option<u64>,
    pub(super) auto_resume: bool,
    pub(super) inherit_tools: bool,
    pub(super) mcp: Vec<McpSource>,
    pub(super) inherit_mcp: bool,
    pub(super) repl: Backend,
    pub(super) env: Vec<Hidden>,
    pub(super) secrets: Vec<Hidden>,
    pub(super) no_session_code: bool,
    pub(super) input_file: Option<PathBuf>,
    pub(super) log_dir: Option<PathBuf>,
    pub(super) prefix: Option<String>,
    pub(super) absolute_logs: bool,
    pub(super) wait: Duration,
}

/// A model string, a provider of the caller's own, or both.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelChoice {
    pub(super) name: Option<String>,
    pub(super) provider: Option<Arc<dyn Provider>>,
}

/// Where the Python functions that a model may call come from.
#[derive(Clone, Debug)]
pub(super) enum ToolSource {
    File(PathBuf),
    Text { file: String, source: Arc<str> },
}

/// Where MCP servers are declared.
#[derive(Clone, Debug)]
pub(super) enum McpSource {
    File(PathBuf),
    Server(ServerSpec),
}

/// A name with a value that must not show.
#[derive(Clone)]
pub(super) struct Hidden {
    pub(super) name: String,
    pub(super) value: String,
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {
        /// Limits. One that stops a run ends it with an error that names it; the session keeps every completed step.
        impl Config {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: $type) -> Self {
                self.limits.$name = $name.into();
                self
            })*
        }
    };
}

limits! {
    /// Depth of the deepest sub-agent; the root has depth 0. Default 3.
    max_depth: u32;
    /// Model calls of one agent. Default 20.
    max_calls_per_subagent: u64;
    /// Model calls of a whole query, sub-agents included. Default: no limit.
    max_global_calls: u64;
    /// Completion tokens of a whole query. Default 50,000.
    max_completion_tokens: u64;
    /// Tokens of one call, prompt and completion. Default 200,000.
    max_prompt_tokens: u64;
    /// Characters of an output that the model is shown: its last ones. Default 10,000.
    truncate_len: usize;
    /// Retries of one model call. Default 3.
    api_max_retries: u32;
    /// Milliseconds that one model call may take. Default 600,000.
    api_timeout_ms: u64;
    /// Seconds of execution of one step, without the time it awaits models or people. Default 120.
    step_timeout_s: u64;
    /// MiB of memory of one agent's REPL. Default 512.
    repl_memory_mb: u64;
    /// Agents that execute or call a model at the same time. Default 16.
    max_agents_at_once: usize;
}

/// Models and money.
impl Config {
    /// Defaults, with `model` as the primary agent.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self::default().primary_agent(model)
    }

    /// The root's model: `z-ai/glm-5`, `scripted:FILE`, … There is no default.
    #[must_use]
    pub fn primary_agent(mut self, model: impl Into<String>) -> Self {
        self.primary.name = Some(model.into());
        self
    }

    /// The sub-agents' model. Default: the root's.
    #[must_use]
    pub fn sub_agent(mut self, model: impl Into<String>) -> Self {
        self.sub.name = Some(model.into());
        self
    }

    /// A backend of the caller's own for the root, and for sub-agents unless they have another. The model string is
    /// handed to it as it is; without one, the backend's label stands in records.
    #[must_use]
    pub fn provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.primary.provider = Some(provider);
        self
    }

    /// A backend of the caller's own for sub-agents.
    #[must_use]
    pub fn sub_provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.sub.provider = Some(provider);
        self
    }

    /// Where models are reached, and with which key. Default: what the environment says (`RLM_MODEL_BASE_URL`,
    /// `RLM_MODEL_API_KEY`, …), read when the first query begins.
    #[must_use]
    pub fn provider_settings(mut self, settings: ProviderSettings) -> Self {
        self.providers = Some(settings);
        self
    }

    /// US dollars that a query and its sub-agents may spend. Default 0.20. Calls whose price nobody knows are bound by
    /// tokens only.
    #[must_use]
    pub fn max_money_spent(mut self, dollars: f64) -> Self {
        self.max_money_spent = Some(dollars);
        self
    }
}

/// What agents are told.
impl Config {
    /// Added to the end of the root's system prompt.
    #[must_use]
    pub fn instruction(mut self, text: impl Into<String>) -> Self {
        self.instruction = Some(text.into());
        self
    }

    /// A JSON Schema that the answer must fit; one that does not goes back to the model.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Whether dicts and lists reach agents as such, and schemas are checked. Default: yes. Without it every input is a
    /// string, JSON text where it was structured, and no schema counts, be it the answer's or a sub-agent's.
    #[must_use]
    pub fn enable_structured_io(mut self, on: bool) -> Self {
        self.no_structured_io = !on;
        self
    }

    /// Whether sub-agents that would be given nearly everything are asked about first. Default: yes.
    #[must_use]
    pub fn enable_compression_guard(mut self, on: bool) -> Self {
        self.guard.enabled = on;
        self
    }

    /// Characters of the parent's context from which on the guard watches. Default 5,000.
    #[must_use]
    pub fn compression_min_chars(mut self, chars: usize) -> Self {
        self.guard.min_chars = chars;
        self
    }

    /// Share of the parent's context, 0 to 1, from which on the guard asks. Default 0.6.
    #[must_use]
    pub fn compression_ratio(mut self, share: f64) -> Self {
        self.guard.ratio = share;
        self
    }

    /// Whether a resumed agent is shown the code of earlier queries. Default: yes.
    #[must_use]
    pub fn add_session_code_to_context(mut self, on: bool) -> Self {
        self.no_session_code = !on;
        self
    }
}

/// What is recorded, and what becomes of a query that a crash cut.
impl Config {
    /// Whether results of leaf calls are recorded, so that queries can be replayed, forked and gone on with. Default: yes.
    #[must_use]
    pub fn cassette(mut self, on: bool) -> Self {
        self.no_cassette = !on;
        self
    }

    /// Bytes of one such result, as JSON, up to which it is kept whole. Default 1 MiB. A query with a larger one cannot be
    /// replayed.
    #[must_use]
    pub fn cell_cap(mut self, bytes: u64) -> Self {
        self.cell_cap = Some(bytes);
        self
    }

    pub(super) fn resumes(&self) -> bool {
        self.auto_resume
    }

    /// Whether a query that was cut is finished before the next one is asked. Default: no, because it may cost money.
    #[must_use]
    pub fn auto_resume(mut self, on: bool) -> Self {
        self.auto_resume = on;
        self
    }
}

/// Files, and other writers.
impl Config {
    /// Transcripts go here. Default: `logs/` in the session's directory.
    #[must_use]
    pub fn log_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.log_dir = Some(dir.into());
        self
    }

    /// Where the file of a recorded query lies now: for queries that go on, branches and replays. Default: where it lay
    /// when the query was asked; the file of a session that was imported has to be given, or to lie in its directory.
    #[must_use]
    pub fn input_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.input_file = Some(file.into());
        self
    }

    /// What a person may allow a query beyond `max_money_spent` while it runs. Default: nothing.
    #[must_use]
    pub fn allowance(mut self, allowance: Allowance) -> Self {
        self.allowance = allowance;
        self
    }

    /// All limits on calls and tokens of a query times `factor`: a person lets it go on beyond them.
    #[must_use]
    pub(crate) fn stretched(mut self, factor: u32) -> Self {
        let factor = u64::from(factor);
        let limits = &mut self.limits;
        for limit in [
            &mut limits.max_calls_per_subagent,
            &mut limits.max_completion_tokens,
            &mut limits.max_prompt_tokens,
        ] {
            *limit = limit.saturating_mul(factor);
        }
        limits.max_global_calls = limits.max_global_calls.map(|limit| limit.saturating_mul(factor));
        self
    }

    /// First part of a transcript's file name. Default: `run`.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Whether state.json links transcripts by absolute path, for viewers that follow only those. Default: no.
    #[must_use]
    pub fn absolute_logs(mut self, on: bool) -> Self {
        self.absolute_logs = on;
        self
    }

    /// How long a session that another process writes to is waited for. Default: not at all.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_names_of_secrets_only() {
        let config = Config::new("m")
            .secret("TOKEN", "very-secret-value")
            .env("HOME_TOWN", "another-secret");
        let shown = format!("{config:?}");
        assert!(shown.contains("TOKEN") && shown.contains("HOME_TOWN"), "{shown}");
        assert!(
            !shown.contains("very-secret") && !shown.contains("another-secret"),
            "{shown}"
        );
    }
}
