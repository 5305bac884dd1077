//! Where messages come from: the terminal's events, and everything that tasks, signals and the feed send.

use super::feed::FeedId;
use super::keyboard::Keyboard;
use crate::model::Event as ModelEvent;
use crate::source::{OpenError, Opened};
use crate::tui::driver::Msg;
use crate::tui::term::Signal;
use crossterm::event::Event;
use std::io;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// One thing that came in.
#[derive(Debug)]
pub(super) enum Incoming {
    /// From the terminal.
    Terminal(Event),
    /// Nothing will come from the terminal any more.
    NoTerminal,
    /// For the state.
    Msg(Msg),
    /// From the session that a feed reads for the first time.
    Read(FeedId, Vec<ModelEvent>),
    /// The feed has read all of it.
    AllRead(FeedId),
    /// From the session that a feed follows.
    Events(FeedId, Vec<ModelEvent>),
    /// Another session was opened, or could not be.
    Opened(Box<Result<Opened, OpenError>>),
    /// From the system.
    Signal(Signal),
}

/// Sends to the event loop, from any thread.
pub(super) type Sender = UnboundedSender<Incoming>;

/// Everything that can come in.
pub(super) struct Inputs {
    /// `None` once the terminal is gone.
    keyboard: Option<Keyboard>,
    receiver: UnboundedReceiver<Incoming>,
}

impl Inputs {
    /// Inputs without the terminal's events yet, and the sender to them.
    pub(super) fn new() -> (Self, Sender) {
        let (sender, receiver) = unbounded_channel();
        let inputs = Self {
            keyboard: Some(Keyboard::new()),
            receiver,
        };
        (inputs, sender)
    }

    /// Reads the terminal's events, or leaves them alone.
    ///
    /// # Errors
    /// The system refused a thread.
    pub(super) fn listen(&mut self, on: bool) -> io::Result<()> {
        self.keyboard.as_mut().map_or(Ok(()), |keyboard| keyboard.listen(on))
    }

    /// Waits for the next one; `None` when `wait` is over before.
    pub(super) async fn next(&mut self, wait: Option<Duration>) -> Option<Incoming> {
        let next = std::future::poll_fn(|cx| self.poll(cx));
        match wait {
            Some(wait) => tokio::time::timeout(wait, next).await.ok(),
            None => Some(next.await),
        }
    }

    /// The next one that is there already.
    pub(super) async fn ready(&mut self) -> Option<Incoming> {
        std::future::poll_fn(|cx| match self.poll(cx) {
            Poll::Ready(incoming) => Poll::Ready(Some(incoming)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    /// The terminal goes first: keys are answered however much a session tells.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Some(keyboard) = &mut self.keyboard {
            match keyboard.poll(cx) {
                Poll::Ready(Ok(event)) => return Poll::Ready(Incoming::Terminal(event)),
                Poll::Ready(Err(_)) => {
                    self.keyboard = None;
                    return Poll::Ready(Incoming::NoTerminal);
                }
                Poll::Pending => {}
            }
        }
        match self.receiver.poll_recv(cx) {
            Poll::Ready(Some(incoming)) => Poll::Ready(incoming),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}
