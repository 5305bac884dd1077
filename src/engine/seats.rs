//! How many agents work at once. An agent sits while it executes or calls a model, and stands up while it awaits
//! sub-agents: nesting cannot deadlock.

use std::sync::Arc;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};

/// The seats of a run.
#[derive(Clone, Debug)]
pub(super) struct Seats(Arc<Semaphore>);

impl Seats {
    pub(super) fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// Waits for a seat.
    pub(super) async fn sit(&self) -> Seat {
        let seat = Seat {
            seats: self.clone(),
            state: Arc::default(),
        };
        seat.state.lock().await.permit = seat.seats.take().await;
        seat
    }

    async fn take(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so there always comes a permit.
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}

/// An agent's seat.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    seats: Seats,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    permit: Option<OwnedSemaphorePermit>,
    /// Calls of this agent that await sub-agents right now.
    awaiting: usize,
}

impl Seat {
    /// Runs `work` of sub-agents standing: the seat is free for others, and taken again before the answer goes back
    /// to Python.
    pub(super) async fn stand_during<T>(&self, work: impl Future<Output = T>) -> T {
        self.stand().await;
        let done = work.await;
        self.sit_again().await;
        done
    }

    async fn stand(&self) {
        let mut state = self.state.lock().await;
        state.awaiting += 1;
        state.permit = None;
    }

    /// Parallel calls of one agent end one by one; the first to end takes the seat for all.
    async fn sit_again(&self) {
        let mut state = self.state.lock().await;
        state.awaiting = state.awaiting.saturating_sub(1);
        if state.permit.is_none() {
            state.permit = self.seats.take().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test]
    async fn no_more_than_the_seats_work_at_once() {
        let seats = Seats::new(3);
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let agents = (0..20).map(|_| {
            let (seats, now, most) = (seats.clone(), Arc::clone(&now), Arc::clone(&most));
            tokio::spawn(async move {
                let _seat = seats.sit().await;
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
            })
        });
        for agent in agents.collect::<Vec<_>>() {
            agent.await.unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn nesting_deeper_than_the_seats_does_not_deadlock() {
        async fn nest(seats: Seats, depth: usize) -> usize {
            let seat = seats.sit().await;
            if depth == 0 {
                return 0;
            }
            1 + seat.stand_during(Box::pin(nest(seats, depth - 1))).await
        }
        assert_eq!(nest(Seats::new(1), 10).await, 10);
    }
}
