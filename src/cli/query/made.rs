//! From options to the library's configuration: the only place where an option is given to what it sets. Flags win over
//! environment, environment over files.

use super::config::{Config, ConfigError, without_value};
use super::run_args::RunArgs;
use crate::client;
use crate::disk::whole::{LARGEST_NAMED, read_named};
use crate::provider::AgentSpec;
use crate::text::parse_fault;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

type Made = client::Config;

/// With the variables of `--env`.
pub(in crate::cli) fn with_variables(made: Made, given: &[String]) -> Result<Made, ConfigError> {
    given.iter().try_fold(made, |made, pair| {
        let (name, value) = variable(pair)?;
        Ok(made.env(name, value))
    })
}

impl Config {
    /// As the library takes it, with flags over it, but for the models.
    pub(in crate::cli) fn with(&self, flags: &RunArgs) -> Result<Made, ConfigError> {
        let set = Self {
            max_depth: flags.max_depth.or(self.max_depth),
            max_calls_per_subagent: flags.max_calls.or(self.max_calls_per_subagent),
            max_global_calls: flags.max_global_calls.or(self.max_global_calls),
            max_money_spent: flags.max_money_spent.or(self.max_money_spent),
            repl: flags.repl.or(self.repl),
            mcp: self.mcp.clone().filter(|_| flags.mcp.is_empty()),
            cli_agents: self.agents_with(flags.cli_agents.as_deref())?,
            cli_allow_api_key: flags.cli_allow_api_key.then_some(true).or(self.cli_allow_api_key),
            ..self.clone()
        };
        let mut made = set.whole()?;
        made = flags.mcp.iter().fold(made, |made, file| made.mcp_file(file));
        made = flags.tools.iter().fold(made, |made, file| made.tool_file(file));
        made = with_variables(made, &flags.env)?;
        match &flags.output_schema {
            Some(file) => Ok(made.output_schema(schema(file)?)),
            None => Ok(made),
        }
    }

    /// The agents, those of `--cli-agents` over those of the configuration.
    fn agents_with(&self, given: Option<&str>) -> Result<BTreeMap<String, AgentSpec>, ConfigError> {
        let mut agents = self.cli_agents.clone();
        let Some(given) = given else { return Ok(agents) };
        let read;
        let text = match given.strip_prefix('@') {
            None => given,
            Some(file) => {
                read = read_named(Path::new(file), LARGEST_NAMED).map_err(|cause| ConfigError::ReadCliAgents {
                    path: file.into(),
                    cause,
                })?;
                &read
            }
        };
        let declared: serde_json::Map<String, Value> =
            serde_json::from_str(text).map_err(|error| ConfigError::CliAgents(parse_fault(&error.to_string())))?;
        for (name, declared) in declared {
            let spec = AgentSpec::read(&declared);
            let spec = spec.map_err(|error| ConfigError::CliAgents(format!("{name}: {}", without_value(&error))))?;
            agents.insert(name, spec);
        }
        Ok(agents)
    }

    /// As the library takes it, but for the models.
    pub(in crate::cli) fn whole(&self) -> Result<Made, ConfigError> {
        let mut made = self.client()?;
        made = with(made, self.max_depth, Made::max_depth);
        made = with(made, self.max_money_spent, Made::max_money_spent);
        made = with(
            made,
            self.add_session_code_to_context,
            Made::add_session_code_to_context,
        );
        Ok(made)
    }

    /// As the library takes it, but for what can be chosen in the terminal program.
    pub(in crate::cli) fn client(&self) -> Result<Made, ConfigError> {
        let mut made = Made::default().provider_settings(self.providers()?);
        made = with(made, self.max_calls_per_subagent, Made::max_calls_per_subagent);
        made = with(made, self.max_global_calls, Made::max_global_calls);
        made = with(made, self.max_completion_tokens, Made::max_completion_tokens);
        made = with(made, self.max_prompt_tokens, Made::max_prompt_tokens);
        made = with(made, self.truncate_len, Made::truncate_len);
        made = with(made, self.api_max_retries, Made::api_max_retries);
        made = with(made, self.api_timeout_ms, Made::api_timeout_ms);
        made = with(made, self.step_timeout_s, Made::step_timeout_s);
        made = with(made, self.repl_memory_mb, Made::repl_memory_mb);
        made = with(made, self.max_agents_at_once, Made::max_agents_at_once);
        made = with(made, self.enable_compression_guard, Made::enable_compression_guard);
        made = with(made, self.compression_min_chars, Made::compression_min_chars);
        made = with(made, self.compression_ratio, Made::compression_ratio);
        made = with(made, self.enable_tools, Made::enable_tools);
        made = with(made, self.enable_structured_io, Made::enable_structured_io);
        made = with(made, self.inherit_tools, Made::inherit_tools);
        made = with(made, self.inherit_mcp, Made::inherit_mcp);
        made = with(made, self.repl, Made::repl);
        if let Some(file) = &self.mcp {
            made = made.mcp_file(file);
        }
        Ok(match &self.instruction {
            Some(text) => made.instruction(text),
            None => made,
        })
    }
}

fn with<T: Copy>(made: Made, value: Option<T>, set: impl FnOnce(Made, T) -> Made) -> Made {
    match value {
        Some(value) => set(made, value),
        None => made,
    }
}

fn variable(pair: &str) -> Result<(&str, &str), ConfigError> {
    let parts = pair.split_once('=').filter(|(name, _)| !name.is_empty());
    parts.ok_or(ConfigError::Env)
}

fn schema(file: &Path) -> Result<Value, ConfigError> {
    let text = read_named(file, LARGEST_NAMED).map_err(|cause| ConfigError::ReadSchema {
        path: file.to_owned(),
        cause,
    })?;
    serde_json::from_str(&text).map_err(|cause| ConfigError::Schema {
        path: file.to_owned(),
        cause,
    })
}
