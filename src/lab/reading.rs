//! How much of a log is read: everything, or what a read-back wants. A long session's payloads are mostly texts that no
//! figure needs; those are passed over, not decoded.

use super::recorded::Recording;
use super::rows::decoded;
use super::spoken::{Length, Spoken};
use crate::model::{Cost, Usage};
use crate::store::payload::{LeafCall, Message, ModelCall, Raised, StepEnded, recorded};
use crate::store::{EventRow, Fact, Kind, Select, Store, StoreError};
use memchr::memmem::Finder;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// How much was said in the calls of each turn's steps, by its number.
pub(super) type Talks = BTreeMap<u32, Vec<Spoken>>;

/// What of a conversation is wanted.
#[derive(Clone, Copy, Debug)]
enum Talk {
    /// Who was asked, and what that took.
    Figures,
    /// What was said, too.
    Texts,
    /// Everything.
    Whole,
}

/// What of a session's log is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Empty: every kind.
    kinds: &'static [Kind],
    /// What of the root's conversation.
    talk: Talk,
    /// Everything else that is text or a value.
    rest: bool,
}

impl Reading {
    /// Everything.
    pub(super) const WHOLE: Self = Self {
        kinds: &[],
        talk: Talk::Whole,
        rest: true,
    };

    /// The conversation; of steps only that there were any.
    pub(super) const TALK: Self = Self {
        kinds: &[Kind::TurnStarted, Kind::ModelCall, Kind::TurnEnded],
        talk: Talk::Texts,
        rest: false,
    };

    /// What each turn used, and how it ended.
    pub(super) const TURNS: Self = Self {
        kinds: &[
            Kind::TurnStarted,
            Kind::ModelCall,
            Kind::LeafCall,
            Kind::StepEnded,
            Kind::TurnEnded,
        ],
        talk: Talk::Figures,
        rest: false,
    };

    /// What each model used.
    pub(super) const COST: Self = Self {
        kinds: &[Kind::TurnStarted, Kind::ModelCall, Kind::LeafCall],
        talk: Talk::Figures,
        rest: false,
    };

    /// What each turn used, and what came of it.
    pub(super) const EFFICIENCY: Self = Self {
        kinds: &[
            Kind::TurnStarted,
            Kind::ModelCall,
            Kind::LeafCall,
            Kind::StepEnded,
            Kind::Final,
            Kind::TurnEnded,
        ],
        talk: Talk::Figures,
        rest: false,
    };

    /// Reads that much of a session.
    pub(super) fn read(self, store: &Store, session: &str) -> Result<Recording, StoreError> {
        self.gather(store, session, |row| Some((self.fact(row)?, ())), |_, ()| ())
    }

    /// Reads that much, and how much was said by and to the root in each turn.
    pub(super) fn read_spoken(self, store: &Store, session: &str) -> Result<(Recording, Talks), StoreError> {
        let mut talks = Talks::new();
        let keep = |turn: Option<u32>, spoken: Option<Spoken>| {
            if let Some((turn, spoken)) = turn.zip(spoken) {
                talks.entry(turn).or_default().push(spoken);
            }
        };
        let recording = self.gather(store, session, |row| self.measured(row), keep)?;
        Ok((recording, talks))
    }

