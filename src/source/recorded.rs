//! What only the event store holds of a recorded session: the results of leaf calls, and the names after each step.

use std::collections::HashMap;
use std::path::Path;

use crate::model::{DiffCall, MemoryKind, NameAt, NamesAfter, Unkept};
use crate::store::payload::{CellOutcome, LeafCall};
use crate::store::{At, Binding, BindingKind, Fact, Kind, Namespace, Select, Store, StoreError, StoredEvent, locate};

use super::Source;

/// The results of a session's leaf calls.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// By the run that called and its step, counted from 1; in the order of starting.
    by_step: HashMap<(String, u64), Vec<(u64, DiffCall)>>,
}

/// A session in its store, opened for reading.
pub(super) struct Recorded {
    pub(super) store: Store,
    pub(super) session: String,
}

impl Source {
    /// The names of a run's REPL before its first and after each of its steps, where its session has a log.
    ///
    /// # Errors
    /// Why there are none, for people: the session has no log, or the run is not in it.
    pub fn names_after(&self, run_id: &str) -> Result<Vec<NamesAfter>, String> {
        let failed = |error: StoreError| error.to_string();
        let recorded = Recorded::open(self.dir()).map_err(failed)?.ok_or(
            "this session has no event log (events.db): names are known for its end only, on the memory screen",
        )?;
        let (turn, steps) = recorded
            .turn_of(run_id)
            .map_err(failed)?
            .ok_or("this run is not in the session's event log: another program made it, or it is a sub-agent's")?;
        let start = recorded.names_at_start(turn).map_err(failed)?;
        let after = recorded.names_after_steps(turn, steps).map_err(failed)?;
        let all = std::iter::once(start).chain(after).zip(0..);
        Ok(all.map(|(names, step)| NamesAfter { step, names }).collect())
    }

    /// The session's cells; none where there is no log, or it cannot be read.
    pub(super) fn cells(&self) -> Cells {
        Cells::read(self.dir()).unwrap_or_default()
    }
}

impl Cells {
    fn read(dir: &Path) -> Result<Self, StoreError> {
        let Some(recorded) = Recorded::open(dir)? else {
            return Ok(Self::default());
        };
        let mut cells = Self::default();
        for event in recorded.read(Select::all(), &[Kind::LeafCall])? {
            if let (Some(step), Fact::LeafCall(cell)) = (event.step, event.fact)
                && cell.outcome != CellOutcome::Stopped
            {
                let step = (cell.run_id.clone(), u64::from(step) + 1);
                cells.by_step.entry(step).or_default().push((cell.number, call(cell)));
            }
        }
        cells
            .by_step
            .values_mut()
            .for_each(|calls| calls.sort_by_key(|(number, _)| *number));
        Ok(cells)
    }

    /// Nothing was recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.by_step.is_empty()
    }

    /// The leaf calls of a step, counted from 1.
    pub(super) fn of(&self, run_id: &str, step: u64) -> Vec<DiffCall> {
        let calls = self.by_step.get(&(run_id.to_owned(), step));
        calls.into_iter().flatten().map(|(_, call)| call.clone()).collect()
    }
}

/// The question whose answer the session in `dir` waits for. A log that cannot be read is told where it is needed.
pub(super) fn open_question(dir: &Path) -> Option<String> {
    Recorded::open(dir).ok().flatten()?.question().ok().flatten()
}

impl Recorded {
    pub(super) fn open(dir: &Path) -> Result<Option<Self>, StoreError> {
        let location = locate(dir, None)?;
        if !location.exists {
            return Ok(None);
        }
        let store = Store::open_read_only(&location.root)?;
        let session = match location.session {
            Some(name) => Some(name),
            None => store
                .events
                .sessions()?
                .into_iter()
                .find(|row| row.in_root)
                .map(|row| row.id),
        };
        Ok(session.map(|session| Self { store, session }))
    }

    pub(super) fn read(&self, select: Select, kinds: &[Kind]) -> Result<Vec<StoredEvent>, StoreError> {
        Ok(self.store.events.read_all(&self.session, &select.only(kinds))?.events)
    }

