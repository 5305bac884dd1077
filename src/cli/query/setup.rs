//! From arguments, environment and configuration to what a query is run with: flags win over environment, environment
//! over file.

use super::args::{Args, Verbosity};
use super::config::{Config, ConfigError};
use super::exit::Exit;
use crate::client::{self, EphemeralDir};
use crate::engine::{BeginError, Home, Input, Limits, Model, Settings};
use crate::mcp::{self, ServerSpec, SpecError};
use crate::provider::{self, KeyState, OpenError, Settings as ProviderSettings};
use crate::repl::{PrepareError, ToolModule, prepare};
use crate::store::{StoreError, check_session_id};
use crate::text::secret::{SecretError, Secrets};
use crate::text::{SafeText, parse_nano};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Why a query cannot be run, or something else failed before it.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Model(#[from] OpenError),
    #[error(transparent)]
    Secret(#[from] SecretError),
    #[error(transparent)]
    Mcp(#[from] SpecError),
    #[error("{0}")]
    Usage(String),
    #[error("cannot read {}: {cause}; check its name", path.display())]
    File {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("cannot write to {}: {cause}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error(transparent)]
    Ephemeral(#[from] client::Error),
    #[error(transparent)]
    Id(#[from] StoreError),
    #[error(transparent)]
    Begin(#[from] BeginError),
    #[error(transparent)]
    Prepare(PrepareError),
    #[error("cannot start: {0}")]
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
        let config = Config::find(args.config.as_deref())?;
        if !args.quiet && args.verbosity != Some(Verbosity::Silent) {
            tell_unknown(&config);
        }
        if args.input_file.is_none() && args.prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
            return Err(Failure::Usage("the prompt is empty: say what to ask".into()));
        }
        let (home, ephemeral) = home(args)?;
        let settings = settings(args, &config)?;
        let input = input(args);
        let verbosity = verbosity(args);
        Ok(Self {
            home,
            input,
            settings,
            verbosity,
            _ephemeral: ephemeral,
        })
    }
}

/// Names in the configuration that are no options. Said first: one of them may be why the rest fails.
pub(super) fn tell_unknown(config: &Config) {
    for unknown in &config.unknown {
        let told = SafeText::line(&unknown.to_string());
        let _ = writeln!(io::stderr(), "fast-rlm: {told}");
    }
}

/// `-q` and pipes are silent, a terminal is shown a line a step.
fn verbosity(args: &Args) -> Verbosity {
    match args.verbosity {
        _ if args.quiet => Verbosity::Silent,
        Some(chosen) => chosen,
        None if io::stderr().is_terminal() => Verbosity::Summary,
        None => Verbosity::Silent,
    }
}

fn input(args: &Args) -> Input {
    let prompt = args.prompt.clone().unwrap_or_default();
    match &args.input_file {
        None => Input::Text(prompt),
        Some(path) => Input::File {
            path: path.clone(),
            prompt,
        },
    }
}

fn home(args: &Args) -> Result<(Home, Option<EphemeralDir>), Failure> {
    if let Some(id) = &args.session_id {
        check_session_id(id)?;
    }
    let (dir, ephemeral) = match (&args.session_dir, &args.session_id) {
        (Some(dir), Some(id)) => (dir.join(id), None),
        (Some(dir), None) => (dir.clone(), None),
        (None, _) => {
            let ephemeral = EphemeralDir::new()?;
            (ephemeral.path().to_owned(), Some(ephemeral))
        }
    };
    let home = Home {
        log_dir: args.log_dir.clone(),
        absolute_logs: args.absolute_logs,
        wait: args.wait.unwrap_or_default(),
        prefix: args.prefix.clone().unwrap_or_else(|| "run".into()),
        // A session that ends with the program needs no log to be resumed from.
        storage: args.session_dir.clone(),
        ..Home::new(dir)
    };
    Ok((home, ephemeral))
}

fn settings(args: &Args, config: &Config) -> Result<Settings, Failure> {
    let providers = config.providers()?;
    let secrets = Secrets::default();
    providers.register_secrets(&secrets)?;
    let mcp = servers(args, config)?;
    mcp.iter().try_for_each(|server| server.register_secrets(&secrets))?;
    let model = open_model(
        chosen(args.primary_agent.as_ref(), config.primary_agent.as_ref()),
        &providers,
    )?;
    let sub_model = match chosen(args.sub_agent.as_ref(), config.sub_agent.as_ref()) {
        "" => model.clone(),
        named => open_model(named, &providers)?,
    };
    let env = env(&args.env, &secrets)?;
    let mut settings = Settings {
        sub_model,
        secrets,
        env,
        mcp,
        ..Settings::new(model)
    };
    settings.limits = limits(args, config)?;
    settings.guard.enabled = config.enable_compression_guard.unwrap_or(settings.guard.enabled);
    settings.guard.min_chars = config.compression_min_chars.unwrap_or(settings.guard.min_chars);
    settings.guard.ratio = config.compression_ratio.unwrap_or(settings.guard.ratio);
    settings.inherit_tools = config.inherit_tools.unwrap_or_default();
    settings.inherit_mcp = config.inherit_mcp.unwrap_or_default();
    settings.repl = args.repl.or(config.repl).unwrap_or_default();
    settings.code_in_context = !args.no_session_code && config.add_session_code_to_context.unwrap_or(true);
    settings.instruction = args.instruction.clone().or_else(|| config.instruction.clone());
    settings.schema = args.output_schema.as_deref().map(schema).transpose()?;
    if config.enable_tools.unwrap_or(true) {
        settings.tools = args
            .tools
            .iter()
            .map(|path| tool_module(path))
            .collect::<Result<_, _>>()?;
    }
    Ok(settings)
}

/// Those of the flags; without any, those of the configuration.
fn servers(args: &Args, config: &Config) -> Result<Vec<ServerSpec>, Failure> {
    let files = match args.mcp.is_empty() {
        true => config.mcp.as_slice(),
        false => args.mcp.as_slice(),
    };
    let tools = config.enable_tools.unwrap_or(true);
    let mut servers = Vec::new();
    for file in files.iter().filter(|_| tools) {
        servers.extend(mcp::load(file)?);
    }
    Ok(servers)
}

fn chosen<'a>(flag: Option<&'a String>, file: Option<&'a String>) -> &'a str {
    flag.or(file).map(String::as_str).unwrap_or_default()
}

fn open_model(name: &str, providers: &ProviderSettings) -> Result<Model, Failure> {
    Ok(Model {
        provider: provider::open(name, providers)?,
        name: name.to_owned(),
    })
}

fn limits(args: &Args, config: &Config) -> Result<Limits, Failure> {
    let usual = Limits::default();
    Ok(Limits {
        max_depth: args.max_depth.or(config.max_depth).unwrap_or(usual.max_depth),
        max_calls_per_subagent: args
            .max_calls
            .or(config.max_calls_per_subagent)
            .unwrap_or(usual.max_calls_per_subagent),
        max_money_nano: money(args, config)?.unwrap_or(usual.max_money_nano),
        max_completion_tokens: config.max_completion_tokens.unwrap_or(usual.max_completion_tokens),
        max_prompt_tokens: config.max_prompt_tokens.unwrap_or(usual.max_prompt_tokens),
        max_global_calls: args.max_global_calls.or(config.max_global_calls),
        truncate_len: config.truncate_len.unwrap_or(usual.truncate_len),
        api_max_retries: config.api_max_retries.unwrap_or(usual.api_max_retries),
        api_timeout_ms: config.api_timeout_ms.unwrap_or(usual.api_timeout_ms),
        step_timeout_s: config.step_timeout_s.unwrap_or(usual.step_timeout_s),
        repl_memory_mb: config.repl_memory_mb.unwrap_or(usual.repl_memory_mb),
        max_agents_at_once: config.max_agents_at_once.unwrap_or(usual.max_agents_at_once),
    })
}

fn money(args: &Args, config: &Config) -> Result<Option<i64>, Failure> {
    let text = args
        .max_money_spent
        .clone()
        .or_else(|| config.max_money_spent.map(|usd| usd.to_string()));
    let parse = |text: String| {
        let nano = parse_nano(text.trim_start_matches('$')).filter(|nano| *nano >= 0);
        nano.ok_or_else(|| {
            Failure::Usage(format!(
                "--max-money-spent: {text:?} is no amount of US dollars, like 0.20"
            ))
        })
    };
    text.map(parse).transpose()
}

fn env(pairs: &[String], secrets: &Secrets) -> Result<Vec<(String, String)>, Failure> {
    let pair = |text: &String| {
        let (name, value) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| {
                // Not the text itself: it may be the secret.
                Failure::Usage("--env wants KEY=VALUE".into())
            })?;
        secrets.register(name, value)?;
        Ok((name.to_owned(), value.to_owned()))
    };
    pairs.iter().map(pair).collect()
}

fn schema(path: &Path) -> Result<serde_json::Value, Failure> {
    let text = read(path)?;
    serde_json::from_str(&text)
        .map_err(|e| Failure::Usage(format!("--output-schema {}: not JSON: {e}", path.display())))
}

fn tool_module(path: &Path) -> Result<ToolModule, Failure> {
    let file = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    Ok(ToolModule {
        file,
        source: read(path)?.into(),
        only: None,
    })
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|cause| Failure::File {
        path: path.to_owned(),
        cause,
    })
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
    let name = chosen(named, config.primary_agent.as_ref()).to_owned();
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
        "not prepared yet: the first query does it, or `fast-rlm warmup` (about 10 s, once)"
    };
    line(ready, "python", python)?;
    match &model {
        Ok(provider) => line(true, "model", &format!("{name}: {}", provider.label()))?,
        Err(error) => line(false, "model", &error.to_string())?,
    }
    for key in provider::key_status(|variable| std::env::var(variable).ok()) {
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
