//! Leaf calls of a step that are under way. One that the code gives up, or leaves behind at its end, has a cell that
//! says so: without it a replay would not know the call.

use super::talk::Talk;
use super::{Agent, Run, RunError};
use crate::engine::clock;
use crate::engine::journal::Journal;
use crate::model::Cost;
use crate::store::payload::{CellOutcome, LeafCall};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Those of one agent.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Code runs: who gives a call up now is the code, and nobody who stops it.
    running: bool,
    next: u64,
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    cell: LeafCall,
    /// The root's step that it belongs to.
    step: u32,
    /// The run that it started.
    child: Option<Arc<str>>,
}

impl Open {
    /// Its cell, with what its sub-agent has used.
    fn close(self, run: &Run) -> LeafCall {
        let Some(child) = self.child else { return self.cell };
        let used = run.take_used(&child);
        LeafCall {
            child_run: Some(child.to_string()),
            usage: used.usage(),
            cost: used.cost(),
            ..self.cell
        }
    }
}

/// Code runs, for as long as this is there.
pub(super) struct Attended<'a>(&'a Calls);

impl Drop for Attended<'_> {
    fn drop(&mut self) {
        self.0.with(|state| state.running = false);
    }
}

impl Calls {
    pub(super) fn attend(&self) -> Attended<'_> {
        self.with(|state| state.running = true);
        Attended(self)
    }

    fn begin(&self, cell: LeafCall, step: u32) -> u64 {
        self.with(|state| {
            state.next += 1;
            let child = None;
            state.open.insert(state.next, Open { cell, step, child });
            state.next
        })
    }

    fn take(&self) -> Vec<Open> {
        self.with(|state| std::mem::take(&mut state.open).into_values().collect())
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A call that has begun.
pub(super) struct Begun {
    /// Which; `None` where cells are not kept.
    id: Option<u64>,
    talk: Arc<Talk>,
    run: Arc<Run>,
    journal: Weak<Journal>,
}

impl Begun {
    pub(super) fn new(cell: Option<LeafCall>, talk: &Arc<Talk>, run: &Arc<Run>, journal: &Weak<Journal>) -> Self {
        let step = journal.upgrade().map_or(0, |journal| journal.step());
        Self {
            id: cell.map(|cell| talk.calls.begin(cell, step)),
            talk: Arc::clone(talk),
            run: Arc::clone(run),
            journal: Weak::clone(journal),
        }
    }

    /// It has started a sub-agent.
    pub(super) fn starts(&self, child: &Arc<str>) {
        self.talk.calls.with(|state| {
            if let Some(open) = self.id.and_then(|id| state.open.get_mut(&id)) {
                open.child = Some(Arc::clone(child));
            }
        });
    }

    /// It has ended: its cell, where that is still to be written.
    pub(super) fn end(&self) -> Option<LeafCall> {
        let open = self.talk.calls.with(|state| state.open.remove(&self.id?))?;
        Some(open.close(&self.run))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let calls = &self.talk.calls;
        let given_up = |state: &mut State| state.open.remove(&self.id?).filter(|_| state.running);
        let Some(open) = calls.with(given_up).filter(|_| !self.run.cancel.is_cancelled()) else {
            return;
        };
        let step = open.step;
        if let Some(journal) = self.journal.upgrade() {
            // What cannot be written here cannot be when the step ends, which says so.
            let _ = journal.cells_of(step, vec![cancelled(open.close(&self.run))]);
        }
    }
}

impl Agent {
    /// The step's code has ended: what it left under way is given up with it, but where a person or a limit stopped
    /// all.
    pub(super) fn close_calls(&self) -> Result<(), RunError> {
        let open = self.talk.calls.take();
        let is_async = |cell: &LeafCall| self.tools.iter().any(|tool| tool.is_async && tool.name == cell.call);
        let tools = self.talk.take_tool_calls().into_iter().filter(is_async);
        let Some(journal) = self.spec.journal.upgrade().filter(|_| !self.run.cancel.is_cancelled()) else {
            return Ok(());
        };
        let calls = open.into_iter().map(|open| open.close(&self.run));
        let cells: Vec<_> = calls.chain(tools).map(cancelled).collect();
        match cells.is_empty() {
            true => Ok(()),
            false => Ok(journal.cells_of(journal.step(), cells)?),
        }
    }
}

/// What a sub-agent was in the middle of is billed, and nobody learns at how much.
fn cancelled(cell: LeafCall) -> LeafCall {
    let cost = match &cell.child_run {
        Some(_) => Cost::of_part(cell.cost.nano()),
        None => cell.cost,
    };
    LeafCall {
        outcome: CellOutcome::Cancelled,
        cost,
        ended: clock::now(),
        ..super::leaf::recordable(cell)
    }
}
