//! Reading a session back: folds over its log, which change nothing and hold across restarts.

mod cost;
mod efficiency;
mod history;
mod turns;

pub use cost::{CostBasis, ModelCost, model_costs};
pub use efficiency::{EfficiencySummary, efficiency};
pub use history::history;
pub use turns::{RunEvent, TurnSummary, run_trace, turns};
