//! Sub-agents run again: after the step that started them, each from its own record, in a REPL of its own. Their parent
//! has got the recorded result by then; what is compared here is whether their own steps come to it.

use super::compare::Sides;
use super::host::{ReplayHost, truncated};
use super::masked::Absent;
use super::report::{Mismatch, ReplayReport, Unconsumed};
use super::stubs::{env_of, stand_ins};
use super::{Python, probed, was_stopped};
use crate::engine::{CLOCK, context, handed, recorded_structured};
use crate::lab::{LabError, RecordedStep, RecordedTool, RecordedTurn};
use crate::repl::{InstanceState, OutputChunk, Repl, RestoreSet, Role, StartOptions, Step, StepOutcome};
use crate::store::payload::{AgentStep, CellOutcome, LeafCall, SubAgent};
use serde_json::Value;
use std::sync::Arc;

/// A sub-agent of a step that can be run again.
struct Recorded<'a> {
    /// Which of the step's sub-agents, from 1.
    place: usize,
    /// With its input and its result.
    cell: &'a LeafCall,
    agent: &'a SubAgent,
    /// Its own leaf calls.
    cells: Vec<&'a LeafCall>,
    context: &'a Value,
}

/// The cells of a step's sub-agents at any depth, in the order of starting. One that was given up or stopped came to
/// nothing.
fn started(step: &RecordedStep) -> impl Iterator<Item = &LeafCall> {
    let cells = step.cells.iter().chain(&step.nested);
    let ended = |cell: &&LeafCall| !matches!(cell.outcome, CellOutcome::Cancelled | CellOutcome::Stopped);
    cells.filter(|cell| cell.child_run.is_some()).filter(ended)
}

impl<'a> Recorded<'a> {
    /// `None` where its own record is missing or not whole.
    fn of(step: &'a RecordedStep, cell: &'a LeafCall, place: usize) -> Option<Self> {
        let run = cell.child_run.as_ref()?;
        let agent = step.agents.iter().find(|agent| agent.run_id == *run)?;
        let context = cell.shown_input.as_ref()?.get("context")?;
        let own = step
            .nested
            .iter()
            .filter(|cell| cell.run_id == *run && cell.call != CLOCK);
        let mut cells: Vec<_> = own.collect();
        cells.sort_by_key(|cell| cell.number);
        let whole = cells.iter().all(|cell| truncated(cell).is_none());
        whole.then_some(Self {
            place,
            cell,
            agent,
            cells,
            context,
        })
    }
}

/// Counts what there is of a step's sub-agents, before anything runs.
pub(super) fn count_agents(step: &RecordedStep, report: &mut ReplayReport) {
    for cell in started(step) {
        report.sub_agents.served += 1;
        match Recorded::of(step, cell, 0) {
            Some(recorded) => report.cells_total += recorded.cells.len(),
            None => report.sub_agents.without_cells += 1,
        }
    }
}

/// Runs the sub-agents of a step again, one after another; the first mismatch.
pub(super) async fn replay_agents(
    python: &Python,
    turn: &RecordedTurn,
    number: u32,
    step: &RecordedStep,
    absent: &mut Absent,
    report: &mut ReplayReport,
) -> Result<Option<Mismatch>, LabError> {
    for (cell, place) in started(step).zip(1..) {
        let Some(recorded) = Recorded::of(step, cell, place) else {
            continue;
        };
        let codes = recorded.agent.steps.iter().map(|step| step.code.as_str());
        codes.for_each(|code| absent.see(turn.number, number, code));
        let mut room = Room::open(python, turn, recorded).await?;
        let mismatch = room.steps(number, report).await?;
        room.close(number, report);
        report.sub_agents.replayed += 1;
        if mismatch.is_some() {
            return Ok(mismatch);
        }
    }
    Ok(None)
}

/// A sub-agent's REPL.
struct Room<'a> {
    python: &'a Python,
    turn: &'a RecordedTurn,
    recorded: Recorded<'a>,
    host: Arc<ReplayHost>,
    repl: Box<dyn Repl>,
}

