//! A query that tells what happens while it happens.

use super::error::Error;
use super::output::Output;
use super::python;
use super::session::Session;
use super::turn::{CancelWhenDropped, Turn};
use crate::engine::{Input, RunEvent, Watch};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A query that runs. Dropping it cancels the query: it is closed and recorded as cancelled, and the next one can be
/// asked at once.
#[derive(Debug)]
pub struct TurnStream {
    events: mpsc::UnboundedReceiver<RunEvent>,
    answered: JoinHandle<Result<Output, Error>>,
    cancel: CancelWhenDropped,
}

impl TurnStream {
    /// The next event; `None` when the query has ended.
    pub async fn next(&mut self) -> Option<RunEvent> {
        self.events.recv().await
    }

    /// Stops the query. Its last events still come, and [`TurnStream::finish`] says that it was cancelled.
    pub fn cancel(&self) {
        self.cancel.0.cancel();
    }

    /// Waits for the end: the same as [`Session::send`] would have given.
    ///
    /// # Errors
    ///
    /// As [`Session::send`].
    pub async fn finish(self) -> Result<Output, Error> {
        self.answered.await.unwrap_or(Err(Error::Panicked))
    }
}

/// Hands events on to a stream and to who watched before.
struct Tee {
    events: mpsc::UnboundedSender<RunEvent>,
    watch: Arc<dyn Watch>,
}

impl Watch for Tee {
    fn event(&self, event: RunEvent) {
        // Nobody receives when the stream is finished without its events being read.
        let _ = self.events.send(event.clone());
        self.watch.event(event);
    }
}

impl Session {
    /// Asks, and gives events as they happen. Works on any executor.
    ///
    /// # Errors
    ///
    /// [`Error::Runtime`]; all others come from [`TurnStream::finish`].
    pub fn stream(&self, query: impl Into<Input>) -> Result<TurnStream, Error> {
        let (events, receiver) = mpsc::unbounded_channel();
        let tee = Tee {
            events,
            watch: self.watch.clone(),
        };
        let watched = self.clone().watched_by(Arc::new(tee));
        let turn = Turn::new(&watched, query.into());
        let cancel = CancelWhenDropped(turn.cancel());
        Ok(TurnStream {
            events: receiver,
            answered: python::threads()?.spawn(turn.run()),
            cancel,
        })
    }
}
