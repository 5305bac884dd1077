//! What screens call the queries of a session: the one place that knows which turn of the log each of them is.
//!
//! Turns count everything that was started since there is a log; screens count what was answered (Q) and what was not
//! (X) apart, and know queries from before the log.

use super::Failure;
use crate::client::{self, Session};
use crate::disk::state_file::{STATE_FILE, read_state};
use crate::lab::{LabError, Source};
use crate::model::Label;
use crate::source::{OpenOptions, Stop, read_session};
use crate::store::{Fact, Kind, Select};
use crate::text::plural;
use std::path::Path;

/// A query as a screen shows it, with the id of its run where that is known.
type Shown = (Label, Option<String>);

/// The queries of a session, as screens number them, and the turns of its log.
#[derive(Debug)]
pub(super) struct Numbers {
    session: String,
    shown: Vec<Label>,
    turns: Vec<(u32, Option<Label>)>,
}

/// Reads `5` or `Q5`, `X1`, `P`.
pub(super) fn query_number(text: &str) -> Result<Label, String> {
    let wrong = || "a query as screens number it is wanted: 5 or Q5, X1 for one without an answer".to_owned();
    let upper = text.to_uppercase();
    let number = |digits: &str| match digits.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(wrong()),
    };
    match upper.strip_prefix('X') {
        _ if upper == "P" => Ok(Label::Pending),
        Some(digits) => number(digits).map(Label::Lost),
        None => number(upper.strip_prefix('Q').unwrap_or(&upper)).map(Label::Completed),
    }
}

/// Reads a step's number; whether there is such a step is told with those that there are.
pub(super) fn step_number(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| "a step as screens number it is wanted: 1 is the first".into())
}

/// That a query has no step of that number, with those that it has: the last one's, unless another is named.
pub(super) fn no_such_step(session: &Session, turn: Option<u32>, typed: i64) -> Failure {
    let told = || {
        let source = session.log_for_reading()?;
        let turns = source.recording()?.turns;
        let turn = match turn {
            Some(named) => turns.iter().find(|turn| turn.number == named),
            None => turns.last(),
        };
        let numbers = Numbers::of(&source)?;
        Ok::<_, Failure>(turn.map(|turn| numbers.no_step(turn.number, turn.steps.len(), typed)))
    };
    match told() {
        Ok(Some(told)) => told,
        Ok(None) => Failure::Usage(format!("there is no step {typed}: no query of it has a record")),
        Err(failure) => failure,
    }
}

impl Numbers {
    /// Those of a session that has a log.
    pub(super) fn of(source: &Source) -> Result<Self, Failure> {
        let started = started(source)?;
        let shown = on_screens(&source.dir, &started);
        let mut turns: Vec<_> = started.iter().map(|(turn, run)| (*turn, label(run, &shown))).collect();
        // Before its first step, a query that runs has no id on screens.
        if let Some((_, last @ None)) = turns.last_mut() {
            *last = shown.iter().map(|shown| shown.0).find(|label| *label == Label::Pending);
        }
        Ok(Self {
            session: source.shown(),
            shown: shown.into_iter().map(|shown| shown.0).collect(),
            turns,
        })
    }

    /// What screens call a turn.
    pub(super) fn name(&self, turn: u32) -> String {
        match self.turns.iter().find(|known| known.0 == turn) {
            Some((_, Some(label))) => label.to_string(),
            _ => format!("turn {} of the log", turn.saturating_add(1)),
        }
    }

    /// The turn that screens call so.
    pub(super) fn turn(&self, label: Label) -> Result<u32, Failure> {
        let known = self.turns.iter().find(|known| known.1 == Some(label));
        known
            .map(|known| known.0)
            .ok_or_else(|| Failure::Usage(self.missing(label)))
    }

