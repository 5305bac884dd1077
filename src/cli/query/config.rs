//! The configuration as queries take it: options of files and environment by their names, and prices. What becomes of
//! them is in `made`.
//!
//! Where files lie, how they are read and what an option may be is the business of [`crate::disk::config`].

use crate::disk::advice::on_named;
use crate::disk::config::{Effective, Unknown, load_here, read_small, user_dir};
use crate::provider::{AgentSpec, PricingTable, Settings as ProviderSettings};
use crate::repl::Backend;
use crate::text::{parse_fault, parse_nano};
use crate::tui::keymap::KeymapError;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The options that are set. All optional; flags win over them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct Config {
    pub(in crate::cli) primary_agent: Option<String>,
    pub(in crate::cli) sub_agent: Option<String>,
    pub(super) instruction: Option<String>,
    pub(in crate::cli) max_depth: Option<u32>,
    pub(super) max_calls_per_subagent: Option<u64>,
    pub(super) max_global_calls: Option<u64>,
    pub(super) max_money_spent: Option<f64>,
    pub(super) max_completion_tokens: Option<u64>,
    pub(super) max_prompt_tokens: Option<u64>,
    pub(super) truncate_len: Option<usize>,
    pub(super) api_max_retries: Option<u32>,
    pub(super) api_timeout_ms: Option<u64>,
    pub(super) step_timeout_s: Option<u64>,
    pub(super) repl_memory_mb: Option<u64>,
    pub(super) max_agents_at_once: Option<usize>,
    pub(super) enable_compression_guard: Option<bool>,
    pub(super) compression_min_chars: Option<usize>,
    pub(super) compression_ratio: Option<f64>,
    pub(super) enable_tools: Option<bool>,
    pub(super) enable_structured_io: Option<bool>,
    pub(super) inherit_tools: Option<bool>,
    pub(super) mcp: Option<PathBuf>,
    pub(super) inherit_mcp: Option<bool>,
    pub(super) repl: Option<Backend>,
    pub(in crate::cli) add_session_code_to_context: Option<bool>,
    pub(super) cli_allow_api_key: Option<bool>,
    #[serde(skip)]
    pub(super) cli_agents: BTreeMap<String, AgentSpec>,
    /// Names and variables that are no options: told once, and otherwise left alone.
    #[serde(skip)]
    pub(super) unknown: Vec<Unknown>,
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum ConfigError {
    #[error(transparent)]
    Options(#[from] crate::disk::config::ConfigError),
    #[error("the configuration {}:{line}: {option}: {what}", path.display())]
    Agent {
        path: PathBuf,
        line: usize,
        option: String,
        what: String,
    },
    #[error(transparent)]
    Keys(#[from] KeymapError),
    #[error("the configuration is not understood: {0}")]
    Form(#[from] serde_json::Error),
    #[error("cannot read the prices {}: {cause}; {}", path.display(), on_named(cause))]
    ReadPrices {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    #[error("the prices {} are not valid: {what}", path.display())]
    Prices { path: PathBuf, what: String },
    #[error("cannot read {}: {cause}; {}", path.display(), on_named(cause))]
    ReadSchema {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    #[error("--output-schema {}: not JSON: {}", path.display(), parse_fault(&cause.to_string()))]
    Schema {
        path: PathBuf,
        #[source]
        cause: serde_json::Error,
    },
    #[error("cannot read --cli-agents @{}: {cause}; {}", path.display(), on_named(cause))]
    ReadCliAgents {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    #[error("--cli-agents: {0}; it wants a JSON object of agents by their names, or @FILE with one (docs/models.md)")]
    CliAgents(String),
    // Not what was given: it may be the secret.
    #[error("--env wants KEY=VALUE")]
    Env,
}

/// The environment.
pub(in crate::cli) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl Config {
    /// What the named file, or those of the usual places, and the environment set.
    pub(in crate::cli) fn find(named: Option<&Path>) -> Result<Self, ConfigError> {
        Self::of(&load_here(named)?)
    }

    /// What is set.
    pub(in crate::cli) fn of(effective: &Effective) -> Result<Self, ConfigError> {
        let options = Value::Object(effective.set_values());
        Ok(Self {
            cli_agents: agents(effective)?,
            unknown: effective.unknown.clone(),
            ..Self::deserialize(options)?
        })
    }

    /// `max_money_spent` in nano-dollars, or what is wrong with it.
    pub(in crate::cli) fn max_money_nano(&self) -> Result<Option<i64>, String> {
        let Some(dollars) = self.max_money_spent else {
            return Ok(None);
        };
        let nano = parse_nano(&dollars.to_string()).filter(|nano| *nano >= 0);
        nano.map(Some)
            .ok_or_else(|| format!("the configuration's max_money_spent: {dollars} is no amount of US dollars"))
    }

    /// Where models are reached, from the environment, and what the configuration adds.
    pub(super) fn providers(&self) -> Result<ProviderSettings, ConfigError> {
        Ok(ProviderSettings {
            cli_agents: self.cli_agents.clone(),
            cli_allow_api_key: self.cli_allow_api_key.unwrap_or_default(),
            pricing: prices()?,
            ..ProviderSettings::from_env()
        })
    }
}

/// The agents that are declared, those of the stronger files over those of the weaker.
fn agents(effective: &Effective) -> Result<BTreeMap<String, AgentSpec>, ConfigError> {
    let mut agents = BTreeMap::new();
    let tables = effective.tables.iter().filter(|(_, node)| node.name == "cli_agents");
    for (path, agent) in tables.flat_map(|(path, node)| node.children.iter().map(move |agent| (path, agent))) {
        let spec = AgentSpec::read(&agent.value).map_err(|error| ConfigError::Agent {
            path: path.clone(),
            line: agent.line,
            option: format!("cli_agents.{}", agent.name),
            what: without_value(&error),
        })?;
        agents.insert(agent.name.clone(), spec);
    }
    Ok(agents)
}

/// What was wanted, where serde also tells what stood there: that may be a key.
pub(super) fn without_value(told: &str) -> String {
    match told.split_once(", expected ") {
        Some((found, wanted)) if found.starts_with("invalid ") => format!("wants {wanted}"),
        _ => told.to_owned(),
    }
}

/// The shipped prices, with those of the user's `pricing.toml` over them.
pub(super) fn prices() -> Result<PricingTable, ConfigError> {
    let mut table = PricingTable::builtin();
    let own = user_dir().map(|dir| dir.join("pricing.toml"));
    let Some(path) = own.filter(|path| path.exists()) else {
        return Ok(table);
    };
    let read = read_small(&path);
    let text = read.map_err(|cause| ConfigError::ReadPrices {
        path: path.clone(),
        cause,
    })?;
    table.merge(PricingTable::from_toml(&text).map_err(|error| ConfigError::Prices {
        path,
        what: error.to_string(),
    })?);
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::config::{OPTIONS, Part, load};

    fn read(name: &str, text: &str) -> Result<Config, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        Config::of(&load(Some(&path), |_| None)?)
    }

    #[test]
    fn every_option_for_queries_is_taken() {
        // Options that are not taken are left where they are.
        let known = format!("{:?}", Config::default());
        for option in OPTIONS.iter().filter(|option| option.part != Part::Screens) {
            assert!(known.contains(&format!("{}: ", option.name)), "{}", option.name);
        }
    }

    #[test]
    fn defaults_of_the_table_are_those_of_the_engine() {
        let table: serde_json::Map<String, Value> = OPTIONS
            .iter()
            .map(|option| (option.name.to_owned(), option.default_value()))
            .collect();
        let config = Config::deserialize(Value::Object(table)).unwrap();
        let limits = crate::engine::Limits::default();
        let guard = crate::engine::Guard::default();
        assert_eq!(config.max_money_nano().unwrap(), Some(limits.max_money_nano));
        assert_eq!(
            (config.max_depth, config.max_calls_per_subagent, config.max_global_calls),
            (
                Some(limits.max_depth),
                Some(limits.max_calls_per_subagent),
                limits.max_global_calls
            )
        );
        assert_eq!(
            (
                config.max_completion_tokens,
                config.max_prompt_tokens,
                config.truncate_len
            ),
            (
                Some(limits.max_completion_tokens),
                Some(limits.max_prompt_tokens),
                Some(limits.truncate_len)
            )
        );
        assert_eq!(
            (config.api_max_retries, config.api_timeout_ms, config.step_timeout_s),
            (
                Some(limits.api_max_retries),
                Some(limits.api_timeout_ms),
                Some(limits.step_timeout_s)
            )
        );
        assert_eq!(
            (config.repl_memory_mb, config.max_agents_at_once),
            (Some(limits.repl_memory_mb), Some(limits.max_agents_at_once))
        );
        assert_eq!(
            (
                config.enable_compression_guard,
                config.compression_min_chars,
                config.compression_ratio
            ),
            (Some(guard.enabled), Some(guard.min_chars), Some(guard.ratio))
        );
        assert_eq!((config.enable_tools, config.inherit_tools), (Some(true), Some(false)));
        assert_eq!(config.enable_structured_io, Some(true));
        assert_eq!(
            (config.inherit_mcp, config.repl),
            (Some(false), Some(Backend::default()))
        );
    }

    #[test]
    fn options_by_name_and_unknown_ones_kept_apart() {
        let config = read(
            "c.yaml",
            "primary_agent: z-ai/glm-5\nmax_money_spent: 1.5\nnew_thing: 1\n",
        )
        .unwrap();
        assert_eq!(config.primary_agent.as_deref(), Some("z-ai/glm-5"));
        assert_eq!(config.max_money_spent, Some(1.5));
        assert_eq!(config.unknown.len(), 1);
    }

    #[test]
    fn an_agent_that_is_declared_wrongly_is_named_with_its_line() {
        let error = read("c.toml", "[cli_agents.mine]\ncomand = \"x\"\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("c.toml:1: cli_agents.mine") && error.contains("comand"),
            "{error}"
        );
        let config = read("c.yaml", "cli_agents:\n  mine: {command: x}\n").unwrap();
        assert_eq!(config.cli_agents["mine"].command, "x");
    }
}
