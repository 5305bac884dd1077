//! Payloads of events, one struct a kind ([`Fact`](super::Fact)), stored as JSON objects.
//!
//! Fields that are missing read as their defaults and unknown ones are ignored, so that a field can be added without a
//! new schema version. Times are unix milliseconds. Numbers of turns and steps are 0-based.

mod agent;
mod cell;
pub(crate) mod recorded;
mod session;
mod step;
mod turn;

pub use agent::{AgentStep, SubAgent};
pub use cell::{CellOutcome, LeafCall};
pub use session::{Adopted, ClearReason, Cleared, Custom, ForkedFrom, SessionStarted};
pub use step::{Answered, Asked, Dropped, Raised, StepEnded, StepStarted, Swept, Written};
pub use turn::{Final, Message, ModelCall, Outcome, Pinned, TurnEnded, TurnStarted};
