//! Replay: the recorded steps run again in a fresh REPL, with every leaf call served from the cassette. No provider is
//! called, nothing is dispatched, no file changes.

mod agents;
mod choose;
mod clocks;
mod compare;
mod host;
mod masked;
mod report;
mod stubs;

pub(super) use choose::suffices;
pub use report::{Masked, Mismatch, ReplayReport, StepPlan, SubAgents, TurnPlan, Unconsumed};
pub(super) use stubs::is_name;
use stubs::{env_of, stand_ins};

use super::error::LabError;
use super::recorded::{RecordedStep, RecordedTurn, Recording};
use super::sink::{AgentSink, LabEvent};
use crate::engine::{memory_before, recorded_context, recorded_mcp, restore_set};
use crate::repl::{
    Backend, InstanceState, OutputChunk, PROBE, Repl, ReplFactory, RestoreReport, RestoreSet, Role, StartOptions, Step,
    StepOutcome,
};
use crate::store::payload::StepEnded;
use crate::store::{Digest, Store};
use crate::text::secret::Secrets;
use agents::replay_agents;
use choose::{choose, count, same_python};
use compare::{Names, Sides};
use host::ReplayHost;
use masked::Absent;
use std::path::PathBuf;
use std::sync::Arc;

/// A recorded session.
#[derive(Clone)]
pub struct Source {
    /// Its store.
    pub store: Store,
    /// Its id there.
    pub session: String,
    /// Its directory: `state.json`, `logs/`.
    pub dir: PathBuf,
}

impl Source {
    /// Its turns.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn recording(&self) -> Result<Recording, LabError> {
        Ok(Recording::read(&self.store, &self.session)?)
    }

    /// What people call it: its directory, where that has another name than the store has for it.
    pub fn shown(&self) -> String {
        match self.dir.file_name() {
            Some(name) if name != self.session.as_str() => name.to_string_lossy().into_owned(),
            _ => self.session.clone(),
        }
    }

    pub(super) fn not_replayable(&self, reason: impl Into<String>) -> LabError {
        LabError::NotReplayable {
            session: self.shown(),
            reason: reason.into(),
        }
    }
}

/// What recorded code is run with.
#[derive(Clone)]
pub struct Python {
    /// Which it is.
    pub backend: Backend,
    /// Starts REPLs.
    pub factory: Arc<dyn ReplFactory>,
    /// What was taken out of the recording, and is taken out of what is compared with it.
    pub secrets: Secrets,
    /// Values for the environment variables that the recorded REPLs had.
    pub env: Vec<(String, String)>,
    /// Where the file of a recorded query lies now; where it lay unless given.
    pub input_file: Option<PathBuf>,
}

/// Replays one turn, 0-based, or all of them.
///
/// # Errors
///
/// [`LabError::NotReplayable`], [`LabError::TurnOutOfRange`], and those of Python and the store. What came out
/// differently is no error: it is in the report.
pub async fn replay(
    source: &Source,
    python: &Python,
    turn: Option<u32>,
    sink: &mut dyn AgentSink,
) -> Result<ReplayReport, LabError> {
    let recording = source.recording()?;
    let chosen = choose(source, &recording, turn, python.input_file.as_deref())?;
    same_python(source, python, &chosen)?;
    let mut report = ReplayReport {
        session: source.session.clone(),
        ..ReplayReport::default()
    };
    for turn in &chosen {
        count(turn, &mut report);
    }
    for turn in chosen {
        let names = replay_turn(source, python, turn, &mut report, sink).await?;
        if report.diverged.is_some() {
            break;
        }
        if recording.turns.last().is_some_and(|last| last.number == turn.number) {
            check_state(source, turn, &names, &mut report);
        }
    }
    Ok(report)
}

/// A REPL in which the probe has run, as in every run that was recorded, and what became of what it restores.
async fn probed(
    python: &Python,
    options: StartOptions,
    host: &Arc<ReplayHost>,
    seed: Option<u64>,
) -> Result<(Box<dyn Repl>, RestoreReport), LabError> {
    let started = python.factory.start(options, host.clone()).await?;
    let mut repl = started.repl;
    let probe = Step {
        seed,
        ..Step::new(0, PROBE)
    };
    repl.run(probe, &mut |_: OutputChunk| ()).await;
    Ok((repl, started.restored))
}

