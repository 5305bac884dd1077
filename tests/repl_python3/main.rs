//! The system's Python in a worker process does what the sandbox does, at its own speed: the same kernel and the same
//! pickles; it contains what it can contain, and what ends it is replaced.
#![cfg(all(feature = "engine", target_os = "linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

#[path = "../repl_sandbox/desk.rs"]
#[allow(dead_code, reason = "each test binary uses its part")]
mod desk;
#[path = "../repl_sandbox/poison.rs"]
mod poison;
#[path = "../running/mod.rs"]
mod running;

mod chosen;
mod hostile;
mod numbers;
mod pickles;
mod steps;

use desk::{Desk, Report};
use fast_rlm::repl::{Limits, StartOptions, WorkerFactory};
use std::sync::OnceLock;
use std::time::Duration;

fn worker() -> WorkerFactory {
    static FACTORY: OnceLock<WorkerFactory> = OnceLock::new();
    let find = || WorkerFactory::load().expect("python3 is there");
    FACTORY.get_or_init(find).clone()
}

async fn start(options: StartOptions) -> (Desk, Report) {
    Desk::start_on(&worker(), options).await
}

async fn open() -> Desk {
    start(StartOptions::default()).await.0
}

/// Steps may take a second, and 256 MB.
async fn small() -> Desk {
    let limits = Limits {
        step_timeout: Duration::from_secs(1),
        memory_bytes: 256 << 20,
        flood_bytes: 8 << 20,
        ..Limits::default()
    };
    let options = StartOptions {
        limits,
        ..StartOptions::default()
    };
    start(options).await.0
}
