//! What a session keeps of its root's work, in the order that makes it durable: the store's transaction, the
//! transcript's line, state.json; only then is it told.

use super::error::RunError;
use super::gate::Tool;
use super::journal::{EndedStep, Journal, Values};
use super::memory::{RunRef, SessionMemory};
use crate::repl::{Sweep, ToolInfo};
use crate::store::payload::{ModelCall, StepEnded, TurnStarted};
use crate::store::{Digest, SessionWriter};
use serde_json::Value;
use std::sync::{Arc, Weak};

/// A session's memory and, where it has a store, its log.
pub(super) struct Keeper {
    pub(super) memory: SessionMemory,
    journal: Option<Arc<Journal>>,
}

/// A step of the root that has run.
pub(super) struct KeptStep<'a> {
    /// From 1.
    pub(super) number: u64,
    pub(super) code: &'a str,
    pub(super) ok: bool,
    pub(super) sweep: Option<&'a Sweep>,
    pub(super) ended: StepEnded,
    /// What the clocks showed it.
    pub(super) readings: Vec<u64>,
    /// FINAL, when it was accepted.
    pub(super) result: Option<&'a Value>,
}

impl Keeper {
    /// Begins a query: it is pending from here on, durably. `cut` is the query before it that has no end in state.json.
    pub(super) fn begin(
        mut memory: SessionMemory,
        writer: Option<(SessionWriter, u32)>,
        started: TurnStarted,
        run: RunRef,
        cut: Option<&TurnStarted>,
    ) -> Result<Self, RunError> {
        memory.begin(run, cut)?;
        let text = memory.text(true)?.unwrap_or_default();
        let begin = |(writer, turn)| Journal::begin(writer, turn, started, Digest::of(&text));
        let journal = writer.map(begin).transpose()?.map(Arc::new);
        memory.put(&text)?;
        Ok(Self { memory, journal })
    }

    /// Goes on with a parked query.
    pub(super) fn resume(mut memory: SessionMemory, journal: Journal, run: RunRef) -> Self {
        memory.go_on(run);
        Self {
            memory,
            journal: Some(Arc::new(journal)),
        }
    }

    /// Closes a parked query as cancelled: log, then `transcript` writes its last line, then state.json.
    pub(super) fn drop_parked(
        mut memory: SessionMemory,
        writer: SessionWriter,
        turn: u32,
        transcript: impl FnOnce() -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        memory.fail(RunError::Cancelled.outcome())?;
        let text = memory.text(true)?.unwrap_or_default();
        Journal::drop_parked(&writer, turn, Digest::of(&text))?;
        transcript()?;
        Ok(memory.put(&text)?)
    }

    /// The log, for the hosts of this query's agents.
    pub(super) fn journal(&self) -> Weak<Journal> {
        self.journal.as_ref().map(Arc::downgrade).unwrap_or_default()
    }

    /// Logs a reply and the code that is about to run.
    pub(super) fn start_step(&self, number: u64, call: ModelCall, code: &str) -> Result<(), RunError> {
        match &self.journal {
            Some(journal) => Ok(journal.start_step(index(number), call, code)?),
            None => Ok(()),
        }
    }

    /// Keeps a step: log, then `transcript` writes its lines, then state.json.
    pub(super) fn end_step(
        &mut self,
        step: KeptStep<'_>,
        transcript: impl FnOnce() -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        if !step.code.is_empty() {
            self.memory.step(step.number, step.ok, step.code, step.sweep)?;
        }
        if let Some(value) = step.result {
            self.memory.finish(value)?;
        }
        let text = self.memory.text(step.result.is_some())?;
        if let Some(journal) = &self.journal {
            let state = text.as_deref().map(Digest::of);
            let values = Values::new(step.sweep, &self.memory);
            let mut ended = step.ended;
            values.describe(&mut ended.written);
            let ended = EndedStep {
                ended,
                readings: step.readings,
                sweep: step.sweep,
                state,
                result: step.result,
            };
            journal.end_step(index(step.number), ended, &values)?;
        }
        transcript()?;
        match text {
            Some(text) => Ok(self.memory.put(&text)?),
            None => Ok(()),
        }
    }

    /// The number that the turn's randomness begins with.
    pub(super) fn seed(&self) -> Option<u64> {
        self.journal.as_ref().map(|journal| journal.seed())
    }

    /// Logs which tools the root has; without them in the log a replay has none.
    pub(super) fn know_tools(&self, tools: &[ToolInfo], of_host: &[Arc<dyn Tool>]) {
        if let Some(journal) = &self.journal {
            // A log that cannot be written fails the first step.
            let _ = journal.know_tools(tools, of_host);
        }
    }

    /// A parked step runs again: until it has ended by itself, its question stays open.
    pub(super) fn is_resuming(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_resuming())
    }

    /// Closes a query that has no FINAL. One that could not be kept stays open: what was written last counts.
    /// `unanswered` is what its root's last call used, where it gave no reply.
    pub(super) fn fail(&mut self, error: &RunError, unanswered: Option<ModelCall>) -> Result<(), RunError> {
        if error.is_unkept() {
            return Ok(());
        }
        if self.is_resuming() || matches!(error, RunError::Parked(_)) {
            // The question stays open, and the query pending.
            return Ok(());
        }
        self.memory.fail(error.outcome())?;
        let text = self.memory.text(true)?.unwrap_or_default();
        if let Some(journal) = &self.journal {
            journal.fail(error, unanswered, Digest::of(&text))?;
        }
        Ok(self.memory.put(&text)?)
    }

    /// After a query: thins out what older ones keep of their steps.
    pub(super) fn retain(&self) -> Result<(), RunError> {
        self.journal.as_ref().map_or(Ok(()), |journal| Ok(journal.retain()?))
    }
}

/// The store counts steps from 0: the model's first reply is step 0 there and step 1 everywhere else.
fn index(number: u64) -> u32 {
    u32::try_from(number.saturating_sub(1)).unwrap_or(u32::MAX)
}
