//! The agent loop: prompts, probe, steps, sub-agents, budgets, session memory, parking.

mod blocks;
mod budget;
mod limits;
mod memory;
mod truncate;

mod clock;
mod event;
mod preamble;
mod prompts;
mod schema;
mod seats;
mod settings;

pub use budget::{Budget, Spent};
pub use event::{AgentId, RunEvent, Unwatched, Watch, What};
pub use limits::{Exceeded, Limits};
pub use memory::{MemoryError, SessionMemory};
pub use schema::{BadSchema, OutputSchema};
pub use settings::{Guard, Model, Settings};
