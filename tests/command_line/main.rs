//! The command line as people and their tools know it: help, version, manual pages and completions of both programs, the
//! configuration with its origins, JSON that fits its documented schemas, and documents whose examples run.
#![cfg(all(unix, feature = "engine"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

#[path = "../pty/mod.rs"]
mod pty;
#[path = "../running/mod.rs"]
mod running;

mod configuration;
mod documents;
mod schemas;
mod screens;
mod shells;
mod words;

use std::path::Path;
use std::process::Command;

/// What a program printed, which must have gone well.
#[track_caller]
fn printed(program: &str, args: &[&str], dir: &Path) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(dir)
        .env("XDG_CONFIG_HOME", dir.join("no-configuration"))
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

const RLM: &str = env!("CARGO_BIN_EXE_fast-rlm");
const LOG: &str = env!("CARGO_BIN_EXE_fast-rlm-log");
