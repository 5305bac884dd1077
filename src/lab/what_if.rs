//! What if: a recorded turn under exactly one change, with the rest frozen.

use super::branch::{Branch, as_recorded, bindings, reply};
use super::error::{LabError, shown};
use super::recorded::{ASK, RecordedStep, RecordedTurn};
use crate::engine::{Approver, Call, Question, Recorded, ScriptedReply, Served as TapeServed, Tape};
use crate::store::payload::{Asked, CellOutcome, LeafCall};
use crate::store::{At, Cassette, Namespace, Served, Store};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What becomes of a call that was never recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OffTape {
    /// The run ends there, and says so.
    #[default]
    Halt,
    /// It is made, and may cost money.
    Live,
}

/// The one change.
#[derive(Clone, Debug)]
pub enum Change {
    /// Every result of this call.
    Call(String, Value),
    /// The results of this step's calls.
    Step(u32, Value),
    /// A variable, after this step.
    Variable(u32, String, Value),
    /// The root's model: the turn is planned anew.
    Model(String),
    /// The instruction: the turn is planned anew.
    Instruction(String),
    /// Who decides about calls.
    Policy(Arc<dyn Approver>),
}

impl Change {
    /// Whether the root's model is asked.
    pub fn replans(&self) -> bool {
        matches!(self, Self::Model(_) | Self::Instruction(_))
    }

    /// In one line, for the log.
    pub fn told(&self) -> String {
        match self {
            Self::Call(call, value) => format!("{call} returns {value}"),
            Self::Step(step, value) => format!("calls of step {} return {value}", shown(*step)),
            Self::Variable(step, name, value) => format!("{name} is {value} after step {}", shown(*step)),
            Self::Model(model) => format!("asked {model}"),
            Self::Instruction(text) => format!("told: {text}"),
            Self::Policy(approver) => format!("decided by {approver:?}"),
        }
    }

