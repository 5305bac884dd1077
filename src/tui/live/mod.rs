//! Driving: a query asked from here, watched while it is answered, cancelled, continued.
//!
//! `machine` is pure: what a person wants and what the engine tells go in, what is to be done comes out. `drive`
//! keeps one machine a session with the session's box and whatever of its run is not on disk. `forking` and `replay` are
//! the same for forks and replays, of which there is one at a time. The adapter to the
//! engine is in `engine`, in builds that have one; everything else compiles without it.

mod alert;
mod current;
mod drive;
#[cfg(feature = "engine")]
pub(in crate::tui) mod engine;
mod fork;
mod forking;
mod machine;
mod money;
mod order;
mod replay;
#[cfg(test)]
mod tests;
mod words;

pub use alert::alert;
pub use drive::{Drive, Drives, is_of_box};
pub use fork::{Divergence, ForkEnding, ForkOrder, ForkRequest, ForkTold};
pub use forking::{ForkState, Forking, LabDesk};
pub use machine::Machine;
pub use order::{Desk, DriveOptions, Ending, Errand, Found, Order, Told};
pub use replay::{Mismatch, ReplayNews, Replaying, Standing as ReplayStanding, Verdict};
pub use words::{In, Out, State};
