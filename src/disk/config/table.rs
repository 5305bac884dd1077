//! The table: the only place where an option's name, default and words are written.

use super::option::{Flag, Kind as K, Opt, Part};

/// The most that a number without a bound of its own may be; larger ones are mistakes.
const MANY: u64 = 1 << 40;

const fn opt(
    part: Part,
    name: &'static str,
    kind: K,
    default: &'static str,
    flag: Option<Flag>,
    doc: &'static str,
) -> Opt {
    Opt {
        name,
        kind,
        default,
        flag,
        part,
        doc,
    }
}

/// A flag that says what the option says.
const fn flag(long: &'static str) -> Option<Flag> {
    Some(Flag { long, doc: "" })
}

/// A switch that turns one way only.
const fn switch(long: &'static str, doc: &'static str) -> Option<Flag> {
    Some(Flag { long, doc })
}

use Part::{Limits as L, Queries as Q, Screens as S};

/// Every option, in the order of the documentation.
#[rustfmt::skip]
pub const OPTIONS: &[Opt] = &[
    opt(Q, "primary_agent", K::Model, "", flag("primary-agent"), "The model that answers, for example z-ai/glm-5, claude-sonnet-4-5, scripted:FILE; there is no default"),
    opt(Q, "sub_agent", K::Model, "", flag("sub-agent"), "The model of sub-agents; the primary one unless given"),
    opt(Q, "instruction", K::Text, "", flag("instruction"), "Added to the end of the root's system prompt"),
    opt(Q, "add_session_code_to_context", K::Switch, "true", switch("no-session-code", "Do not show a resumed model the code of earlier queries"), "Whether a resumed model is shown the code of earlier queries"),
    opt(Q, "enable_tools", K::Switch, "true", None, "Whether tools and MCP servers are given to the model at all"),
    opt(Q, "enable_structured_io", K::Switch, "true", None, "Whether dicts and lists reach agents as such and schemas are checked; else inputs are JSON text and no schema counts"),
    opt(Q, "inherit_tools", K::Switch, "false", None, "Whether sub-agents get all tools of their parent where none are named"),
    opt(Q, "mcp", K::File, "", flag("mcp"), "A JSON file that declares MCP servers for the model to call (docs/mcp.md)"),
    opt(Q, "inherit_mcp", K::Switch, "false", None, "Whether sub-agents get all MCP servers of their parent where none are named"),
    opt(Q, "repl", K::Word(&["sandbox", "python3"]), "\"sandbox\"", flag("repl"), "What runs the model's code: the sandbox, or the system's python3 (docs/repl.md)"),
    opt(Q, "enable_compression_guard", K::Switch, "true", None, "Whether sub-agents that would be given nearly everything are asked about first"),
    opt(Q, "compression_min_chars", K::Count(0, MANY), "5000", None, "Characters of the parent's context from which on the guard watches"),
    opt(Q, "compression_ratio", K::Share, "0.6", None, "Share of the parent's context from which on the guard asks"),
    opt(Q, "cli_agents", K::Agents, "", None, "Coding agents that answer as cli:NAME, besides those that ship (docs/models.md)"),
    opt(Q, "cli_allow_api_key", K::Switch, "false", switch("cli-allow-api-key", "Let an agent (cli:) bill an API key that is set, instead of using its own login"), "Whether an agent (cli:) may bill an API key that is set, instead of using its own login"),

    opt(L, "max_money_spent", K::Dollars, "0.2", flag("max-money-spent"), "US dollars that a query and its sub-agents may spend"),
    opt(L, "max_depth", K::Count(0, 64), "3", flag("max-depth"), "Depth of the deepest sub-agent; the root has depth 0"),
    opt(L, "max_calls_per_subagent", K::Count(1, MANY), "20", flag("max-calls"), "Model calls of one agent"),
    opt(L, "max_global_calls", K::Count(1, MANY), "", flag("max-global-calls"), "Model calls of a whole query, sub-agents included; no limit unless given"),
    opt(L, "max_completion_tokens", K::Count(1, MANY), "50000", None, "Completion tokens of a whole query"),
    opt(L, "max_prompt_tokens", K::Count(1, MANY), "200000", None, "Tokens of one call, prompt and completion"),
    opt(L, "truncate_len", K::Count(1, MANY), "10000", None, "Characters of an output that the model is shown: its last ones"),
    opt(L, "api_max_retries", K::Count(0, 100), "3", None, "Retries of one model call"),
    opt(L, "api_timeout_ms", K::Count(1, MANY), "600000", None, "Milliseconds that one model call may take"),
    opt(L, "step_timeout_s", K::Count(1, MANY), "120", None, "Seconds of execution of one step, without the time it waits for models or people"),
    opt(L, "repl_memory_mb", K::Count(1, 65_536), "512", None, "MiB of memory of one agent's REPL"),
    opt(L, "max_agents_at_once", K::Count(1, 4_096), "16", None, "Agents that execute or call a model at the same time"),

    opt(S, "theme", K::NameOrFile, "\"auto\"", flag("theme"), "auto (dark or light, as the terminal is), the name of a theme, or a theme file (docs/themes.md)"),
    opt(S, "keymap", K::NameOrFile, "\"arrows\"", flag("keymap"), "arrows, vim, or a keymap file (docs/keys.md)"),
    opt(S, "keys", K::Keys, "", None, "Keys of single actions, over the keymap: [keys.run] with fork = [\"f\"] (docs/keys.md)"),
    opt(S, "animation", K::Switch, "true", switch("no-animation", "Show every screen at once, without movement"), "Whether cards enter one after another"),
    opt(S, "mouse", K::Switch, "true", switch("no-mouse", "Leave the mouse to the terminal"), "Whether the mouse is used"),
    opt(S, "ascii", K::Switch, "false", switch("ascii", "Draw with ASCII characters only"), "Whether ASCII characters are drawn only"),
    opt(S, "utc", K::Switch, "false", switch("utc", "Show times in UTC instead of local time (JSON is always in UTC)"), "Whether times are shown in UTC instead of local time"),
];

