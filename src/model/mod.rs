//! What a session is: events, and the model that they build. Pure data: no files, no async, no screen.
//!
//! [`Event`]s say what was found on disk or what a live run does; [`Session::apply`] collects them in any order and
//! [`Session::settle`] derives what the screens show: queries in their place in time, each with its [`Run`] (a tree
//! of agents with their steps), memory with provenance, totals. Text in the model is untrusted and raw; it becomes
//! [`SafeText`](crate::text::SafeText) on its way to a screen.

mod clock;
mod code_log;
mod code_run;
mod cost;
mod derive;
mod diff;
mod digest;
mod ending;
mod event;
mod findings;
mod gather;
mod ids;
mod layout;
mod lineage;
mod lines;
mod live;
mod lost;
mod memory;
mod memory_order;
mod namespace;
mod open_calls;
mod parts;
mod placement;
mod problem;
mod provenance;
mod python_names;
mod python_reads;
mod python_text;
mod python_tokens;
mod query;
mod raw;
mod refresh;
mod run;
mod session;
mod settle;
mod step;
mod step_merge;
mod strays;
mod totals;
mod tree;
mod usage;
mod window;

pub mod timeline;

pub use cost::{Cost, CostSum};
pub use diff::{DiffCall, DiffMark, DiffRow, DiffStep, Difference, Pair, RunDiff, align, operations};
pub use digest::code_digest;
pub use event::{
    AgentEnd, CodeEntry, Event, InterruptedEntry, LedgerEntry, Line, LineKind, LogFacts, LogState, MemoryKind,
    MemoryRecord, SessionFacts, StepLine, TargetKind,
};
pub use ids::{AgentId, BodyRef, LogId, Time};
pub use lineage::{BranchKind, BranchPoint, ForkPoint, Lineage};
pub use live::{CallState, LiveAgent, LiveEvent, LiveNews, LiveRun, LiveStep, Phase, Tail};
pub use memory::{Binding, Memory, MemoryEntry};
pub use namespace::{Change, NameAt, NamesAfter, Unkept, changes};
pub use open_calls::{Evidence, OpenCall};
pub use problem::{Problem, ProblemKind};
pub use python_reads::names_read;
pub use python_text::program_text;
pub use query::{Final, FinalShape, Label, Link, Outcome, Query};
pub use run::{Agent, Placement, Run, Totals};
pub use session::Session;
pub use step::{Step, StepKind, Timings};
pub use usage::Usage;

#[cfg(test)]
mod tests;
