//! The worker's process: started from the thread that lives as long as it does, to which its end is tied.

use super::probe::Interpreter;
use super::room::Room;
use crate::provider::{LastWords, ProcessGroup};
use crate::repl::kernel::{HASH_SEED, LAUNCH};
use rustix::process::Signal;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// Bytes of its standard error that are kept.
const ERROR_TAIL: usize = 2 << 10;
/// How long its last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// A clock tick of `/proc`, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// A running worker. Dropping it kills it.
pub(super) struct Process {
    child: Child,
    group: ProcessGroup,
    id: u32,
    words: LastWords,
    /// Its working directory, and the only place that it can write to.
    room: Room,
}

/// What a worker has executed, and the threads that it has.
#[derive(Clone, Copy)]
pub(super) struct Activity {
    pub(super) executed: Duration,
    pub(super) threads: u32,
}

/// Starts a worker, which waits for its sources.
pub(super) fn start(interpreter: &Interpreter) -> std::io::Result<(Process, ChildStdin, ChildStdout)> {
    let room = Room::new()?;
    let mut command = Command::new(&interpreter.executable);
    command
        .args(["-P", "-c", LAUNCH])
        .current_dir(room.path())
        .env_clear()
        .env("PYTHONHASHSEED", HASH_SEED.to_string())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONUTF8", "1")
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        // Each arena of a thread reserves address space, which is what is limited.
        .env("MALLOC_ARENA_MAX", "2")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let missing = || std::io::Error::other("it has no pipes");
    let id = child.id().ok_or_else(missing)?;
    let input = child.stdin.take().ok_or_else(missing)?;
    let output = child.stdout.take().ok_or_else(missing)?;
    let errors = child.stderr.take().ok_or_else(missing)?;
    let process = Process {
        child,
        group: ProcessGroup::of(Some(id)),
        id,
        words: LastWords::listen(errors, ERROR_TAIL),
        room,
    };
    Ok((process, input, output))
}

impl Process {
    /// Memory that it has, in bytes.
    pub(super) fn memory(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.id)).ok()?;
        let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }

    /// What it does: all its threads together.
    pub(super) fn activity(&self) -> Option<Activity> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.id)).ok()?;
        // After the program's name, which may hold anything.
        let fields = text.rsplit(')').next()?;
        let number = |at: usize| fields.split_whitespace().nth(at)?.parse::<u32>().ok();
        Some(Activity {
            executed: TICK * number(11)?.saturating_add(number(12)?),
            threads: number(17)?,
        })
    }

    /// Why its files are too many, if they are.
    pub(super) fn excess(&self) -> Option<String> {
        self.room.excess(self.id)
    }

    /// Kills it.
    pub(super) async fn kill(&mut self) {
        self.group.signal(Signal::KILL);
        // Before it leads a group.
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
        self.group.has_ended();
    }

    /// Waits for its end, and says what it was.
    pub(super) async fn ended(&mut self) -> String {
        let status = self.child.wait().await;
        self.group.has_ended();
        let _ = timeout(LAST_WORDS, self.words.end()).await;
        let words = self.words.heard();
        let how = status.map_or_else(|error| error.to_string(), |status| told(&status));
        match words.trim() {
            "" => how,
            words => format!("{how}; it wrote: {words}"),
        }
    }
}

fn told(status: &ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(11 | 7), _) => "it crashed (an invalid memory access, or recursion too deep)".into(),
        (Some(6), _) => "it aborted".into(),
        (Some(25), _) => "it wrote a file that is too large".into(),
        (Some(signal), _) => format!("signal {signal} ended it"),
        (None, code) => format!("it exited with status {}", code.unwrap_or_default()),
    }
}
