//! The arguments of `fast-rlm`.

use crate::cli::lab::LabCommand;
use crate::repl::Backend;
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Ask a recursive language model: the input stays in a Python REPL, the model explores it with code.
#[derive(Debug, Parser)]
#[command(
    name = "fast-rlm",
    args_conflicts_with_subcommands = true,
    after_long_help = EXAMPLES
)]
pub struct Args {
    /// What to ask. Without --input-file it is the whole input; with it, what to do with the file.
    pub prompt: Option<String>,

    /// Put a file's content into the REPL as `context` (.json, .yaml, .jsonl become values, anything else text).
    #[arg(long, value_name = "FILE")]
    pub input_file: Option<PathBuf>,

    /// The option `primary_agent`.
    #[arg(long, value_name = "MODEL")]
    pub primary_agent: Option<String>,

    /// The option `sub_agent`.
    #[arg(long, value_name = "MODEL")]
    pub sub_agent: Option<String>,

    /// Keep variables, functions and answers in this directory, for follow-up queries.
    #[arg(long, value_name = "DIR")]
    pub session_dir: Option<PathBuf>,

    /// One of several sessions under --session-dir: 1 to 64 of letters, digits, `.`, `_`, `-`.
    #[arg(long, value_name = "ID", requires = "session_dir")]
    pub session_id: Option<String>,

    /// Wait this long for a session that another process writes to; without it, a busy session is refused at once.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub wait: Option<Duration>,

    /// The option `add_session_code_to_context`, off.
    #[arg(long)]
    pub no_session_code: bool,

    /// The option `max_depth`.
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u32>,

    /// The option `max_calls_per_subagent`.
    #[arg(long, value_name = "N")]
    pub max_calls: Option<u64>,

    /// The option `max_global_calls`.
    #[arg(long, value_name = "N")]
    pub max_global_calls: Option<u64>,

    /// The option `max_money_spent`.
    #[arg(long, value_name = "USD")]
    pub max_money_spent: Option<String>,

    /// Write the transcript into this directory.
    #[arg(long, value_name = "DIR")]
    pub log_dir: Option<PathBuf>,

    /// First part of the transcript's file name (run).
    #[arg(long, value_name = "NAME")]
    pub prefix: Option<String>,

    /// Link transcripts by absolute path in state.json, for viewers that follow only those.
    #[arg(long)]
    pub absolute_logs: bool,

    /// The option `instruction`.
    #[arg(long, value_name = "TEXT")]
    pub instruction: Option<String>,

    /// A JSON Schema that the answer must fit.
    #[arg(long, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,

    /// A Python file whose functions the model may call.
    #[arg(long, value_name = "FILE.py")]
    pub tools: Vec<PathBuf>,

    /// A JSON file that declares MCP servers for the model to call: {"mcpServers": {…}}.
    #[arg(long, value_name = "FILE.json")]
    pub mcp: Vec<PathBuf>,

    /// The Python that runs the model's code: sandbox (unless given) or python3, the system's own, which is faster, has
    /// threads and installed packages, and isolates less.
    #[arg(long, value_name = "NAME")]
    pub repl: Option<Backend>,

    /// An environment variable of the REPL; its value is kept out of every file and message.
    #[arg(long = "env", value_name = "KEY=VALUE")]
    pub env: Vec<String>,

    /// Read options from this file instead of the usual ones (`fast-rlm config path`).
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Print only the answer.
    #[arg(short, long, conflicts_with = "verbosity")]
    pub quiet: bool,

    /// How much to show while it runs, on stderr.
    #[arg(long, value_enum)]
    pub verbosity: Option<Verbosity>,

    /// Print the answer, usage and transcript path as one JSON object.
    #[arg(long)]
    pub json: bool,

