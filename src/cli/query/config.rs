//! `rlm_config.yaml`: options by their names, in the working directory or the user's configuration directory.

use crate::client;
use crate::provider::{AgentSpec, PricingTable};
use crate::text::parse_nano;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The options of a file. All optional; flags and environment win over them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct Config {
    pub(in crate::cli) primary_agent: Option<String>,
    pub(in crate::cli) sub_agent: Option<String>,
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
    pub(super) inherit_tools: Option<bool>,
    pub(in crate::cli) add_session_code_to_context: Option<bool>,
    pub(super) cli_agents: BTreeMap<String, AgentSpec>,
    /// What this build does not know: told once, and otherwise left alone.
    #[serde(flatten)]
    pub(super) unknown: BTreeMap<String, Value>,
}

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum ConfigError {
    #[error("cannot read the configuration {}: {cause}; check its name", path.display())]
    Read {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("the configuration {} is not valid: {what}", path.display())]
    Parse { path: PathBuf, what: String },
}

impl Config {
    /// Reads the named file, else the first of the usual places; none is an empty configuration.
    pub(in crate::cli) fn find(named: Option<&Path>) -> Result<Self, ConfigError> {
        let path = named
            .map(Path::to_owned)
            .or_else(|| places().into_iter().find(|path| path.is_file()));
        path.map_or_else(|| Ok(Self::default()), |path| Self::read(&path))
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

    /// As the library takes it, but for what can be chosen in the terminal program.
    pub(in crate::cli) fn client(&self) -> client::Config {
        type Made = client::Config;
        let mut made = Made::default();
        fn with<T: Copy>(made: Made, value: Option<T>, set: impl FnOnce(Made, T) -> Made) -> Made {
            match value {
                Some(value) => set(made, value),
                None => made,
            }
        }
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
        with(made, self.inherit_tools, Made::inherit_tools)
    }

    fn read(path: &Path) -> Result<Self, ConfigError> {
        let read = std::fs::read_to_string(path);
        let text = read.map_err(|cause| ConfigError::Read {
            path: path.to_owned(),
            cause,
        })?;
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        serde_saphyr::from_str(&text).map_err(|e| ConfigError::Parse {
            path: path.to_owned(),
            what: e.to_string(),
        })
    }
}

/// Where a configuration is looked for, in order.
fn places() -> Vec<PathBuf> {
    let here = PathBuf::from("rlm_config.yaml");
    [Some(here), user_file("rlm_config.yaml")]
        .into_iter()
        .flatten()
        .collect()
}

/// A file in the user's configuration directory.
fn user_file(name: &str) -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("fast-rlm").join(name))
}

/// The shipped prices, with those of the user's `pricing.toml` over them.
pub(super) fn prices() -> Result<PricingTable, ConfigError> {
    let mut table = PricingTable::builtin();
    let Some(path) = user_file("pricing.toml").filter(|path| path.exists()) else {
        return Ok(table);
    };
    let read = std::fs::read_to_string(&path);
    let text = read.map_err(|cause| ConfigError::Read {
        path: path.clone(),
        cause,
    })?;
    table.merge(PricingTable::from_toml(&text).map_err(|error| ConfigError::Parse {
        path,
        what: error.to_string(),
    })?);
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rlm_config.yaml");
        std::fs::write(&path, text).unwrap();
        Config::find(Some(&path))
    }

    #[test]
    fn options_by_name_and_unknown_ones_kept_apart() {
        let config = read("primary_agent: z-ai/glm-5\nmax_money_spent: 1.5\nnew_thing: 1\n").unwrap();
        assert_eq!(config.primary_agent.as_deref(), Some("z-ai/glm-5"));
        assert_eq!(config.max_money_spent, Some(1.5));
        assert_eq!(config.unknown.keys().collect::<Vec<_>>(), ["new_thing"]);
    }

    #[test]
    fn an_empty_file_is_an_empty_configuration() {
        assert!(read("\n# nothing\n").unwrap().primary_agent.is_none());
    }

    #[test]
    fn errors_name_file_and_line() {
        let error = read("max_depth: [1\n").unwrap_err().to_string();
        assert!(error.contains("rlm_config.yaml") && error.contains("line"), "{error}");
        let error = Config::find(Some(Path::new("/nonexistent.yaml")))
            .unwrap_err()
            .to_string();
        assert!(error.contains("/nonexistent.yaml"), "{error}");
    }
}
