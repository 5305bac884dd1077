//! A server's program: with the environment it is given and no more, in a process group that ends with the connection,
//! and with this program however that ends.

use super::error::quoted;
use super::spec::Transport;
use crate::provider::{LastWords, ProcessGroup, Warden};
use rustix::process::Signal;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, sleep, timeout};

/// Variables of our own environment that every program needs. Keys of models are none of a server's business.
const INHERITED: [&str; 10] = [
    "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
];
/// Bytes of its standard error that are kept.
const ERROR_TAIL: usize = 4 << 10;
/// How long it may take to end by itself when its input ends, and when it is asked to.
const INPUT_ENDS: Duration = Duration::from_millis(1_000);
const ASKED_TO_END: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(5);
/// How long its last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A server's program. Dropping it kills its whole group.
pub(super) struct Process {
    child: Child,
    group: ProcessGroup,
    /// For when this program is killed.
    warden: Option<Warden>,
}

/// What is spoken through.
pub(super) struct Pipes {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) words: Words,
}

/// Starts it.
pub(super) fn start(transport: &Transport) -> Result<(Process, Pipes), String> {
    let Transport::Stdio {
        command,
        args,
        env,
        cwd,
    } = transport
    else {
        return Err("it is no program".into());
    };
    let mut started = Command::new(command);
    started
        .args(args)
        .env_clear()
        .envs(
            INHERITED
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        )
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(cwd) = cwd {
        started.current_dir(cwd);
    }
    ProcessGroup::lead(&mut started);
    let mut child = started.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{command} is not installed, or not on PATH"),
        _ => format!("{command}: {error}"),
    })?;
    let group = ProcessGroup::of(child.id());
    let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("its output cannot be read".into());
    };
    let warden = Warden::of(&group);
    let words = Words(LastWords::listen(errors, ERROR_TAIL));
    Ok((Process { child, group, warden }, Pipes { input, output, words }))
}

impl Process {
    /// Ends it: its input has ended; what does not end by itself is asked to, and then killed.
    pub(super) async fn end(self) {
        for (patience, signal) in [(INPUT_ENDS, Signal::TERM), (ASKED_TO_END, Signal::KILL)] {
            let until = Instant::now() + patience;
            while !self.group.leader_has_ended() && Instant::now() < until {
                sleep(LOOK).await;
            }
            if !self.group.leader_has_ended() {
                self.group.signal(signal);
            }
        }
        self.kill().await;
    }

    /// Ends it at once, and everything that it started.
    pub(super) async fn kill(mut self) {
        if let Some(warden) = self.warden.take() {
            warden.dismiss().await;
        }
        self.group.signal(Signal::KILL);
        let _ = self.child.wait().await;
        self.group.has_ended();
    }
}

/// The end of what it writes to standard error, for when it fails.
#[derive(Clone)]
pub(super) struct Words(LastWords);

impl Words {
    /// A reason with the last words after it.
    pub(super) async fn after(&self, reason: &str) -> String {
        let mut words = self.0.clone();
        let _ = timeout(LAST_WORDS, words.end()).await;
        match quoted(&words.heard()) {
            words if words.is_empty() => reason.to_owned(),
            words => format!("{reason}; it wrote: {words}"),
        }
    }
}
