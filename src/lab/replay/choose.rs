//! Which turns are replayed, and everything that could keep them from it: known before anything runs.

use super::agents::count_agents;
use super::host::truncated;
use super::report::ReplayReport;
use super::{Python, Source};
use crate::engine::{recorded_context, recorded_repl};
use crate::lab::{LabError, RecordedTurn, Recording};
use crate::repl::HASH_SEED;
use crate::store::payload::Outcome;
use crate::text::cut;
use std::path::Path;

/// Cells of a query that name it.
const SHOWN: usize = 60;

/// The turns to be replayed.
pub(super) fn choose<'r>(
    source: &Source,
    recording: &'r Recording,
    turn: Option<u32>,
    input_file: Option<&Path>,
) -> Result<Vec<&'r RecordedTurn>, LabError> {
    if recording.turns.is_empty() {
        return Err(source.not_replayable("no query of it has a record"));
    }
    let chosen: Vec<_> = match turn {
        None => recording.turns.iter().collect(),
        Some(turn) => vec![
            recording
                .turns
                .get(turn as usize)
                .ok_or_else(|| LabError::TurnOutOfRange {
                    session: source.shown(),
                    turn,
                    turns: recording.turns.len(),
                })?,
        ],
    };
    if chosen.iter().all(|turn| turn.completed() == 0) {
        return Err(source.not_replayable("no steps: nothing ran in it"));
    }
    for turn in &chosen {
        suffices(source, turn)?;
        recorded_context(&turn.started, &source.dir, input_file).map_err(|error| {
            let reason = format!(
                "the input of {} is not in the record but in a file: {error}",
                named(turn)
            );
            source.not_replayable(reason)
        })?;
    }
    Ok(chosen)
}

/// A turn, by what was asked: screens, the shell and the library number queries each in its own way.
fn named(turn: &RecordedTurn) -> String {
    let query = turn.query();
    let (head, _) = cut(&query, SHOWN);
    format!("the query {head:?}{}", if head == query { "" } else { " …" })
}

/// Another Python orders sets, words errors and reads clocks in other ways; and less of a sandbox is nothing that a
/// recording may choose.
pub(super) fn same_python(source: &Source, python: &Python, turns: &[&RecordedTurn]) -> Result<(), LabError> {
    let other = |turn: &&&RecordedTurn| recorded_repl(&turn.started) != python.backend;
    let Some(turn) = turns.iter().find(other) else {
        return Ok(());
    };
    let (query, recorded) = (named(turn), recorded_repl(&turn.started));
    let reason = match turns.iter().all(|turn| recorded_repl(&turn.started) == recorded) {
        true => format!("{query} was recorded with the REPL {recorded}: replay it with --repl {recorded}"),
        false => format!(
            "{query} was recorded with the REPL {recorded}, and not all of its questions were: replay it alone, with \
             --turn and --repl {recorded}"
        ),
    };
    Err(source.not_replayable(reason))
}

/// Whether a turn's recording holds all that it takes.
pub(in crate::lab) fn suffices(source: &Source, turn: &RecordedTurn) -> Result<(), LabError> {
    if !turn.started.cassette {
        let reason = format!(
            "{} was recorded with the cassette off: ask with cassette(true)",
            named(turn)
        );
        return Err(source.not_replayable(reason));
    }
    if let Some(pinned) = &turn.started.pinned
        && pinned.hash_seed != u64::from(HASH_SEED)
    {
        let reason = format!(
            "it was recorded under hash seed {}, and this Python has {HASH_SEED}: replay it with the version that \
             recorded it",
            pinned.hash_seed
        );
        return Err(source.not_replayable(reason));
    }
    let cells = turn
        .steps
        .iter()
        .filter(|step| step.ended.is_some())
        .flat_map(|step| &step.cells);
    match cells.filter_map(|cell| truncated(cell).map(|size| (cell, size))).next() {
        None => Ok(()),
        Some((cell, (bytes, cap))) => Err(source.not_replayable(format!(
            "a result of {} had {bytes} bytes, more than the limit of {cap}, and was cut: record it with a higher \
             cell_cap",
            cell.call
        ))),
    }
}

/// Counts what there is to be run again, before anything is.
pub(super) fn count(turn: &RecordedTurn, report: &mut ReplayReport) {
    let last = turn.steps.len().saturating_sub(1);
    let finished = turn.ended.as_ref().is_some_and(|ended| ended.outcome == Outcome::Ok);
    for (number, step) in turn.steps.iter().enumerate() {
        if step.ended.is_none() {
            // Only the last one can have been cut: what follows shows that another one ended.
            report.missing_sources += usize::from(number < last || finished);
            continue;
        }
        report.cells_total += step.cells.len() + step.answers.len();
        report.missing_sources += usize::from(step.code.is_none());
        count_agents(step, report);
    }
}
