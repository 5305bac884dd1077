//! Arguments that several commands share: what agents are run with, how much is shown, and what a recorded query goes
//! on with. Flags that set an option are checked as files and variables are, by the table of options.

use crate::disk::config::{Kind, find};
use crate::repl::Backend;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::de::DeserializeOwned;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// What agents are run with, in a new query or in one that goes on.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// The option `max_depth`.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = checked::<u32>("max_depth"))]
    pub max_depth: Option<u32>,

    /// The option `max_calls_per_subagent`.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = checked::<u64>("max_calls_per_subagent"),
    )]
    pub max_calls: Option<u64>,

    /// The option `max_global_calls`.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = checked::<u64>("max_global_calls"))]
    pub max_global_calls: Option<u64>,

    /// The option `max_money_spent`.
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = checked::<f64>("max_money_spent"))]
    pub max_money_spent: Option<f64>,

    /// A JSON Schema that the answer must fit.
    #[arg(long, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,

    /// A Python file whose functions the model may call.
    #[arg(long, value_name = "FILE.py")]
    pub tools: Vec<PathBuf>,

    /// The option `mcp`.
    #[arg(long, value_name = "FILE.json")]
    pub mcp: Vec<PathBuf>,

    /// The option `repl`.
    #[arg(long, value_name = "NAME", value_parser = worded::<Backend>("repl"))]
    pub repl: Option<Backend>,

    /// Coding agents that answer as cli:NAME, besides those of the configuration: JSON, or @FILE with it
    /// (docs/models.md).
    #[arg(long, value_name = "JSON")]
    pub cli_agents: Option<String>,

    /// The option `cli_allow_api_key`.
    #[arg(long)]
    pub cli_allow_api_key: bool,

    /// An environment variable of the REPL; its value is kept out of every file and message.
    #[arg(long = "env", value_name = "KEY=VALUE")]
    pub env: Vec<String>,

    /// Read options from this file instead of the usual ones (`fast-rlm config path`).
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// How much is shown on stderr.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ShowArgs {
    /// Print only the answer; --verbosity says otherwise.
    #[arg(short, long)]
    pub quiet: bool,

    /// How much to show while it runs, on stderr.
    #[arg(long, value_enum)]
    pub verbosity: Option<Verbosity>,
}

impl ShowArgs {
    /// What is chosen; else `-q` is silent, a terminal is shown a line a step, anything else what should not be missed.
    pub(in crate::cli) fn level(self) -> Verbosity {
        match self.verbosity {
            Some(chosen) => chosen,
            None if self.quiet => Verbosity::Silent,
            None if io::stderr().is_terminal() => Verbosity::Summary,
            None => Verbosity::Notices,
        }
    }

    /// Whether what is worth knowing is told, though nothing failed: unless silence was asked for.
    pub(in crate::cli) fn tells(self) -> bool {
        self.level() != Verbosity::Silent
    }
}

/// How much is shown while a query runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Verbosity {
    /// Nothing but errors.
    Silent,
    /// What should not be missed: not to be chosen, it is what pipes and files get.
    #[value(skip)]
    Notices,
    /// A line a step, and what it cost.
    Summary,
    /// Code and output of each step, too.
    Full,
}

/// Flags of the Python package that have no equal: who has them in a script is told what to write.
#[derive(Clone, Debug, Default, Args)]
pub struct ElsewhereArgs {
    #[arg(long, hide = true)]
    acp_agents: Option<String>,
    #[arg(long, hide = true)]
    cli_minimal: bool,
    #[arg(long, hide = true)]
    vertex: bool,
}

impl ElsewhereArgs {
    /// What to write instead of the one that is given.
    pub(super) fn refused(&self) -> Option<&'static str> {
        let given = [
            (
                self.acp_agents.is_some(),
                "--acp-agents: ACP is no backend here: declare the agents as cli_agents (docs/models.md)",
            ),
            (
                self.cli_minimal,
                "--cli-minimal: the agents that ship are given no tools and a prompt of ours as it is: leave it out, \
                 and add --cli-allow-api-key where they are to use a key",
            ),
            (
                self.vertex,
                "--vertex: Vertex AI is no backend here: set RLM_MODEL_BASE_URL to its OpenAI-compatible address and \
                 RLM_MODEL_API_KEY to an access token (docs/models.md)",
            ),
        ];
        given.into_iter().find_map(|(is_given, told)| is_given.then_some(told))
    }
}

