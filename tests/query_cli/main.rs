//! What `fast-rlm` promises in the shell: exit codes, errors that say what to do, output that can be piped, ways to
//! stop it, and agents that are given what they are given and no more.
#![cfg(feature = "engine")]
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

mod agents;
mod backends;
mod batches;
mod billed;
mod coding_agents;
mod cut_calls;
mod figures;
mod given_up;
mod goes_on;
mod hostile;
mod https;
mod killed;
mod odd_files;
mod ollama;
mod output;
mod piped;
mod progress;
mod schemas;
mod secrets;
mod stopping;
mod unsaved_names;
mod usage;

use running::{Program, script};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A directory to run in.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A query whose steps are these.
    fn steps(&self, codes: &[&str]) -> Program {
        let script = script::steps(self.path(), "steps.json", codes);
        Program::asks(self.path(), "the prompt").scripted(&script)
    }

    /// A query that these rules answer.
    fn rules(&self, rules: &[Value]) -> Program {
        let script = script::write(self.path(), "rules.json", &serde_json::json!({"rules": rules}));
        Program::asks(self.path(), "the prompt").scripted(&script)
    }

    fn session(&self) -> running::session::Session {
        running::session::Session::at(&self.path().join("session"))
    }

    fn session_dir(&self) -> PathBuf {
        self.path().join("session")
    }
}
