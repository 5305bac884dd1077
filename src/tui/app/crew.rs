//! Threads for what takes long. The first is there from the start, so that everything is done at some time, whatever the
//! system gives later; others come when all are busy, and go when there is nothing to do.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Threads at most: what is more waits.
const MOST: usize = 64;
/// How long one stays that has nothing to do.
const PATIENCE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// The threads, and what waits for them. They end with the program.
#[derive(Clone)]
pub(super) struct Crew(Arc<Shared>);

#[derive(Default)]
struct Shared {
    board: Mutex<Board>,
    news: Condvar,
}

#[derive(Default)]
struct Board {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl Crew {
    /// A crew of one.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(super) fn start() -> io::Result<Self> {
        let crew = Self(Arc::default());
        crew.hire(None)?;
        Ok(crew)
    }

    /// Does a job soon, on a thread that is not this one.
    pub(super) fn take(&self, job: impl FnOnce() + Send + 'static) {
        let mut board = self.0.board();
        board.waiting.push_back(Box::new(job));
        let wanted = board.waiting.len() > board.idle && board.threads < MOST;
        drop(board);
        if wanted {
            // One that is busy does it later, where there is no thread for it now.
            let _ = self.hire(Some(PATIENCE));
        }
        self.0.news.notify_one();
    }

    fn hire(&self, patience: Option<Duration>) -> io::Result<()> {
        let shared = Arc::clone(&self.0);
        shared.board().threads += 1;
        let hired = thread::Builder::new()
            .name("task".into())
            .spawn(move || shared.work(patience));
        if hired.is_err() {
            self.0.board().threads -= 1;
        }
        hired.map(drop)
    }
}

impl Shared {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what waits; ends when nothing came for as long as it has patience.
    fn work(&self, patience: Option<Duration>) {
        while let Some(job) = self.next(patience) {
            job();
        }
        self.board().threads -= 1;
    }

    fn next(&self, patience: Option<Duration>) -> Option<Job> {
        let mut board = self.board();
        board.idle += 1;
        let empty = |board: &mut Board| board.waiting.is_empty();
        board = match patience {
            None => self
                .news
                .wait_while(board, empty)
                .unwrap_or_else(PoisonError::into_inner),
            Some(wait) => {
                let waited = self.news.wait_timeout_while(board, wait, empty);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        board.idle -= 1;
        board.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn jobs_are_done_beside_one_another_and_none_is_lost() {
        let crew = Crew::start().unwrap();
        let (sender, receiver) = channel();
        let (open, gate) = channel::<()>();
        let told = sender.clone();
        crew.take(move || told.send(gate.recv().is_ok()).unwrap());
        for _ in 0..500 {
            let sender = sender.clone();
            crew.take(move || sender.send(true).unwrap());
        }
        // One waits: the others do what is left.
        assert_eq!(receiver.iter().take(500).count(), 500);
        open.send(()).unwrap();
        assert_eq!(receiver.recv(), Ok(true));
        assert!(crew.0.board().threads <= MOST);
    }

    #[test]
    fn the_first_stays_and_does_what_others_cannot() {
        let shared = Arc::new(Shared::default());
        let crew = Crew(shared.clone());
        // No other is hired: as many as there may be are there already.
        shared.board().threads = MOST;
        let (sender, receiver) = channel();
        for number in 0..3 {
            let sender = sender.clone();
            crew.take(move || sender.send(number).unwrap());
        }
        thread::spawn(move || shared.work(None));
        assert_eq!(receiver.iter().take(3).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
