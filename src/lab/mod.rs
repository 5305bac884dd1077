//! Recorded sessions run again: replayed, forked at a step, compared, and asked what would have been.
//!
//! Everything here works on a session's log and the sandboxed Python; what a caller holds is the client's
//! [`Session`](crate::Session). Numbers of turns and steps are 0-based.

mod branch;
mod bundle;
mod diff;
mod error;
pub mod observe;
mod reading;
mod rebuild;
mod recorded;
mod remove;
mod replay;
mod rows;
mod sink;
mod spoken;
mod what_if;

pub(crate) use branch::left_behind;
pub use branch::{Branch, NamespaceFrom, branch, check_syntax, edited_tail, injected_tail, literal};
pub use bundle::{export_bundle, import_bundle, unfinished_imports};
pub use diff::{DiffRow, RunDiff, StepSide, diff};
pub use error::LabError;
pub use rebuild::rebuild;
pub use recorded::{RecordedStep, RecordedTool, RecordedTurn, Recording};
pub(crate) use remove::{prune, remove};
pub use replay::{Masked, Mismatch, Python, ReplayReport, Source, StepPlan, SubAgents, TurnPlan, Unconsumed, replay};
pub use sink::{AgentSink, LabEvent, NoSink};
pub use what_if::{Change, Divergence, OffTape, WhatIfTape, check_change, denials, frozen_plan};
