//! Calls that the event log has of runs that were cut or go on: of a step that has not ended there is no line in any
//! transcript. Most sessions have no such run, and their log is not even opened.

use std::collections::BTreeMap;
use std::path::Path;

use crate::model::{Cost, Evidence, OpenCall, Usage};
use crate::store::payload::{ModelCall, Outcome};
use crate::store::{Asks, Fact, Kind, Select, StoreError};

use super::recorded::Recorded;

/// What was found when the log was looked into last.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    /// state.json says that there may be some.
    pub(super) may_be: bool,
    /// By turn: how far it was read, and what was found up to there.
    turns: BTreeMap<u32, OpenTurn>,
    told: Vec<OpenCall>,
}

/// A turn that has not ended by itself.
#[derive(Debug, Default)]
struct OpenTurn {
    /// The place after the last event that was read.
    next: u64,
    calls: Vec<OpenCall>,
    /// Its root.
    run_id: String,
    asks: Asks,
    /// It was closed: what was cut then is in the log.
    is_closed: bool,
}

impl OpenTurn {
    /// Its calls, and those that nobody wrote down: they may have been cut.
    fn told(&self) -> impl Iterator<Item = OpenCall> {
        let cut = |known| OpenCall {
            run_id: self.run_id.clone(),
            step: None,
            usage: Usage::default(),
            cost: Cost::Unknown,
            known,
        };
        let root = self.asks.may_be().then_some(Evidence::IfCut);
        let cuts = root.into_iter().chain([Evidence::IfCutInSubAgents]);
        let cuts = cuts.filter(|_| !self.is_closed).map(cut);
        self.calls.iter().cloned().chain(cuts)
    }
}

impl OpenCalls {
    /// The calls, when they are others than those told last. A log that cannot be read is told where it is needed.
    pub(super) fn look(&mut self, dir: &Path) -> Option<Vec<OpenCall>> {
        match self.may_be {
            // What was found before stays.
            true => self.read(dir).ok()?,
            false => self.turns.clear(),
        }
        let found: Vec<OpenCall> = self.turns.values().flat_map(OpenTurn::told).collect();
        if found == self.told {
            return None;
        }
        self.told.clone_from(&found);
        Some(found)
    }

    fn read(&mut self, dir: &Path) -> Result<(), StoreError> {
        let Some(recorded) = Recorded::open(dir)? else {
            self.turns.clear();
            return Ok(());
        };
        let open = recorded.open_turns()?;
        self.turns.retain(|turn, _| open.contains(turn));
        for turn in open {
            recorded.read_on(turn, self.turns.entry(turn).or_default())?;
        }
        Ok(())
    }
}

impl OpenTurn {
    fn take(&mut self, step: Option<u32>, fact: Fact) {
        self.asks.take(&fact);
        self.is_closed = matches!(fact, Fact::TurnEnded(_));
        match fact {
            Fact::TurnStarted(started) => self.run_id = started.run_id,
            Fact::ModelCall(call) => self.calls.extend(open_call(step, call)),
            _ => {}
        }
    }
}

impl Recorded {
    /// Turns that have no end, or were closed as interrupted.
    fn open_turns(&self) -> Result<Vec<u32>, StoreError> {
        let mut open = BTreeMap::new();
        let kinds = Select::all().only(&[Kind::TurnStarted, Kind::TurnEnded]);
        self.store.events.scan(&self.session, &kinds, &mut |row| {
            if let Some(turn) = row.turn {
                let closed = row.kind == Kind::TurnEnded && !is_cut(row.fact().as_ref());
                open.insert(turn, !closed);
            }
            true
        })?;
        Ok(open
            .into_iter()
            .filter_map(|(turn, open)| open.then_some(turn))
            .collect())
    }

    /// Reads what came to a turn since it was looked at last.
    fn read_on(&self, turn: u32, known: &mut OpenTurn) -> Result<(), StoreError> {
        let kinds = [
            Kind::TurnStarted,
            Kind::ModelCall,
            Kind::StepEnded,
            Kind::Final,
            Kind::TurnEnded,
        ];
        let select = Select::turn(turn).only(&kinds).starting(known.next);
        self.store.events.scan(&self.session, &select, &mut |row| {
            known.next = row.stream_seq.saturating_add(1);
            if let Some(fact) = row.fact() {
                known.take(row.step, fact);
            }
            true
        })
    }
}

fn is_cut(ended: Option<&Fact>) -> bool {
    matches!(ended, Some(Fact::TurnEnded(ended)) if matches!(ended.outcome, Outcome::Interrupted | Outcome::Suspended))
}

/// What a script replied was no call. One that came to nothing is in the line of no step.
fn open_call(step: Option<u32>, call: ModelCall) -> Option<OpenCall> {
    let line = step.filter(|_| call.error.is_none());
    call.was_asked().then(|| OpenCall {
        run_id: call.run_id,
        step: line.map(|step| u64::from(step) + 1),
        usage: call.usage.unwrap_or_default(),
        cost: call.cost,
        known: Evidence::Recorded,
    })
}
