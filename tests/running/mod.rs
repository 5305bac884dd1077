//! `fast-rlm` as people run it: the real program in a directory of its own, with nothing of the environment that could
//! change what it does. What it leaves behind is read in `session`, what the model says is written in `script`.
#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod mount;
pub(crate) mod script;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod unchanged;

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A run of the program, about to start.
pub(crate) struct Program {
    command: Command,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Program {
    /// In the directory `dir`, which is also where no configuration is found.
    pub(crate) fn new(dir: &Path) -> Self {
        Self::of(Command::new(env!("CARGO_BIN_EXE_fast-rlm")), dir)
    }

    /// Started by another program that takes something from it: its arguments come first.
    pub(crate) fn started_by(dir: &Path, wrapper: &[&str]) -> Self {
        let mut command = Command::new(wrapper[0]);
        command.args(&wrapper[1..]).arg(env!("CARGO_BIN_EXE_fast-rlm"));
        Self::of(command, dir)
    }

    fn of(mut command: Command, dir: &Path) -> Self {
        for (name, _) in std::env::vars_os() {
            if decides(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        command
            .current_dir(dir)
            .env("XDG_CONFIG_HOME", dir.join("no-configuration"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { command }
    }

    /// A query.
    pub(crate) fn asks(dir: &Path, prompt: &str) -> Self {
        Self::new(dir).arg(prompt)
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn option(self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.arg(name).arg(value)
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Answered from a script.
    pub(crate) fn scripted(self, script: &Path) -> Self {
        self.option("--primary-agent", format!("scripted:{}", script.display()))
    }

    pub(crate) fn session(self, dir: &Path) -> Self {
        self.option("--session-dir", dir)
    }

    /// Runs it with this on its standard input.
    pub(crate) fn piped(mut self, input: &[u8]) -> Ran {
        use std::io::Write;
        let mut child = self.command.stdin(Stdio::piped()).spawn().unwrap();
        // It may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::from(child.wait_with_output().unwrap())
    }

    pub(crate) fn start(mut self) -> Child {
        self.command.spawn().unwrap()
    }

    /// Starts it with this for its standard input.
    pub(crate) fn start_with(mut self, input: Stdio) -> Child {
        self.command.stdin(input);
        self.start()
    }

    pub(crate) fn run(self) -> Ran {
        Ran::from(self.start().wait_with_output().unwrap())
    }

    /// Runs it, expecting an answer.
    #[track_caller]
    pub(crate) fn answer(self) -> String {
        self.run().answer()
    }
}

/// Whether a variable could change what the program does.
fn decides(variable: &str) -> bool {
    let prefixes = [
        "RLM_",
        "OPENAI_",
        "OPENROUTER_",
        "ANTHROPIC_",
        "FAST_RLM_",
        "NO_COLOR",
        "COLUMNS",
    ];
    // The prepared Python is the same for all; preparing it takes a while.
    variable != "FAST_RLM_CACHE_DIR" && prefixes.iter().any(|prefix| variable.starts_with(prefix))
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// What was printed, which must be an answer.
    #[track_caller]
    pub(crate) fn answer(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out.strip_suffix('\n').unwrap().to_owned()
    }

    /// What was printed, as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// It ended with this code, and said these things on stderr.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, said: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for text in said {
            assert!(self.err.contains(text), "{text:?} is not in {self:?}");
        }
    }
}

/// Sends a signal to a process of ours.
pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Sessions that another program wrote; says so and gives `None` where there are none to be tried.
pub(crate) fn foreign_sessions() -> Option<PathBuf> {
    use std::io::Write;
    let Some(dir) = std::env::var_os("FAST_RLM_COMPAT_DIR") else {
        // Not `eprintln!`: the harness would hide it.
        let _ = writeln!(std::io::stderr(), "skipped: FAST_RLM_COMPAT_DIR is not set");
        return None;
    };
    let dir = PathBuf::from(dir);
    let found = dir.canonicalize();
    Some(found.unwrap_or_else(|e| panic!("FAST_RLM_COMPAT_DIR is {}: {e}", dir.display())))
}
