//! Programs that this process starts for others to use, each the leader of a process group that ends as a whole: what
//! they start themselves does not outlive them, however this process ends.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::process::Stdio;
use tokio::process::{Child, Command};

/// A leader and the processes that it started. Dropping it kills them all.
pub(crate) struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// What `command` starts leads a group of its own.
    pub(crate) fn lead(command: &mut Command) {
        command.process_group(0);
    }

    /// The group of a leader that was not waited for: its id is still its own.
    pub(crate) fn of(leader: Option<u32>) -> Self {
        let id = leader.and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    /// The leader's id, as the group's.
    fn id(&self) -> Option<i32> {
        self.0.map(Pid::as_raw_pid)
    }

    /// Whether the leader has ended. It is not waited for by this.
    pub(crate) fn leader_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let look = |leader| !matches!(waitid(WaitId::Pid(leader), options), Ok(None));
        self.0.is_none_or(look)
    }

    /// Sends a signal to all of them.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
            // None of them is left, or none is ours: nothing to end.
            let _ = kill_process_group(leader, signal);
        }
    }

    /// The leader was waited for: its id may be another's by now.
    pub(crate) fn has_ended(&mut self) {
        self.0 = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Ends a group when this process is killed: a shell that waits for the end of its input, which only we hold, and then
/// kills it. What reads its own input ends by itself then; this is for what does not.
pub(crate) struct Warden(Child);

impl Warden {
    /// One for the group, where it can be had.
    pub(crate) fn of(group: &ProcessGroup) -> Option<Self> {
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", "read _; kill -KILL \"-$0\" 2>/dev/null"])
            .arg(group.id()?.to_string())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        ProcessGroup::lead(&mut shell);
        shell.spawn().ok().map(Self)
    }

    /// To be called before the leader is waited for: from then on nobody else may kill by its number, which is given back.
    pub(crate) async fn dismiss(mut self) {
        let _ = self.0.kill().await;
    }
}

impl Drop for Warden {
    /// At once, before its input ends.
    fn drop(&mut self) {
        let _ = self.0.start_kill();
    }
}
