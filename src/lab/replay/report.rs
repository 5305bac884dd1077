//! What a replay found.

use serde::Serialize;

/// Something that came out differently from what was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// Its turn, 0-based.
    pub turn: u32,
    /// Its step, 0-based.
    pub step: u32,
    /// What: `call llm_query`, `output`, `exception`, `names`, `value of x`, `FINAL`, `state.json`; of a sub-agent with
    /// its place: `sub-agent 2, step 1: output`.
    pub what: String,
    /// As recorded.
    pub expected: String,
    /// As it came out.
    pub got: String,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Q{} {}", self.turn + 1, self.in_turn())
    }
}

impl Mismatch {
    /// What differs, within its turn.
    pub fn in_turn(&self) -> String {
        let Self {
            what, expected, got, ..
        } = self;
        format!("step {}: {what}: expected {expected}, got {got}", self.step + 1)
    }
}

/// A step that was run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepPlan {
    /// Its number, 0-based.
    pub step: u32,
    /// Leaf calls that were served.
    pub cells: usize,
    /// It came out as recorded.
    pub faithful: bool,
    /// What could only be compared by type and description.
    pub weak: usize,
}

/// The steps of a turn that were run again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TurnPlan {
    /// The turn, 0-based.
    pub turn: u32,
    /// Its steps.
    pub steps: Vec<StepPlan>,
}

/// A recorded leaf call that was not made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unconsumed {
    /// Its turn, 0-based.
    pub turn: u32,
    /// Its step, 0-based.
    pub step: u32,
    /// What was called.
    pub call: String,
}

/// A step that was run again without the value of a variable that it reads, as far as its text tells: secrets are in no
/// record, and what stands for one was read in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Masked {
    /// Its turn, 0-based.
    pub turn: u32,
    /// Its step, 0-based; of a sub-agent, that of the root which started it.
    pub step: u32,
    /// The variables.
    pub names: Vec<String>,
}

impl std::fmt::Display for Masked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.names.join(", ");
        let given: Vec<String> = self.names.iter().map(|name| format!("--env {name}=VALUE")).collect();
        let (values, them) = match self.names.len() {
            1 => ("value is", "it"),
            _ => ("values are", "them"),
        };
        let (step, given) = (self.step + 1, given.join(" "));
        write!(
            f,
            "step {step} reads {names}, whose {values} in no record: give {them} again, with {given}"
        )
    }
}

/// A replay's result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplayReport {
    /// The session.
    pub session: String,
    /// What was run again, by turn.
    pub plans: Vec<TurnPlan>,
    /// The first mismatch; nothing was run after it.
    pub diverged: Option<Mismatch>,
    /// Recorded leaf calls of the turns that were replayed, those of sub-agents that can be run again included.
    /// Readings of the clocks are not counted.
    pub cells_total: usize,
    /// Those that were served.
    pub cells_consumed: usize,
    /// Those that were not.
    pub unconsumed: Vec<Unconsumed>,
    /// Recorded steps whose text or end is lost: the turn was not replayed beyond them.
    pub missing_sources: usize,
    /// Values that could only be compared by type and description; on `python3` also steps that name a clock.
    pub weak: usize,
    /// Steps that were run without a secret that they read.
    pub masked: Vec<Masked>,
    /// Sub-agents that ran again, and those whose results alone are recorded.
    pub sub_agents: SubAgents,
    /// Whether the namespace at the end is that of state.json; `None` where that could not be told.
    pub state_equal: Option<bool>,
}

/// The sub-agents of the turns that were replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SubAgents {
    /// Recorded, at any depth.
    pub served: usize,
    /// Of those, without a whole record of their own (an older version's, or a result that was cut): their results were
    /// served all the same.
    pub without_cells: usize,
    /// Those whose steps ran again.
    pub replayed: usize,
    /// Their steps.
    pub steps: usize,
}

impl ReplayReport {
    /// Nothing diverged, every recorded leaf call was made again, and no step's text or end is lost.
    pub fn faithful(&self) -> bool {
        self.diverged.is_none() && self.unconsumed.is_empty() && self.missing_sources == 0
    }
}
