//! Python in the sandbox does what a REPL is to do, keeps its state, and contains whatever user code tries.
#![cfg(feature = "engine")]

#[path = "repl_sandbox/desk.rs"]
mod desk;

#[path = "repl_sandbox/smoke.rs"]
mod smoke;
