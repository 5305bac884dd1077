//! The types that reading sessions back and running them again give, and those that storage and gates take: what a
//! program needs of the rooms behind the library's door.

pub use crate::engine::{Approver, Decision, GateCall, KIND_SIGNAL, Observation, SignalMatch, ToolGroup};
pub use crate::lab::observe::{CostBasis, EfficiencySummary, ModelCost, RunEvent, TurnSummary};
pub use crate::lab::{
    AgentSink, DiffRow, LabEvent, Masked, Mismatch, NoSink, ReplayReport, RunDiff, StepPlan, StepSide, SubAgents,
    TurnPlan, Unconsumed,
};
pub use crate::store::payload::{Message, Outcome};
pub use crate::store::{EventStore, Fact, FlowStore};
