//! `fast-rlm fork`, `what-if` and `resume`: recorded sessions that go on.

use super::args::{ForkArgs, ResumeArgs, WhatIfArgs};
use super::failed;
use super::numbers::{Numbers, no_such_step, step_number};
use super::reports::Sides;
use super::tending::Tending;
use super::{Failure, print, print_json, wait};
use crate::cli::query::Exit;
use crate::cli::terminal::shell_word;
use crate::client::{self, Fork, Output, Session, WhatIf, WhatIfRun};
use crate::disk::advice::on_named;
use crate::disk::whole::{LARGEST_NAMED, read_named};
use crate::lab::{DiffRow, LabError, NoSink, OffTape};
use crate::text::{SafeText, parse_fault};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// Between the steps of an edited program.
const STEP_MARK: &str = "# ---";

/// Forks and goes on; prints the fork's id and what to do next.
pub(super) fn fork(args: &ForkArgs) -> Result<Exit, Failure> {
    let how = how(args)?;
    let tending = Tending::of(&args.target, &args.onward)?;
    let session = &tending.session;
    let fork = begin(session, args)?;
    let output = match tending.wait(go(&fork, how))? {
        Ok(output) => output,
        Err(refused) => return Err(left(fork, refused, args.json)),
    };
    tending.close();
    if args.json {
        print_json(&record(fork.id(), &output))?;
        return Ok(ended(&output));
    }
    if args.onward.show.quiet {
        print(&answer(&output))?;
        return Ok(ended(&output));
    }
    print(fork.id())?;
    print(&answer(&output))?;
    let (original, its) = (shell_word(session.dir()), shell_word(fork.session().dir()));
    let next = match output.suspended {
        // Until it is answered, nothing else can be asked of it.
        Some(_) => format!("fast-rlm answer {its} TEXT\n  fast-rlm answer {its} --drop"),
        None => format!("fast-rlm replay {its}\n  fast-rlm \"…\" --session-dir {its}"),
    };
    let cost = output.cost();
    let _ = writeln!(io::stderr(), "cost {cost}\n  fast-rlm diff {original} {its}\n  {next}");
    Ok(ended(&output))
}

/// Forks where the arguments say.
fn begin(session: &Session, args: &ForkArgs) -> Result<Fork, Failure> {
    let turn = |label| Numbers::of(&session.log_for_reading()?)?.turn(label);
    let turn = args.turn.map(turn).transpose()?;
    let at = index(args.at).ok_or_else(|| no_such_step(session, turn, args.at))?;
    let fork = wait(async {
        match turn {
            Some(turn) => session.fork_at(turn, at).await,
            None => session.fork(at).await,
        }
    })?;
    fork.map_err(|error| told(session, error))
}

/// The library's number of a step that was typed, where there can be such a step.
fn index(typed: i64) -> Option<u32> {
    u32::try_from(typed.checked_sub(1)?).ok()
}

/// What becomes of a fork that came to nothing: one that did not go its own way is removed, any other is kept, and
/// told.
fn left(fork: Fork, refused: client::Error, as_json: bool) -> Failure {
    if as_json {
        failed::tell(fork.id(), &refused);
    }
    match refused {
        client::Error::Lab(LabError::TailHalted { .. }) | client::Error::Run(_) | client::Error::Panicked => {
            drop(writeln!(io::stderr(), "fork {}", fork.id()));
            Failure::of_run(refused, fork.session().dir())
        }
        refused => fork.give_up(refused).into(),
    }
}

enum How {
    Inject(Value),
    Edit(Vec<String>),
    Replan(String),
}

fn how(args: &ForkArgs) -> Result<How, Failure> {
    match (&args.inject, &args.edit, &args.replan) {
        (Some(text), ..) => Ok(How::Inject(json_of("--inject", text)?)),
        (_, Some(file), _) => Ok(How::Edit(steps_of(file)?)),
        (.., Some(prompt)) if prompt.trim().is_empty() => {
            Err(Failure::Usage("--replan is empty: say what to tell the model".into()))
        }
        (.., Some(prompt)) => Ok(How::Replan(prompt.clone())),
        _ => Err(Failure::Usage("one of --inject, --edit and --replan is needed".into())),
    }
}

fn json_of(option: &str, text: &str) -> Result<Value, Failure> {
    let refused = |error: serde_json::Error| {
        let fault = parse_fault(&error.to_string());
        // Most often it is a text: the shell has taken its quotes.
        let is_text = text.starts_with(char::is_alphabetic);
        let hint = if is_text {
            format!("; a text needs quotes of its own: '\"{text}\"'")
        } else {
            String::new()
        };
        Failure::Usage(format!("{option} {text:?}: not JSON: {fault}{hint}"))
    };
    serde_json::from_str(text).map_err(refused)
}

