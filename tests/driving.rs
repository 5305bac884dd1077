//! Driving from the terminal program, end to end: the real program in a real pseudo-terminal, the real engine, scripted
//! models and a model server on loopback. Whatever happens, the session is whole and the terminal is given back.
#![cfg(all(unix, feature = "engine"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    dead_code
)]

#[path = "pty/mod.rs"]
mod pty;
#[path = "provider_misbehaviour/server.rs"]
mod server;

#[path = "drive/asking.rs"]
mod asking;
#[path = "drive/desk.rs"]
mod desk;
#[path = "drive/failures.rs"]
mod failures;
#[path = "drive/lab.rs"]
mod lab;
#[path = "drive/questions.rs"]
mod questions;
#[path = "drive/sessions.rs"]
mod sessions;
#[path = "drive/stopping.rs"]
mod stopping;
#[path = "running/unchanged.rs"]
mod unchanged;
#[path = "drive/writing.rs"]
mod writing;
