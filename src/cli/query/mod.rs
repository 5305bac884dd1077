//! `fast-rlm`: run queries from the shell. Arguments, configuration and the live display; the work is the engine's.

mod args;
pub(in crate::cli) mod config;
pub(in crate::cli) mod exit;
mod home;
mod interrupts;
mod live;
mod made;
mod man;
mod models;
mod outcome;
mod person;
mod piped;
mod run_args;
mod setup;
mod show_config;

pub use args::{AnswerArgs, Args, Command};
pub use exit::Exit;
pub(in crate::cli) use home::can_be_directory;
pub(in crate::cli) use interrupts::Interrupts;
pub(in crate::cli) use live::Live;
pub(in crate::cli) use made::with_variables;
pub(in crate::cli) use outcome::{tell_how_to_go_on, usage};
pub(in crate::cli) use run_args::worded;
pub use run_args::{ElsewhereArgs, OnwardArgs, RunArgs, ShowArgs, Verbosity};
pub(in crate::cli) use setup::tell_unknown;

use crate::cli::starting::outlive_size_limits;
use crate::cli::{completing, options};
use crate::disk::config::nearest;
use crate::disk::descriptors::need_a_pool;
use crate::engine::{self, Answer, Asking, BeginError, Query, drop_question, last_models, run_query};
use crate::provider::{Cancel, keep_descriptors};
use clap::{CommandFactory, FromArgMatches};
use setup::{Failure, Setup};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

/// Runs the program and returns its exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    keep_descriptors();
    outlive_size_limits();
    let words: Vec<OsString> = args.into_iter().collect();
    if let Some(text) = completing::answer(command, &words) {
        return outcome::print_bytes(&text).unwrap_or_else(|failure| exit::tell(&failure));
    }
    // Behind it, nothing is a command.
    let literal = words.iter().any(|word| word == "--");
    let parsed = command().try_get_matches_from(&words);
    let args = match parsed.and_then(|matches| Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) => return exit::usage(&words, error),
    };
    let done = match &args.command {
        Some(Command::Answer(given)) => answer(given),
        Some(Command::Lab(command)) => Ok(crate::cli::lab::run(command)),
        Some(Command::Warmup) => setup::warmup(),
        Some(Command::Doctor { primary_agent, config }) => setup::doctor(primary_agent.as_ref(), config.as_deref()),
        Some(Command::Models { json, config }) => models::print(config.as_deref(), *json),
        Some(Command::Config(args)) => show_config::run(args),
        Some(Command::Completions { shell }) => outcome::print_bytes(&completing::script(command(), *shell)),
        Some(Command::Man { command, dir }) => man::run(command.as_deref(), dir.as_deref()),
        None => query(args, literal),
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
    Answer(Asking, String),
}

fn query(mut args: Args, literal: bool) -> Result<Exit, Failure> {
    if let Some(told) = args.elsewhere.refused() {
        return Err(Failure::Usage(told.into()));
    }
    if args.prompt.as_deref() == Some(exit::ACP) && !literal {
        return Err(Failure::Usage(format!(
            "acp: {}; to ask it, put -- before it",
            exit::NO_ACP
        )));
    }
    args.prompt = piped::prompt(&args)?;
    let Some(prompt) = &args.prompt else {
        return exit::help(&mut command());
    };
    match mistyped(prompt).filter(|_| !literal) {
        Some(meant) => Err(Failure::Usage(no_command(prompt, &meant))),
        None => run(&args, Work::Query),
    }
}

fn no_command(word: &str, meant: &str) -> String {
    format!("{word} is no command: did you mean {meant}? To ask it, put -- before it")
}

/// The command that was probably meant by a prompt of one word: a query costs money.
fn mistyped(prompt: &str) -> Option<String> {
    let is_word = prompt.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    if !is_word || prompt.len() < 4 {
        return None;
    }
    // Without the options, which take a while to be described.
    let command = Args::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    let meant = nearest(prompt, names).filter(|meant| *meant != prompt)?;
    (meant.get(..1) == prompt.get(..1)).then(|| meant.to_owned())
}

/// `fast-rlm answer`: the models that asked go on, unless others are named.
fn answer(given: &AnswerArgs) -> Result<Exit, Failure> {
    if given.text.is_none() && !given.drop {
        return Err(Failure::Usage(
            "answer: the answer is missing: give it after the session, in quotes, or --drop to close the query \
             without one"
                .into(),
        ));
    }
    let dir = crate::cli::lab::session_dir(&given.session, &given.dir)?;
    // The one that is open now is meant, however long another process has the session yet.
    let Some((asking, _)) = engine::asking(&dir)? else {
        return Err(BeginError::NothingParked { dir }.into());
    };
    let (primary_agent, sub_agent) = given.onward.models(last_models(&dir)?);
    let args = Args {
        primary_agent,
        // Where the sub-agents had the root's model, a configured one is not theirs.
        sub_agent: Some(sub_agent.unwrap_or_default()),
        input_file: given.onward.input_file.clone(),
        session_dir: Some(dir),
        wait: given.wait,
        run: given.onward.run.clone(),
        show: given.onward.show,
        json: given.json,
        ..Args::default()
    };
    match &given.text {
        Some(text) => run(&args, Work::Answer(asking, text.clone())),
        None => {
            let setup = Setup::read(&args)?;
            drop_question(&setup.home, asking, &setup.settings)?;
            Ok(Exit::Done)
        }
    }
}

fn run(args: &Args, work: Work) -> Result<Exit, Failure> {
    let interrupts = Interrupts::listen();
    let setup = Setup::read(args)?;
    setup.settings.repl.need_room().map_err(Failure::Prepare)?;
    need_a_pool().map_err(Failure::Runtime)?;
    let live = Live::new(setup.verbosity);
    live.warn_of_unknown_prices(&setup.settings);
    let python = setup.settings.repl.load(&mut |line| live.preparing(line));
    let factory = python.map_err(Failure::Prepare)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::Runtime)?;
    let cancel = Cancel::new();
    let query = Query {
        input: setup.input.clone(),
        settings: Arc::new(setup.settings),
        factory,
        watch: Arc::clone(&live) as _,
        cancel: cancel.clone(),
        person: person::at_terminal(setup.verbosity, &live, args.session_dir.is_some()),
    };
    interrupts.cancel_first(cancel);
    live.waiting(&setup.home);
    if matches!(work, Work::Query) {
        live.gives_up(&setup.home);
    }
    let answered = runtime.block_on(async {
        match work {
            Work::Query => run_query(&setup.home, query).await,
            Work::Answer(asking, text) => engine::answer(&setup.home, asking, text, query).await,
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
    live.closing(answer, args.keeps_transcript());
    match &answer.result {
        Ok(value) => outcome::print_value(&value.value, args, answer),
        Err(error) => Ok(outcome::print_error(error, args, dir, answer)),
    }
}
