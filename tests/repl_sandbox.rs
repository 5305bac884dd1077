//! Python in the sandbox does what a REPL is to do, keeps its state, and contains whatever user code tries.
#![cfg(feature = "engine")]

#[path = "repl_sandbox/desk.rs"]
mod desk;

#[path = "repl_sandbox/steps.rs"]
mod steps;

#[path = "repl_sandbox/awaits.rs"]
mod awaits;

#[path = "repl_sandbox/finals.rs"]
mod finals;

#[path = "repl_sandbox/state.rs"]
mod state;

#[path = "repl_sandbox/names.rs"]
mod names;

#[path = "repl_sandbox/pickles.rs"]
mod pickles;

#[path = "repl_sandbox/tools.rs"]
mod tools;

#[path = "repl_sandbox/start.rs"]
mod start;

#[path = "repl_sandbox/hostile.rs"]
mod hostile;

#[path = "repl_sandbox/limits.rs"]
mod limits;
