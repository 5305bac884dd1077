//! What a query used before this process took it up: it counts to its limits, whichever process asked.

use crate::engine::budget::Spent;
use crate::store::{Fact, StoredEvent};
use std::collections::BTreeMap;

/// What the log of a turn has, by step (0-based).
#[derive(Debug, Default)]
pub(in crate::engine) struct TurnSpent(BTreeMap<u32, Spent>);

impl TurnSpent {
    /// An event of the turn.
    pub(super) fn take(&mut self, event: &StoredEvent) {
        let used = match &event.fact {
            Fact::ModelCall(call) if call.was_asked() => Spent::of_call(call.usage, call.cost),
            // Of each sub-agent its own calls, at whatever depth: there are as many as it has steps, guard questions,
            // and calls without a reply.
            Fact::LeafCall(cell) if cell.child_run.is_some() => Spent {
                calls: 0,
                ..Spent::of_call(cell.usage, cell.cost)
            },
            Fact::SubAgent(agent) => Spent {
                calls: (agent.steps.len() + agent.guards.len() + usize::from(agent.unanswered.is_some())) as u64,
                ..Spent::default()
            },
            _ => return,
        };
        let of_step = self.0.entry(event.step.unwrap_or(u32::MAX)).or_default();
        *of_step = of_step.and(&used);
    }

    /// What was used from the step `first` on: what a branch has from its parent, that one paid for.
    pub(in crate::engine) fn from(&self, first: u64) -> Spent {
        let own = self.0.iter().filter(|(step, _)| u64::from(**step) >= first);
        own.fold(Spent::default(), |sum, (_, spent)| sum.and(spent))
    }
}