    /// What screens show and the log has not: it cannot be replayed.
    pub(super) fn unrecorded(&self) -> Vec<String> {
        let is_recorded = |label: &Label| self.turns.iter().any(|turn| turn.1 == Some(*label));
        let unrecorded = self.shown.iter().filter(|label| !is_recorded(label));
        unrecorded.map(ToString::to_string).collect()
    }

    fn missing(&self, label: Label) -> String {
        let session = &self.session;
        if self.shown.contains(&label) {
            let first = self.turns.iter().find_map(|known| known.1);
            let first = first.map(|first| format!("; the record begins with {first}"));
            let first = first.unwrap_or_default();
            return format!("session {session}: {label} has no record (events.db): another program asked it{first}");
        }
        let completed = self.shown.iter().filter(|label| label.is_completed()).count();
        let has = plural(completed as u128, "query", "queries");
        match label {
            Label::Completed(number) => format!("session {session} has {has}: there is no query {number}"),
            Label::Lost(_) | Label::Pending => {
                format!("session {session} has no {label}: `fast-rlm-log` on it lists its queries")
            }
        }
    }

    /// An error of the library, with the query as screens call it.
    pub(super) fn told(&self, error: client::Error) -> Failure {
        let client::Error::Lab(LabError::StepOutOfRange { turn, step, steps }) = error else {
            return error.into();
        };
        self.no_step(turn, steps, i64::from(step) + 1)
    }

    fn no_step(&self, turn: u32, steps: usize, typed: i64) -> Failure {
        let range = if steps > 1 {
            format!(" (1 to {steps})")
        } else {
            String::new()
        };
        let (name, steps) = (self.name(turn), plural(steps as u128, "step", "steps"));
        Failure::Usage(format!("{name} has {steps}{range}: there is no step {typed}"))
    }
}

fn label(run: &str, shown: &[Shown]) -> Option<Label> {
    let its = |shown: &&Shown| shown.1.as_deref() == Some(run);
    shown.iter().find(its).map(|shown| shown.0)
}

/// The turns of the log, with the ids of their runs.
fn started(source: &Source) -> Result<Vec<(u32, String)>, Failure> {
    let kinds = Select::all().only(&[Kind::TurnStarted]);
    let events = source.store.events.read_all(&source.session, &kinds)?.events;
    let turn = |event: crate::store::StoredEvent| match event.fact {
        Fact::TurnStarted(started) => Some((event.turn?, started.run_id)),
        _ => None,
    };
    Ok(events.into_iter().filter_map(turn).collect())
}

/// The queries that screens show. Transcripts are read only where state.json does not name every turn: it has those
/// that were answered.
fn on_screens(dir: &Path, started: &[(u32, String)]) -> Vec<Shown> {
    let ledger = read_state(&dir.join(STATE_FILE)).map(|state| state.ledger);
    let ids = ledger.unwrap_or_default().into_iter().map(|entry| entry.run_id);
    let answered: Vec<Shown> = (1..).map(Label::Completed).zip(ids).collect();
    if started.iter().all(|(_, run)| label(run, &answered).is_some()) {
        return answered;
    }
    let read = read_session(dir, &OpenOptions::default(), &Stop::default());
    let queries = read
        .ok()
        .flatten()
        .map(|(session, _)| session.queries)
        .unwrap_or_default();
    match queries.is_empty() {
        // Its files are gone, and screens show nothing of it.
        true => (1..)
            .map(Label::Completed)
            .zip(started.iter().map(|(_, run)| Some(run.clone())))
            .collect(),
        false => queries.into_iter().map(|query| (query.label, query.run_id)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_typed_as_screens_show_them() {
        let read = ["5", "Q5", "q5", "X1", "p"].map(|text| query_number(text).unwrap());
        let five = Label::Completed(5);
        assert_eq!(read, [five, five, five, Label::Lost(1), Label::Pending]);
        for wrong in ["", "0", "Q", "Q0", "X", "-1", "5.0", "QX1", "R1", "99999999999"] {
            assert!(query_number(wrong).is_err(), "{wrong}");
        }
    }
}
