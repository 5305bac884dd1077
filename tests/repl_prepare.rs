//! Preparing the interpreter survives killed processes, several at once, and a cache that cannot be used.
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
#[path = "repl_prepare/processes.rs"]
mod processes;
