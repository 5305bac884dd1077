//! The arguments of `fast-rlm`.

use super::run_args::{ElsewhereArgs, OnwardArgs, RunArgs, ShowArgs, seconds};
use crate::cli::lab::LabCommand;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Ask a recursive language model: the input stays in a Python REPL, the model explores it with code.
#[derive(Debug, Default, Parser)]
#[command(
    name = "fast-rlm",
    args_conflicts_with_subcommands = true,
    after_long_help = EXAMPLES
)]
pub struct Args {
    /// What to ask; `-`, or nothing, for what is piped in. Without --input-file it is the whole input; with it, what to
    /// do with the file, which may say so itself.
    pub prompt: Option<String>,

    /// Put a file's content into the REPL as `context` (.json, .yaml, .jsonl become values, anything else text); `-`
    /// for what is piped in, as text.
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

    /// With what it is run.
    #[command(flatten)]
    pub run: RunArgs,

    /// What is shown.
    #[command(flatten)]
    pub show: ShowArgs,

    /// Print the answer, usage and transcript path as one JSON object.
    #[arg(long)]
    pub json: bool,

    /// What is told only.
    #[command(flatten)]
    pub elsewhere: ElsewhereArgs,

    /// Something else than a query.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Prepare the sandboxed Python now (once per machine, half a minute to some minutes), so that the first query
    /// starts at once.
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
    Answer(AnswerArgs),
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

/// Of `answer`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    override_usage = "fast-rlm answer [OPTIONS] <SESSION> <TEXT>\n       fast-rlm answer [OPTIONS] <SESSION> --drop"
)]
pub struct AnswerArgs {
    /// The session: its id, its directory, or `last`.
    pub session: String,
    /// The answer; one of the question's options, where it has any.
    pub text: Option<String>,
    /// Give no answer: close the query as cancelled.
    #[arg(long, conflicts_with = "text")]
    pub drop: bool,
    /// The directory of the sessions.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Wait this long for a session that another process writes to.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub wait: Option<Duration>,
    /// Print the answer, usage and transcript path as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// With what.
    #[command(flatten)]
    pub onward: OnwardArgs,
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

impl Args {
    /// Its transcript is there after the program has ended.
    pub(super) fn keeps_transcript(&self) -> bool {
        self.session_dir.is_some() || self.log_dir.is_some()
    }
}

const EXAMPLES: &str = "\
Examples:
  # ask about a file
  fast-rlm \"Which reviews mention battery life?\" --input-file reviews.jsonl \\
    --primary-agent z-ai/glm-5
  git diff | fast-rlm \"What could break?\" --input-file -
  # keep what was learned, and ask on
  fast-rlm \"Build an index of this corpus\" --input-file corpus.txt --session-dir runs/corpus
  fast-rlm \"Now list the three longest chapters\" --session-dir runs/corpus
  # look at it, run it again, ask what if
  fast-rlm-log runs/corpus --tui
  fast-rlm replay last --dir runs
  fast-rlm fork last --dir runs --at 2 --inject 42

The answer goes to stdout, everything else to stderr.

Models: anything without a prefix goes to an OpenAI-compatible API (RLM_MODEL_BASE_URL, by default
OpenRouter's) with the key from RLM_MODEL_API_KEY, else OPENAI_API_KEY, else
OPENROUTER_API_KEY;
claude-… and anthropic/… go to Anthropic's own API where RLM_ANTHROPIC_API_KEY or ANTHROPIC_API_KEY
is set; of several variables the first one that is set counts;
cli:claude?model=sonnet asks a coding agent under its own login (codex and opencode, too);
scripted:FILE answers from a file, cassette:SESSION from a recorded session, both offline.
`fast-rlm models` lists what there is.

Options can stand in fast-rlm.toml or rlm_config.yaml here, or in your own config.toml, also
those that have no flag (time-outs, memory, tokens, …): `fast-rlm config` lists all of them, with
what holds and where it came from; docs/config.md says what each does.

Exit codes: 0 done; 1 the run ended in an error, a replay diverged, a diff differs, or the
system refused (a full disk); 2 usage, or an input that cannot be used; 3 a limit stopped it;
4 the session is busy; 75 it waits for an answer; 130 cancelled.

Ctrl-C cancels what runs and keeps every step that was done; a second one ends the program.";
