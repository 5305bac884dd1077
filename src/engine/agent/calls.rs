//! Leaf calls of a step that are under way. One that the code gives up, or leaves behind at its end, has a cell that
//! says so: without it a replay would not know the call. Sub-agents that nobody waits for any more are told to stop and
//! end in good order, so that what they used is in every record; no step ends before they have.

use super::talk::Talk;
use super::{Agent, Run, RunError};
use crate::engine::accounts::Used;
use crate::engine::clock;
use crate::engine::journal::Journal;
use crate::provider::Cancel;
use crate::repl::HostError;
use crate::store::payload::{CellOutcome, LeafCall};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Those of one agent.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Code runs: who gives a call up now is the code, and nobody who stops it.
    running: bool,
    next: u64,
    open: BTreeMap<u64, Open>,
    /// Work on calls that goes on until it has ended by itself.
    work: Vec<Work>,
}

#[derive(Debug)]
struct Open {
    cell: LeafCall,
    /// The root's step that it belongs to.
    step: u32,
    /// The run that it started.
    child: Option<Arc<str>>,
    /// How it was left, where nobody waits for it any more.
    left: Option<CellOutcome>,
}

#[derive(Debug)]
struct Work {
    /// Stops it.
    cancel: Cancel,
    task: JoinHandle<()>,
}

impl Open {
    /// Its cell, with what its sub-agent has used. What nobody waited for came to nothing, whatever its end.
    fn close(self, used: &Used, outcome: CellOutcome) -> LeafCall {
        let cell = LeafCall {
            outcome: self.left.unwrap_or(outcome),
            ..self.cell
        };
        let Some(child) = self.child else { return cell };
        LeafCall {
            child_run: Some(child.to_string()),
            usage: used.usage(),
            cost: used.cost(),
            ..cell
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

    /// Waits for `work` on these calls. Who stops waiting stops the work, which then ends by itself.
    pub(super) async fn tend<T: Send + 'static>(
        &self,
        calls: Vec<u64>,
        cancel: Cancel,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, HostError> {
        let (give, take) = oneshot::channel();
        // Nobody may wait for it any more when it has ended.
        let task = tokio::spawn(async move { drop(give.send(work.await)) });
        let work = Work {
            cancel: cancel.clone(),
            task,
        };
        self.with(|state| {
            state.work.retain(|work| !work.task.is_finished());
            state.work.push(work);
        });
        let mut waiting = Waiting {
            of: self,
            calls,
            cancel,
            over: false,
        };
        let done = take.await;
        waiting.over = true;
        done.map_err(|_| HostError::new("a sub-agent ended without a word: this is a bug, please report it"))
    }

    /// Nobody waits for what is under way any more. Returns when all of it has ended that ends by itself.
    async fn leave(&self, how: &CellOutcome) {
        let work = self.with(|state| {
            let open = state.open.values_mut().filter(|open| open.left.is_none());
            open.for_each(|open| open.left = Some(how.clone()));
            std::mem::take(&mut state.work)
        });
        work.iter().for_each(|work| work.cancel.cancel());
        for work in work {
            // One that panicked has left its calls open, which are closed like any other.
            let _ = work.task.await;
        }
    }

    fn begin(&self, cell: LeafCall, step: u32) -> u64 {
        self.with(|state| {
            state.next += 1;
            let open = Open {
                cell,
                step,
                child: None,
                left: None,
            };
            state.open.insert(state.next, open);
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

/// Somebody waits for calls, for as long as this is there.
struct Waiting<'a> {
    of: &'a Calls,
    calls: Vec<u64>,
    cancel: Cancel,
    /// They have ended.
    over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let stopped = self.cancel.is_cancelled();
        self.of.with(|state| {
            let how = match state.running && !stopped {
                true => CellOutcome::Cancelled,
                false => CellOutcome::Stopped,
            };
            for call in &self.calls {
                if let Some(open) = state.open.get_mut(call) {
                    open.left.get_or_insert(how.clone());
                }
            }
        });
        self.cancel.cancel();
    }
}

/// A call that has begun.
pub(super) struct Begun {
    /// Which; `None` where cells are not kept.
    id: Option<u64>,
    talk: Arc<Talk>,
    run: Arc<Run>,
    /// Stops the agent that called.
    cancel: Cancel,
    journal: Weak<Journal>,
}

impl Begun {
    pub(super) fn new(
        cell: Option<LeafCall>,
        talk: &Arc<Talk>,
        run: &Arc<Run>,
        cancel: &Cancel,
        journal: &Weak<Journal>,
    ) -> Self {
        let step = journal.upgrade().map_or(0, |journal| journal.step());
        Self {
            id: cell.map(|cell| talk.calls.begin(cell, step)),
            talk: Arc::clone(talk),
            run: Arc::clone(run),
            cancel: cancel.clone(),
            journal: Weak::clone(journal),
        }
    }

    pub(super) fn id(&self) -> Option<u64> {
        self.id
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
    pub(super) fn end(&self, used: &Used, outcome: CellOutcome) -> Option<LeafCall> {
        let open = self.talk.calls.with(|state| state.open.remove(&self.id?))?;
        Some(open.close(used, outcome))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let calls = &self.talk.calls;
        let given_up = |state: &mut State| state.open.remove(&self.id?).filter(|_| state.running);
        let Some(open) = calls.with(given_up).filter(|_| !self.cancel.is_cancelled()) else {
            return;
        };
        let step = open.step;
        if let Some(journal) = self.journal.upgrade() {
            // What cannot be written here cannot be when the step ends, which says so.
            let _ = journal.cells_of(step, vec![cancelled(open, &self.run)]);
        }
    }
}

impl Agent {
    /// The step's code has ended, or `parks`: what it left under way is given up with it. Sub-agents end in good order;
    /// of other calls there are cells, but where a person or a limit stopped all. Takes `&mut self` because a REPL is
    /// `Send`, not `Sync`.
    pub(super) async fn close_calls(&mut self, parks: bool) -> Result<(), RunError> {
        let stopped = parks || self.spec.cancel.is_cancelled();
        let how = if stopped {
            CellOutcome::Stopped
        } else {
            CellOutcome::Cancelled
        };
        self.talk.calls.leave(&how).await;
        let open = self.talk.calls.take();
        let is_async = |cell: &LeafCall| self.tools.iter().any(|tool| tool.is_async && tool.name == cell.call);
        let tools = self.talk.take_tool_calls().into_iter().filter(is_async);
        let Some(journal) = self.spec.journal.upgrade().filter(|_| !stopped) else {
            return Ok(());
        };
        let step = journal.step();
        let tools = tools.map(|cell| Open {
            cell,
            step,
            child: None,
            left: None,
        });
        let cells: Vec<_> = open
            .into_iter()
            .chain(tools)
            .map(|open| cancelled(open, &self.run))
            .collect();
        match cells.is_empty() {
            true => Ok(()),
            false => Ok(journal.cells_of(step, cells)?),
        }
    }
}

fn cancelled(open: Open, run: &Run) -> LeafCall {
    let used = open.child.as_ref().map(|child| run.accounts.close(child));
    let cell = open.close(&used.unwrap_or_default(), CellOutcome::Cancelled);
    LeafCall {
        ended: clock::now(),
        ..super::leaf::recordable(cell)
    }
}
