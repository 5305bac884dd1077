//! Exit codes, and the ways out: usage errors, failures, Ctrl-C.

use super::setup::Failure;
use crate::disk::lock::LockError;
use crate::engine::BeginError;
use crate::provider::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::io::{self, Write};
use std::process::{ExitCode, Termination};

/// What the shell is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: the run ended in an error.
    Failed,
    /// 2: usage, or an input that cannot be used.
    Usage,
    /// 3: a limit stopped the run.
    Limit,
    /// 4: another process has the session.
    Busy,
    /// 75: it waits for an answer.
    Parked,
    /// 130: cancelled.
    Cancelled,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Limit => 3,
            Self::Busy => 4,
            Self::Parked => 75,
            Self::Cancelled => 130,
        }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        self.code().into()
    }
}

/// Help and version go to stdout with 0, wrong usage to stderr with 2.
pub(super) fn usage(error: &clap::Error) -> Exit {
    let _ = error.print();
    if error.use_stderr() { Exit::Usage } else { Exit::Done }
}

/// `fast-rlm` alone prints its help, and did not do what it is for.
pub(super) fn help(command: &mut clap::Command) -> Result<Exit, Failure> {
    let _ = command.print_help();
    Ok(Exit::Usage)
}

/// Tells a failure in one line and gives its code.
pub(super) fn tell(failure: &Failure) -> Exit {
    let _ = writeln!(io::stderr(), "fast-rlm: {failure}");
    match failure {
        Failure::Begin(BeginError::Lock(LockError::Busy { .. })) => Exit::Busy,
        Failure::Begin(BeginError::Parked { dir, .. }) => {
            super::outcome::tell_how_to_answer(dir);
            Exit::Parked
        }
        Failure::Begin(BeginError::NothingParked { .. } | BeginError::NotAnOption { .. }) => Exit::Usage,
        Failure::Begin(BeginError::Input(_) | BeginError::Schema(_)) => Exit::Usage,
        Failure::Begin(_) | Failure::Prepare(_) | Failure::Runtime(_) | Failure::Output(_) => Exit::Failed,
        _ => Exit::Usage,
    }
}

/// The first Ctrl-C (or TERM, HUP) cancels the run and keeps the state; a second one ends the program at once.
pub(super) fn cancel_on_interrupt(cancel: Cancel) -> Interrupts {
    let handle = Signals::new([SIGINT, SIGTERM, SIGHUP]).ok().map(|mut signals| {
        let handle = signals.handle();
        std::thread::spawn(move || {
            let mut signals = signals.forever();
            if signals.next().is_some() {
                cancel.cancel();
            }
            if signals.next().is_some() {
                std::process::exit(i32::from(Exit::Cancelled.code()));
            }
        });
        handle
    });
    Interrupts(handle)
}

/// Listens for signals until closed.
pub(super) struct Interrupts(Option<Handle>);

impl Interrupts {
    pub(super) fn close(&self) {
        if let Some(handle) = &self.0 {
            handle.close();
        }
    }
}