async fn replay_turn(
    source: &Source,
    python: &Python,
    turn: &RecordedTurn,
    report: &mut ReplayReport,
    sink: &mut dyn AgentSink,
) -> Result<Names, LabError> {
    let mut plan = TurnPlan {
        turn: turn.number,
        steps: Vec::new(),
    };
    let mut room = Room::open(source, python, turn).await?;
    for (number, step) in turn.steps.iter().enumerate() {
        let (Some(code), Some(ended)) = (&step.code, &step.ended) else {
            break;
        };
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        if was_stopped(ended) {
            report.weak += 1;
            break;
        }
        if code.is_empty() {
            continue;
        }
        sink.event(LabEvent::StepReplaying {
            turn: turn.number,
            step: number,
        });
        let mismatch = room.step(number, step, &mut plan, report).await?;
        sink.event(LabEvent::StepReplayed {
            turn: turn.number,
            step: number,
            mismatch: mismatch.clone(),
        });
        if mismatch.is_some() {
            report.diverged = mismatch;
            break;
        }
    }
    report.plans.push(plan);
    report.masked.extend_from_slice(room.absent.seen());
    Ok(room.into_names())
}

/// When a step was stopped is nothing that could be repeated.
fn was_stopped(ended: &StepEnded) -> bool {
    let raised = ended.exception.as_ref();
    raised.is_some_and(|raised| matches!(raised.kind.as_str(), "cancelled" | "timeout"))
}

/// A turn's REPL.
struct Room<'a> {
    source: &'a Source,
    python: &'a Python,
    turn: &'a RecordedTurn,
    host: Arc<ReplayHost>,
    repl: Box<dyn Repl>,
    /// No step has run in it yet.
    fresh: bool,
    names: Names,
    /// What could not be restored, and keeps its saved value.
    held: Names,
    absent: Absent,
}

impl<'a> Room<'a> {
    async fn open(source: &'a Source, python: &'a Python, turn: &'a RecordedTurn) -> Result<Self, LabError> {
        let restore = restore_set(memory_before(&source.store, &source.session, Some(turn.start_seq))?);
        let names = remembered(&restore);
        let absent = Absent::of(&turn.started, &python.env, &restore);
        let host = Arc::new(ReplayHost::new(python.secrets.clone()));
        let (tools, host_tools) = stand_ins(&turn.tools);
        let options = StartOptions {
            context: recorded_context(&turn.started, &source.dir, python.input_file.as_deref())?,
            role: Role::Root,
            mcp: recorded_mcp(&turn.started),
            env: env_of(&turn.started, &python.env),
            tools,
            host_tools,
            restore,
            ..StartOptions::default()
        };
        let seed = turn.started.pinned.as_ref().map(|pinned| pinned.random_seed);
        let (repl, restored) = probed(python, options, &host, seed).await?;
        Ok(Self {
            source,
            python,
            turn,
            host,
            repl,
            fresh: true,
            held: held(&names, &restored),
            names,
            absent,
        })
    }

    /// The names at the end, with those that were never there and are saved.
    fn into_names(self) -> Names {
        let mut names = self.names;
        for (name, seen) in self.held.0 {
            names.0.entry(name).or_insert(seen);
        }
        names
    }

    /// Runs a step again; the first mismatch.
    async fn step(
        &mut self,
        number: u32,
        step: &RecordedStep,
        plan: &mut TurnPlan,
        report: &mut ReplayReport,
    ) -> Result<Option<Mismatch>, LabError> {
        self.begin_anew(step).await?;
        self.host.begin(step);
        self.absent
            .see(self.turn.number, number, step.code.as_deref().unwrap_or_default());
        let again = Step {
            seed: step.ended.as_ref().and_then(|ended| ended.seed),
            readings: Some(step.clock.clone()),
            ..Step::new(number + 1, step.code.clone().unwrap_or_default())
        };
        let mut outcome = self.repl.run(again, &mut |_: OutputChunk| ()).await;
        let consumed = self.host.end();
        if outcome.instance != InstanceState::Lost {
            self.sweep(&mut outcome).await;
        }
        report.cells_consumed += consumed.cells;
        report
            .unconsumed
            .extend(consumed.unconsumed.iter().map(|cell| Unconsumed {
                turn: self.turn.number,
                step: number,
                call: cell.call.clone(),
            }));
        let sides = Sides {
            turn: self.turn.number,
            step: number,
            recorded: step.ended.as_ref(),
            outcome: &outcome,
            names: Some(&self.names),
            consumed: &consumed,
            secrets: &self.python.secrets,
        };
        let last = number as usize + 1 == self.turn.steps.len();
        let given = self.turn.result.as_ref().filter(|_| last);
        let compared = sides
            .compare()
            .and_then(|weak| Ok(weak + usize::from(given.map_or(Ok(false), |value| sides.result(value))?)));
        let clocks = clocks::differ(self.python.backend, step.code.as_deref());
        let weak = *compared.as_ref().unwrap_or(&0) + usize::from(clocks);
        report.weak += weak;
        plan.steps.push(StepPlan {
            step: number,
            cells: consumed.cells,
            faithful: compared.is_ok(),
            weak,
        });
        self.revive(&outcome, step).await?;
        match compared {
            Err(mismatch) if clocks => Ok(Some(self.absent.explain(clocks::explain(mismatch)))),
            Err(mismatch) => Ok(Some(self.absent.explain(mismatch))),
            Ok(_) => {
                let mismatch = replay_agents(self.python, self.turn, number, step, &mut self.absent, report).await?;
                Ok(mismatch.map(|mismatch| self.absent.explain(mismatch)))
            }
        }
    }

