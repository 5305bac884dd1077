//! The agent loop: prompts, probe, steps, sub-agents, budgets, session memory, parking.

mod blocks;
mod budget;
mod limits;
mod truncate;

pub use budget::{Budget, Spent};
pub use limits::{Exceeded, Limits};
