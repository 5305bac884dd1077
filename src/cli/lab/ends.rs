//! How the queries of a session ended, as its log has it.

use crate::model::Outcome as Shown;
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

/// As screens and their JSON call it. Only the log knows of a branch that halted: its run failed, in what they see.
fn word(outcome: Outcome) -> &'static str {
    let nameless = String::new();
    let shown = match outcome {
        Outcome::Halted => return "halted",
        Outcome::Ok => Shown::Done,
        Outcome::Error => Shown::Error(nameless),
        Outcome::Cancelled => Shown::Cancelled,
        Outcome::Limit => Shown::Limit(nameless),
        Outcome::Suspended => Shown::Parked(nameless),
        Outcome::Interrupted => Shown::Interrupted,
    };
    shown.word()
}
