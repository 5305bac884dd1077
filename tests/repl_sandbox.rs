//! Python in the sandbox does what a REPL is to do, keeps its state, and contains whatever user code tries.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

#[cfg(test)]
#[path = "repl_sandbox/desk.rs"]
mod desk;

#[cfg(test)]
#[path = "repl_sandbox/poison.rs"]
mod poison;

#[cfg(test)]
#[path = "repl_sandbox/steps.rs"]
mod steps;

#[cfg(test)]
#[path = "repl_sandbox/awaits.rs"]
mod awaits;

#[cfg(test)]
#[path = "repl_sandbox/finals.rs"]
mod finals;

#[cfg(test)]
#[path = "repl_sandbox/state.rs"]
mod state;

#[cfg(test)]
#[path = "repl_sandbox/names.rs"]
mod names;

#[cfg(test)]
#[path = "repl_sandbox/pickles.rs"]
mod pickles;

#[cfg(test)]
#[path = "repl_sandbox/tools.rs"]
mod tools;

#[cfg(test)]
#[path = "repl_sandbox/start.rs"]
mod start;

#[cfg(test)]
#[path = "repl_sandbox/hostile.rs"]
mod hostile;

#[cfg(test)]
#[path = "repl_sandbox/limits.rs"]
mod limits;
