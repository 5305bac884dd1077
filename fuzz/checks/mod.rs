//! What must hold of any bytes, one module a kind of input. Each has `check(data)`, which panics when it does not hold.
//!
//! The fuzz targets call these with what the fuzzer makes up; `tests/fuzz_corpora.rs` calls them on stable with the kept
//! corpora and with bounded random changes of them.

pub mod config;
pub mod event_rows;
pub mod python_literal;
mod session;
pub mod sse;
pub mod state_json;
pub mod text;
pub mod transcript;

/// A directory of this thread's own, reused from check to check.
pub(crate) fn scratch() -> std::path::PathBuf {
    thread_local!(static DIR: tempfile::TempDir = tempfile::tempdir().unwrap());
    DIR.with(|dir| dir.path().to_owned())
}
