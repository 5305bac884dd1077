//! Reading a session back: folds over its log, which change nothing and hold across restarts.

mod cost;
mod efficiency;
mod history;
mod turns;

pub use cost::{CostBasis, ModelCost, model_costs, read_model_costs};
pub use efficiency::{EfficiencySummary, efficiency, read_efficiency};
pub use history::{history, read_history};
pub use turns::{RunEvent, TurnSummary, read_turns, run_trace, turns};
