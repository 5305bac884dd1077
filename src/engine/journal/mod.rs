//! The log of a session's turn: what the engine appends to the event store, before it is written anywhere else.
//!
//! One transaction for a step's start, one for each batch of leaf results, one for a step's end. Numbers of turns and
//! steps are 0-based here: step 0 is the model's first reply.

mod cut;
mod facts;
mod lines;
mod namespace;
mod numbers;
mod orphans;
mod parked;
mod project;
mod recover;
mod spent;

pub(crate) use cut::Pending;
pub(super) use cut::load_cut;
use facts::dropped;
pub(super) use facts::{cell_outcome, model_call, step_ended, unanswered_call};
pub(super) use lines::transcript_of;
pub(super) use namespace::Values;
pub use parked::Asking;
pub(super) use parked::{ParkedTurn, Tape, load_parked};
pub use project::ProjectError;
pub(super) use project::{PROJECTED, Projection};
pub use recover::RecoverError;
pub(super) use recover::{Cut, IN_TURN, WRITES, recover};
pub(super) use spent::TurnSpent;

use super::clock::now;
use super::error::RunError;
use super::gate::Tool;
use super::groups::Observation;
use crate::model::program_text;
use crate::repl::{Sweep, ToolInfo};
use crate::store::payload::{
    CellOutcome, Custom, Final, LeafCall, ModelCall, Outcome, StepEnded, StepStarted, SubAgent, Swept, TurnEnded,
    TurnStarted,
};
use crate::store::{
    At, Digest, FULL_TURNS, Fact, Kind, NewEvent, Select, SessionWriter, Store, StoreError, StoredEvent,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Name of the custom event that lists a turn's tools.
pub(crate) const TOOLS: &str = "tools";
/// Name of the custom events that hold what was observed in a session.
const SIGNAL: &str = "signal";
/// Name of the custom event with messages that a fork's next reply answers.
pub(crate) const CONVERSATION: &str = "conversation";
/// Name of the cells that hold what the clocks showed a step.
pub(crate) const CLOCK: &str = "clock";

/// What was observed in a session so far.
pub(super) fn observed(store: &Store, session: &str) -> Result<Vec<Observation>, StoreError> {
    let events = store
        .events
        .read_all(session, &Select::all().only(&[Kind::Custom]))?
        .events;
    let observation = |event: StoredEvent| match event.fact {
        Fact::Custom(Custom { name, data }) if name == SIGNAL => serde_json::from_value(data).ok(),
        _ => None,
    };
    Ok(events.into_iter().filter_map(observation).collect())
}

/// Tools as an agent's record lists them: a replay binds the same names, without having them.
pub(super) fn listed_tools(tools: &[ToolInfo], of_host: &[Arc<dyn Tool>]) -> Value {
    let hosts: Vec<String> = of_host.iter().map(|tool| tool.describe().name).collect();
    let listed = tools.iter().map(|tool| {
        json!({
            "name": tool.name, "signature": tool.signature, "doc": tool.doc, "is_async": tool.is_async,
            "host": hosts.contains(&tool.name),
        })
    });
    listed.collect()
}

/// A fact of the engine's own about a turn: one of each name.
pub(crate) fn custom_event(turn: u32, time: i64, custom: Custom) -> NewEvent {
    NewEvent {
        id: format!("t{turn}.{}", custom.name),
        time,
        turn: Some(turn),
        step: None,
        fact: custom.into(),
    }
}

/// The log of one turn, shared by the root and the hosts of all its agents.
pub(super) struct Journal {
    writer: SessionWriter,
    turn: u32,
    /// The root's step in flight.
    step: AtomicU32,
    /// Leaf calls that have started in it, those of sub-agents included.
    calls: AtomicU64,
    /// Guard questions so far.
    guards: AtomicU64,
    /// What the turn's runs have in common.
    settings: TurnSettings,
    /// A parked step that runs again, until it ends.
    resuming: Mutex<Option<Resuming>>,
}

/// What a journal knows of its turn.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnSettings {
    /// The root's run.
    pub(super) run_id: String,
    /// Where its randomness begins.
    pub(super) seed: u64,
    /// Leaf calls are recorded.
    pub(super) cassette: bool,
    /// 0 for a turn's first attempt; each later one ends it once more, under this number.
    pub(super) attempt: u64,
}

impl TurnSettings {
    pub(super) fn of(started: &TurnStarted) -> Self {
        Self {
            run_id: started.run_id.clone(),
            seed: started.pinned.as_ref().map_or(0, |pinned| pinned.random_seed),
            cassette: started.cassette,
            attempt: 0,
        }
    }
}

