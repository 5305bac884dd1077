//! The host of a replay: leaf calls get what was recorded, and nothing else exists. The root's are served step by step,
//! a sub-agent's from the cells of its whole run.

use crate::engine::{Question, Questions, Recorded, tool_input};
use crate::lab::RecordedStep;
use crate::repl::{HostCall, HostCalls, HostError};
use crate::store::payload::{CellOutcome, LeafCall};
use crate::store::{Cassette, Digest, Served};
use crate::text::secret::Secrets;
use async_trait::async_trait;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A call of which none is left in the record is answered only after this: one that its step did not wait for was made
/// when it was recorded, too, and left nothing.
const PATIENCE: Duration = Duration::from_millis(300);

/// Serves the leaf calls of one agent.
pub(super) struct ReplayHost {
    secrets: Secrets,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    cassette: Cassette,
    questions: Questions,
    asked: BTreeSet<u32>,
    answered: usize,
    redacted: bool,
    missing: Option<MissingCall>,
}

/// A call that was not recorded.
#[derive(Clone, Debug)]
pub(super) struct MissingCall {
    pub(super) call: String,
    /// The recorded input's digest, if such a call is left.
    pub(super) expected: Option<Digest>,
    pub(super) got: Digest,
}

/// What became of a step's cells.
#[derive(Default)]
pub(super) struct Consumed {
    pub(super) cells: usize,
    pub(super) unconsumed: Vec<LeafCall>,
    pub(super) missing: Option<MissingCall>,
    /// A served result had a secret taken out: what is computed from it may differ.
    pub(super) redacted: bool,
}

impl ReplayHost {
    pub(super) fn new(secrets: Secrets) -> Self {
        let state = Mutex::default();
        Self { secrets, state }
    }

    /// A step of the root begins.
    pub(super) fn begin(&self, step: &RecordedStep) {
        let mut state = self.state();
        *state = State {
            cassette: Cassette::new(step.cells.iter().cloned()),
            questions: step.questions(),
            redacted: state.redacted,
            ..State::default()
        };
    }

    /// A sub-agent begins: with these cells for all its steps, and perhaps from an input that had a secret taken out.
    pub(super) fn begin_run(&self, cells: impl IntoIterator<Item = LeafCall>, redacted: bool) {
        *self.state() = State {
            cassette: Cassette::new(cells),
            redacted,
            ..State::default()
        };
    }

    /// What a step of a sub-agent met: its cells are counted at the end of its run.
    pub(super) fn met(&self) -> Consumed {
        let mut state = self.state();
        Consumed {
            missing: state.missing.take(),
            redacted: state.redacted,
            ..Consumed::default()
        }
    }

    /// It has ended: a step of the root, or a sub-agent's run.
    pub(super) fn end(&self) -> Consumed {
        let mut state = self.state();
        // What was given up may end before it was looked up here: it came to as little.
        let left = state.cassette.unconsumed();
        let (given_up, unconsumed): (Vec<_>, Vec<_>) = left.cloned().partition(was_given_up);
        let consumed = Consumed {
            cells: state.cassette.consumed() + given_up.len() + state.answered,
            unconsumed,
            missing: state.missing.take(),
            redacted: state.redacted,
        };
        *state = State {
            redacted: state.redacted,
            ..State::default()
        };
        consumed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, call: &str, input: &Value) -> Result<Recorded, HostError> {
        let digest = Digest::of(self.secrets.redact(&input.to_string()).as_bytes());
        let mut state = self.state();
        match state.cassette.serve(call, digest) {
            Served::Cell(cell) => {
                state.redacted |= cell.redacted;
                Ok(Recorded::from(*cell))
            }
            // Truncated cells were refused before anything ran.
            Served::Truncated { .. } => Err(HostError::new("the recorded result was cut")),
            Served::Missing { expected } => {
                state.missing.get_or_insert(MissingCall {
                    call: call.to_owned(),
                    expected,
                    got: digest,
                });
                Err(HostError::new(format!("{call} was not recorded with this input")))
            }
        }
    }

    async fn served(&self, call: &str, input: &Value) -> Result<Recorded, HostError> {
        self.be_patient(call).await;
        let recorded = self.serve(call, input)?;
        recorded.wait().await;
        Ok(recorded)
    }

    async fn be_patient(&self, call: &str) {
        let is_left = self.state().cassette.unconsumed().any(|cell| cell.call == call);
        if !is_left {
            tokio::time::sleep(PATIENCE).await;
        }
    }

    async fn ask(&self, args: &Value) -> Result<Value, HostError> {
        let question = Question::from_call(args)?.redacted(&self.secrets);
        let answer = {
            let mut state = self.state();
            let number = state.questions.number(&question.text, &state.asked);
            state.asked.insert(number);
            let answer = state.questions.answer(number).map(str::to_owned);
            state.answered += usize::from(answer.is_some());
            answer
        };
        match answer {
            Some(answer) => Ok(answer.into()),
            None => self.served("ask", args).await?.answer(),
        }
    }

    async fn batch(&self, args: &Value) -> Result<Value, HostError> {
        let queries = args
            .get("queries")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        if !queries.is_empty() {
            self.be_patient("llm_query").await;
        }
        let answers: Vec<_> = queries.iter().map(|query| self.serve("llm_query", query)).collect();
        for recorded in answers.iter().flatten() {
            recorded.wait().await;
        }
        let answers = answers.into_iter().map(|answer| answer.and_then(Recorded::answer));
        answers.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }
}

#[async_trait]
impl HostCalls for ReplayHost {
    async fn call(&self, call: HostCall) -> Result<Value, HostError> {
        match call.name.as_str() {
            "tool_end" => Ok(Value::Null),
            "batch_llm_query" => self.batch(&call.args).await,
            "ask" => self.ask(&call.args).await,
            "tool_begin" => {
                let (name, input) = tool_input(&call.args);
                self.served(&name, &input).await?.tool_reply()
            }
            "tool_call" => {
                let (name, input) = tool_input(&call.args);
                self.served(&name, &input).await?.answer()
            }
            other => self.served(other, &call.args).await?.answer(),
        }
    }
}

fn was_given_up(cell: &LeafCall) -> bool {
    cell.outcome == CellOutcome::Cancelled
}

/// Whether a recorded result was too large to be kept.
pub(super) fn truncated(cell: &LeafCall) -> Option<(u64, u64)> {
    match cell.outcome {
        CellOutcome::Truncated { bytes, cap, .. } => Some((bytes, cap)),
        _ => None,
    }
}
