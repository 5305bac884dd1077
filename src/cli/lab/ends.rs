//! How the queries of a session ended, as its log has it.

use crate::store::payload::Outcome;
use crate::store::{Fact, StoredEvent};

/// How the queries of a log ended.
pub(super) struct Ends {
    /// How many have a FINAL.
    pub(super) answered: u64,
    /// The last one, if it has ended.
    pub(super) last: Option<&'static str>,
}

impl Ends {
    pub(super) fn of(events: &[StoredEvent]) -> Self {
        let end = |event: &StoredEvent| match &event.fact {
            Fact::TurnEnded(ended) => Some(word(ended.outcome)),
            _ => None,
        };
        let ends = events.iter().filter_map(end);
        Self {
            answered: ends.filter(|word| *word == "done").count() as u64,
            last: events.last().and_then(end),
        }
    }
}

/// As the program's own JSON calls it.
fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "done",
        Outcome::Error => "error",
        Outcome::Cancelled => "cancelled",
        Outcome::Limit => "limit",
        Outcome::Suspended => "parked",
        Outcome::Halted => "halted",
        Outcome::Interrupted => "interrupted",
    }
}
