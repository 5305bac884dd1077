//! Replays for the screen: recorded steps run again, told as they go. No model is opened, no file changes.

use crate::client::{Config, Error, Session};
use crate::lab::{LabError, LabEvent, ReplayReport};
use crate::source::Stop;
use crate::tui::live::replay::{Mismatch, ReplayNews, Verdict};
use std::path::Path;
use std::time::Duration;

/// A person who stops it waits so long at most.
const LOOK: Duration = Duration::from_millis(50);

/// Replays the run whose root is `run_id`, and tells `emit` until it is done or `stop` says so. Blocks.
///
/// # Errors
/// Why it cannot be replayed, for people.
pub(in crate::tui) fn replay(
    dir: &Path,
    run_id: &str,
    config: &Config,
    stop: &Stop,
    emit: &mut (dyn FnMut(ReplayNews) + Send),
) -> Result<(), String> {
    let session = Session::open(dir, None).map_err(told)?.config(config.clone());
    let warm = session.warm_up(&mut |line| emit(ReplayNews::Preparing(line.to_owned())));
    warm.map_err(|error| error.to_string())?;
    let turn = turn_of(&session, run_id)?;
    let runtime = super::runtime()?;
    let report = runtime.block_on(async {
        let mut sink = |event| news(event).into_iter().for_each(&mut *emit);
        tokio::select! {
            report = session.replay(Some(turn), &mut sink) => Some(report),
            () = stopped(stop) => None,
        }
    });
    if let Some(report) = report {
        emit(ReplayNews::Done(Box::new(verdict(&report.map_err(told)?))));
    }
    Ok(())
}

/// The number of the turn whose root is `run_id`, 0-based.
pub(super) fn turn_of(session: &Session, run_id: &str) -> Result<u32, String> {
    let source = session.log_for_reading().map_err(told)?;
    let recording = source.recording().map_err(|error| error.to_string())?;
    let turn = recording.turns.iter().position(|turn| turn.started.run_id == run_id);
    let turn = turn.and_then(|turn| u32::try_from(turn).ok());
    turn.ok_or_else(|| "this run is not in the session's event log: another program made it".into())
}

/// An error for people, in one line.
pub(super) fn told(error: Error) -> String {
    match error {
        Error::Lab(LabError::TailHalted { exception, .. }) => {
            format!("it halted: {}", exception.lines().last().unwrap_or_default())
        }
        // Of several steps the screen gives one.
        Error::Lab(LabError::Syntax { message, .. }) => format!("this is no Python: {message}"),
        error => error.to_string(),
    }
}

async fn stopped(stop: &Stop) {
    while !stop.is_stopped() {
        tokio::time::sleep(LOOK).await;
    }
}

fn news(event: LabEvent) -> Option<ReplayNews> {
    match event {
        LabEvent::StepReplaying { step, .. } => Some(ReplayNews::Began(u64::from(step) + 1)),
        LabEvent::StepReplayed { step, mismatch, .. } => {
            Some(ReplayNews::Ended(u64::from(step) + 1, mismatch.is_none()))
        }
        LabEvent::Live(_) => None,
    }
}

fn verdict(report: &ReplayReport) -> Verdict {
    let unserved = report.unconsumed.iter();
    Verdict {
        faithful: report.faithful(),
        steps: report.plans.iter().map(|plan| plan.steps.len()).sum(),
        cells: report.cells_total,
        served: report.cells_consumed,
        unserved: unserved
            .map(|cell| (u64::from(cell.step) + 1, cell.call.clone()))
            .collect(),
        missing: report.missing_sources,
        weak: report.weak,
        state_equal: report.state_equal,
        mismatch: report.diverged.as_ref().map(|found| Mismatch {
            step: u64::from(found.step) + 1,
            what: found.what.clone(),
            expected: found.expected.clone(),
            got: found.got.clone(),
        }),
    }
}
