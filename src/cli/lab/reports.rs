//! `fast-rlm replay` and `fast-rlm diff`: what was recorded, run again or compared.

use super::args::{DiffArgs, ReplayArgs};
use super::numbers::Numbers;
use super::target::open;
use super::{Failure, print, print_json, wait};
use crate::cli::query::config::Config;
use crate::cli::query::{Exit, Interrupts, tell_unknown, with_variables};
use crate::client::{self, Session};
use crate::lab::{DiffRow, LabEvent, Masked, Mismatch, ReplayReport, StepSide};
use crate::model::DiffMark;
use crate::provider::Cancel;
use crate::text::{SafeText, plural};
use serde_json::json;
use std::io::{self, Write};

/// Replays; 1 when something came out differently, or was left over.
pub(super) fn replay(args: &ReplayArgs) -> Result<Exit, Failure> {
    let interrupts = Interrupts::listen();
    let set = Config::find(args.config.as_deref())?;
    tell_unknown(&set);
    let mut config = with_variables(set.whole()?, &args.env)?;
    if let Some(repl) = args.repl {
        config = config.repl(repl);
    }
    if let Some(file) = &args.input_file {
        config = config.input_file(file);
    }
    let session = open(&args.session, &args.dir)?.config(config);
    let numbers = Numbers::of(&session.log_for_reading()?)?;
    let turn = args.turn.map(|label| numbers.turn(label)).transpose()?;
    let cancel = Cancel::new();
    interrupts.cancel_first(cancel.clone());
    let quiet = args.json;
    let mut tick = |event: LabEvent| {
        if let (LabEvent::StepReplayed { turn, step, mismatch }, false) = (event, quiet) {
            let mark = if mismatch.is_none() { "✓" } else { "✗" };
            let _ = writeln!(io::stderr(), "{mark} {} step {}", numbers.name(turn), step + 1);
        }
    };
    let replayed = wait(async {
        tokio::select! {
            report = session.replay(turn, &mut tick) => Some(report),
            () = cancel.cancelled() => None,
        }
    })?;
    let Some(report) = replayed.transpose()? else {
        client::stop_threads();
        return Ok(Exit::Cancelled);
    };
    // Who names one query wants no other.
    let unrecorded = turn.map_or_else(|| numbers.unrecorded(), |_| Vec::new());
    match args.json {
        true => print_json(&json!({"faithful": report.faithful(), "not_replayed": unrecorded, "report": report}))?,
        false => print(&told(&report, &numbers, &unrecorded))?,
    }
    Ok(if report.faithful() { Exit::Done } else { Exit::Failed })
}

/// Names of queries that are told; of more, the first.
const NAMED: usize = 12;

/// Which queries were not replayed, and why.
fn skipped(unrecorded: &[String]) -> Option<String> {
    let names: Vec<&str> = unrecorded.iter().take(NAMED).map(String::as_str).collect();
    let more = if unrecorded.len() > NAMED { ", …" } else { "" };
    let queries = plural(unrecorded.len() as u128, "query", "queries");
    (!names.is_empty()).then(|| {
        format!(
            "not replayed, without a record (another program asked): {queries}, {}{more}",
            names.join(", ")
        )
    })
}

/// Steps that read what was taken out of the record, the first of them; the mismatch tells of its own.
fn read_masked(report: &ReplayReport) -> impl Iterator<Item = &Masked> {
    let in_mismatch = |step: &Masked| {
        let told = report.diverged.as_ref().filter(|found| found.turn == step.turn);
        told.is_some_and(|found| found.what.contains(&step.to_string()))
    };
    report.masked.iter().filter(move |step| !in_mismatch(step)).take(NAMED)
}

fn told(report: &ReplayReport, numbers: &Numbers, unrecorded: &[String]) -> String {
    let steps: usize = report.plans.iter().map(|plan| plan.steps.len()).sum();
    let mut lines = vec![format!(
        "{}: {}, {}/{} calls served from the record",
        if report.faithful() { "faithful" } else { "not faithful" },
        plural(steps as u128, "step", "steps"),
        report.cells_consumed,
        report.cells_total
    )];
    lines.extend(skipped(unrecorded));
    let diverged = |found: &Mismatch| format!("{} {}", numbers.name(found.turn), found.in_turn());
    lines.extend(report.diverged.iter().map(diverged));
    lines.extend(report.unconsumed.iter().map(|left| {
        format!(
            "not called again: {} of {} step {}",
            left.call,
            numbers.name(left.turn),
            left.step + 1
        )
    }));
    if report.missing_sources > 0 {
        let steps = plural(report.missing_sources as u128, "step", "steps");
        lines.push(format!("{steps} whose text or end is lost"));
    }
    lines.extend(read_masked(report).map(|step| format!("{} {step}", numbers.name(step.turn))));
    if report.weak > 0 {
        let values = plural(report.weak as u128, "value", "values");
        lines.push(format!("{values} compared by description only"));
    }
    SafeText::block(&lines.join("\n")).as_str().to_owned()
}

