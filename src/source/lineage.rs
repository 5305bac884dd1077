//! What the event log says of a session's branches, and of the steps before which others could branch off.

use std::path::Path;

use crate::disk::state_file::{STATE_FILE, read_state};
use crate::model::{BranchKind, BranchPoint, ForkPoint, Lineage};
use crate::store::payload::{ForkedFrom, StepEnded};
use crate::store::{At, Fact, Kind, Origin, Select, SessionRow, Store, StoreError};

use super::Source;
use super::recorded::Recorded;

/// A session whose log has more branches than this lists the last ones.
const MOST: usize = 100;

/// What is said of a session that another program wrote.
const NO_LOG: &str = "this session has no event log (events.db): another program made it, or it was copied without its log; \
                      what is asked in it from now on can be forked";

impl Source {
    /// What a fork of a run before one of its steps begins with; `step` as screens number it.
    ///
    /// # Errors
    /// Why it cannot be forked there, and what helps, for people.
    pub fn fork_point(&self, run_id: &str, step: u64) -> Result<ForkPoint, String> {
        let failed = |error: StoreError| error.to_string();
        let recorded = Recorded::open(self.dir()).map_err(failed)?.ok_or(NO_LOG)?;
        let (turn, _) = recorded.turn_of(run_id).map_err(failed)?.ok_or(
            "this run is not in the session's event log: another program made it; only runs that are recorded there can be forked",
        )?;
        let index = step.checked_sub(1).and_then(|index| u32::try_from(index).ok());
        let index = index.ok_or("what comes before the first step is the query itself: choose a step")?;
        recorded.fork_point(turn, index).map_err(failed)?
    }
}

impl Recorded {
    fn fork_point(&self, turn: u32, step: u32) -> Result<Result<ForkPoint, String>, StoreError> {
        let kinds = [Kind::TurnStarted, Kind::StepStarted, Kind::StepEnded];
        let mut point = ForkPoint::default();
        let mut is_there = false;
        for event in self.read(Select::turn(turn), &kinds)? {
            let this = event.step == Some(step);
            match event.fact {
                Fact::TurnStarted(started) if !started.cassette => return Ok(Err(NO_CASSETTE.into())),
                Fact::StepStarted(started) if this => (is_there, point.code) = (true, started.code),
                Fact::StepStarted(_) if event.step > Some(step) => point.following += 1,
                Fact::StepEnded(ended) if this => point.bound = self.bound(ended, At::after(turn, step))?,
                _ => {}
            }
        }
        Ok(is_there.then_some(point).ok_or_else(|| NOT_THERE.into()))
    }
}

const NO_CASSETTE: &str =
    "this run was recorded with the cassette off: nothing of it can be run again; ask again with it on";
const NOT_THERE: &str = "this step is not in the event log yet: a run that goes on can be forked when it is done";

/// The family of the session in `dir`; empty where it has no log.
///
/// # Errors
/// The log cannot be read.
pub(super) fn lineage(dir: &Path) -> Result<Lineage, StoreError> {
    let Some(recorded) = Recorded::open(dir)? else {
        return Ok(Lineage::default());
    };
    let rows = recorded.store.events.sessions()?;
    let parent = match recorded.from(&recorded.session)? {
        Some(from) => rows
            .iter()
            .find(|row| row.id == from.session)
            .map(|row| recorded.point(row, &from, &recorded.session))
            .transpose()?,
        None => None,
    };
    let ours = |row: &&SessionRow| row.origin.is_branch() && row.parent.as_ref() == Some(&recorded.session);
    let mut children: Vec<&SessionRow> = rows.iter().filter(ours).collect();
    children.sort_by_key(|row| row.created);
    let mut branches = Vec::new();
    for row in children.iter().skip(children.len().saturating_sub(MOST)) {
        if let Some(from) = recorded.from(&row.id)? {
            branches.push(recorded.point(row, &from, &recorded.session)?);
        }
    }
    let root = recorded.store.root.clone().unwrap_or_default();
    Ok(Lineage { parent, branches, root })
}

impl Recorded {
    fn bound(&self, ended: StepEnded, at: At) -> Result<Vec<(String, String)>, StoreError> {
        let kept = self.store.flow.namespace(&self.session, at)?;
        let kept = kept.map(|namespace| namespace.bindings).unwrap_or_default();
        let value = |name: String| {
            let binding = kept.iter().find(|binding| binding.name == name);
            let text = binding.map(|binding| binding.described.preview.clone());
            (name, text.unwrap_or_default())
        };
        Ok(ended.written.into_iter().map(|written| value(written.name)).collect())
    }

    /// What a session branched off.
    fn from(&self, session: &str) -> Result<Option<ForkedFrom>, StoreError> {
        let events = self
            .store
            .events
            .read_all(session, &Select::all().only(&[Kind::ForkedFrom]))?
            .events;
        let from = |fact| match fact {
            Fact::ForkedFrom(from) => Some(from),
            _ => None,
        };
        Ok(events.into_iter().filter_map(|event| from(event.fact)).next_back())
    }

    /// The point as `row`'s session is to be named by; its turn is looked up in `session`.
    fn point(&self, row: &SessionRow, from: &ForkedFrom, session: &str) -> Result<BranchPoint, StoreError> {
        let started = Select::turn(from.turn).only(&[Kind::TurnStarted]);
        let started = self.store.events.read_all(session, &started)?.events.into_iter().next();
        let run_id = started.and_then(|event| match event.fact {
            Fact::TurnStarted(turn) => Some(turn.run_id),
            _ => None,
        });
        let dir = self.store.session_dir(&row.id)?.unwrap_or_default();
        let is_parent = row.id == from.session;
        let label = run_id
            .as_ref()
            .filter(|_| is_parent)
            .and_then(|run_id| label(&dir, run_id));
        Ok(BranchPoint {
            label,
            session: name(row, &self.store),
            dir,
            kind: match from.origin {
                Origin::WhatIf => BranchKind::WhatIf,
                Origin::New | Origin::Fork | Origin::Imported => BranchKind::Fork,
            },
            run_id,
            step: u64::from(from.step) + 1,
        })
    }
}

/// What the session in `dir` calls a run, if it is one of its completed queries.
fn label(dir: &Path, run_id: &str) -> Option<String> {
    let ledger = read_state(&dir.join(STATE_FILE)).ok()?.ledger;
    let place = ledger
        .iter()
        .position(|entry| entry.run_id.as_deref() == Some(run_id))?;
    Some(format!("Q{}", place + 1))
}

/// As people know it: a session in the storage directory itself is called like that directory.
pub(super) fn name(row: &SessionRow, store: &Store) -> String {
    let dir = store.root.as_ref().filter(|_| row.in_root);
    let name = dir.and_then(|dir| Some(dir.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| row.id.clone())
}
