//! The acceptance cases of the store and the lab, by their numbers: offline, with scripted models and the real sandbox.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod agents;
mod bundles;
mod cassettes;
mod copies;
mod crashes;
mod damaged;
mod desk;
mod exports;
mod forking;
mod forks;
mod gates;
mod given_up;
mod imports;
mod listing;
mod lost_interpreters;
mod numbers;
mod overhead;
mod pauses;
mod reading;
mod replays;
mod scrubbing;
mod sessions;
mod shell;
mod sums;
mod told;
#[path = "../running/unchanged.rs"]
mod unchanged;
mod what_ifs;
mod writers;

#[path = "../../examples/ask_across_restart.rs"]
mod ask_across_restart;
#[path = "../../examples/replay_fork_diff.rs"]
mod replay_fork_diff;
#[path = "../../examples/what_if.rs"]
mod what_if;

#[test]
fn the_examples_run() {
    ask_across_restart::main().unwrap();
    replay_fork_diff::main().unwrap();
    what_if::main().unwrap();
}
