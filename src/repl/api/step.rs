//! One step: what goes in, and what comes out.

use serde_json::Value;
use std::time::Duration;

/// Readings of the clocks that a step keeps. A loop that waits for time to pass makes any number of them.
pub const READINGS: usize = 1_000;

/// A piece of code to run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Step {
    /// The source, with top-level `await`.
    pub code: String,
    /// Its number, for tracebacks: `<step 3>`.
    pub number: u32,
    /// Reseeds `random`, `os.urandom`, `uuid4` and `secrets` before the step, so that it and the steps after it can be
    /// replayed; `None` leaves them as they are.
    pub seed: Option<u64>,
    /// Pins the clock to these nanoseconds since 1970, for replays: each reading then shows one microsecond more.
    pub clock: Option<u64>,
    /// What the clocks showed when the step was recorded ([`StepOutcome::readings`]): shown again, in order. Readings
    /// beyond them follow on the last one.
    pub readings: Option<Vec<u64>>,
}

impl Step {
    /// A step with the real clock and randomness.
    pub fn new(number: u32, code: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            number,
            seed: None,
            clock: None,
            readings: None,
        }
    }
}

/// A piece of a step's output, as it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    /// The text (stdout and stderr, in order of writing).
    pub text: String,
    /// How many bytes before it were dropped, because they came faster than they were taken.
    pub skipped_bytes: u64,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq)]
pub struct StepOutcome {
    /// What it printed.
    pub output: StepOutput,
    /// Why it failed, if it did.
    pub error: Option<StepError>,
    /// The value of the last `FINAL(...)`, if one was called.
    pub final_value: Option<FinalValue>,
    /// Names that the step bound, sorted: imports, loop variables, names with a leading `_` and the engine's own are
    /// not among them.
    pub written: Vec<String>,
    /// Names that were there before and are gone, sorted.
    pub deleted: Vec<String>,
    /// Import statements that the step ran at its top level, one name each.
    pub imports: Vec<String>,
    /// What the clocks showed, nanoseconds, in the order of reading: the first [`READINGS`] of them.
    pub readings: Vec<u64>,
    /// Wall time.
    pub duration: Duration,
    /// Time that counted against the step's limit.
    pub execution: Duration,
    /// What became of the instance.
    pub instance: InstanceState,
}

impl StepOutcome {
    /// What the step bound could not all be saved, and why: it has failed then, but for an answer, which it keeps. What is
    /// to be told besides, where it has not failed.
    pub fn lose(&mut self, why: &dyn std::fmt::Display) -> Option<String> {
        let text = format!("{why}; what the step bound and was not saved before is gone\n");
        match &mut self.error {
            Some(error) => error.text.push_str(&text),
            None if self.final_value.is_some() => return Some(text),
            none => {
                *none = Some(StepError {
                    kind: StepErrorKind::Crash,
                    text,
                });
            }
        }
        None
    }

    /// Whether the step ended in an error.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// The output with the error's text after it: what a transcript and the model are shown.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.output.text.clone();
        if let Some(error) = &self.error {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&error.text);
        }
        text
    }
}

/// What a step printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepOutput {
    /// The last [`Limits::output_bytes`](super::Limits::output_bytes) of it.
    pub text: String,
    /// How much it was in all, in bytes. More than `text` holds if it was cut.
    pub total_bytes: u64,
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepError {
    /// The kind.
    pub kind: StepErrorKind,
    /// A Python traceback, or a sentence that says what happened.
    pub text: String,
}

/// Kinds of failed steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepErrorKind {
    /// An exception, a syntax error among them.
    Exception,
    /// It ran longer than [`Limits::step_timeout`](super::Limits::step_timeout).
    Timeout,
    /// It was cancelled.
    Cancelled,
    /// It needed more than [`Limits::memory_bytes`](super::Limits::memory_bytes).
    Memory,
    /// It printed more than [`Limits::flood_bytes`](super::Limits::flood_bytes).
    Output,
    /// The interpreter ended: `os._exit`, a stack overflow, a crash.
    Crash,
}

/// What a step left of the instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceState {
    /// It goes on.
    Alive,
    /// It was denied memory: [`sweep`](super::Repl::sweep) it, then [`restart`](super::Repl::restart) with that.
    Exhausted,
    /// It is gone: [`restart`](super::Repl::restart) with the last sweep.
    Lost,
}

/// The argument of `FINAL`.
#[derive(Debug, Clone, PartialEq)]
pub struct FinalValue {
    /// As JSON (docs/formats-final.md).
    pub value: Value,
    /// Whether something in it is not JSON by nature and was converted (a set, a date, NaN, 2**70).
    pub converted: bool,
}
