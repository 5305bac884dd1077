//! The command line of `fast-rlm-log`: arguments, `--stats`, `--json`, the demo, and the way to the terminal program.

mod args;
mod completing;
mod demo;
mod driving;
mod examples;
mod facts;
#[cfg(feature = "engine")]
pub mod lab;
mod log;
mod options;
mod output;
mod progress;
#[cfg(feature = "engine")]
pub mod query;
mod refused;
mod room;
mod starting;
mod stats;
mod terminal;

pub use args::LogArgs;
pub use log::log_main;
pub use room::with_room;
