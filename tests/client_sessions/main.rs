//! The library's sessions: where they live and when they go, that they resume in another process, and that looking at
//! them changes nothing.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

#[path = "../../examples/quick_start.rs"]
mod quick_start;
#[path = "../../examples/session_resume.rs"]
mod session_resume;

mod asking;
mod child;
mod memory;
mod places;
mod script;

#[test]
fn the_examples_do_what_they_say() {
    quick_start::main().unwrap();
    session_resume::main().unwrap();
}

/// Runs in a process of its own: see [`child::Child`].
#[test]
fn child() {
    child::main();
}
