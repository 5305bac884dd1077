//! What only the event store holds of a recorded session: the results of leaf calls, and the names after each step.

use std::collections::HashMap;
use std::path::Path;

use crate::model::{DiffCall, MemoryKind, NameAt, NamesAfter};
use crate::store::payload::LeafCall;
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
        let points = std::iter::once((0, At::start_of(turn)))
            .chain((0..steps).map(|step| (u64::from(step) + 1, At::after(turn, step))));
        let names = points.map(|(step, at)| {
            let namespace = recorded.store.flow.namespace(&recorded.session, at).map_err(failed)?;
            Ok(NamesAfter {
                step,
                names: namespace.map(names),
            })
        });
        names.collect()
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
            if let (Some(step), Fact::LeafCall(cell)) = (event.step, event.fact) {
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