fn steps_of(file: &Path) -> Result<Vec<String>, Failure> {
    let text = read_named(file, LARGEST_NAMED)
        .map_err(|error| Failure::Usage(format!("--edit {}: {error}; {}", file.display(), on_named(&error))))?;
    let mut steps = vec![String::new()];
    for line in text.lines() {
        match (line.trim_end() == STEP_MARK, steps.last_mut()) {
            (false, Some(step)) => {
                step.push_str(line);
                step.push('\n');
            }
            _ => steps.push(String::new()),
        }
    }
    steps.retain(|step| !step.trim().is_empty());
    Ok(steps)
}

async fn go(fork: &Fork, how: How) -> Result<Output, client::Error> {
    match how {
        How::Inject(value) => fork.inject(&value, &mut NoSink).await,
        How::Edit(steps) => fork.edit(&steps, &mut NoSink).await,
        How::Replan(prompt) => fork.replan(prompt, &mut NoSink).await,
    }
}

fn ended(output: &Output) -> Exit {
    if output.suspended.is_some() {
        Exit::Parked
    } else {
        Exit::Done
    }
}

fn answer(output: &Output) -> String {
    match &output.suspended {
        Some(question) => SafeText::line(&format!("waits for an answer: {question}"))
            .as_str()
            .to_owned(),
        None => SafeText::block(&output.text()).as_str().to_owned(),
    }
}

fn record(session: &str, output: &Output) -> Value {
    json!({
        "session": session,
        "final": output.value,
        "suspended": output.suspended.as_ref().map(ToString::to_string),
        "steps": output.steps,
        "cost_nano_usd": i64::try_from(output.usage.nano).unwrap_or(i64::MAX),
        "calls_without_cost": output.usage.unknown_costs,
    })
}

/// Changes one thing; 1 when the run halted, 75 when it waits for an answer.
pub(super) fn what_if(args: &WhatIfArgs) -> Result<Exit, Failure> {
    let tending = Tending::of(&args.target, &args.onward)?;
    let off = if args.live { OffTape::Live } else { OffTape::Halt };
    let what_if = change(&tending.session, args)?.off_tape(off);
    let ran = tending
        .wait(what_if.run())?
        .inspect_err(|error| tell_kept(error, args.json));
    let ran = ran.map_err(|error| told(&tending.session, error))?;
    tending.close();
    let came = ran.session();
    if args.json {
        let divergence = ran.first_divergence();
        print_json(&json!({
            "session": came.id(),
            "hermetic": ran.hermetic(),
            "final": ran.output().filter(|output| output.suspended.is_none()).map(|output| &output.value),
            "suspended": ran.output().and_then(|output| output.suspended.as_ref()).map(ToString::to_string),
            "cost_nano_usd": i64::try_from(ran.cost().nano).unwrap_or(i64::MAX),
            "calls_without_cost": ran.cost().unknown,
            "halted": ran.halted(),
            "first_divergence": divergence.map(|d| json!({
                "step": d.step, "call": d.call, "expected": d.expected, "got": d.got,
            })),
            "diff": ran.diff(),
        }))?;
    } else {
        if !args.onward.show.quiet {
            print(&came.id())?;
            let sides = Sides::of(&tending.session, &came)?;
            let mut differs = ran.diff().rows.iter().filter(|row| !row.is_same());
            differs.try_for_each(|row| print(&sides.line(row)))?;
        }
        if let Some(output) = ran.output() {
            print(&answer(output))?;
        }
    }
    match ran.halted() {
        Some(why) => {
            tell_halted(&ran, why);
            if args.onward.show.quiet && !args.json {
                let _ = writeln!(io::stderr(), "session {}", came.id());
            }
            Ok(Exit::Failed)
        }
        None => Ok(waits(&ran, args)),
    }
}

/// The exit code of a run that did not halt; one that waits is told how it goes on.
fn waits(ran: &WhatIfRun, args: &WhatIfArgs) -> Exit {
    let exit = ran.output().map_or(Exit::Done, ended);
    if matches!(exit, Exit::Parked) && !args.json && !args.onward.show.quiet {
        let its = shell_word(ran.session().dir());
        let _ = writeln!(
            io::stderr(),
            "  fast-rlm answer {its} TEXT\n  fast-rlm answer {its} --drop"
        );
    }
    exit
}

