//! The sandboxed Python behind one trait: start, run a step, call back, sweep, restore, limits.
//!
//! [`ReplFactory`] starts a [`Repl`]; [`PythonFactory`] is the one that runs CPython 3.14 (compiled to WebAssembly) on
//! wasmtime in this process. The guest has no ambient access: no host files, environment, network or processes. It
//! reaches the outside only through [`HostCalls`], which the owner implements.
//!
//! [`prepare`] makes the interpreter ready once per machine; everything above this room (prompts, budgets, schema
//! validation, what a sweep is written to) is left to the engine.

pub mod api;
pub mod error;

pub use api::*;
pub use error::{PrepareError, ReplError};
