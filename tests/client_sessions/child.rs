//! Other processes: this test program run again with one task, or `fast-rlm` itself, each with a directory for temporary
//! files that nobody else uses.

use crate::script::{config, session_in};
use fast_rlm::{Session, remove_on_signals};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

const TASK: &str = "CLIENT_TEST_TASK";
const DIR: &str = "CLIENT_TEST_DIR";
/// Told when the session's directory is there.
pub(crate) const READY: &str = "READY";

/// What a child does; nothing in the process that runs all tests.
pub(crate) fn main() {
    let Ok(task) = std::env::var(TASK) else { return };
    if task == "binds" {
        let dir = PathBuf::from(std::env::var_os(DIR).unwrap());
        assert_eq!(session_in(&dir).query("bind").unwrap().value, "bound");
        return;
    }
    if task == "signals" {
        remove_on_signals().unwrap();
    }
    let session = Session::ephemeral().unwrap().config(config());
    std::fs::write(session.dir().join("notes"), "to be removed").unwrap();
    eprintln!("{READY}");
    match task.as_str() {
        "exit" => exit_holding(session),
        "panic" => panic!("with {session:?}"),
        "panic_elsewhere" => drop(std::thread::spawn(move || panic!("with {session:?}")).join()),
        _ => loop {
            std::thread::park();
        },
    }
}

/// Where no destructor runs.
fn exit_holding(session: Session) -> ! {
    static HELD: OnceLock<Session> = OnceLock::new();
    HELD.set(session).unwrap();
    std::process::exit(0)
}

/// Another process.
pub(crate) struct Child {
    process: std::process::Child,
    lines: std::io::Lines<BufReader<std::process::ChildStderr>>,
    temporary: Arc<TempDir>,
    status: Option<ExitStatus>,
}

/// How it ended.
#[derive(Clone, Copy)]
pub(crate) struct Ended(ExitStatus);

impl Ended {
    pub(crate) fn code(self) -> Option<i32> {
        self.0.code()
    }

    pub(crate) fn ended_by(self) -> Option<i32> {
        self.0.signal()
    }
}

impl Child {
    /// This program, with one task.
    pub(crate) fn start(task: &str) -> Self {
        Self::spawn(again(task), Arc::new(tempfile::tempdir().unwrap()))
    }

    /// With the directory for temporary files of another one.
    pub(crate) fn start_beside(other: &Self, task: &str) -> Self {
        Self::spawn(again(task), Arc::clone(&other.temporary))
    }

    /// With a session in `dir`.
    pub(crate) fn start_in(dir: &Path, task: &str) -> Self {
        let mut command = again(task);
        command.env(DIR, dir);
        Self::spawn(command, Arc::new(tempfile::tempdir().unwrap()))
    }

    /// `fast-rlm` with an ephemeral session and a model that stops answering after one step.
    pub(crate) fn start_program() -> Self {
        let temporary = Arc::new(tempfile::tempdir().unwrap());
        let script = temporary.path().join("script.yaml");
        std::fs::write(&script, "replies: [{code: print(1)}, {text: never, delay: 60m}]").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm"));
        let model = format!("scripted:{}", script.display());
        command.args(["Wait.", "--verbosity", "summary", "--primary-agent", &model]);
        Self::spawn(command, temporary)
    }

    fn spawn(mut command: Command, temporary: Arc<TempDir>) -> Self {
        command.env("TMPDIR", temporary.path()).env_remove("RLM_SCRIPT_DELAYS");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        Self {
            process,
            lines,
            temporary,
            status: None,
        }
    }

    pub(crate) fn wait_for_its_directory(&mut self) {
        self.wait_for_output(READY);
        assert_eq!(self.left_behind().len(), 1);
    }

    /// Waits for a line on standard error that holds `text`.
    pub(crate) fn wait_for_output(&mut self, text: &str) {
        let found = self.lines.by_ref().map(Result::unwrap).any(|line| line.contains(text));
        assert!(found, "it ended without saying {text:?}");
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.process);
        kill_process(pid, signal).unwrap();
    }

    pub(crate) fn wait(&mut self) -> Ended {
        self.lines.by_ref().for_each(drop);
        let status = self.process.wait().unwrap();
        self.status = Some(status);
        Ended(status)
    }

    /// What is in its directory for temporary files, but for what was put there.
    pub(crate) fn left_behind(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.temporary.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "script.yaml").collect()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_none() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

fn again(task: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]).env(TASK, task);
    command
}
