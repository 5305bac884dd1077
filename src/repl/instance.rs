//! One interpreter instance, on an operating system thread of its own: guest code never blocks another session.

use super::api::{HostCalls, Limits};
use super::clock::PinnedClock;
use super::engine;
use super::error::ReplError;
use super::factory::Python;
use super::guest::Guest;
use super::kernel;
use super::link::{Event, Link, OwnerEnds};
use super::memory::{MemoryLimit, MemoryPool, MemoryUse};
use super::meter::Metered;
use super::wire::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::I32Exit;

/// How long an owner waits for a thread that was told to stop. It takes 10 ms where the guest computes.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// The owner's means to end an instance by force.
#[derive(Default)]
struct Stop {
    wanted: AtomicBool,
    /// Wakes a guest that waits.
    now: Notify,
    /// Execution time in milliseconds after which the guest stops by itself, should the owner not get to it. 0: none.
    backstop: AtomicU64,
}

/// An interpreter instance. Dropping it ends it.
pub(super) struct Instance {
    pub(super) link: Arc<Link>,
    pub(super) clock: Arc<PinnedClock>,
    pub(super) memory: Arc<MemoryUse>,
    ends: OwnerEnds,
    stop: Arc<Stop>,
    ended: mpsc::UnboundedReceiver<String>,
    /// Why it ended, once that is known.
    why: Option<String>,
    number: u64,
}

impl Instance {
    /// Starts the thread. Host calls will run on `runtime`.
    pub(super) fn spawn(
        python: &Arc<Python>,
        pool: &Arc<MemoryPool>,
        limits: &Limits,
        host: Arc<dyn HostCalls>,
        runtime: Handle,
    ) -> Result<Self, ReplError> {
        let (link, ends) = Link::new(host, runtime);
        let (clock, memory) = (Arc::new(PinnedClock::new(None)), Arc::new(MemoryUse::default()));
        let stop = Arc::new(Stop::default());
        let limit = MemoryLimit::new(limits.memory_bytes, memory.clone(), pool.clone());
        let (ending, ended) = mpsc::unbounded_channel();
        let thread = Thread {
            python: python.clone(),
            link: link.clone(),
            clock: clock.clone(),
            stop: stop.clone(),
        };
        std::thread::Builder::new()
            .name("python".into())
            .spawn(move || ending.send(thread.run(limit)))
            .map_err(|error| ReplError::Start(format!("cannot start a thread: {error}")))?;
        Ok(Self {
            link,
            clock,
            memory,
            ends,
            stop,
            ended,
            why: None,
            number: 0,
        })
    }

    /// Hands a command to the kernel. Gives its number, which comes back with the reply.
    pub(super) fn send(&mut self, command: impl FnOnce(u64) -> serde_json::Result<String>) -> Result<u64, ReplError> {
        self.number += 1;
        let text = command(self.number).map_err(|error| ReplError::Protocol(error.to_string()))?;
        self.ends.commands.send(text).map_err(|_| ReplError::NotAlive)?;
        Ok(self.number)
    }

    /// The guest's next message; `None` when the instance has ended.
    pub(super) async fn event(&mut self) -> Option<Event> {
        if self.why.is_some() {
            return self.ends.events.try_recv().ok();
        }
        tokio::select! {
            biased;
            event = self.ends.events.recv() => event,
            why = self.ended.recv() => {
                self.why = Some(why.unwrap_or_else(|| "its thread failed".into()));
                None
            }
        }
    }

    /// The execution time after which the guest stops even if nobody tells it to.
    pub(super) fn set_backstop(&self, limit: Option<Duration>) {
        let milliseconds = limit.map_or(0, |limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1));
        self.stop.backstop.store(milliseconds, Ordering::Relaxed);
    }

    /// Ends the instance, if it has not ended, and says why it did.
    pub(super) async fn end(mut self) -> String {
        self.stop.end();
        if let Some(why) = self.why.take() {
            return why;
        }
        match tokio::time::timeout(STOP_PATIENCE, self.ended.recv()).await {
            Ok(Some(why)) => why,
            Ok(None) => "its thread failed".into(),
            Err(_) => "it did not stop in time and was abandoned".into(),
        }
    }
}

impl Stop {
    fn end(&self) {
        self.wanted.store(true, Ordering::Relaxed);
        self.now.notify_one();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.stop.end();
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
            let backstop = stop.backstop.load(Ordering::Relaxed);
            let over = backstop != 0 && meter.elapsed() > Duration::from_millis(backstop);
            if over || stop.wanted.load(Ordering::Relaxed) {
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
        None => format!("it failed: {error:#}"),
    }
}

/// A command as JSON.
pub(super) fn encode(command: &Command<'_>) -> serde_json::Result<String> {
    serde_json::to_string(command)
}
