//! From arguments and configuration to everything that a query is run with; and what is ready for one (`warmup`,
//! `doctor`).

use super::args::Args;
use super::config::{Config, ConfigError};
use super::exit::Exit;
use super::home::home;
use super::piped;
use super::run_args::Verbosity;
use crate::client::{self, EphemeralDir};
use crate::disk::advice::advice;
use crate::disk::whole::is_pipe;
use crate::engine::{BeginError, Home, Input, Settings};
use crate::provider::{self, KeyState};
use crate::repl::{PrepareError, prepare};
use crate::store::StoreError;
use crate::text::SafeText;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Why a query cannot be run, or something else failed before it.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Library(#[from] client::Error),
    #[error("{0}")]
    Usage(String),
    #[error("cannot write to {}: {cause}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Begin(#[from] BeginError),
    #[error(transparent)]
    Session(#[from] crate::cli::lab::Failure),
    #[error(transparent)]
    Prepare(PrepareError),
    #[error("cannot start: {}; {}", .0, advice(.0))]
    Runtime(io::Error),
    #[error("cannot write the result to standard output: {0}")]
    Output(io::Error),
}

/// Everything a query is run with.
pub(super) struct Setup {
    pub(super) home: Home,
    pub(super) input: Input,
    pub(super) settings: Settings,
    pub(super) verbosity: Verbosity,
    /// Keeps an ephemeral session's directory until the program ends.
    _ephemeral: Option<EphemeralDir>,
}

impl Setup {
    pub(super) fn read(args: &Args) -> Result<Self, Failure> {
        let config = Config::find(args.run.config.as_deref())?;
        if args.show.tells() {
            tell_unknown(&config);
        }
        if args.input_file.is_none() && args.prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
            return Err(Failure::Usage("the prompt is empty: say what to ask".into()));
        }
        let (home, ephemeral) = home(args)?;
        let settings = settings(args, &config)?;
        Ok(Self {
            input: input(args, &home, &settings)?,
            home,
            settings,
            verbosity: args.show.level(),
            _ephemeral: ephemeral,
        })
    }
}

/// Names in the configuration that are no options. Said first: one of them may be why the rest fails.
pub(in crate::cli) fn tell_unknown(config: &Config) {
    for unknown in &config.unknown {
        let told = SafeText::line(&unknown.to_string());
        let _ = writeln!(io::stderr(), "fast-rlm: {told}");
    }
}

/// What is asked about. Nothing is kept of what comes by a pipe where the query cannot begin anyway.
fn input(args: &Args, home: &Home, settings: &Settings) -> Result<Input, Failure> {
    let prompt = args.prompt.clone().unwrap_or_default();
    let (dir, secrets) = (&home.dir, &settings.secrets);
    home.check_names(secrets)?;
    let kept = match &args.input_file {
        None => return Ok(Input::Text(prompt)),
        Some(_) if piped::takes_file(args) => piped::kept_input(dir, secrets)?,
        Some(path) if is_pipe(path) => piped::kept_pipe(path, dir, secrets)?,
        Some(path) => {
            let path = path.clone();
            return Ok(Input::File { path, prompt });
        }
    };
    if kept.hidden && args.show.tells() {
        tell_hidden();
    }
    let path = kept.path;
    Ok(Input::File { path, prompt })
}

/// That the model is asked about something else than what was piped.
fn tell_hidden() {
    let told = "a secret is in what is piped in: it is kept, and asked about, with [secret NAME] in its place";
    let _ = writeln!(io::stderr(), "fast-rlm: {told}");
}

fn settings(args: &Args, set: &Config) -> Result<Settings, Failure> {
    let mut made = set.with(&args.run)?;
    let model = args.primary_agent.as_ref().or(set.primary_agent.as_ref());
    if let Some(model) = model {
        made = made.primary_agent(model);
    }
    let sub = args.sub_agent.as_ref().or(set.sub_agent.as_ref());
    if let Some(sub) = sub.filter(|sub| !sub.is_empty()) {
        made = made.sub_agent(sub);
    }
    if let Some(text) = &args.instruction {
        made = made.instruction(text);
    }
    if args.no_session_code {
        made = made.add_session_code_to_context(false);
    }
    Ok(made.open()?)
}

/// `fast-rlm warmup`: prepares Python, with its progress on stderr.
pub(super) fn warmup() -> Result<Exit, Failure> {
    let mut tell = |line: &str| drop(writeln!(io::stderr(), "{line}"));
    if prepare::is_ready() {
        tell("Python is ready.");
        return Ok(Exit::Done);
    }
    prepare::prepare(&mut tell).map_err(Failure::Prepare)?;
    Ok(Exit::Done)
}

/// `fast-rlm doctor`: what is ready, on stdout; exit code 0 when a query could be asked.
pub(super) fn doctor(named: Option<&String>, config: Option<&Path>) -> Result<Exit, Failure> {
    let config = Config::find(config)?;
    tell_unknown(&config);
    let name = named.or(config.primary_agent.as_ref()).cloned().unwrap_or_default();
    let providers = config.providers()?;
    let model = provider::open(&name, &providers);
    let mut out = io::stdout().lock();
    let mut line = |mark: bool, what: &str, told: &str| {
        let mark = if mark { "ok  " } else { "--  " };
        writeln!(out, "{mark}{what:<10}{}", SafeText::line(told)).map_err(Failure::Output)
    };
    let ready = prepare::is_ready();
    let python = if ready {
        "CPython 3.14, ready"
    } else {
        "not prepared yet: the first query does it, or `fast-rlm warmup` (half a minute to some minutes, once)"
    };
    line(ready, "python", python)?;
    match &model {
        Ok(provider) => line(true, "model", &format!("{name}: {}", provider.label()))?,
        Err(error) => line(false, "model", &error.to_string())?,
    }
    for key in provider::key_status(|variable| Some(std::env::var_os(variable)?.to_string_lossy().into_owned())) {
        let told = match key.state {
            KeyState::Used => "set, used",
            KeyState::Overridden => "set, but an earlier one wins",
            KeyState::Unset => "not set",
        };
        line(key.state == KeyState::Used, "key", &format!("{}: {told}", key.variable))?;
    }
    line(io::stdout().is_terminal(), "terminal", &terminal())?;
    Ok(if model.is_ok() { Exit::Done } else { Exit::Usage })
}

/// What the terminal says of itself.
fn terminal() -> String {
    let var = |name: &str| std::env::var(name).unwrap_or_else(|_| "not set".into());
    let kind = if io::stdout().is_terminal() {
        "yes"
    } else {
        "no: output goes to a pipe or file"
    };
    format!(
        "{kind}; TERM {}, COLORTERM {}, NO_COLOR {}",
        var("TERM"),
        var("COLORTERM"),
        var("NO_COLOR")
    )
}
