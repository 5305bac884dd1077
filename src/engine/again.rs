//! Steps of a turn that run once more before it goes on: the step that goes on reads what they bound and what could not be
//! saved, such as a generator, an open file or a lock. Their leaf calls are served from the record.

use super::journal::CLOCK;
use super::onward::{Rerun, RerunStep};
use super::past::{memory_before, restore_set};
use super::questions::Questions;
use crate::model::names_read;
use crate::store::payload::{CellOutcome, LeafCall, StepEnded};
use crate::store::{At, BindingKind, Fact, Namespace, Select, Store, StoredEvent};
use std::collections::{BTreeMap, HashSet};

/// A completed step, as far as it takes to run it again.
#[derive(Default)]
struct Done {
    /// Before its first event.
    seq: Option<u64>,
    rerun: RerunStep,
    ended: Option<StepEnded>,
    /// A result of it is not kept whole.
    cut: bool,
}

/// A turn up to the step that goes on.
#[derive(Default)]
struct Before {
    run_id: String,
    seq: u64,
    steps: BTreeMap<u32, Done>,
    questions: BTreeMap<u32, Questions>,
}

/// What has to run again before `code` does, the step `step` (0-based) of a turn; `None` where the REPL is restored with
/// all that it reads, or nothing would bring it back. A log that does not tell is no hindrance: the REPL is restored, and the
/// step raises where a name is missing.
pub(super) fn needed(store: &Store, session: &str, turn: u32, (step, code): (u32, &str)) -> Option<Rerun> {
    let mut before = Before::default();
    let events = store.events.read_all(session, &Select::turn(turn)).ok()?.events;
    events.into_iter().for_each(|event| before.take(event));
    before.steps.retain(|number, _| *number < step);
    let (first, seq) = before.fresh();
    before.steps.retain(|number, _| *number >= first);
    let point = |number| store.flow.namespace(session, At::after(turn, number)).ok()?;
    let saved = (first..step).rev().find_map(point)?;
    let lost = before.lost(&saved);
    if lost.is_empty() || !before.is_whole(first, step) {
        return None;
    }
    let now = restore_set(memory_before(store, session, None).ok()?);
    let read = names_read(code, &now.functions);
    if !lost.iter().any(|name| read.contains(*name)) {
        return None;
    }
    let restore = restore_set(memory_before(store, session, Some(seq)).ok()?);
    let steps = before.into_steps();
    Some(Rerun { restore, steps })
}

impl Before {
    fn take(&mut self, event: StoredEvent) {
        let Some(number) = event.step else {
            if let Fact::TurnStarted(started) = event.fact {
                (self.run_id, self.seq) = (started.run_id, event.stream_seq);
            }
            return;
        };
        let step = self.steps.entry(number).or_default();
        step.seq.get_or_insert(event.stream_seq);
        step.rerun.step = number;
        match event.fact {
            Fact::StepStarted(started) => step.rerun.code = started.code,
            Fact::LeafCall(cell) if cell.run_id == self.run_id => step.take(cell),
            Fact::Asked(asked) => self.questions.entry(number).or_default().ask(asked),
            Fact::Answered(answered) => self.questions.entry(number).or_default().answered(answered),
            Fact::StepEnded(ended) => step.ended = Some(ended),
            _ => {}
        }
    }

    /// The last step that began in a fresh REPL, and the place in the log before it.
    fn fresh(&self) -> (u32, u64) {
        let is_fresh = |done: &Done| done.ended.as_ref().is_some_and(|ended| ended.seed.is_some());
        let later = self
            .steps
            .iter()
            .filter(|(number, done)| **number > 0 && is_fresh(done));
        let last = later
            .filter_map(|(number, done)| Some((*number, done.seq?)))
            .next_back();
        last.unwrap_or((0, self.seq))
    }

    /// Each step is there, with all that it got.
    fn is_whole(&self, first: u32, step: u32) -> bool {
        let is_whole = |number| {
            let done = self.steps.get(&number);
            done.is_some_and(|done| done.ended.is_some() && !done.cut)
        };
        (first..step).all(is_whole)
    }

    /// Names that these steps bound and that are not saved.
    fn lost<'s>(&self, saved: &'s Namespace) -> Vec<&'s str> {
        let ended = self.steps.values().filter_map(|done| done.ended.as_ref());
        let bound = ended.flat_map(|ended| &ended.written);
        let bound: HashSet<&str> = bound.map(|written| written.name.as_str()).collect();
        let dropped = saved
            .bindings
            .iter()
            .filter(|binding| binding.kind == BindingKind::Dropped);
        let names = dropped.map(|binding| binding.name.as_str());
        names.filter(|name| bound.contains(name)).collect()
    }

    fn into_steps(mut self) -> Vec<RerunStep> {
        let steps = self.steps.into_iter().map(|(number, done)| RerunStep {
            questions: self.questions.remove(&number).unwrap_or_default(),
            failed: done.ended.map(|ended| ended.exception.is_some()),
            ..done.rerun
        });
        steps.filter(|step| !step.code.is_empty()).collect()
    }
}

impl Done {
    fn take(&mut self, cell: LeafCall) {
        match &cell.outcome {
            CellOutcome::Returned(readings) if cell.call == CLOCK => {
                self.rerun.readings = serde_json::from_value(readings.clone()).unwrap_or_default();
            }
            outcome => {
                self.cut |= matches!(outcome, CellOutcome::Truncated { .. });
                self.rerun.cells.push(cell);
            }
        }
    }
}
