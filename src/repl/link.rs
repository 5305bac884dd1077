//! What an instance and its owner share: commands, events, printed text, host calls in flight, the wish to cancel.

use super::api::{HostCall, HostCalls, HostError};
use super::blobs::Blobs;
use super::meter::Meter;
use super::output::Output;
use super::wire::failure;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, watch};

/// Events that may wait for the owner before the guest has to.
const EVENTS: usize = 16;
/// Kilobytes that they may have together.
const EVENT_ROOM: u32 = 256 << 10;

/// Functions that may leave the interpreter. The guest cannot reach anything else, whatever it calls.
const CALLS: [&str; 12] = [
    "llm_query",
    "batch_llm_query",
    "ask",
    "mcp_list_tools",
    "mcp_tool_schema",
    "mcp_call",
    "mcp_list_resources",
    "mcp_list_resource_templates",
    "mcp_read_resource",
    "tool_begin",
    "tool_end",
    "tool_call",
];

/// A message from the guest.
pub(super) enum Event {
    Done(Vec<u8>),
    Final(Vec<u8>),
    Note(Vec<u8>),
    Value(Vec<u8>),
}

impl Event {
    /// Its size in kilobytes, which is never none, nor more than there is room for.
    fn size(&self) -> u32 {
        let (Self::Done(data) | Self::Final(data) | Self::Note(data) | Self::Value(data)) = self;
        u32::try_from(data.len() >> 10)
            .unwrap_or(u32::MAX)
            .saturating_add(1)
            .min(EVENT_ROOM)
    }
}

/// An event with the room that it takes until it is taken.
pub(super) type Held = (Event, OwnedSemaphorePermit);

/// The instance's side.
pub(super) struct Link {
    commands: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
    /// A command is being carried out: user code that asks for the next one would take it from the kernel.
    at_work: AtomicBool,
    events: mpsc::Sender<Held>,
    event_room: Arc<Semaphore>,
    pub(super) output: Output,
    pub(super) meter: Arc<Meter>,
    pub(super) blobs: Mutex<Option<Arc<Blobs>>>,
    /// The number of the last command that was to be cancelled.
    pub(super) cancelled: watch::Sender<u64>,
    /// Calls and sleeps in flight, by the guest's number.
    waiting: Mutex<HashMap<u64, Arc<Notify>>>,
    host: Arc<dyn HostCalls>,
    /// Where host calls run: the owner's runtime, so that they go on while the guest computes.
    runtime: Handle,
}

/// The owner's ends of a [`Link`].
pub(super) struct OwnerEnds {
    pub(super) commands: mpsc::UnboundedSender<String>,
    pub(super) events: mpsc::Receiver<Held>,
}

impl Link {
    pub(super) fn new(host: Arc<dyn HostCalls>, runtime: Handle) -> (Arc<Self>, OwnerEnds) {
        let (commands, incoming) = mpsc::unbounded_channel();
        let (sender, events) = mpsc::channel(EVENTS);
        let link = Self {
            commands: tokio::sync::Mutex::new(incoming),
            at_work: AtomicBool::new(false),
            events: sender,
            event_room: Arc::new(Semaphore::new(EVENT_ROOM as usize)),
            output: Output::default(),
            meter: Arc::default(),
            blobs: Mutex::default(),
            cancelled: watch::Sender::new(0),
            waiting: Mutex::default(),
            host,
            runtime,
        };
        (Arc::new(link), OwnerEnds { commands, events })
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, Arc<Notify>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next command, for the kernel.
    pub(super) async fn next_command(&self) -> Result<String, String> {
        if self.at_work.load(Ordering::Relaxed) {
            return Err(failure("RuntimeError", "a command is being carried out"));
        }
        let Some(command) = self.commands.lock().await.recv().await else {
            // The owner is gone; so will be this instance.
            return std::future::pending().await;
        };
        self.at_work.store(true, Ordering::Relaxed);
        Ok(command)
    }

    /// Hands a message to the owner; waits while those before it are many or large.
    pub(super) async fn tell(&self, event: Event) -> Result<(), String> {
        let gone = || "nobody listens".to_owned();
        let room = self.event_room.clone().acquire_many_owned(event.size()).await;
        let held = (event, room.map_err(|_| gone())?);
        self.events.send(held).await.map_err(|_| gone())
    }

    /// The kernel has carried its command out.
    pub(super) fn at_rest(&self) {
        self.at_work.store(false, Ordering::Relaxed);
    }

    /// Ends a call or sleep that nobody in the guest waits for any more.
    pub(super) fn wake(&self, id: u64) {
        if let Some(notify) = self.waiting().get(&id) {
            notify.notify_one();
        }
    }

    /// Ends everything that a step left in flight.
    pub(super) fn wake_all(&self) {
        self.waiting().values().for_each(|notify| notify.notify_one());
    }

    /// Runs `future` until it is done or the call with this number is no longer wanted.
    pub(super) async fn until_woken<T>(&self, id: u64, future: impl Future<Output = T>) -> Option<T> {
        let notify = Arc::new(Notify::new());
        self.waiting().insert(id, notify.clone());
        let result = tokio::select! {
            result = future => Some(result),
            () = notify.notified() => None,
        };
        self.waiting().remove(&id);
        result
    }

    /// Resolves when the command that runs now is to be cancelled. Gives its number.
    pub(super) async fn cancel_wanted(&self) -> u64 {
        let mut receiver = self.cancelled.subscribe();
        if receiver.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        *receiver.borrow()
    }

    /// One call of the owner, on the owner's runtime; dropped there when this future is dropped.
    pub(super) async fn host_call(&self, name: &str, args: Value) -> Result<Value, String> {
        if !CALLS.contains(&name) {
            return Err(failure("RuntimeError", &format!("there is no host function {name:?}")));
        }
        let _pending = self.meter.call();
        let (host, call) = (
            self.host.clone(),
            HostCall {
                name: name.to_owned(),
                args,
            },
        );
        let mut task = AbortOnDrop(self.runtime.spawn(async move { host.call(call).await }));
        match (&mut task.0).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(HostError { exception, message })) => Err(failure(exception.name(), &message)),
            Err(error) => Err(failure(
                "RuntimeError",
                &format!("the host function {name} failed: {error}"),
            )),
        }
    }
}

struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