    /// Looks at what a step bound. A value can end the interpreter while it is saved: then the step ends as it did when
    /// it was recorded.
    async fn sweep(&mut self, outcome: &mut StepOutcome) {
        match self.repl.sweep().await {
            Ok(sweep) => {
                self.names.take(&sweep);
                if let Some(lost) = &sweep.lost {
                    outcome.lose(lost);
                }
            }
            Err(error) => drop(outcome.lose(&error)),
        }
    }

    /// An instance that a step used up is replaced, as it was when it was recorded.
    async fn revive(&mut self, outcome: &StepOutcome, step: &RecordedStep) -> Result<(), LabError> {
        if outcome.instance == InstanceState::Alive && self.repl.is_alive() {
            return Ok(());
        }
        // Its end is followed by the sweep's event, which is part of it.
        self.restart(step.end_seq.map(|seq| seq + 1)).await
    }

    /// A step that went on after an answer or a crash ran in a REPL that was restored: without the names that could not
    /// be saved.
    async fn begin_anew(&mut self, step: &RecordedStep) -> Result<(), LabError> {
        let began_anew = step.ended.as_ref().is_some_and(|ended| ended.seed.is_some());
        if began_anew && !self.fresh && step.call_seq.is_some() {
            self.restart(step.call_seq).await?;
        }
        self.fresh = false;
        Ok(())
    }

    /// A new REPL, with what was saved before that place in the log.
    async fn restart(&mut self, before: Option<u64>) -> Result<(), LabError> {
        let restore = restore_set(memory_before(&self.source.store, &self.source.session, before)?);
        self.names = remembered(&restore);
        let restored = self.repl.restart(restore).await?;
        self.held = held(&self.names, &restored);
        self.fresh = true;
        Ok(())
    }
}

/// The names that a restore brings: the sweeps after it tell only of what has changed.
fn remembered(restore: &RestoreSet) -> Names {
    let mut names = Names::default();
    for variable in &restore.variables {
        let seen = names.0.entry(variable.name.clone()).or_default();
        seen.digest = variable.pickle.bytes().map(|bytes| Digest::of(&bytes));
    }
    names
}

/// Those of them that could not be restored.
fn held(names: &Names, restored: &RestoreReport) -> Names {
    let failed = restored.failed.iter();
    let held = failed.filter_map(|failure| Some((failure.name.clone(), names.0.get(&failure.name)?.clone())));
    Names(held.collect())
}

/// The namespace at the end must be what state.json holds.
fn check_state(source: &Source, turn: &RecordedTurn, names: &Names, report: &mut ReplayReport) {
    let steps = turn.steps.len();
    let replayed = report.plans.last().map_or(0, |plan| plan.steps.len());
    let whole = turn.ended.is_some() && replayed == turn.steps.iter().filter(|s| s.code.as_deref() != Some("")).count();
    let Some(saved) = stubs::saved_digests(source).filter(|_| whole) else {
        return;
    };
    let differs = saved.iter().find(|(name, digest)| {
        names
            .0
            .get(*name)
            .is_none_or(|seen| seen.digest.is_some() && seen.digest != Some(**digest))
    });
    // A value whose pickle is not stable was compared by what describes it, and counted as weak.
    let weak: usize = report
        .plans
        .iter()
        .flat_map(|plan| &plan.steps)
        .map(|step| step.weak)
        .sum();
    report.state_equal = Some(differs.is_none() || weak > 0);
    if let (Some((name, digest)), 0) = (differs, weak) {
        report.diverged = Some(Mismatch {
            turn: turn.number,
            step: u32::try_from(steps.saturating_sub(1)).unwrap_or(u32::MAX),
            what: format!("state.json: {name}"),
            expected: digest.to_string(),
            got: names
                .0
                .get(name)
                .and_then(|seen| seen.digest)
                .map_or("no value".into(), |digest| digest.to_string()),
        });
    }
}