/// Compares; 1 when something differs.
pub(super) fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let _interrupts = Interrupts::listen();
    let (a, b) = (open(&args.a, &args.dir)?, open(&args.b, &args.dir)?);
    let diff = a.diff(&b)?;
    if args.json {
        print_json(&diff)?;
    } else {
        let sides = Sides::of(&a, &b)?;
        diff.rows.iter().try_for_each(|row| print(&sides.line(row)))?;
        print(&diff.verdict())?;
    }
    Ok(if diff.identical { Exit::Done } else { Exit::Failed })
}

/// The numbers of two sessions that are compared.
pub(super) struct Sides(Numbers, Numbers);

impl Sides {
    pub(super) fn of(a: &Session, b: &Session) -> Result<Self, Failure> {
        let numbers = |session: &Session| Numbers::of(&session.log_for_reading()?);
        Ok(Self(numbers(a)?, numbers(b)?))
    }

    /// A row in one line.
    pub(super) fn line(&self, row: &DiffRow) -> String {
        let at = |side: &StepSide| format!("{} step {}", self.0.name(side.turn), side.step + 1);
        let in_second = |side: &StepSide| format!("{} step {}", self.1.name(side.turn), side.step + 1);
        SafeText::line(&row_line(row, &at, &in_second)).as_str().to_owned()
    }
}

/// The first line of two programs that differs.
fn changed(was: &str, is: &str) -> String {
    let (was, is): (Vec<&str>, Vec<&str>) = (was.lines().collect(), is.lines().collect());
    let differs = |at: &usize| was.get(*at) != is.get(*at);
    let at = (0..was.len().max(is.len())).find(differs).unwrap_or_default();
    let line = |lines: &[&str]| lines.get(at).map_or("(no such line)", |line| line.trim()).to_owned();
    let place = if at == 0 {
        String::new()
    } else {
        format!("line {}: ", at + 1)
    };
    format!("{place}{} -> {}", line(&was), line(&is))
}

fn row_line(row: &DiffRow, at: &dyn Fn(&StepSide) -> String, in_second: &dyn Fn(&StepSide) -> String) -> String {
    let code = |side: &StepSide| side.code.lines().next().unwrap_or_default().to_owned();
    match row {
        DiffRow::Same { a, note, .. } => {
            let note = note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            format!("{} {}: {}{note}", DiffMark::Same, at(a), code(a))
        }
        DiffRow::Plan { a: Some(a), b: Some(b) } => {
            format!("{} {}: {}", DiffMark::Plan, at(a), changed(&a.code, &b.code))
        }
        DiffRow::Plan { a: Some(a), .. } => format!("{} {}: {}", DiffMark::Left, at(a), code(a)),
        DiffRow::Plan { b: Some(b), .. } => format!("{} {}: {}", DiffMark::Right, in_second(b), code(b)),
        DiffRow::Plan { .. } => String::new(),
        DiffRow::Output { a, what, was, is, .. } => {
            format!("{} {}: {what}: {was} -> {is}", DiffMark::Result, at(a))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_differs_is_shown() {
        assert_eq!(changed("x = 1", "x = 2"), "x = 1 -> x = 2");
        assert_eq!(changed("x = 1\n  y = 2", "x = 1\n  y = 3"), "line 2: y = 2 -> y = 3");
        assert_eq!(changed("x = 1", "x = 1\nx = 2"), "line 2: (no such line) -> x = 2");
    }

    #[test]
    fn queries_without_a_record_are_named() {
        let names: Vec<String> = (1..=14).map(|n| format!("Q{n}")).collect();
        let told = |n: usize| skipped(&names[..n]);
        assert_eq!(told(0), None);
        let two = "not replayed, without a record (another program asked): 2 queries, Q1, Q2";
        assert_eq!(told(2).as_deref(), Some(two));
        assert!(
            told(14)
                .is_some_and(|told| told.ends_with("14 queries, Q1, Q2, Q3, Q4, Q5, Q6, Q7, Q8, Q9, Q10, Q11, Q12, …"))
        );
    }
}
