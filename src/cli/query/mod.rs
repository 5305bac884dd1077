//! `fast-rlm`: run queries from the shell. Arguments, configuration and the live display; the work is the engine's.

mod args;
pub(in crate::cli) mod config;
mod exit;
mod live;
mod man;
mod models;
mod outcome;
mod person;
mod setup;
mod show_config;

pub use args::{Args, Command};
pub use exit::Exit;

use crate::cli::options;
use crate::engine::{self, Answer, BeginError, Query, drop_question, run_query, waiting};
use crate::provider::{Cancel, keep_descriptors};
use clap::{CommandFactory, FromArgMatches};
use exit::Interrupts;
use live::Live;
use setup::{Failure, Setup};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// Runs the program and returns its exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    keep_descriptors();
    let parsed = command().try_get_matches_from(args);
    let args = match parsed.and_then(|matches| Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) => return exit::usage(&error),
    };
    let done = match &args.command {
        Some(Command::Answer { .. }) => answer(args),
        Some(Command::Lab(command)) => Ok(crate::cli::lab::run(command)),
        Some(Command::Warmup) => setup::warmup(),
        Some(Command::Doctor { primary_agent, config }) => setup::doctor(primary_agent.as_ref(), config.as_deref()),
        Some(Command::Models { json, config }) => models::print(config.as_deref(), *json),
        Some(Command::Config(args)) => show_config::run(args),
        Some(Command::Completions { shell }) => outcome::print_bytes(&options::completions(command(), *shell)),
        Some(Command::Man { command, dir }) => man::run(command.as_deref(), dir.as_deref()),
        None if args.prompt.is_none() => exit::help(&mut command()),
        None => query(&args),
    };
    done.unwrap_or_else(|failure| exit::tell(&failure))
}

/// The arguments, with flags told as the table of options tells them.
pub fn command() -> clap::Command {
    options::described(Args::command())
}

/// What is to be done with a session.
enum Work {
    Query,
    Answer(String),
}

fn query(args: &Args) -> Result<Exit, Failure> {
    run(args, Work::Query)
}

/// `fast-rlm answer`: the model that asked goes on, unless another is named.
fn answer(mut args: Args) -> Result<Exit, Failure> {
    let Some(Command::Answer {
        dir,
        text,
        primary_agent,
        wait,
        mcp,
        repl,
        ..
    }) = args.command.take()
    else {
        return Ok(Exit::Usage);
    };
    if !dir.is_dir() {
        let what = "there is no session: give its directory, or see `fast-rlm sessions`";
        return Err(Failure::Usage(format!("{}: {what}", dir.display())));
    }
    let waiting = waiting(&dir)?.ok_or_else(|| BeginError::NothingParked { dir: dir.clone() })?;
    args.primary_agent = primary_agent.or(Some(waiting.model));
    args.session_dir = Some(dir);
    args.wait = wait;
    args.mcp = mcp;
    args.repl = repl;
    match text {
        Some(text) => run(&args, Work::Answer(text)),
        None => {
            let setup = Setup::read(&args)?;
            drop_question(&setup.home, &setup.settings)?;
            Ok(Exit::Done)
        }
    }
}

fn run(args: &Args, work: Work) -> Result<Exit, Failure> {
    let interrupts = Interrupts::listen();
    let setup = Setup::read(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failure::Runtime)?;
    let live = Arc::new(Live::new(setup.verbosity, &setup.settings));
    let python = setup.settings.repl.load(&mut |line| live.preparing(line));
    let factory = python.map_err(Failure::Prepare)?;
    let cancel = Cancel::new();
    let query = Query {
        input: setup.input.clone(),
        settings: Arc::new(setup.settings),
        factory,
        watch: Arc::clone(&live) as _,
        cancel: cancel.clone(),
        person: person::at_terminal(setup.verbosity, &live),
    };
    interrupts.query_runs(cancel);
    live.waiting(&setup.home);
    let answered = runtime.block_on(async {
        match work {
            Work::Query => run_query(&setup.home, query).await,
            Work::Answer(text) => engine::answer(&setup.home, text, query).await,
        }
    });
    interrupts.close();
    live.done();
    let exit = answered.map_err(Failure::from).and_then(|answer| {
        let exit = show(&answer, args, &setup.home.dir, &live);
        runtime.block_on(answer.leaving.done());
        exit
    });
    // A question that nobody answered and its thread must not hold the program.
    runtime.shutdown_background();
    exit
}

fn show(answer: &Answer, args: &Args, dir: &Path, live: &Live) -> Result<Exit, Failure> {
    live.closing(answer, args.session_dir.is_some() || args.log_dir.is_some());
    match &answer.result {
        Ok(value) => outcome::print_value(&value.value, args.json, answer),
        Err(error) => Ok(outcome::print_error(error, args, dir, answer)),
    }
}