/// Why there is no answer: a call that was never recorded, or an exception.
fn tell_halted(ran: &WhatIfRun, why: &str) {
    let told = match ran.first_divergence() {
        Some(d) => {
            let recorded = d.expected.as_ref().map_or("no such call".into(), Value::to_string);
            let (step, call, got) = (d.step + 1, &d.call, &d.got);
            format!(
                "halted at step {step}: {call} was never recorded with {got}; recorded: {recorded}; --live makes such \
                 calls"
            )
        }
        None => format!("halted: {why}{}", raised(ran)),
    };
    let _ = writeln!(io::stderr(), "fast-rlm: {}", SafeText::line(&told));
}

/// A refusal, with the numbers of screens.
fn told(session: &Session, error: client::Error) -> Failure {
    // Others name no query, and need not be waited for.
    if !matches!(error, client::Error::Lab(LabError::StepOutOfRange { .. })) {
        return error.into();
    }
    match session
        .log_for_reading()
        .map_err(Failure::from)
        .and_then(|source| Numbers::of(&source))
    {
        Ok(numbers) => numbers.told(error),
        // What the log has to say about itself is not what went wrong.
        Err(_) => error.into(),
    }
}

/// The first exception that the recorded run did not have.
fn raised(ran: &WhatIfRun) -> String {
    let raised = ran.diff().rows.iter().find_map(|row| match row {
        DiffRow::Output { a, what, is, .. } if what == "exception" => Some(format!("; step {}: {is}", a.step + 1)),
        _ => None,
    });
    raised.unwrap_or_default()
}

/// The session that a run which failed is kept in.
fn tell_kept(error: &client::Error, as_json: bool) {
    if let client::Error::Run(run) = error {
        if as_json {
            failed::tell(&run.session, error);
        }
        let _ = writeln!(io::stderr(), "session {}", run.session);
    }
}

fn change(session: &Session, args: &WhatIfArgs) -> Result<WhatIf, Failure> {
    let what_if = session.what_if();
    let pair = |option: &str, wanted: &str, text: &str| {
        let named = text.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        let (name, value) = named.ok_or_else(|| unlike(option, text, wanted))?;
        Ok::<_, Failure>((name.to_owned(), json_of(option, value)?))
    };
    let step = |option: &str, text: &str| {
        let typed = step_number(text).map_err(|why| Failure::Usage(format!("{option} {text:?}: {why}")))?;
        index(typed).ok_or_else(|| no_such_step(session, None, typed))
    };
    if let Some(text) = &args.substitute {
        let (call, value) = pair("--substitute", "CALL=JSON", text)?;
        return Ok(what_if.substitute(call, value));
    }
    if let Some(text) = &args.substitute_at {
        let (number, value) = pair("--substitute-at", "STEP=JSON", text)?;
        return Ok(what_if.substitute_at(step("--substitute-at", &number)?, value));
    }
    if let Some(text) = &args.substitute_var {
        let (option, wanted) = ("--substitute-var", "STEP.NAME=JSON");
        let (place, value) = pair(option, wanted, text)?;
        let (number, name) = place.split_once('.').ok_or_else(|| unlike(option, text, wanted))?;
        return Ok(what_if.substitute_var(step(option, number)?, name, value));
    }
    if let Some(model) = &args.model {
        return Ok(what_if.model(model));
    }
    let instruction = args.instruction.clone().unwrap_or_default();
    if instruction.trim().is_empty() {
        return Err(Failure::Usage(
            "--instruction is empty: say what the model is told".into(),
        ));
    }
    Ok(what_if.instruction(instruction))
}

fn unlike(option: &str, text: &str, wanted: &str) -> Failure {
    Failure::Usage(format!("{option} {text:?}: {wanted} is wanted"))
}

/// Finishes the last query, which a crash cut.
pub(super) fn resume(args: &ResumeArgs) -> Result<Exit, Failure> {
    let tending = Tending::of(&args.target, &args.onward)?;
    let resumed = tending.wait(tending.session.resume())?;
    let output = resumed.inspect_err(|error| {
        if args.json {
            failed::tell(&tending.session.id(), error);
        }
    });
    let output = output.map_err(|error| Failure::of_run(error, tending.session.dir()))?;
    tending.close();
    match args.json {
        true => print_json(&record(&tending.session.id(), &output))?,
        false => print(&answer(&output))?,
    }
    Ok(ended(&output))
}