/// A parked step that runs again: answers given by this process are logged only with what they led to, so that an
/// attempt that is cancelled leaves the question open.
struct Resuming {
    answers: Vec<(u32, String)>,
}

/// A step that has ended, as it is logged.
pub(super) struct EndedStep<'a> {
    pub(super) ended: StepEnded,
    pub(super) readings: Vec<u64>,
    pub(super) sweep: Option<&'a Sweep>,
    /// Digest of the state.json that is written next; `None` when it is put off.
    pub(super) state: Option<Digest>,
    /// FINAL, when the step ended the turn.
    pub(super) result: Option<&'a Value>,
}

impl Journal {
    /// Begins a turn.
    pub(super) fn begin(
        writer: SessionWriter,
        turn: u32,
        started: TurnStarted,
        state: Digest,
    ) -> Result<Self, StoreError> {
        let settings = TurnSettings::of(&started);
        let swept = Swept {
            state: Some(state),
            ..Swept::default()
        };
        writer.append(vec![
            NewEvent::of_turn(turn, now(), started.into()),
            NewEvent::of_turn(turn, now(), swept.into()),
        ])?;
        Ok(Self::at(writer, turn, 0, settings))
    }

    /// A turn that has begun, at a step.
    pub(super) fn at(writer: SessionWriter, turn: u32, step: u32, settings: TurnSettings) -> Self {
        Self {
            writer,
            turn,
            step: AtomicU32::new(step),
            calls: AtomicU64::new(0),
            guards: AtomicU64::new(0),
            settings,
            resuming: Mutex::new(None),
        }
    }

    /// The root's step in flight.
    pub(super) fn step(&self) -> u32 {
        self.step.load(Ordering::SeqCst)
    }

    /// Where the turn's randomness begins.
    pub(super) fn seed(&self) -> u64 {
        self.settings.seed
    }

    /// Which tools the root has, once for the turn.
    pub(super) fn know_tools(&self, tools: &[ToolInfo], of_host: &[Arc<dyn Tool>]) -> Result<(), StoreError> {
        let custom = Custom {
            name: TOOLS.into(),
            data: listed_tools(tools, of_host),
        };
        self.writer
            .append(vec![custom_event(self.turn, now(), custom)])
            .map(drop)
    }

    /// Something was observed: the session's, from now on.
    pub(super) fn observed(&self, observation: &Observation) -> Result<(), StoreError> {
        let name = format!("{SIGNAL}.{}", observation.name);
        let data = serde_json::to_value(observation).unwrap_or_default();
        let custom = Custom {
            name: SIGNAL.into(),
            data,
        };
        let event = NewEvent::of_session(&name, now(), custom.into());
        self.writer.append(vec![event]).map(drop)
    }

    /// The root was asked about a delegation.
    pub(super) fn guard_call(&self, call: ModelCall) -> Result<(), StoreError> {
        let number = self.guards.fetch_add(1, Ordering::SeqCst) + 1;
        let event = NewEvent::of_step(self.turn, self.step(), now(), call.into()).numbered(number);
        self.writer.append(vec![event]).map(drop)
    }

    /// What the clocks showed a step, as a cell.
    fn clock_cell(&self, step: u32, readings: &[u64]) -> Option<NewEvent> {
        if readings.is_empty() || !self.settings.cassette {
            return None;
        }
        let cell = LeafCall {
            call: CLOCK.into(),
            number: self.next_call(),
            run_id: self.settings.run_id.clone(),
            outcome: CellOutcome::Returned(readings.into()),
            started: now(),
            ended: now(),
            ..LeafCall::default()
        };
        let number = cell.number;
        Some(NewEvent::of_step(self.turn, step, now(), cell.into()).numbered(number))
    }

    /// A reply of the root, and the code that is about to run.
    pub(super) fn start_step(&self, step: u32, call: ModelCall, code: &str) -> Result<(), StoreError> {
        self.step.store(step, Ordering::SeqCst);
        self.calls.store(0, Ordering::SeqCst);
        let started = StepStarted {
            code: code.into(),
            code_digest: Some(Digest::of(code.as_bytes())),
            tree_digest: Some(Digest::of(program_text(code).as_bytes())),
        };
        self.writer.append(vec![
            NewEvent::of_step(self.turn, step, now(), call.into()),
            NewEvent::of_step(self.turn, step, now(), started.into()),
        ])?;
        Ok(())
    }