/// Names that other builds read, and what holds here instead.
pub(super) const ELSEWHERE: &[(&str, &str)] = &[
    ("acp_agents", "agents are declared as cli_agents here"),
    (
        "cli_minimal",
        "the agents that ship are given no tools and no prompt of their own as it is; cli_allow_api_key lets them use a key",
    ),
    (
        "cli_native_tools",
        "the agents that ship have their own tools switched off",
    ),
    ("max_parallel_children", "max_agents_at_once bounds them here"),
    (
        "parallel_batch_window_ms",
        "calls are gathered without a time window here",
    ),
];

/// The option of a name.
pub fn find(name: &str) -> Option<&'static Opt> {
    OPTIONS.iter().find(|option| option.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_variables_and_flags_are_unique() {
        let names: HashSet<_> = OPTIONS.iter().map(|option| option.name).collect();
        let variables: HashSet<_> = OPTIONS.iter().filter_map(Opt::variable).collect();
        let flags: Vec<_> = OPTIONS
            .iter()
            .filter_map(|option| option.flag)
            .map(|flag| flag.long)
            .collect();
        let tables = OPTIONS.iter().filter(|option| option.kind.is_table()).count();
        assert_eq!((names.len(), variables.len()), (OPTIONS.len(), OPTIONS.len() - tables));
        assert_eq!(flags.iter().collect::<HashSet<_>>().len(), flags.len());
    }

    #[test]
    fn defaults_are_of_their_kind() {
        for option in OPTIONS.iter().filter(|option| !option.default.is_empty()) {
            assert!(option.kind.check(&option.default_value()).is_some(), "{}", option.name);
        }
    }
}
