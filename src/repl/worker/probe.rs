//! Which Python there is, and how this kernel can shut it in.

use crate::repl::error::PrepareError;
use crate::repl::kernel;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The kernel's Python needs it.
const OLDEST: (u32, u32) = (3, 11);
/// How long it may take to say what it is. It takes 30 ms.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of its answer that are read.
const ANSWER: u64 = 64 << 10;

/// An interpreter that can be used.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Interpreter {
    /// Itself, and not what finds it: version managers put scripts on `PATH`.
    pub(super) executable: PathBuf,
    version: (u32, u32, u32),
    /// Version of Landlock; 0 without.
    landlock: u32,
    seccomp: bool,
}

impl Interpreter {
    /// Asks the program of this name. Whatever it is, it gets nothing of ours but the way to other programs, and reads
    /// no module of the directory that we were started in.
    pub(super) fn find(program: &str) -> Result<Self, PrepareError> {
        Self::find_within(program, PATIENCE)
    }

    fn find_within(program: &str, limit: Duration) -> Result<Self, PrepareError> {
        let refused = |reason: String| Err(PrepareError::NoPython(reason));
        if !cfg!(target_os = "linux") {
            return refused("the python3 backend needs Linux".into());
        }
        let mut asked = match ask(program) {
            Ok(asked) => asked,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return refused(format!("{program} is not installed, or not on PATH"));
            }
            Err(error) => return refused(format!("{program} cannot be started: {error}")),
        };
        let Some((answer, errors)) = answered(&mut asked, limit) else {
            return refused(format!("{program} did not answer within {} s", limit.as_secs_f64()));
        };
        let words = String::from_utf8_lossy(&errors);
        let last = words.trim().lines().last().unwrap_or("it said nothing");
        let Ok(found) = serde_json::from_slice::<Self>(&answer) else {
            return refused(format!("{program} cannot be used ({last})"));
        };
        found.suffices(program)
    }

    fn suffices(self, program: &str) -> Result<Self, PrepareError> {
        let (major, minor, patch) = self.version;
        if (major, minor) < OLDEST {
            let old = format!("{program} is Python {major}.{minor}.{patch}, which is too old");
            return Err(PrepareError::NoPython(old));
        }
        let missing = match (self.landlock, self.seccomp) {
            (1.., true) => return Ok(self),
            (1.., false) => "no seccomp",
            (0, true) => "no Landlock",
            (0, false) => "neither Landlock nor seccomp",
        };
        Err(PrepareError::NotShutIn(missing.into()))
    }

    pub(super) fn isolation(&self) -> String {
        let (major, minor, patch) = self.version;
        let left = match self.landlock {
            0..3 => ", which leaves truncating, devices and signals to seccomp",
            3..5 => ", which leaves devices and signals to seccomp",
            5 => ", which leaves signals to seccomp",
            _ => "",
        };
        format!(
            "The REPL is Python {major}.{minor}.{patch} ({}) in a process of its own, not the sandbox: of the files only \
             libraries, Python's own and installed packages readable (Landlock {}{left}), no network and no processes \
             (seccomp), time and memory limited",
            self.executable.display(),
            self.landlock
        )
    }
}

/// Starts it as the leader of a process group: version managers start others.
fn ask(program: &str) -> io::Result<Child> {
    let source = format!("{}\nimport json\nprint(json.dumps(probe()))\n", kernel::HARDEN);
    let kept = ["PATH", "HOME"].into_iter();
    Command::new(program)
        .args(["-I", "-c", &source])
        .current_dir("/")
        .env_clear()
        .envs(kept.filter_map(|name| Some((name, std::env::var_os(name)?))))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Its output and errors; `None` when they do not come in time. It has ended then.
fn answered(asked: &mut Child, limit: Duration) -> Option<(Vec<u8>, Vec<u8>)> {
    let until = Instant::now() + limit;
    let pipes = (asked.stdout.take().map(heard), asked.stderr.take().map(heard));
    let left = || until.saturating_duration_since(Instant::now());
    let answer = pipes.0.and_then(|pipe| pipe.recv_timeout(left()).ok());
    let errors = pipes.1.and_then(|pipe| pipe.recv_timeout(left()).ok());
    // It was not waited for: the number is still its own.
    if let Some(group) = i32::try_from(asked.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = asked.wait();
    Some((answer?, errors?))
}

/// All that comes out of a pipe, read on a thread of its own.
fn heard(pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    let hear = move || {
        let mut bytes = Vec::new();
        let _ = pipe.take(ANSWER).read_to_end(&mut bytes);
        sender.send(bytes)
    };
    // Without a thread nothing is heard, and the sender is gone.
    let _ = std::thread::Builder::new().spawn(hear);
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn script(dir: &Path, text: &str) -> String {
        let program = dir.join("python3");
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        program.to_str().unwrap().to_owned()
    }

    #[test]
    fn what_is_missing_or_too_old_is_said_with_what_to_install() {
        let told = |program: &str| Interpreter::find(program).unwrap_err().to_string();
        let missing = told("no-such-python-here");
        assert!(
            missing.contains("no-such-python-here is not installed") && missing.contains("apt install"),
            "{missing}"
        );
        assert!(told("false").contains("cannot be used"));
        let dir = tempfile::tempdir().unwrap();
        let text = r#"echo '{"executable": "x", "version": [3, 9, 2], "landlock": 0, "seccomp": true}'"#;
        let told = told(&script(dir.path(), text));
        assert!(
            told.contains("Python 3.9.2, which is too old") && told.contains("3.11"),
            "{told}"
        );
    }

    #[test]
    fn one_that_hangs_is_given_up_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let program = script(dir.path(), &format!("sleep 600 & echo $! > {}; wait", pid.display()));
        // Long enough for the shell to get there.
        let told = Interpreter::find_within(&program, Duration::from_secs(2)).unwrap_err();
        assert!(told.to_string().contains("did not answer within 2 s"), "{told}");
        let pid = std::fs::read_to_string(pid).unwrap();
        let stat = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let ended = |stat: &str| {
            let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
            state.is_empty() || state.starts_with(['Z', 'X'])
        };
        // It is killed, and ends when it is its turn.
        let until = std::time::Instant::now() + Duration::from_secs(10);
        while !ended(&stat()) {
            assert!(std::time::Instant::now() < until, "{}", stat());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_kernel_that_cannot_shut_it_in_is_refused() {
        let with = |landlock, seccomp| Interpreter {
            executable: "/usr/bin/python3".into(),
            version: (3, 12, 1),
            landlock,
            seccomp,
        };
        for (landlock, seccomp, missing) in [
            (0, true, "no Landlock"),
            (3, false, "no seccomp"),
            (0, false, "neither Landlock nor seccomp"),
        ] {
            let told = with(landlock, seccomp).suffices("python3").unwrap_err().to_string();
            assert!(told.contains(missing) && told.contains("--repl"), "{told}");
        }
        let old = with(2, true).suffices("python3").unwrap();
        assert!(old.isolation().contains("Landlock 2, which leaves truncating"));
    }
}