impl<'a> Room<'a> {
    async fn open(python: &'a Python, turn: &'a RecordedTurn, recorded: Recorded<'a>) -> Result<Self, LabError> {
        let host = Arc::new(ReplayHost::new(python.secrets.clone()));
        host.begin_run(
            recorded.cells.iter().map(|cell| (*cell).clone()),
            recorded.cell.redacted,
        );
        let tools: Vec<RecordedTool> = serde_json::from_value(recorded.agent.tools.clone()).unwrap_or_default();
        let (tools, host_tools) = stand_ins(&tools);
        let given = handed(recorded.context.clone(), recorded_structured(&turn.started));
        let options = StartOptions {
            context: context(given),
            role: if recorded.agent.leaf {
                Role::Leaf
            } else {
                Role::SubAgent
            },
            mcp: recorded.agent.mcp,
            env: env_of(&turn.started, &python.env),
            tools,
            host_tools,
            ..StartOptions::default()
        };
        let (repl, _) = probed(python, options, &host, recorded.agent.seed).await?;
        Ok(Self {
            python,
            turn,
            recorded,
            host,
            repl,
        })
    }

    async fn steps(&mut self, number: u32, report: &mut ReplayReport) -> Result<Option<Mismatch>, LabError> {
        let agent = self.recorded.agent;
        for (step, at) in agent.steps.iter().zip(1..) {
            match &step.ended {
                None => break,
                Some(ended) if was_stopped(ended) => {
                    report.weak += 1;
                    break;
                }
                Some(_) if step.code.is_empty() => continue,
                Some(_) => {}
            }
            let last = at as usize == agent.steps.len();
            let compared = self.step(number, at, step, last).await?;
            report.sub_agents.steps += 1;
            match compared {
                Ok(weak) => report.weak += weak,
                Err(mismatch) => return Ok(Some(mismatch)),
            }
        }
        Ok(None)
    }

    /// Runs a step again: how much was compared weakly, or the mismatch.
    async fn step(
        &mut self,
        number: u32,
        at: u32,
        step: &AgentStep,
        last: bool,
    ) -> Result<Result<usize, Mismatch>, LabError> {
        let again = Step {
            seed: step.ended.as_ref().and_then(|ended| ended.seed),
            readings: Some(step.readings.clone()),
            ..Step::new(at, step.code.as_str())
        };
        let outcome = self.repl.run(again, &mut |_: OutputChunk| ()).await;
        let compared = self.compare(number, step, &outcome, last).map_err(|mismatch| Mismatch {
            what: format!("sub-agent {}, step {at}: {}", self.recorded.place, mismatch.what),
            ..mismatch
        });
        if outcome.instance != InstanceState::Alive || !self.repl.is_alive() {
            self.repl.restart(RestoreSet::default()).await?;
        }
        Ok(compared)
    }

    fn compare(&self, number: u32, step: &AgentStep, outcome: &StepOutcome, last: bool) -> Result<usize, Mismatch> {
        let consumed = self.host.met();
        let sides = Sides {
            turn: self.turn.number,
            step: number,
            recorded: step.ended.as_ref(),
            outcome,
            names: None,
            consumed: &consumed,
            secrets: &self.python.secrets,
        };
        let weak = sides.compare()?;
        let result = match &self.recorded.cell.outcome {
            CellOutcome::Returned(value) if last && self.recorded.agent.error.is_none() => sides.result(value)?,
            _ => false,
        };
        Ok(weak + usize::from(result))
    }

    fn close(&self, number: u32, report: &mut ReplayReport) {
        let consumed = self.host.end();
        report.cells_consumed += consumed.cells;
        report
            .unconsumed
            .extend(consumed.unconsumed.iter().map(|cell| Unconsumed {
                turn: self.turn.number,
                step: number,
                call: cell.call.clone(),
            }));
    }
}
