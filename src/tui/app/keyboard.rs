//! The terminal's events, read on a thread of their own: what was typed comes whole, however much it is, and nobody
//! waits for the rest of a key that the terminal has told only half of. What events mean is decided elsewhere.

use super::answers::Answers;
use crate::source::need_threads;
use crossterm::event::{self, Event, EventStream};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Events that are handed over at once, at most.
const BATCH: usize = 512;

/// Batches that wait to be taken, at most: a flood stays in the terminal.
const WAITING: usize = 4;

/// Whoever waits is woken when it is told to stop; this long is as good as for ever.
const FOR_EVER: Duration = Duration::from_secs(24 * 60 * 60);

/// How long more is looked for before what is there is handed over. The reader answers at once when something is there;
/// less than a millisecond is no sleep, and zero would be no look at all.
const LOOK: Duration = Duration::from_micros(50);

/// Threads that must be there to read: this one's, the stream's, and one that another may take meanwhile.
const THREADS: usize = 3;

type Batch = io::Result<Vec<Event>>;

/// What the terminal's user does.
pub(super) struct Keyboard {
    sender: Sender<Batch>,
    receiver: Receiver<Batch>,
    taken: VecDeque<Event>,
    /// `None` while the terminal is lent to another program: whoever reads then would take its keys.
    reading: Option<Reading>,
}

impl Keyboard {
    /// Nothing is read yet.
    pub(super) fn new() -> Self {
        let (sender, receiver) = channel(WAITING);
        Self {
            sender,
            receiver,
            taken: VecDeque::new(),
            reading: None,
        }
    }

    /// Reads the terminal's events, or leaves them alone. Those that were read already are told in either case.
    ///
    /// # Errors
    /// The system refused a thread.
    pub(super) fn listen(&mut self, on: bool) -> io::Result<()> {
        // The one before ends first: two would share what is typed.
        self.reading = None;
        if on {
            self.reading = Some(Reading::start(self.sender.clone())?);
        }
        Ok(())
    }

    /// The next event; an error once nothing will come any more.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Event>> {
        loop {
            if let Some(event) = self.taken.pop_front() {
                return Poll::Ready(Ok(event));
            }
            match self.receiver.poll_recv(cx) {
                Poll::Ready(Some(Ok(batch))) => self.taken.extend(batch),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                // The sender is ours.
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// A thread that reads. It ends soon after this is dropped.
struct Reading {
    stop: Arc<AtomicBool>,
    /// Nothing is read from it: dropped, it wakes whoever waits for events, and nothing else can.
    _wake: EventStream,
}

impl Reading {
    fn start(sender: Sender<Batch>) -> io::Result<Self> {
        // The stream takes one, and would panic without.
        need_threads(THREADS)?;
        let stop = Arc::new(AtomicBool::new(false));
        let reading = Self {
            stop: stop.clone(),
            _wake: EventStream::new(),
        };
        let read = move || read(&sender, &stop);
        std::thread::Builder::new().name("keyboard".into()).spawn(read)?;
        Ok(reading)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // Before the stream, which is a field: who is woken looks here.
        self.stop.store(true, Ordering::SeqCst);
    }
}

/// Hands over what is typed until it is to stop, or until there is no terminal any more.
fn read(sender: &Sender<Batch>, stop: &AtomicBool) {
    let mut answers = Answers::default();
    while !stop.load(Ordering::SeqCst) {
        let batch = batch(&mut answers);
        let over = batch.is_err();
        let nothing = batch.as_ref().is_ok_and(Vec::is_empty);
        if !nothing && (sender.blocking_send(batch).is_err() || over) {
            return;
        }
    }
}

/// Waits for an event and takes those that came with it: they are answered with one frame, and a paste is told from
/// typing by how fast its keys follow each other. Empty when the wait was broken off.
fn batch(answers: &mut Answers) -> Batch {
    let mut batch = Vec::new();
    let mut patience = FOR_EVER;
    while batch.len() < BATCH && event::poll(patience)? {
        batch.push(event::read()?);
        let more = event::poll(LOOK)?;
        patience = answers.patience(&batch).filter(|_| !more).unwrap_or(LOOK);
    }
    Ok(answers.without(batch, Instant::now()))
}