    /// The next number of a leaf call, in the order of starting.
    pub(super) fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::SeqCst)
    }

    /// Leaf results that are ready together, before they reach Python; with those of sub-agents, by their numbers, what
    /// it takes to run them again.
    pub(super) fn cells(&self, cells: Vec<LeafCall>, agents: Vec<(u64, SubAgent)>) -> Result<(), StoreError> {
        let step = self.step();
        let agent =
            |(number, agent): (u64, SubAgent)| NewEvent::of_step(self.turn, step, now(), agent.into()).numbered(number);
        let agents = agents.into_iter().map(agent);
        let cells = cells.into_iter().map(|cell| self.cell(step, cell));
        self.writer.append(agents.chain(cells).collect()).map(drop)
    }

    /// Cells of a step that may have ended: numbers are its own.
    pub(super) fn cells_of(&self, step: u32, cells: Vec<LeafCall>) -> Result<(), StoreError> {
        let cells = cells.into_iter().map(|cell| self.cell(step, cell));
        self.writer.append(cells.collect()).map(drop)
    }

    fn cell(&self, step: u32, cell: LeafCall) -> NewEvent {
        let number = cell.number;
        NewEvent::of_step(self.turn, step, cell.ended, cell.into()).numbered(number)
    }

    /// By which digest a cell of this input is matched.
    pub(super) fn input_digest(&self, input: &str) -> Digest {
        self.writer.input_digest(input)
    }

    /// The end of a step: its values first, then everything said of it in one transaction.
    pub(super) fn end_step(&self, step: u32, ended: EndedStep<'_>, values: &Values<'_>) -> Result<(), StoreError> {
        let mut events = self.answered_events(step);
        events.extend(self.clock_cell(step, &ended.readings));
        events.push(NewEvent::of_step(self.turn, step, now(), ended.ended.into()));
        if let Some(value) = ended.result {
            events.push(NewEvent::of_turn(
                self.turn,
                now(),
                Final { value: value.clone() }.into(),
            ));
            let closed = TurnEnded {
                outcome: Outcome::Ok,
                ..TurnEnded::default()
            };
            events.push(self.ending(closed));
        }
        let dropped = ended.sweep.map(dropped).unwrap_or_default();
        // A step in which the interpreter ended took nothing of what there was.
        let imports = ended
            .sweep
            .map_or_else(|| values.imports(), |sweep| sweep.imports.clone());
        // Last: the state.json of this digest holds everything before it (projection).
        let swept = Swept {
            state: ended.state,
            dropped,
            imports,
        };
        events.push(NewEvent::of_step(self.turn, step, now(), swept.into()));
        values.end_step(&self.writer, At::after(self.turn, step), events)?;
        self.close_resumed()
    }

    /// The end of a turn without FINAL.
    pub(super) fn fail(
        &self,
        error: &RunError,
        unanswered: Option<ModelCall>,
        state: Digest,
    ) -> Result<(), StoreError> {
        let outcome = match error {
            RunError::Limit(_) => Outcome::Limit,
            RunError::Cancelled => Outcome::Cancelled,
            RunError::Halted(_) => Outcome::Halted,
            _ => Outcome::Error,
        };
        let limit = match error {
            RunError::Limit(exceeded) => Some(exceeded.name().to_owned()),
            _ => None,
        };
        let ended = TurnEnded {
            outcome,
            error: Some(error.to_string()),
            limit,
        };
        let swept = Swept {
            state: Some(state),
            ..Swept::default()
        };
        let number = match self.settings.attempt {
            0 => u64::from(self.step()) + 1,
            // Beyond any number of a step.
            attempt => (1 << 40) + attempt,
        };
        let of_turn = |fact: Fact| NewEvent::of_turn(self.turn, now(), fact).numbered(number);
        let unanswered = unanswered.map(|call| of_turn(call.into()));
        let events = unanswered
            .into_iter()
            .chain([self.ending(ended), of_turn(swept.into())]);
        self.writer.append(events.collect())?;
        Ok(())
    }

    /// The end of this attempt at the turn.
    fn ending(&self, ended: TurnEnded) -> NewEvent {
        let event = NewEvent::of_turn(self.turn, now(), ended.into());
        match self.settings.attempt {
            0 => event,
            attempt => event.numbered((1 << 40) + attempt),
        }
    }

    /// Thins out what older turns keep of their steps.
    pub(super) fn retain(&self) -> Result<(), StoreError> {
        self.writer.retain(FULL_TURNS)
    }
}
