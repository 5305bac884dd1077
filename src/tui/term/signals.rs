//! Signals as messages: end, stop, continue. A program that does not react to an end in time is ended from here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The program has this long to end by itself.
const GRACE: Duration = Duration::from_millis(400);

/// Another program has the terminal: its keys are not meant for us.
static LENT: AtomicBool = AtomicBool::new(false);

/// Says whether another program has the terminal. `Ctrl-C` in an editor must not end us then, and `Ctrl-Z` must stop
/// us together with it.
pub(super) fn set_lent(lent: bool) {
    LENT.store(lent, Ordering::SeqCst);
}

/// What the system asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// End, with this exit code.
    End(i32),
    /// Back to the shell (`kill -TSTP`).
    Stop,
    /// We run again: the terminal may be in any state.
    Continued,
    /// The terminal went away without a signal.
    HungUp,
}

/// The exit code after a signal, as shells have it.
pub(super) fn code_of(signal: i32) -> i32 {
    128 + signal
}

/// Restores the terminal and ends the process if nobody else does within the time of grace. A program that has the
/// terminal hears of the signal, and has as much time.
pub(super) fn exit_soon(signal: i32) {
    super::loan::end(signal);
    let code = code_of(signal);
    let watchdog = move || {
        std::thread::sleep(GRACE);
        super::loan::abandon();
        super::restore();
        std::process::exit(code);
    };
    let _ = std::thread::Builder::new().name("watchdog".into()).spawn(watchdog);
}

#[cfg(unix)]
mod unix {
    use super::{LENT, Signal, code_of, exit_soon};
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
    use signal_hook::iterator::{Handle, Signals as Caught};
    use signal_hook::low_level::emulate_default_handler;
    use std::sync::atomic::Ordering;

    /// Signals are caught while this lives.
    pub struct Signals(Handle);

    impl Signals {
        /// Catches signals on a thread of their own and passes them on.
        ///
        /// # Errors
        /// The system refused to register a handler.
        pub fn catch(mut send: impl FnMut(Signal) + Send + 'static) -> std::io::Result<Self> {
            let mut caught = Caught::new([SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT])?;
            let handle = caught.handle();
            let listen = move || {
                for signal in caught.forever() {
                    if let Some(signal) = meaning(signal) {
                        send(signal);
                    }
                }
            };
            std::thread::Builder::new().name("signals".into()).spawn(listen)?;
            Ok(Self(handle))
        }
    }

    /// What a signal means for us, at once done where it cannot wait.
    fn meaning(signal: i32) -> Option<Signal> {
        match (signal, LENT.load(Ordering::SeqCst)) {
            (SIGTSTP, true) => {
                let _ = emulate_default_handler(SIGTSTP);
                None
            }
            (SIGINT | SIGCONT, true) => None,
            (SIGTSTP, false) => Some(Signal::Stop),
            (SIGCONT, false) => Some(Signal::Continued),
            (end, _) => {
                exit_soon(end);
                Some(Signal::End(code_of(end)))
            }
        }
    }

    impl Drop for Signals {
        fn drop(&mut self) {
            self.0.close();
        }
    }

    /// Whether a shell with job control started us: our process group is not that of the session's leader. Without
    /// one, nobody could wake us again.
    pub fn has_job_control() -> bool {
        let group = rustix::process::getpgrp();
        rustix::process::getsid(None).is_ok_and(|session| session != group)
    }

    /// Stops our process group, as a terminal in cooked mode does on `Ctrl-Z`; returns when it runs again.
    pub fn stop_group() {
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::STOP);
    }
}

#[cfg(not(unix))]
mod other {
    use super::Signal;

    /// There are no signals here.
    pub struct Signals;

    impl Signals {
        /// Catches nothing.
        ///
        /// # Errors
        /// None.
        pub fn catch(_send: impl FnMut(Signal) + Send + 'static) -> std::io::Result<Self> {
            Ok(Self)
        }
    }

    /// There is no job control here.
    pub fn has_job_control() -> bool {
        false
    }

    /// Nothing stops here.
    pub fn stop_group() {}
}

#[cfg(not(unix))]
pub use other::{Signals, has_job_control, stop_group};
#[cfg(unix)]
pub use unix::{Signals, has_job_control, stop_group};
