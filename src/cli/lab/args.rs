//! The arguments of commands on recorded sessions.

use super::numbers::{query_number, step_number};
use crate::cli::query::{OnwardArgs, worded};
use crate::model::Label;
use crate::repl::Backend;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands on recorded sessions.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// List sessions, the most recently active one first; those that run, wait, or ended without an answer are marked.
    Sessions(SessionsArgs),
    /// Run a session's recorded steps again with every call served from the record, and compare.
    Replay(ReplayArgs),
    /// Branch off a session before a step, and go on differently. Tails are live and can cost money.
    Fork(ForkArgs),
    /// Compare two sessions step by step. Exit code 0: identical, 1: different, 2: an error.
    Diff(DiffArgs),
    /// Run a session's last query again with one thing changed and the rest as recorded.
    WhatIf(WhatIfArgs),
    /// Finish a query that a crash cut.
    Resume(ResumeArgs),
    /// Write a session with its part of the log into one file.
    Export(ExportArgs),
    /// Take a session over from a file that `export` wrote.
    Import(ImportArgs),
}

/// Of `sessions`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SessionsArgs {
    /// The directory of the sessions.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Only those with this text in a query, in whatever case.
    #[arg(long, value_name = "TEXT")]
    pub query: Option<String>,
    /// Only those active since: 30m, 12h, 7d, 2w, or a date like 2026-11-29.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Remove those in which nothing was ever asked.
    #[arg(long)]
    pub prune: bool,
    /// Print them as JSON.
    #[arg(long)]
    pub json: bool,
    /// Something else with them.
    #[command(subcommand)]
    pub command: Option<StoreCommand>,
}

/// Of `sessions`: the store's upkeep.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Show what stored values nothing refers to any more.
    Gc {
        /// The directory of the sessions.
        #[arg(default_value = ".")]
        dir: PathBuf,
        /// Free them.
        #[arg(long)]
        free: bool,
    },
    /// Bring a state.json that was removed back from the log.
    Rebuild {
        /// The session: an id, or its directory.
        session: String,
        /// The directory of the sessions.
        #[arg(long, default_value = ".")]
        dir: PathBuf,
    },
}

/// Which session.
#[derive(Debug, Args)]
pub struct Target {
    /// The session: its id, its directory, or `last`.
    pub session: String,
    /// The directory of the sessions.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

/// Of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The session: its id, its directory, or `last`.
    #[arg(default_value = "last")]
    pub session: String,
    /// The directory of the sessions.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Only this query, as screens number it: 5 or Q5, X1 for one without an answer.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = query_number)]
    pub turn: Option<Label>,
    /// The Python that it was recorded with, sandbox or python3; that of the configuration unless given.
    #[arg(long, value_name = "NAME", value_parser = worded::<Backend>("repl"))]
    pub repl: Option<Backend>,
    /// An environment variable that its queries had: the value is in no record.
    #[arg(long = "env", value_name = "KEY=VALUE")]
    pub env: Vec<String>,
    /// The file that a query was asked about, where it lies now.
    #[arg(long, value_name = "FILE")]
    pub input_file: Option<PathBuf>,
    /// Read options from this file instead of the usual ones (`fast-rlm config path`).
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the report as JSON. Its turns and steps are those of the log, from 0.
    #[arg(long)]
    pub json: bool,
}

/// Of `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A session: its id, its directory, or `last`.
    pub a: String,
    /// Another one.
    pub b: String,
    /// The directory of the sessions.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Print the rows as JSON. Their turns and steps are those of the logs, from 0.
    #[arg(long)]
    pub json: bool,
}

/// Of `fork`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("how").required(true).multiple(false))]
pub struct ForkArgs {
    /// Which.
    #[command(flatten)]
    pub target: Target,
    /// Before this step, from 1.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = step_number)]
    pub at: i64,
    /// In this query, as screens number it: 5 or Q5, X1 for one without an answer; the last one unless given.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = query_number)]
    pub turn: Option<Label>,
    /// The value, as JSON, that the step's one name is bound to instead; the steps after it run again.
    #[arg(long, value_name = "JSON", group = "how", allow_negative_numbers = true)]
    pub inject: Option<String>,
    /// Other steps from here on: a file of Python, with lines of `# ---` between steps.
    #[arg(long, value_name = "FILE", group = "how")]
    pub edit: Option<PathBuf>,
    /// Something to tell the model, which then goes on from here.
    #[arg(long, value_name = "PROMPT", group = "how")]
    pub replan: Option<String>,
    /// Print what came of it as JSON.
    #[arg(long)]
    pub json: bool,
    /// With what.
    #[command(flatten)]
    pub onward: OnwardArgs,
}

/// Of `what-if`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(false))]
pub struct WhatIfArgs {
    /// Which.
    #[command(flatten)]
    pub target: Target,
    /// Every result of a call: `llm_query=JSON`.
    #[arg(long, value_name = "CALL=JSON", group = "change")]
    pub substitute: Option<String>,
    /// The results of a step's calls: `2=JSON`.
    #[arg(long, value_name = "STEP=JSON", group = "change", allow_hyphen_values = true)]
    pub substitute_at: Option<String>,
    /// A variable after a step: `2.name=JSON`.
    #[arg(long, value_name = "STEP.NAME=JSON", group = "change", allow_hyphen_values = true)]
    pub substitute_var: Option<String>,
    /// Another model plans the query anew.
    #[arg(long, value_name = "MODEL", group = "change")]
    pub model: Option<String>,
    /// The query is planned anew under this instruction.
    #[arg(long, value_name = "TEXT", group = "change")]
    pub instruction: Option<String>,
    /// Make calls that were never recorded, which can cost money, instead of halting there.
    #[arg(long)]
    pub live: bool,
    /// Print what came of it as JSON.
    #[arg(long)]
    pub json: bool,
    /// With what.
    #[command(flatten)]
    pub onward: OnwardArgs,
}

/// Of `resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Which.
    #[command(flatten)]
    pub target: Target,
    /// Print what came of it as JSON.
    #[arg(long)]
    pub json: bool,
    /// With what.
    #[command(flatten)]
    pub onward: OnwardArgs,
}

/// Of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Which.
    #[command(flatten)]
    pub target: Target,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub bundle: PathBuf,
}

/// Of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// A file that `export --bundle` wrote.
    pub bundle: PathBuf,
    /// The directory of the sessions, which need not be there yet.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// The session's id here; its own unless given.
    #[arg(long, value_name = "ID")]
    pub session_id: Option<String>,
}