    /// Whether the turn has what is to be changed; `saved` is what is kept of the names at the step of a variable.
    fn applies(&self, turn: &RecordedTurn, saved: Option<&Namespace>) -> Result<(), LabError> {
        let unused = |what: String| Err(LabError::SubstitutionUnused { what });
        let step = |number: u32| {
            turn.steps.get(number as usize).ok_or(LabError::StepOutOfRange {
                turn: turn.number,
                step: number,
                steps: turn.steps.len(),
            })
        };
        match self {
            Self::Call(call, _) if !turn.steps.iter().any(|step| calls(step, call)) => {
                unused(format!("the turn calls no {call}"))
            }
            Self::Step(number, _) if step(*number)?.cells.is_empty() && step(*number)?.answers.is_empty() => {
                unused(format!("step {} calls nothing", shown(*number)))
            }
            Self::Variable(number, name, value) => {
                step(*number)?;
                bindings(&[(name.clone(), value.clone())])?;
                match binds(turn, *number, name) || saved.is_none_or(|saved| has(saved, name)) {
                    true => Ok(()),
                    false => unused(format!("nothing has bound {name} by that step")),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Whether a step up to this one bound the name.
fn binds(turn: &RecordedTurn, step: u32, name: &str) -> bool {
    let ended = turn
        .steps
        .iter()
        .take(step as usize + 1)
        .filter_map(|step| step.ended.as_ref());
    ended
        .flat_map(|ended| &ended.written)
        .any(|written| written.name == name)
}

fn has(saved: &Namespace, name: &str) -> bool {
    saved.bindings.iter().any(|binding| binding.name == name)
}

fn calls(step: &RecordedStep, call: &str) -> bool {
    step.cells.iter().any(|cell| cell.call == call) || (call == ASK && !step.answers.is_empty())
}

/// A call that the changed run made and the recorded one did not.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// Its step, 0-based.
    pub step: u32,
    /// What was called.
    pub call: String,
    /// What the recorded run called it with, if such a call is left.
    pub expected: Option<Value>,
    /// What this one did.
    pub got: Value,
}

/// Serves what was recorded, with the change.
pub struct WhatIfTape {
    change: Change,
    off: OffTape,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    cassette: Cassette,
    /// Questions whose answers had to be waited for, in order, each with its answer until it is given.
    answers: Vec<(Asked, Option<String>)>,
    substituted: usize,
    divergence: Option<Divergence>,
}

impl WhatIfTape {
    /// Of a recorded turn.
    pub fn new(turn: &RecordedTurn, change: Change, off: OffTape) -> Self {
        let cells = turn.steps.iter().flat_map(|step| step.cells.iter().cloned());
        let state = State {
            cassette: Cassette::new(cells),
            answers: turn.steps.iter().flat_map(answered).collect(),
            ..State::default()
        };
        Self {
            change,
            off,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first call that was never recorded.
    pub fn divergence(&self) -> Option<Divergence> {
        self.state().divergence.clone()
    }

    /// Results that were substituted.
    pub fn substituted(&self) -> usize {
        self.state().substituted
    }

    fn substitute(&self, call: &str, at: u32) -> Option<&Value> {
        match &self.change {
            Change::Call(name, value) if name == call => Some(value),
            Change::Step(step, value) if *step == at => Some(value),
            _ => None,
        }
    }

    fn off_tape(&self, state: &mut State, call: &Call<'_>) -> TapeServed {
        let expected = first_unconsumed(&state.cassette, call.name);
        let divergence = Divergence {
            step: call.step,
            call: call.name.to_owned(),
            expected,
            got: call.input.clone(),
        };
        let why = format!(
            "{} was never recorded with {}; recorded: {}",
            call.name,
            divergence.got,
            divergence
                .expected
                .as_ref()
                .map_or("no such call".into(), Value::to_string)
        );
        state.divergence.get_or_insert(divergence);
        match self.off {
            OffTape::Halt => TapeServed::Halt(why),
            OffTape::Live => TapeServed::Live,
        }
    }
}

fn answered(step: &RecordedStep) -> impl Iterator<Item = (Asked, Option<String>)> {
    let answer = |(number, text): (&u32, &String)| Some((step.asked.get(number)?.clone(), Some(text.clone())));
    step.answers.iter().filter_map(answer)
}

fn first_unconsumed(cassette: &Cassette, call: &str) -> Option<Value> {
    let cell = cassette.unconsumed().find(|cell| cell.call == call)?;
    cell.shown_input.clone()
}

impl Tape for WhatIfTape {
    fn serve(&self, call: &Call<'_>) -> TapeServed {
        let mut state = self.state();
        match state.cassette.serve(call.name, call.digest) {
            Served::Cell(cell) => match self.substitute(call.name, call.step) {
                Some(value) => {
                    state.substituted += 1;
                    TapeServed::Recorded(Recorded {
                        outcome: CellOutcome::Returned(value.clone()),
                        pickle: None,
                    })
                }
                None => TapeServed::Recorded(Recorded::from(*cell)),
            },
            Served::Truncated { .. } | Served::Missing { .. } => self.off_tape(&mut state, call),
        }
    }

    /// By the question as it was asked, the first one that was not answered yet: as cells are found.
    fn answer(&self, step: u32, question: &Question) -> Option<Value> {
        let mut state = self.state();
        let is_it = |(asked, answer): &&mut (Asked, Option<String>)| {
            answer.is_some() && asked.question == question.text && asked.options == question.options
        };
        let answer = state.answers.iter_mut().find(is_it)?.1.take()?;
        match self.substitute(ASK, step) {
            Some(value) => {
                state.substituted += 1;
                Some(value.clone())
            }
            None => Some(answer.into()),
        }
    }

    fn asks_first(&self) -> bool {
        matches!(self.change, Change::Policy(_))
    }
}

/// What the root replies, where its plan is frozen.
///
/// # Errors
///
/// [`LabError::BadName`].
pub fn frozen_plan(branch: &Branch, change: &Change) -> Result<Option<Vec<ScriptedReply>>, LabError> {
    if change.replans() {
        return Ok(None);
    }
    let mut plan: Vec<_> = branch.turn.steps.iter().map(as_recorded).collect();
    if let Change::Variable(number, name, value) = change
        && let (Some(planned), Some(step)) = (plan.get_mut(*number as usize), branch.turn.steps.get(*number as usize))
    {
        let bound = bindings(&[(name.clone(), value.clone())])?;
        *planned = reply(
            &format!("{}\n{bound}", step.code.as_deref().unwrap_or_default()),
            planned.may_raise,
        );
    }
    for (reply, step) in plan.iter_mut().zip(&branch.turn.steps) {
        // What the changed world raises, the frozen plan may still go on from: the diff shows it.
        reply.may_raise = true;
        reply.readings = Some(step.clock.clone());
    }
    Ok(Some(plan))
}

/// Checks that a change can be made in a session's turn, before anything is made.
///
/// # Errors
///
/// [`LabError::SubstitutionUnused`], [`LabError::StepOutOfRange`], [`LabError::BadName`]; those of the store.
pub fn check_change(store: &Store, session: &str, turn: &RecordedTurn, change: &Change) -> Result<(), LabError> {
    let saved = match change {
        Change::Variable(step, ..) => store.flow.namespace(session, At::after(turn.number, *step))?,
        _ => None,
    };
    change.applies(turn, saved.as_ref())
}

/// Refusals among cells.
pub fn denials<'c>(cells: impl IntoIterator<Item = &'c LeafCall>) -> usize {
    let denied = |cell: &&LeafCall| matches!(cell.outcome, CellOutcome::Denied { .. });
    cells.into_iter().filter(denied).count()
}