/// With what a recorded query goes on.
#[derive(Clone, Debug, Default, Args)]
pub struct OnwardArgs {
    /// The root's model; the recorded one unless given.
    #[arg(long, value_name = "MODEL")]
    pub primary_agent: Option<String>,

    /// The sub-agents' model; the recorded one unless given.
    #[arg(long, value_name = "MODEL")]
    pub sub_agent: Option<String>,

    /// The file that the query was asked about, where it lies now.
    #[arg(long, value_name = "FILE")]
    pub input_file: Option<PathBuf>,

    /// With what it is run.
    #[command(flatten)]
    pub run: RunArgs,

    /// What is shown.
    #[command(flatten)]
    pub show: ShowArgs,
}

impl OnwardArgs {
    /// The root's model and the sub-agents', from those that are given and those of the record (an empty one is none).
    /// Sub-agents that had the root's model have it again.
    pub(in crate::cli) fn models(
        &self,
        recorded: Option<(String, Option<String>)>,
    ) -> (Option<String>, Option<String>) {
        let (root, sub) = recorded.unwrap_or_default();
        let sub = sub.filter(|sub| *sub != root && !sub.is_empty());
        let root = Some(root).filter(|root| !root.is_empty());
        (self.primary_agent.clone().or(root), self.sub_agent.clone().or(sub))
    }
}

/// Reads a flag as its option is read elsewhere.
fn checked<T: DeserializeOwned>(option: &'static str) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let kind = find(option).ok_or("there is no such option")?.kind;
        let value = kind.read(text).ok_or_else(|| format!("it is not {}", kind.wanted()))?;
        serde_json::from_value(value).map_err(|error| error.to_string())
    }
}

/// Reads a flag whose option is one of some words: the shell offers them.
pub(in crate::cli) fn worded<T>(option: &str) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    let words = match find(option).map(|option| option.kind) {
        Some(Kind::Word(words)) => words,
        _ => &[],
    };
    PossibleValuesParser::new(words.iter().copied()).try_map(|word| word.parse::<T>())
}

/// A time in seconds, at most a year.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text
        .parse()
        .ok()
        .filter(|seconds| (0.0..=31_536_000.0).contains(seconds));
    let wrong = || format!("{text:?} is no number of seconds, like 30 or 0.5");
    parsed.map(Duration::from_secs_f64).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_those_of_the_record_unless_they_are_given() {
        let recorded = |root: &str, sub: &str| Some((root.to_owned(), Some(sub.to_owned())));
        let given = |root: Option<&str>, sub: Option<&str>| OnwardArgs {
            primary_agent: root.map(str::to_owned),
            sub_agent: sub.map(str::to_owned),
            ..OnwardArgs::default()
        };
        let models = |args: OnwardArgs, recorded| {
            let (root, sub) = args.models(recorded);
            (root.unwrap_or_default(), sub.unwrap_or_default())
        };
        let pair = |root: &str, sub: &str| (root.to_owned(), sub.to_owned());
        assert_eq!(models(given(None, None), recorded("a", "b")), pair("a", "b"));
        assert_eq!(models(given(Some("c"), None), recorded("a", "b")), pair("c", "b"));
        assert_eq!(models(given(Some("c"), None), recorded("a", "a")), pair("c", ""));
        assert_eq!(models(given(None, Some("d")), recorded("a", "a")), pair("a", "d"));
        assert_eq!(models(given(None, None), None), pair("", ""));
    }

    #[test]
    fn what_is_chosen_counts_more_than_quiet() {
        let show = |quiet, verbosity| ShowArgs { quiet, verbosity };
        assert_eq!(show(true, None).level(), Verbosity::Silent);
        assert_eq!(show(true, Some(Verbosity::Full)).level(), Verbosity::Full);
        assert!(show(true, Some(Verbosity::Summary)).tells() && !show(false, Some(Verbosity::Silent)).tells());
    }

    #[test]
    fn flags_are_held_to_what_files_are_held_to() {
        let depth = checked::<u32>("max_depth");
        assert_eq!((depth("64"), depth("0")), (Ok(64), Ok(0)));
        assert_eq!(depth("65"), Err("it is not a whole number from 0 to 64".into()));
        assert!(checked::<u64>("max_calls_per_subagent")("0").is_err());
        assert_eq!(checked::<f64>("max_money_spent")("$0.5"), Ok(0.5));
    }
}