    /// Something else than a query.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Prepare the sandboxed Python now (once per machine, about 10 s), so that the first query starts at once.
    Warmup,
    /// Say what is ready: Python, model, keys, terminal.
    Doctor {
        /// The model to look at; the configured one unless given.
        #[arg(long, value_name = "MODEL")]
        primary_agent: Option<String>,
        /// Read options from this file instead of the usual ones (`fast-rlm config path`).
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// List the models that each backend offers, one a line.
    Models {
        /// Print them as JSON: one object a backend.
        #[arg(long)]
        json: bool,
        /// Read options from this file instead of the usual ones (`fast-rlm config path`).
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Answer the question that a session waits for, and let its query run on.
    Answer {
        /// The session's directory.
        dir: PathBuf,
        /// The answer; one of the question's options, where it has any.
        #[arg(required_unless_present = "drop")]
        text: Option<String>,
        /// Give no answer: close the query as cancelled.
        #[arg(long, conflicts_with = "text")]
        drop: bool,
        /// The model that goes on; the one that asked unless given.
        #[arg(long, value_name = "MODEL")]
        primary_agent: Option<String>,
        /// Wait this long for a session that another process writes to.
        #[arg(long, value_name = "SECONDS", value_parser = seconds)]
        wait: Option<Duration>,
        /// A JSON file that declares MCP servers for the model to call.
        #[arg(long, value_name = "FILE.json")]
        mcp: Vec<PathBuf>,
        /// The Python that runs the model's code: sandbox (unless given) or python3.
        #[arg(long, value_name = "NAME")]
        repl: Option<Backend>,
    },
    /// Something with recorded sessions.
    #[command(flatten)]
    Lab(LabCommand),
    /// Show the options that hold, and where each came from.
    Config(ConfigArgs),
    /// Print completions for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page of this program or of a subcommand, or write all of them.
    Man {
        /// The subcommand.
        #[arg(conflicts_with = "dir")]
        command: Option<String>,
        /// Write all pages into this directory.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

/// Of `config`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ConfigArgs {
    /// Print them as JSON.
    #[arg(long)]
    pub json: bool,
    /// Read options from this file instead of the usual ones.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Something else about them.
    #[command(subcommand)]
    pub command: Option<ConfigCommand>,
}

/// Of `config`: what else there is.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum ConfigCommand {
    /// List the configuration files, the strongest first.
    Path,
    /// Print the JSON schema of configuration files.
    Schema,
}

/// How much is shown while a query runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Verbosity {
    /// Nothing but errors.
    Silent,
    /// A line a step, and what it cost.
    Summary,
    /// Code and output of each step, too.
    Full,
}

/// A time in seconds, at most a year.
fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text
        .parse()
        .ok()
        .filter(|seconds| (0.0..=31_536_000.0).contains(seconds));
    let wrong = || format!("{text:?} is no number of seconds, like 30 or 0.5");
    parsed.map(Duration::from_secs_f64).ok_or_else(wrong)
}

const EXAMPLES: &str = "\
Examples:
  # ask about a file
  fast-rlm \"Which reviews mention battery life?\" --input-file reviews.jsonl --primary-agent z-ai/glm-5
  # keep what was learned, and ask on
  fast-rlm \"Build an index of this corpus\" --input-file corpus.txt --session-dir runs/corpus
  fast-rlm \"Now list the three longest chapters\" --session-dir runs/corpus
  # look at it, run it again, ask what if
  fast-rlm-log runs/corpus --tui
  fast-rlm replay last --dir runs
  fast-rlm fork last --dir runs --at 2 --inject 42

The answer goes to stdout, everything else to stderr.

Models: anything without a prefix goes to an OpenAI-compatible API (RLM_MODEL_BASE_URL, by default
OpenRouter's) with the key from RLM_MODEL_API_KEY, OPENAI_API_KEY or OPENROUTER_API_KEY;
claude-… and anthropic/… go to Anthropic's where ANTHROPIC_API_KEY is set;
cli:claude?model=sonnet asks a coding agent under its own login (codex and opencode, too);
scripted:FILE answers from a file, cassette:SESSION from a recorded session, both offline.
`fast-rlm models` lists what there is.

Options can stand in fast-rlm.toml or rlm_config.yaml here, or in your own config.toml:
`fast-rlm config` shows what holds and where it came from.

Exit codes: 0 done; 1 the run ended in an error, a replay diverged, a diff differs;
2 usage, or an input that cannot be used; 3 a limit stopped it; 4 the session is busy;
75 it waits for an answer; 130 cancelled.";
