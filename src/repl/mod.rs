//! The sandboxed Python behind one trait: start, run a step, call back, sweep, restore, limits.
//!
//! [`ReplFactory`] starts a [`Repl`]; [`PythonFactory`] is the one that runs CPython 3.14 (compiled to WebAssembly) on
//! wasmtime in this process. The guest has no ambient access: no host files, environment, network or processes. It
//! reaches the outside only through [`HostCalls`], which the owner implements. [`WorkerFactory`] is another, on the
//! system's own Python, for who asks for it ([`Backend`]).
//!
//! [`prepare`] makes the interpreter ready once per machine; everything above this room (prompts, budgets, schema
//! validation, what a sweep is written to) is left to the engine.

pub mod api;
mod backend;
mod bindings;
mod blobs;
mod cache;
mod clock;
mod engine;
mod error;
mod factory;
mod guest;
mod instance;
mod kernel;
mod link;
mod machine_code;
mod memory;
mod meter;
mod network;
mod output;
mod parts;
pub mod prepare;
mod pulse;
mod running;
mod sandbox;
mod scarce;
mod session;
mod snapshot;
mod startup;
mod sweeping;
mod wire;
mod worker;

pub use api::*;
pub use backend::Backend;
pub use cache::CACHE_VARIABLE;
pub use error::{PrepareError, ReplError};
pub use factory::PythonFactory;
pub(crate) use instance::wait_for_ends;
pub use kernel::{HASH_SEED, PROBE};
pub use worker::WorkerFactory;
