//! `fast-rlm`: run queries from the shell. Arguments, configuration and the live display; the work is the engine's.

mod args;
mod config;
mod exit;
mod live;
mod outcome;
mod setup;

pub use args::{Args, Command};
pub use exit::Exit;

use crate::engine::{Home, Query, run_query};
use crate::provider::Cancel;
use crate::repl::PythonFactory;
use clap::{CommandFactory, Parser};
use live::Live;
use setup::{Failure, Setup};
use std::ffi::OsString;
use std::sync::Arc;

/// Runs the program and returns its exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => return exit::usage(&error),
    };
    let done = match args.command {
        Some(Command::Warmup) => setup::warmup(),
        Some(Command::Doctor) => setup::doctor(&args),
        Some(Command::Completions { shell }) => {
            clap_complete::generate(shell, &mut Args::command(), "fast-rlm", &mut std::io::stdout());
            Ok(Exit::Done)
        }
        Some(Command::Man) => outcome::print_man(&Args::command()),
        None if args.prompt.is_none() => exit::help(&mut Args::command()),
        None => query(&args),
    };
    done.unwrap_or_else(|failure| exit::tell(&failure))
}

fn query(args: &Args) -> Result<Exit, Failure> {
    let setup = Setup::read(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Failure::Runtime)?;
    let live = Arc::new(Live::new(setup.verbosity, &setup.settings));
    let factory = PythonFactory::load(&mut |line| live.preparing(line)).map_err(Failure::Prepare)?;
    let cancel = Cancel::new();
    let input = setup.input.clone();
    let query = Query {
        input,
        settings: Arc::new(setup.settings),
        factory: Arc::new(factory),
        watch: Arc::clone(&live) as _,
        cancel: cancel.clone(),
    };
    let interrupts = exit::cancel_on_interrupt(cancel);
    let answered = runtime.block_on(run(&setup.home, query));
    interrupts.close();
    live.done();
    // Parked host calls and their threads must not hold the program.
    runtime.shutdown_background();
    let answer = answered?;
    outcome::report(&answer, &live, args)?;
    match &answer.result {
        Ok(value) => outcome::print_value(&value.value, args.json, &answer),
        Err(error) => Ok(outcome::print_error(error, args.json, &answer)),
    }
}

async fn run(home: &Home, query: Query) -> Result<crate::engine::Answer, Failure> {
    Ok(run_query(home, query).await?)
}
