//! One step: a reply of the model and what came of it.

use super::{AgentId, BodyRef, Cost, Time, Usage};
use crate::text::plural;

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// Step 0, which shows the context; not counted as a step, and free.
    Probe,
    /// A reply of the model.
    Reply,
    /// A reply that is still to come, of a live run: not counted as a step yet.
    InFlight,
}

/// Instants of a step, each optional, as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Timings {
    /// The model call.
    pub call_start: Option<Time>,
    /// Its end.
    pub call_end: Option<Time>,
    /// The execution of the code.
    pub exec_start: Option<Time>,
    /// Its end.
    pub exec_end: Option<Time>,
}

/// A step of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// As in the transcript: 0 is the probe, the model's replies count from 1.
    pub number: u64,
    /// Probe or reply.
    pub kind: StepKind,
    /// 0, or n for the n-th repetition of the same number with different content ("step 3 (again)").
    pub again: u32,
    /// The code raised.
    pub failed: bool,
    /// Its output was recorded (`execution_result`).
    pub executed: bool,
    /// Tokens of its model call.
    pub usage: Usage,
    /// A usage record with tokens was present.
    pub usage_known: bool,
    /// Cost of its model call; a probe's is `Known(0)` and is not counted.
    pub cost: Cost,
    /// Recorded instants.
    pub timings: Timings,
    /// When its line was written.
    pub time: Option<Time>,
    /// Where code, output and reasoning lie; `None` for a step known from `code_log` only (see `code`).
    pub body: Option<BodyRef>,
    /// The second line of a step that was logged twice with equal content, when it has what the first lacks.
    pub twin: Option<BodyRef>,
    /// Code of a step known from `code_log` only.
    pub code: Option<String>,
    /// Sub-agents that this step spawned, in the order in which they started.
    pub children: Vec<AgentId>,
}

impl Step {
    /// `245,622 tokens`, or `tokens unknown`.
    pub fn tokens(&self) -> String {
        match self.usage_known {
            true => plural(u128::from(self.usage.total), "token", "tokens"),
            false => "tokens unknown".into(),
        }
    }

    /// Its name on screens: `probe`, `step 3`, `step 3 (again)`, `step 3 (again 2)`.
    pub fn label(&self) -> String {
        let name = match self.kind {
            StepKind::Probe => "probe".to_owned(),
            StepKind::Reply | StepKind::InFlight => format!("step {}", self.number),
        };
        match self.again {
            0 => name,
            1 => format!("{name} (again)"),
            n => format!("{name} (again {n})"),
        }
    }
}
