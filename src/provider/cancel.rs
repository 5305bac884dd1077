//! A switch that stops calls, shared by everyone who may press it and everyone who must notice.

use futures_util::future::select_all;
use std::sync::Arc;
use tokio::sync::watch;

/// A cancel switch. Clones share one state, which never goes back.
#[derive(Clone, Debug)]
pub struct Cancel {
    state: Arc<watch::Sender<bool>>,
    /// Those above it, which cancel it, too.
    above: Arc<[Arc<watch::Sender<bool>>]>,
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

impl Cancel {
    /// A switch that nobody has pressed.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Arc::new(watch::Sender::new(false)),
            above: Arc::default(),
        }
    }

    /// A switch of a part: pressed by itself, it leaves all else alone; pressed with this one, it is cancelled.
    #[must_use]
    pub fn part(&self) -> Self {
        Self {
            above: self.states().cloned().collect(),
            ..Self::new()
        }
    }

    fn states(&self) -> impl Iterator<Item = &Arc<watch::Sender<bool>>> {
        std::iter::once(&self.state).chain(self.above.iter())
    }

    /// Cancels everything that holds a clone. Calling it again changes nothing.
    pub fn cancel(&self) {
        self.state.send_replace(true);
    }

    /// Whether someone has cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.states().any(|state| *state.borrow())
    }

    /// Waits until someone cancels; at once if that has happened.
    pub async fn cancelled(&self) {
        let pressed = self.states().map(|state| {
            let mut state = state.subscribe();
            // The sender lives as long as `self`, so waiting can only end in the value itself.
            Box::pin(async move { state.wait_for(|cancelled| *cancelled).await.is_ok() })
        });
        select_all(pressed).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_clone_wakes_the_others_and_stays_cancelled() {
        let cancel = Cancel::new();
        let waiting = tokio::spawn({
            let cancel = cancel.clone();
            async move { cancel.cancelled().await }
        });
        assert!(!cancel.is_cancelled());
        cancel.clone().cancel();
        waiting.await.unwrap();
        assert!(cancel.is_cancelled());
        cancel.cancelled().await;
    }

    #[tokio::test]
    async fn a_part_is_cancelled_with_the_whole_and_not_the_other_way() {
        let whole = Cancel::new();
        let (one, other) = (whole.part(), whole.part().part());
        one.cancel();
        one.cancelled().await;
        assert!(!whole.is_cancelled() && !other.is_cancelled());
        whole.cancel();
        other.cancelled().await;
        assert!(other.is_cancelled());
    }
}