    /// Puts facts together; what is decoded beside each goes to `keep`, with its turn.
    fn gather<T: Send>(
        self,
        store: &Store,
        session: &str,
        decode: impl Fn(&EventRow<'_>) -> Option<(Fact, T)> + Sync,
        mut keep: impl FnMut(Option<u32>, T),
    ) -> Result<Recording, StoreError> {
        let mut recording = Recording::of(session);
        let select = Select::all().only(self.kinds);
        for (place, (fact, beside)) in decoded(store, session, &select, decode)? {
            keep(place.turn, beside);
            recording.take(&place, fact);
        }
        recording.sort();
        Ok(recording)
    }

    /// A row's fact, and how much was said where it is a step's call.
    fn measured(self, row: &EventRow<'_>) -> Option<(Fact, Option<Spoken>)> {
        if row.kind != Kind::ModelCall {
            return Some((self.fact(row)?, None));
        }
        let call: CallLengths<'_> = serde_json::from_str(row.payload).ok()?;
        let spoken =
            (row.step.is_some() && !call.guard).then(|| Spoken::new(call.added.iter().map(|m| m.text), call.reply));
        Some((call.into(), spoken))
    }

    fn fact(self, row: &EventRow<'_>) -> Option<Fact> {
        match (row.kind, self.talk) {
            (Kind::ModelCall, Talk::Figures) => figures::<CallFigures<'_>>(row.payload),
            (Kind::ModelCall, Talk::Texts) => figures::<CallTexts>(row.payload),
            (Kind::LeafCall, _) if !self.rest => cell(row.payload),
            (Kind::StepEnded, _) if !self.rest => step_end(row.payload),
            _ => row.fact(),
        }
    }
}

fn figures<'p, T: Deserialize<'p> + Into<Fact>>(payload: &'p str) -> Option<Fact> {
    serde_json::from_str::<T>(payload).ok().map(Into::into)
}

/// Only a cell that a sub-agent stands behind has figures; the others are known by one look at how this program writes
/// them.
fn cell(payload: &str) -> Option<Fact> {
    static CHILD: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(br#""child_run":""#));
    CHILD.find(payload.as_bytes())?;
    let cell: CellFigures = serde_json::from_str(payload).ok()?;
    cell.child_run.is_some().then(|| cell.into())
}

/// Of a step's end only whether it raised counts; that of one that did not is known by one look, too.
fn step_end(payload: &str) -> Option<Fact> {
    static NOTHING: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(br#""exception":null"#));
    match NOTHING.find(payload.as_bytes()) {
        Some(_) => Some(StepEnded::default().into()),
        None => figures::<StepFigures>(payload),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallFigures<'p> {
    #[serde(borrow)]
    model: Cow<'p, str>,
    guard: bool,
    #[serde(with = "recorded::usage")]
    usage: Option<Usage>,
    #[serde(with = "recorded::cost")]
    cost: Cost,
}

impl From<CallFigures<'_>> for Fact {
    fn from(figures: CallFigures<'_>) -> Self {
        ModelCall {
            model: figures.model.into_owned(),
            guard: figures.guard,
            usage: figures.usage,
            cost: figures.cost,
            ..ModelCall::default()
        }
        .into()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallLengths<'p> {
    #[serde(borrow)]
    model: Cow<'p, str>,
    guard: bool,
    added: Vec<MessageLength>,
    reply: Length,
    #[serde(with = "recorded::usage")]
    usage: Option<Usage>,
    #[serde(with = "recorded::cost")]
    cost: Cost,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageLength {
    text: Length,
}

impl From<CallLengths<'_>> for Fact {
    fn from(lengths: CallLengths<'_>) -> Self {
        CallFigures {
            model: lengths.model,
            guard: lengths.guard,
            usage: lengths.usage,
            cost: lengths.cost,
        }
        .into()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CallTexts {
    model: String,
    guard: bool,
    added: Vec<Message>,
    reply: String,
    #[serde(with = "recorded::usage")]
    usage: Option<Usage>,
    #[serde(with = "recorded::cost")]
    cost: Cost,
}

impl From<CallTexts> for Fact {
    fn from(texts: CallTexts) -> Self {
        ModelCall {
            model: texts.model,
            guard: texts.guard,
            added: texts.added,
            reply: texts.reply,
            usage: texts.usage,
            cost: texts.cost,
            ..ModelCall::default()
        }
        .into()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CellFigures {
    child_run: Option<String>,
    #[serde(with = "recorded::usage")]
    usage: Option<Usage>,
    #[serde(with = "recorded::cost")]
    cost: Cost,
}

impl From<CellFigures> for Fact {
    fn from(figures: CellFigures) -> Self {
        LeafCall {
            child_run: figures.child_run,
            usage: figures.usage,
            cost: figures.cost,
            ..LeafCall::default()
        }
        .into()
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StepFigures {
    exception: Option<IgnoredAny>,
}

impl From<StepFigures> for Fact {
    fn from(figures: StepFigures) -> Self {
        StepEnded {
            exception: figures.exception.map(|_| Raised::default()),
            ..StepEnded::default()
        }
        .into()
    }
}
