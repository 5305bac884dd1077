//! The numbers that events of a turn have: whoever goes on with it goes on counting. An event with the id of another one
//! is not written.

use super::Journal;
use crate::store::{Fact, StoredEvent};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

/// The next ones.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Of leaf calls, those of sub-agents included, by step.
    calls: BTreeMap<u32, u64>,
    /// Of guard questions.
    guards: u64,
}

impl Numbers {
    pub(super) fn take(&mut self, event: &StoredEvent) {
        match (&event.fact, event.step) {
            (Fact::LeafCall(cell), Some(step)) => {
                let next = self.calls.entry(step).or_default();
                *next = (*next).max(cell.number.saturating_add(1));
            }
            (Fact::ModelCall(call), _) if call.guard => self.guards += 1,
            _ => {}
        }
    }

    /// For a turn that goes on in this step.
    pub(super) fn go_on(&self, step: u32, journal: &mut Journal) {
        journal.calls = AtomicU64::new(self.calls.get(&step).copied().unwrap_or_default());
        journal.guards = AtomicU64::new(self.guards);
    }
}
