//! Signals as messages: end, stop, continue. A program that does not react to an end in time is ended from here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The program has this long to end by itself.
const GRACE: Duration = Duration::from_millis(400);

/// Another program has the terminal: its keys are not meant for us.
static LENT: AtomicBool = AtomicBool::new(false);

/// Says whether another program has the terminal. `Ctrl-C` and `Ctrl-\` in an editor must not end us then, and `Ctrl-Z`
/// must stop us together with it.
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
        restore_in_time();
        std::process::exit(code);
    };
    let _ = std::thread::Builder::new().name("watchdog".into()).spawn(watchdog);
}

/// Gives the terminal back. A stalled one takes nothing back, and keeps nobody alive.
fn restore_in_time() {
    let (done, finished) = std::sync::mpsc::channel();
    let give_back = move || {
        super::restore();
        let _ = done.send(());
    };
    match std::thread::Builder::new().spawn(give_back) {
        Ok(_) => drop(finished.recv_timeout(GRACE)),
        Err(_) => super::restore(),
    }
}

#[cfg(unix)]
mod unix {
    use super::{LENT, Signal, code_of, exit_soon, restore_in_time};
    use crate::tui::term::loan;
    use signal_hook::consts::{
        SIGABRT, SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2,
        SIGVTALRM, SIGXCPU,
    };
    use signal_hook::iterator::{Handle, Signals as Caught};
    use signal_hook::low_level::emulate_default_handler;
    use std::sync::atomic::Ordering;

    /// Signals that ask for nothing but an end, by whoever sends them. (A broken
    /// pipe and a file that may not grow are errors here, and no signals.)
    const ENDS: [i32; 9] = [
        SIGQUIT, SIGABRT, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,
    ];

    /// Signals are caught while this lives.
    pub struct Signals(Handle);

    impl Signals {
        /// Catches signals on a thread of their own and passes them on.
        ///
        /// # Errors
        /// The system refused to register a handler.
        pub fn catch(mut send: impl FnMut(Signal) + Send + 'static) -> std::io::Result<Self> {
            let meant = [SIGTERM, SIGHUP, SIGINT, SIGTSTP, SIGCONT];
            let mut caught = Caught::new(meant.iter().chain(&ENDS))?;
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
            (SIGINT | SIGQUIT | SIGCONT, true) => None,
            (SIGTSTP, false) => Some(Signal::Stop),
            (SIGCONT, false) => Some(Signal::Continued),
            (end, _) if ENDS.contains(&end) => end_by(end),
            (end, _) => {
                exit_soon(end);
                Some(Signal::End(code_of(end)))
            }
        }
    }

    /// Ends the process at once, by the signal itself, with the terminal as it was.
    fn end_by(signal: i32) -> ! {
        loan::end(signal);
        loan::abandon();
        restore_in_time();
        let _ = emulate_default_handler(signal);
        // The system has another default for it.
        std::process::exit(code_of(signal));
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
