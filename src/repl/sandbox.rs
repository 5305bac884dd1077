//! The sandbox as a backend: an instance is a WebAssembly instance in this process.

use super::api::{HostCalls, Limits};
use super::clock::PinnedClock;
use super::engine;
use super::error::ReplError;
use super::factory::{Python, PythonFactory};
use super::guest::Guest;
use super::instance::{Instance, Spawn, Stop};
use super::kernel;
use super::link::Link;
use super::memory::{MemoryLimit, MemoryUse};
use super::meter::Metered;
use super::scarce;
use std::sync::Arc;
use tokio::runtime::Handle;
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::I32Exit;

impl Spawn for PythonFactory {
    fn spawn(&self, limits: &Limits, host: Arc<dyn HostCalls>, runtime: Handle) -> Result<Instance, ReplError> {
        let (link, ends) = Link::new(host, runtime);
        let (clock, memory) = (Arc::new(PinnedClock::new(None)), Arc::new(MemoryUse::default()));
        let limit = MemoryLimit::new(limits.memory_bytes, memory.clone(), self.pool.clone());
        let (python, shared, pinned) = (self.python.clone(), link.clone(), clock.clone());
        let body = move |stop| {
            let thread = Thread {
                python,
                link: shared,
                clock: pinned,
                stop,
            };
            thread.run(limit)
        };
        Instance::start((link, ends), clock, memory, body)
    }
}

/// What the thread holds.
struct Thread {
    python: Arc<Python>,
    link: Arc<Link>,
    clock: Arc<PinnedClock>,
    stop: Arc<Stop>,
}

impl Thread {
    /// Serves until the instance ends; says why it did.
    fn run(self, memory: MemoryLimit) -> String {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime,
            Err(error) => return format!("it could not start: {error}"),
        };
        runtime.block_on(async {
            tokio::select! {
                result = self.serve(memory) => match result {
                    Ok(text) => text,
                    Err(error) => describe(&error),
                },
                () = self.stop.now.notified() => "it was stopped while it waited".into(),
            }
        })
    }

    async fn serve(&self, memory: MemoryLimit) -> wasmtime::Result<String> {
        let wasi = engine::wasi(&self.python.library, &self.clock)?.build();
        let mut store = Store::new(&self.python.engine, Guest::new(wasi, memory, Some(self.link.clone())));
        store.limiter(|guest| &mut guest.memory);
        store.set_epoch_deadline(1);
        let (stop, meter) = (self.stop.clone(), self.link.meter.clone());
        store.epoch_deadline_callback(move |_| {
            if stop.is_due(meter.elapsed()) {
                return Ok(UpdateDeadline::Interrupt);
            }
            // The instance's timers and host calls get a turn.
            Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
        });
        let sandbox = self.python.pre.instantiate_async(&mut store).await?;
        let serving = store.run_concurrent(async |access| sandbox.call_execute(access, kernel::SERVE.to_owned()).await);
        let result = Metered::new(serving, &self.link.meter, &self.python.pulse).await??;
        Ok(match result {
            Ok(_) => "its kernel ended".into(),
            Err(error) => format!("its kernel failed: {error}"),
        })
    }
}

/// What ended an instance, in words for the model.
fn describe(error: &wasmtime::Error) -> String {
    // The status is not the guest's: WASI only tells success from failure.
    if error.downcast_ref::<I32Exit>().is_some() {
        return "it exited: os._exit(), or a fatal error of its own".into();
    }
    match error.downcast_ref() {
        Some(Trap::Interrupt) => "it was stopped while it computed".into(),
        Some(Trap::StackOverflow) => "its stack overflowed (recursion too deep)".into(),
        Some(trap) => format!("it crashed ({trap})"),
        None => format!("it failed: {}", scarce::told(error)),
    }
}
