//! The tick that makes a computing guest look up: it lets its own timers and host calls have a turn, and notices that
//! it is to stop. It beats only while a guest executes, so that an idle program does not wake up.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wasmtime::Engine;

const TICK: Duration = Duration::from_millis(10);

#[derive(Default)]
struct State {
    executing: usize,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a guest executes; `false` when there will be none any more.
    fn wait(&self) -> bool {
        let idle = |state: &mut State| state.executing == 0 && !state.closed;
        let state = self
            .changed
            .wait_while(self.state(), idle)
            .unwrap_or_else(PoisonError::into_inner);
        !state.closed
    }
}

/// The tick of one engine.
pub(super) struct Pulse(Arc<Shared>);

impl Pulse {
    /// Starts the thread that ticks.
    pub(super) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (engine, ticking) = (engine.clone(), shared.clone());
        std::thread::Builder::new().name("python-tick".into()).spawn(move || {
            while ticking.wait() {
                std::thread::sleep(TICK);
                engine.increment_epoch();
            }
        })?;
        Ok(Self(shared))
    }

    /// A guest begins to execute.
    pub(super) fn enter(&self) {
        let mut state = self.0.state();
        state.executing += 1;
        if state.executing == 1 {
            self.0.changed.notify_one();
        }
    }

    /// It has stopped, or waits.
    pub(super) fn leave(&self) {
        let mut state = self.0.state();
        state.executing = state.executing.saturating_sub(1);
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.0.state().closed = true;
        self.0.changed.notify_one();
    }
}
