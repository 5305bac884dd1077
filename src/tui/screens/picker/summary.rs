//! What is known of a session without opening it.

use crate::model::{Time, Totals};
use std::path::PathBuf;

/// Whether its state could be read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) enum Health {
    #[default]
    Good,
    Damaged(String),
}

#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct SessionSummary {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) queries: u64,
    pub(super) pending: Option<String>,
    pub(super) last_query: Option<String>,
    pub(super) last_activity: Option<Time>,
    pub(super) state: Health,
    pub(super) parent: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct SessionTotals {
    pub(super) completed: Totals,
    pub(super) lost: Totals,
    pub(super) lost_runs: u64,
    pub(super) complete: bool,
}
