//! `fast-rlm replay` and `fast-rlm diff`: what was recorded, run again or compared.

use super::args::{DiffArgs, ReplayArgs};
use super::target::open;
use super::{Failure, print, print_json, wait};
use crate::cli::query::config::Config;
use crate::cli::query::{Exit, Interrupts, tell_unknown};
use crate::client;
use crate::lab::{DiffRow, LabEvent, ReplayReport, StepSide};
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
    let mut config = set.whole()?;
    if let Some(repl) = args.repl {
        config = config.repl(repl);
    }
    if let Some(file) = &args.input_file {
        config = config.input_file(file);
    }
    let session = open(&args.session, &args.dir)?.config(config);
    let cancel = Cancel::new();
    interrupts.cancel_first(cancel.clone());
    let quiet = args.json;
    let mut tick = |event: LabEvent| {
        if let (LabEvent::StepReplayed { turn, step, mismatch }, false) = (event, quiet) {
            let mark = if mismatch.is_none() { "✓" } else { "✗" };
            let _ = writeln!(io::stderr(), "{mark} Q{} step {}", turn + 1, step + 1);
        }
    };
    let turn = args.turn.map(|turn| turn - 1);
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
    match args.json {
        true => print_json(&json!({"faithful": report.faithful(), "report": report}))?,
        false => print(&told(&report))?,
    }
    Ok(if report.faithful() { Exit::Done } else { Exit::Failed })
}

fn told(report: &ReplayReport) -> String {
    let steps: usize = report.plans.iter().map(|plan| plan.steps.len()).sum();
    let mut lines = vec![format!(
        "{}: {}, {}/{} calls served from the record",
        if report.faithful() { "faithful" } else { "not faithful" },
        plural(steps as u128, "step", "steps"),
        report.cells_consumed,
        report.cells_total
    )];
    lines.extend(report.diverged.iter().map(ToString::to_string));
    lines.extend(report.unconsumed.iter().map(|left| {
        format!(
            "not called again: {} of Q{} step {}",
            left.call,
            left.turn + 1,
            left.step + 1
        )
    }));
    if report.missing_sources > 0 {
        let steps = plural(report.missing_sources as u128, "step", "steps");
        lines.push(format!("{steps} whose text or end is lost"));
    }
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
        diff.rows.iter().try_for_each(|row| print(&row_line(row)))?;
        print(&diff.verdict())?;
    }
    Ok(if diff.identical { Exit::Done } else { Exit::Failed })
}

/// A row in one line.
pub(super) fn row_line(row: &DiffRow) -> String {
    let at = |side: &StepSide| format!("Q{} step {}", side.turn + 1, side.step + 1);
    let code = |side: &StepSide| side.code.lines().next().unwrap_or_default().to_owned();
    let line = match row {
        DiffRow::Same { a, note, .. } => {
            let note = note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            format!("{} {}: {}{note}", DiffMark::Same, at(a), code(a))
        }
        DiffRow::Plan { a: Some(a), b: Some(b) } => {
            format!("{} {}: {} -> {}", DiffMark::Plan, at(a), code(a), code(b))
        }
        DiffRow::Plan { a: Some(a), .. } => format!("{} {}: {}", DiffMark::Left, at(a), code(a)),
        DiffRow::Plan { b: Some(b), .. } => format!("{} {}: {}", DiffMark::Right, at(b), code(b)),
        DiffRow::Plan { .. } => String::new(),
        DiffRow::Output { a, what, was, is, .. } => {
            format!("{} {}: {what}: {was} -> {is}", DiffMark::Result, at(a))
        }
    };
    SafeText::line(&line).as_str().to_owned()
}
