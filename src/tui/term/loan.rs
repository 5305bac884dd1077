//! The program that the terminal is lent to, an editor or a pager: it hears the signal that ends us, and the text that
//! it was given does not stay behind.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

static LOAN: Mutex<Loan> = Mutex::new(Loan {
    ending: None,
    process: None,
    file: None,
});

struct Loan {
    /// The signal that ends us.
    ending: Option<i32>,
    /// The program, until it was waited for.
    process: Option<u32>,
    /// What it was given.
    file: Option<PathBuf>,
}

fn loan() -> MutexGuard<'static, Loan> {
    LOAN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a signal has begun to end us: the terminal is not ours again then.
pub(super) fn is_ending() -> bool {
    loan().ending.is_some()
}

/// Passes the signal that ends us on.
pub(super) fn end(signal: i32) {
    let mut loan = loan();
    loan.ending = Some(signal);
    loan.pass_on();
}

/// Removes what the program was given: we end, and it did not within its time.
pub(super) fn abandon() {
    if let Some(file) = loan().file.take() {
        // Nothing can be done about a failure here.
        let _ = std::fs::remove_file(file);
    }
}

/// Runs a program that was given a file, and waits for its end.
///
/// # Errors
/// It cannot be started, or waited for.
pub fn run(command: &mut Command, file: &Path) -> io::Result<ExitStatus> {
    // The lock is held until the process is known: a signal that comes meanwhile is passed on afterwards.
    let mut lent = loan();
    let mut child = command.spawn()?;
    lent.process = Some(child.id());
    lent.file = Some(file.to_owned());
    lent.pass_on();
    drop(lent);
    wait_for_end(child.id());
    // Not after the process was waited for: its number may be another's then.
    loan().process = None;
    let status = child.wait();
    loan().file = None;
    status
}

impl Loan {
    #[cfg(unix)]
    fn pass_on(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        let process = self.process.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let (Some(process), Some(signal)) = (process, self.ending.and_then(Signal::from_named_raw)) {
            // One that ended just now needs none.
            let _ = kill_process(process, signal);
        }
    }

    #[cfg(not(unix))]
    fn pass_on(&self) {}
}

/// Waits until a child has ended, and leaves it to be waited for.
#[cfg(unix)]
fn wait_for_end(child: u32) {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let Some(child) = i32::try_from(child).ok().and_then(Pid::from_raw) else {
        return;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(child), options), Err(rustix::io::Errno::INTR)) {}
}

#[cfg(not(unix))]
fn wait_for_end(_child: u32) {}
