//! One interpreter instance as its owner holds it, with an operating system thread of its own behind it: guest code never
//! blocks another session. What the thread runs is the backend's.

use super::api::{HostCalls, Limits};
use super::clock::PinnedClock;
use super::error::ReplError;
use super::link::{Event, Link, OwnerEnds};
use super::memory::MemoryUse;
use super::wire::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};

/// How long an owner waits for a thread that was told to stop. It takes 10 ms where the guest computes.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// Starts instances: a backend.
pub(super) trait Spawn: Send + Sync {
    /// A fresh instance. Host calls will run on `runtime`.
    fn spawn(&self, limits: &Limits, host: Arc<dyn HostCalls>, runtime: Handle) -> Result<Instance, ReplError>;
}

/// The owner's means to end an instance by force.
#[derive(Default)]
pub(super) struct Stop {
    wanted: AtomicBool,
    /// Wakes a guest that waits.
    pub(super) now: Notify,
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
    /// Starts the thread, which serves as `body` until the instance ends and then says why it did.
    pub(super) fn start(
        (link, ends): (Arc<Link>, OwnerEnds),
        clock: Arc<PinnedClock>,
        memory: Arc<MemoryUse>,
        body: impl FnOnce(Arc<Stop>) -> String + Send + 'static,
    ) -> Result<Self, ReplError> {
        let stop = Arc::new(Stop::default());
        let (ending, ended) = mpsc::unbounded_channel();
        let stopped = stop.clone();
        std::thread::Builder::new()
            .name("python".into())
            .spawn(move || {
                let _running = Running::counted();
                ending.send(body(stopped))
            })
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
            return self.ends.events.try_recv().ok().map(|(event, _room)| event);
        }
        tokio::select! {
            biased;
            event = self.ends.events.recv() => event.map(|(event, _room)| event),
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
    /// Whether the instance is to end now, having executed for `elapsed` of its step.
    pub(super) fn is_due(&self, elapsed: Duration) -> bool {
        let backstop = self.backstop.load(Ordering::Relaxed);
        backstop != 0 && elapsed > Duration::from_millis(backstop) || self.wanted.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.wanted.store(true, Ordering::Relaxed);
        self.now.notify_one();
    }
}

/// Instances of this process whose threads have not ended.
static RUNNING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// Counts a thread while it lives.
struct Running;

impl Running {
    fn counted() -> Self {
        *RUNNING.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *RUNNING.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        RUNNING.1.notify_all();
    }
}

/// Waits until all instances that were dropped have ended, with their processes and directories, but no longer than
/// `patience`: for a program that is about to end.
pub(crate) fn wait_for_ends(patience: Duration) {
    let running = RUNNING.0.lock().unwrap_or_else(PoisonError::into_inner);
    // Whether they did, or time is up: the program ends.
    let _ = RUNNING.1.wait_timeout_while(running, patience, |running| *running > 0);
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.stop.end();
    }
}

/// A command as JSON.
pub(super) fn encode(command: &Command<'_>) -> serde_json::Result<String> {
    serde_json::to_string(command)
}
