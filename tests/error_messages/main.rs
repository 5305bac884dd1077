//! Every error message that a user can meet, from both programs, each provoked by the real thing and kept word for word
//! with its exit code: it says what, where, and what to do. `coverage` fails when a message of the code has no case here
//! and no reason for having none.
#![cfg(all(feature = "engine", unix))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

#[path = "../pty/mod.rs"]
mod pty;
#[path = "../running/mod.rs"]
mod running;

mod branches;
mod coverage;
mod disk;
mod models;
mod options;
mod preparing;
mod screens;
mod servers;
mod sessions;
mod viewer;

use running::{Program, Ran, script};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory to run in, and what was said there.
struct Book {
    dir: tempfile::TempDir,
    text: String,
}

impl Book {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            text: String::new(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn program(&self, args: &[&str]) -> Program {
        args.iter()
            .fold(Program::new(self.dir.path()), |program, arg| program.arg(arg))
    }

    /// A query that a script answers with these steps.
    fn steps(&self, codes: &[&str]) -> Program {
        let script = script::steps(self.dir.path(), "script.yaml", codes);
        Program::asks(self.dir.path(), "go").scripted(&script)
    }

    /// The same in the session `runs/NAME`.
    fn session(&self, name: &str, codes: &[&str]) -> Program {
        self.steps(codes)
            .session(&self.path("runs"))
            .option("--session-id", name)
    }

    /// A command on the sessions in `runs`.
    fn lab(&self, args: &[&str]) -> Program {
        self.program(args).option("--dir", "runs")
    }

    fn viewer(&self, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        command.current_dir(self.dir.path()).args(args);
        Ran::from(command.env("FAST_RLM_CACHE_DIR", self.path("cache")).output().unwrap())
    }

    /// Keeps what was said. It is an error, told as people want them: who speaks, no control, no crash.
    #[track_caller]
    fn met(&mut self, what: &str, ran: &Ran) {
        let code = ran.code.unwrap_or_else(|| panic!("{what}: a signal ended it: {ran:?}"));
        assert_ne!(code, 0, "{what}: {ran:?}");
        let said = ran.err.trim_end();
        let speaks = |line: &str| {
            ["fast-rlm: ", "fast-rlm-log: ", "error: "]
                .iter()
                .any(|who| line.starts_with(who))
        };
        assert!(said.lines().any(speaks), "{what}: {said:?}");
        self.keep(what, code, said);
    }

    #[track_caller]
    fn keep(&mut self, what: &str, code: i32, said: &str) {
        assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{what}: {said:?}");
        assert!(
            !said.contains("panicked") && !said.contains("this is a bug"),
            "{what}: {said}"
        );
        let said = plain(said, self.dir.path());
        writeln!(self.text, "{what}\n  exit {code}: {said}\n").unwrap();
    }

    /// Holds everything that was said against what it was.
    #[track_caller]
    fn close(self, name: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, self.text));
    }
}

/// Without what differs from run to run.
fn plain(said: &str, dir: &Path) -> String {
    let mut said = said.replace(dir.to_str().unwrap(), "[HERE]");
    for (pattern, instead) in [
        (r"127\.0\.0\.1:\d+", "[SERVER]"),
        (r"process \d+", "process [PID]"),
        (r"on \S+, since \S+Z", "on [HOST], since [TIME]"),
        (r"run_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z", "run_[TIME]"),
        (r"/\.tmp\w+", "/[TEMPORARY]"),
        (r" +\n", "\n"),
    ] {
        said = regex::Regex::new(pattern)
            .unwrap()
            .replace_all(&said, instead)
            .into_owned();
    }
    said
}