    /// The question that the last turn waits for an answer to, if its step has not ended after all.
    fn question(&self) -> Result<Option<String>, StoreError> {
        let Some(parked) = self.store.flow.parked(&self.session)?.pop() else {
            return Ok(None);
        };
        let ended = Select::turn(parked.turn).only(&[Kind::StepEnded]);
        let mut is_open = true;
        self.store.events.scan(&self.session, &ended, &mut |row| {
            is_open = row.step != Some(parked.step);
            is_open
        })?;
        Ok(is_open.then_some(parked.question))
    }

    /// The turn whose root is this run, and how many steps it started.
    pub(super) fn turn_of(&self, run_id: &str) -> Result<Option<(u32, u32)>, StoreError> {
        let started = self.read(Select::all(), &[Kind::TurnStarted])?;
        let is_it = |event: &&StoredEvent| matches!(&event.fact, Fact::TurnStarted(turn) if turn.run_id == run_id);
        let Some(turn) = started.iter().find(is_it).and_then(|event| event.turn) else {
            return Ok(None);
        };
        let ended = self.read(Select::turn(turn), &[Kind::StepEnded])?;
        let last = ended.iter().filter_map(|event| event.step).max();
        let steps = last.map_or(0, |step| step.saturating_add(1));
        Ok(Some((turn, steps)))
    }
}

impl Recorded {
    /// What a turn began with: what the turn before it ended with, nothing in a new or cleared session.
    fn names_at_start(&self, turn: u32) -> Result<Names, StoreError> {
        let kinds = [Kind::TurnStarted, Kind::StepEnded, Kind::Adopted, Kind::Cleared];
        let mut before = Before::Nothing;
        // One at a time, and only where it stands: a step holds all that it printed, an adopted file a whole memory.
        self.store
            .events
            .scan(&self.session, &Select::all().only(&kinds), &mut |row| {
                match (row.kind, row.turn) {
                    (Kind::TurnStarted, Some(started)) if started >= turn => return false,
                    (Kind::StepEnded, Some(turn)) => before = Before::Step(At { turn, step: row.step }),
                    (Kind::Adopted, _) => before = Before::Adopted,
                    (Kind::Cleared, _) => before = Before::Nothing,
                    _ => {}
                }
                true
            })?;
        match before {
            Before::Nothing => Ok(Ok(Vec::new())),
            Before::Adopted => Ok(Err(Unkept::Adopted)),
            // The last step of a turn is kept, however old it is.
            Before::Step(at) => self.names(at, Unkept::NotSaved),
        }
    }

    /// The names after each step of a turn. Those before its last one are dropped once the turn is old.
    fn names_after_steps(&self, turn: u32, steps: u32) -> Result<Vec<Names>, StoreError> {
        let points = self.store.flow.points(&self.session)?;
        let is_newest = points.iter().max().is_none_or(|last| last.turn <= turn);
        let last = points
            .iter()
            .filter(|at| at.turn == turn)
            .filter_map(|at| at.step)
            .max();
        let names = |step: u32| {
            let may_be_thinned = !is_newest && last.is_some_and(|last| step < last);
            let why = if may_be_thinned {
                Unkept::Thinned
            } else {
                Unkept::NotSaved
            };
            self.names(At::after(turn, step), why)
        };
        (0..steps).map(names).collect()
    }

    fn names(&self, at: At, why_not: Unkept) -> Result<Names, StoreError> {
        let namespace = self.store.flow.namespace(&self.session, at)?;
        Ok(namespace.map(names).ok_or(why_not))
    }
}

/// The names at a point, or why they are not known.
type Names = Result<Vec<NameAt>, Unkept>;

/// What stands in a log before a turn.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    Step(At),
    /// The state.json of another program.
    Adopted,
}

fn call(cell: LeafCall) -> DiffCall {
    DiffCall {
        result: cell.outcome.to_string(),
        call: cell.call,
        input: cell.shown_input.map(|input| input.to_string()).unwrap_or_default(),
    }
}

fn names(namespace: Namespace) -> Vec<NameAt> {
    namespace.bindings.into_iter().map(name).collect()
}

fn name(binding: Binding) -> NameAt {
    let described = binding.described;
    NameAt {
        name: binding.name,
        kind: match binding.kind {
            BindingKind::Value => MemoryKind::Variable,
            BindingKind::Source => MemoryKind::Function,
            BindingKind::Dropped => MemoryKind::Dropped,
        },
        type_name: described.type_name,
        text: described.preview,
        committed: described.committed,
        digest: binding.digest.map(|digest| digest.to_string()),
    }
}
