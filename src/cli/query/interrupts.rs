//! Ctrl-C: once cancels what runs, twice ends the program.

use super::exit::Exit;
use crate::provider::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::sync::{Arc, OnceLock};

/// Listens for Ctrl-C (and TERM, HUP) until closed. While a query runs, the first one cancels it, which keeps the
/// state; any other ends the program at once, but by an exit, which removes what is temporary.
pub(in crate::cli) struct Interrupts {
    running: Arc<OnceLock<Cancel>>,
    handle: Option<Handle>,
}

impl Interrupts {
    pub(in crate::cli) fn listen() -> Self {
        let running = Arc::new(OnceLock::new());
        let handle = Signals::new([SIGINT, SIGTERM, SIGHUP]).ok().and_then(|signals| {
            let (handle, running) = (signals.handle(), Arc::clone(&running));
            let attending = std::thread::Builder::new().spawn(move || attend(signals, &running));
            // Where no thread can be had, what is to be done will say so.
            attending.ok().map(|_| handle)
        });
        Self { running, handle }
    }

    /// From here on the first signal is `cancel`'s.
    pub(in crate::cli) fn cancel_first(&self, cancel: Cancel) {
        let _one_query_a_process = self.running.set(cancel);
    }

    pub(in crate::cli) fn close(&self) {
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
