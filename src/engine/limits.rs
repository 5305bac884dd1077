//! The limits of a query, with their defaults, and what it means to exceed one.

use crate::text::{money, plural};

/// What bounds a query. Names are those of the configuration file and, with dashes, of the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Depth of the deepest sub-agent; the root has depth 0.
    pub max_depth: u32,
    /// Model calls of one agent.
    pub max_calls_per_subagent: u64,
    /// Nano-dollars of the whole query, sub-agents included.
    pub max_money_nano: i64,
    /// Completion tokens of the whole query.
    pub max_completion_tokens: u64,
    /// Tokens of one call, prompt and completion.
    pub max_prompt_tokens: u64,
    /// Model calls of the whole query, sub-agents included; none by default.
    pub max_global_calls: Option<u64>,
    /// Characters of an output that the model is shown.
    pub truncate_len: usize,
    /// Retries of one model call.
    pub api_max_retries: u32,
    /// Milliseconds that one model call may take.
    pub api_timeout_ms: u64,
    /// Seconds of execution of one step; waiting for models or people does not count.
    pub step_timeout_s: u64,
    /// MiB of memory of one agent's REPL.
    pub repl_memory_mb: u64,
    /// Agents that execute or call a model at the same time.
    pub max_agents_at_once: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_depth: 3,
            max_calls_per_subagent: 20,
            max_money_nano: 200_000_000,
            max_completion_tokens: 50_000,
            max_prompt_tokens: 200_000,
            max_global_calls: None,
            truncate_len: 10_000,
            api_max_retries: 3,
            api_timeout_ms: 600_000,
            step_timeout_s: 120,
            repl_memory_mb: 512,
            max_agents_at_once: 16,
        }
    }
}

/// A limit that stopped an agent or the whole query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    /// Money of the query.
    #[error("limit max_money_spent: {} allowed, {} spent", money(i128::from(*limit_nano)), money(*spent_nano))]
    Money {
        /// Nano-dollars allowed.
        limit_nano: i64,
        /// Nano-dollars spent.
        spent_nano: i128,
    },
    /// Completion tokens of the query.
    #[error("limit max_completion_tokens: {limit} allowed, {reached} used")]
    CompletionTokens {
        /// Allowed.
        limit: u64,
        /// Used.
        reached: u64,
    },
    /// Tokens of one call.
    #[error("limit max_prompt_tokens: {limit} allowed in one call, {reached} used")]
    PromptTokens {
        /// Allowed.
        limit: u64,
        /// Used.
        reached: u64,
    },
    /// Model calls of one agent.
    #[error(
        "limit max_calls_per_subagent: {} made without FINAL",
        plural(u128::from(*limit), "model call", "model calls")
    )]
    Calls {
        /// Allowed, and reached.
        limit: u64,
    },
    /// Model calls of the query.
    #[error(
        "limit max_global_calls: {} made by the query and its sub-agents",
        plural(u128::from(*limit), "model call", "model calls")
    )]
    GlobalCalls {
        /// Allowed, and reached.
        limit: u64,
    },
}

impl Exceeded {
    /// The limit's name, as in the configuration.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Money { .. } => "max_money_spent",
            Self::CompletionTokens { .. } => "max_completion_tokens",
            Self::PromptTokens { .. } => "max_prompt_tokens",
            Self::Calls { .. } => "max_calls_per_subagent",
            Self::GlobalCalls { .. } => "max_global_calls",
        }
    }

    /// How to ask again with twice as much, in a shell: of what was reached, where twice the limit would stop it there
    /// again, and with the default where both are nothing.
    pub fn doubled(&self) -> String {
        let flag = flag_of(self.name());
        let twice = match self {
            Self::Money { limit_nano, spent_nano } => {
                let usual = i128::from(Limits::default().max_money_nano);
                let enough = enough(i128::from(*limit_nano), *spent_nano);
                money(if enough > 0 { enough } else { usual }).replace(['$', ','], "")
            }
            Self::CompletionTokens { limit, reached } | Self::PromptTokens { limit, reached } => {
                enough(i128::from(*limit), i128::from(*reached)).to_string()
            }
            Self::Calls { limit } | Self::GlobalCalls { limit } => limit.saturating_mul(2).to_string(),
        };
        let joint = if flag.starts_with('-') { ' ' } else { '=' };
        format!("{flag}{joint}{twice}")
    }

    /// Whether it ends the whole query, and not just the agent that met it.
    pub fn ends_query(&self) -> bool {
        !matches!(self, Self::Calls { .. } | Self::PromptTokens { .. })
    }
}

/// Twice the limit, where that is more than was reached; else twice that.
fn enough(limit: i128, reached: i128) -> i128 {
    match limit.saturating_mul(2) {
        twice if twice > reached => twice,
        _ => reached.saturating_mul(2),
    }
}

/// What sets the limit of this name for one query: a flag, or an environment variable where it has none.
pub(super) fn flag_of(name: &str) -> &'static str {
    match name {
        "max_money_spent" => "--max-money-spent",
        "max_calls_per_subagent" => "--max-calls",
        "max_global_calls" => "--max-global-calls",
        "max_completion_tokens" => "FAST_RLM_MAX_COMPLETION_TOKENS",
        "max_prompt_tokens" => "FAST_RLM_MAX_PROMPT_TOKENS",
        _ => "docs/config.md has how",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_much_is_what_the_shell_takes() {
        let money = |limit_nano| Exceeded::Money {
            limit_nano,
            spent_nano: 0,
        };
        assert_eq!(money(200_000_000).doubled(), "--max-money-spent 0.40");
        assert_eq!(money(1_000_000_000_000).doubled(), "--max-money-spent 2000.00");
        assert_eq!(money(0).doubled(), "--max-money-spent 0.20", "the default");
        let far = Exceeded::Money {
            limit_nano: 5_000_000,
            spent_nano: 10_000_000,
        };
        assert_eq!(far.doubled(), "--max-money-spent 0.02");
        assert_eq!(Exceeded::Calls { limit: 4 }.doubled(), "--max-calls 8");
        let beyond = Exceeded::CompletionTokens {
            limit: 50,
            reached: 600,
        };
        assert!(beyond.doubled().ends_with("=1200"));
        let tokens = Exceeded::PromptTokens { limit: 50, reached: 60 };
        assert_eq!(tokens.doubled(), "FAST_RLM_MAX_PROMPT_TOKENS=100");
    }

    #[test]
    fn every_limit_has_what_sets_it() {
        use crate::disk::config::OPTIONS;
        for (limit, flag) in OPTIONS
            .iter()
            .filter_map(|option| Some((option.name, option.flag?.long)))
        {
            let known = flag_of(limit);
            assert!(
                known == format!("--{flag}") || !known.starts_with('-'),
                "{limit}: {known}"
            );
        }
    }
}
