//! A run that is alive in this program: what is known of it before it is on disk.
//!
//! Facts of finished steps always come from the session's files, whoever wrote them: what is shown is durable, and a
//! live run, a followed run and a recorded run are one code path. This room adds what no file has yet: agents that
//! have started, steps in flight with their texts as they stream. [`LiveRun::apply`] is its reducer; settling a
//! session grafts it onto the derived run and takes it off again before the next derivation, so that nothing of it
//! outlives the fact on disk.

mod event;
mod graft;
mod run;
mod step;
mod tail;
#[cfg(test)]
mod tests;

pub use event::{LiveEvent, LiveNews};
pub use run::{LiveAgent, LiveRun};
pub use step::{CallState, LiveStep, Phase};
pub use tail::Tail;

pub(super) use graft::Grafted;
