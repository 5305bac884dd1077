//! A switch that stops calls, shared by everyone who may press it and everyone who must notice.

use std::sync::Arc;
use tokio::sync::watch;

/// A cancel switch. Clones share one state, which never goes back.
#[derive(Clone, Debug)]
pub struct Cancel {
    state: Arc<watch::Sender<bool>>,
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
        }
    }

    /// Cancels everything that holds a clone. Calling it again changes nothing.
    pub fn cancel(&self) {
        self.state.send_replace(true);
    }

    /// Whether someone has cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.state.borrow()
    }

    /// Waits until someone cancels; at once if that has happened.
    pub async fn cancelled(&self) {
        // The sender lives as long as `self`, so waiting can only end in the value itself.
        let _ = self.state.subscribe().wait_for(|cancelled| *cancelled).await;
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
}
