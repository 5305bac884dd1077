//! Telling background work that nobody waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says whether work has become pointless. Clones say the same.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Nobody waits for it any more.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Says so.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
