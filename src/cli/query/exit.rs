//! Exit codes, and the ways out: usage errors, failures, Ctrl-C.

use super::setup::Failure;
use crate::disk::lock::LockError;
use crate::engine::BeginError;
use crate::provider::Cancel;
use crate::text::SafeText;
use clap::error::ErrorKind;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::io::{self, Write};
use std::process::{ExitCode, Termination};
use std::sync::{Arc, OnceLock};

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
    if error.kind() == ErrorKind::ArgumentConflict && error.to_string().contains("the subcommand '") {
        let _ = writeln!(io::stderr(), "\n  tip: a prompt of several words is put in quotes");
    }
    if error.use_stderr() { Exit::Usage } else { Exit::Done }
}

/// `fast-rlm` alone prints its help, and did not do what it is for.
pub(super) fn help(command: &mut clap::Command) -> Result<Exit, Failure> {
    let _ = command.print_help();
    Ok(Exit::Usage)
}

/// Tells a failure in one line and gives its code.
pub(super) fn tell(failure: &Failure) -> Exit {
    if matches!(failure, Failure::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe) {
        // Whoever read the pipe has had enough, and knows.
        return Exit::Failed;
    }
    let _ = writeln!(io::stderr(), "fast-rlm: {}", SafeText::line(&failure.to_string()));
    match failure {
        Failure::Begin(BeginError::Lock(LockError::Busy { .. })) => Exit::Busy,
        Failure::Begin(BeginError::Cancelled) => Exit::Cancelled,
        Failure::Begin(BeginError::Parked { dir, .. }) => {
            super::outcome::tell_how_to_answer(dir);
            Exit::Parked
        }
        Failure::Begin(BeginError::NothingParked { .. } | BeginError::NotAnOption { .. }) => Exit::Usage,
        Failure::Begin(BeginError::Input(_) | BeginError::Schema(_) | BeginError::Prefix { .. }) => Exit::Usage,
        Failure::Begin(_) | Failure::Prepare(_) | Failure::Runtime(_) | Failure::Output(_) => Exit::Failed,
        _ => Exit::Usage,
    }
}

/// Listens for Ctrl-C (and TERM, HUP) until closed. While a query runs, the first one cancels it, which keeps the state;
/// any other ends the program at once, but by an exit, which removes what is temporary.
pub(super) struct Interrupts {
    running: Arc<OnceLock<Cancel>>,
    handle: Option<Handle>,
}

impl Interrupts {
    pub(super) fn listen() -> Self {
        let running = Arc::new(OnceLock::new());
        let handle = Signals::new([SIGINT, SIGTERM, SIGHUP]).ok().map(|signals| {
            let (handle, running) = (signals.handle(), Arc::clone(&running));
            std::thread::spawn(move || attend(signals, &running));
            handle
        });
        Self { running, handle }
    }

    /// From here on `cancel` stops a query.
    pub(super) fn query_runs(&self, cancel: Cancel) {
        let _one_query_a_process = self.running.set(cancel);
    }

    pub(super) fn close(&self) {
        if let Some(handle) = &self.handle {
            handle.close();
        }
    }
}

fn attend(mut signals: Signals, running: &OnceLock<Cancel>) {
    let mut cancelled = false;
    for _ in signals.forever() {
        match running.get() {
            Some(cancel) if !std::mem::replace(&mut cancelled, true) => cancel.cancel(),
            _ => std::process::exit(i32::from(Exit::Cancelled.code())),
        }
    }
}
