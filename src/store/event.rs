//! Events as they are given to a store and as they come back.

use std::fmt;
use std::ops::RangeInclusive;

use super::{Fact, Kind};
use crate::model::Time;

/// A fencing token: who holds a session's lock raises it, and every append carries it, so that a writer which was
/// taken over fails instead of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An event to append.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// Stable within the session: appending it again changes nothing.
    pub id: String,
    /// When it happened.
    pub time: Time,
    /// The turn it belongs to, 0-based; `None` outside turns.
    pub turn: Option<u32>,
    /// The step it belongs to, 0-based; `None` outside steps.
    pub step: Option<u32>,
    /// What happened.
    pub fact: Fact,
}

impl NewEvent {
    /// An event of the session as a whole. `name` makes its id stable: `cleared.3`.
    pub fn of_session(name: &str, time: Time, fact: Fact) -> Self {
        Self {
            id: name.to_owned(),
            time,
            turn: None,
            step: None,
            fact,
        }
    }

    /// An event of a turn that happens once in it. Its id is made of the turn and the kind: `t4.turn_started`.
    pub fn of_turn(turn: u32, time: Time, fact: Fact) -> Self {
        let id = format!("t{turn}.{}", fact.kind());
        Self {
            id,
            time,
            turn: Some(turn),
            step: None,
            fact,
        }
    }

    /// An event of a step that happens once in it: `t4.s0.step_ended`.
    pub fn of_step(turn: u32, step: u32, time: Time, fact: Fact) -> Self {
        let id = format!("t{turn}.s{step}.{}", fact.kind());
        Self {
            id,
            time,
            turn: Some(turn),
            step: Some(step),
            fact,
        }
    }

    /// Tells events of one kind in one step or turn apart: the `number` is appended to the id.
    #[must_use]
    pub fn numbered(mut self, number: u64) -> Self {
        self.id = format!("{}.{number}", self.id);
        self
    }
}

/// An event as the store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// Its place in the total order of all sessions of the store; grows, with gaps.
    pub global_seq: u64,
    /// Its session.
    pub session: String,
    /// Its place in the session: 0-based, without gaps.
    pub stream_seq: u64,
    /// Its stable id.
    pub id: String,
    /// When it happened, by the writer's clock: order is `stream_seq`, never this.
    pub time: Time,
    /// The turn it belongs to, 0-based.
    pub turn: Option<u32>,
    /// The step it belongs to, 0-based.
    pub step: Option<u32>,
    /// What happened.
    pub fact: Fact,
}

impl From<StoredEvent> for NewEvent {
    /// The same event, to be appended to another session.
    fn from(event: StoredEvent) -> Self {
        Self {
            id: event.id,
            time: event.time,
            turn: event.turn,
            step: event.step,
            fact: event.fact,
        }
    }
}

/// An event as it is stored, its payload undecoded and nothing of it copied.
#[derive(Clone, Copy, Debug)]
pub struct EventRow<'a> {
    /// Its place in the session.
    pub stream_seq: u64,
    /// Its kind.
    pub kind: Kind,
    /// When it happened.
    pub time: Time,
    /// The turn it belongs to, 0-based.
    pub turn: Option<u32>,
    /// The step it belongs to, 0-based.
    pub step: Option<u32>,
    /// The payload's JSON.
    pub payload: &'a str,
}

impl EventRow<'_> {
    /// What happened; `None` where the payload is damaged.
    pub fn fact(&self) -> Option<Fact> {
        Fact::from_json(self.kind, self.payload).ok()
    }
}

/// A row that could not be understood: newer than this program, or damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its place in the session.
    pub stream_seq: u64,
    /// Its kind, as far as it is readable.
    pub kind: String,
    /// Why it was skipped.
    pub reason: String,
}

/// A run of events in order, and what of it could not be understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Events by `stream_seq`.
    pub events: Vec<StoredEvent>,
    /// Rows that were skipped, by `stream_seq`.
    pub skipped: Vec<Skipped>,
    /// Where the next page begins; `None` at the end of the session.
    pub next: Option<u64>,
}

/// Which events of a session to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// First `stream_seq`.
    pub from: u64,
    /// The `stream_seq` before which they end; `None`: the session's end.
    pub until: Option<u64>,
    /// Only these turns, 0-based.
    pub turns: Option<RangeInclusive<u32>>,
    /// Only these kinds; empty means all. Rows of kinds that are not known are then not reported.
    pub kinds: Vec<Kind>,
    /// Most rows in one page.
    pub limit: usize,
}

impl Select {
    /// Everything, a thousand rows a page.
    pub fn all() -> Self {
        Self {
            from: 0,
            until: None,
            turns: None,
            kinds: Vec::new(),
            limit: 1000,
        }
    }

    /// One turn.
    pub fn turn(turn: u32) -> Self {
        Self {
            turns: Some(turn..=turn),
            ..Self::all()
        }
    }

    /// Only `kinds`.
    #[must_use]
    pub fn only(mut self, kinds: &[Kind]) -> Self {
        self.kinds = kinds.to_vec();
        self
    }

    /// Ends before `stream_seq`; `None`: at the session's end.
    #[must_use]
    pub fn before(mut self, stream_seq: Option<u64>) -> Self {
        self.until = stream_seq;
        self
    }

    /// Begins at `stream_seq`.
    #[must_use]
    pub fn starting(mut self, stream_seq: u64) -> Self {
        self.from = stream_seq;
        self
    }
}
