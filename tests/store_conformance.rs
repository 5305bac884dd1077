//! Stores keep their promises, whatever they are made of.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

use fast_rlm::store::conformance::{Case, event_cases, flow_cases};
use fast_rlm::store::{EventStore, FlowStore, SqliteEvents, SqliteFlow};

/// Runs every case on a store of its own, and tells about all that fail.
fn run<S: ?Sized>(cases: Vec<Case<S>>, check: impl Fn(&Case<S>) -> Result<(), String>) {
    assert!(cases.len() > 5);
    let broken: Vec<String> = cases
        .iter()
        .filter_map(|case| check(case).err().map(|error| format!("{}: {error}", case.name)))
        .collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn events_in_memory() {
    run::<dyn EventStore>(event_cases(), |case| {
        (case.run)(&SqliteEvents::in_memory().unwrap()).map_err(|broken| broken.to_string())
    });
}

#[test]
fn events_in_a_file() {
    run::<dyn EventStore>(event_cases(), |case| {
        let dir = tempfile::tempdir().unwrap();
        (case.run)(&SqliteEvents::open(&dir.path().join("events.db")).unwrap()).map_err(|broken| broken.to_string())
    });
}

#[test]
fn flow_in_memory() {
    run::<dyn FlowStore>(flow_cases(), |case| {
        (case.run)(&SqliteFlow::in_memory().unwrap()).map_err(|broken| broken.to_string())
    });
}

#[test]
fn flow_in_a_file() {
    run::<dyn FlowStore>(flow_cases(), |case| {
        let dir = tempfile::tempdir().unwrap();
        (case.run)(&SqliteFlow::open(&dir.path().join("flow.db")).unwrap()).map_err(|broken| broken.to_string())
    });
}
