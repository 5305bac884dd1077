//! Preparing the interpreter survives killed processes, several at once, and a cache that cannot be used.
#![cfg(feature = "engine")]

#[cfg(test)]
#[path = "repl_prepare/processes.rs"]
mod processes;
