//! Sessions that wait for an answer: which question it is, its answer, and its end without one.

use super::again::needed;
use super::begin_error::BeginError;
use super::error::RunError;
use super::home::{Home, SessionLog};
use super::journal::{Asking, Cut, ParkedTurn, load_parked, transcript_of};
use super::keeper::Keeper;
use super::memory::{RunRef, SessionMemory};
use super::onward::copied;
use super::open::{Opened, lock};
use super::person::Question;
use super::reopen::Reopened;
use super::resume::used;
use super::run::{Run, usage_record};
use super::session::{Answer, Query, finish, log_of, root_spec};
use super::settings::Settings;
use crate::disk::lock::SessionLock;
use crate::disk::transcript_writer::{AgentRef, EndRecord, TranscriptWriter};
use crate::engine::clock::now;
use crate::provider::Usage;
use crate::store::StoreError;
use std::path::Path;
use std::sync::Arc;

/// Answers the question of a parked session, and runs its query on. No call that had finished is made again.
///
/// The query's own input is used, not `query.input`; where that is a file, it is the file of the query.
///
/// # Errors
/// [`BeginError::NothingParked`], [`BeginError::AnsweredMeanwhile`], [`BeginError::NotAnOption`], and what keeps a query
/// from beginning; the question stays open then.
pub async fn answer(home: &Home, asking: Asking, text: String, query: Query) -> Result<Answer, BeginError> {
    let lock = lock(home, &query.cancel).await?;
    let opened = Opened::open(home, &query.settings, Cut::Close, lock)?;
    let nothing = || BeginError::NothingParked { dir: home.dir.clone() };
    let parked = still_asked(opened.parked, asking, home)?;
    let (writer, _) = opened.log.ok_or_else(nothing)?;
    let before = match &opened.store {
        Some(store) => parked.spent.from(copied(store, writer.session(), parked.turn)?),
        None => parked.spent.from(0),
    };
    if !parked.question.takes(&text) {
        return Err(BeginError::NotAnOption {
            answer: text,
            question: parked.question,
        });
    }
    let started = parked.started.clone();
    let query = query.structured_as(&started);
    let Reopened {
        prepared,
        schema,
        reference,
        lines,
        memory,
    } = Reopened::of(home, &query, &started, opened.doc)?;
    let mut again = parked.onward().ok_or_else(nothing)?;
    if let Some(store) = &opened.store {
        again.rerun = needed(store, writer.session(), parked.turn, (parked.step, &again.code()));
    }
    let guards: Vec<_> = parked.guards.iter().map(used).collect();
    let unanswered: Vec<_> = parked.unanswered.iter().map(used).collect();
    let (journal, tape) = parked.answer(writer, text);
    let keeper = Keeper::resume(memory, journal, reference.clone());
    let run = Arc::new(Run::new(&query, lines, None).after(before));
    let mut spec = root_spec(&run, &reference.run_id, prepared, schema, None, keeper);
    run.accounts.go_on(&spec.id.run_id, guards.into_iter());
    run.accounts.owes(&spec.id.run_id, unanswered.into_iter());
    spec.had_mcp(&started);
    spec.instruction = started.instruction;
    spec.onward = Some(again.with_tape(tape));
    Ok(finish(run, spec, opened.notes).await)
}

/// Closes the parked query of a session as cancelled, without an answer.
///
/// # Errors
/// [`BeginError::NothingParked`], [`BeginError::AnsweredMeanwhile`], and what keeps the session from being written.
pub fn drop_question(home: &Home, asking: Asking, settings: &Settings) -> Result<(), BeginError> {
    let lock = SessionLock::acquire(&home.dir, home.wait)?;
    let opened = Opened::open(home, settings, Cut::Close, lock)?;
    let nothing = || BeginError::NothingParked { dir: home.dir.clone() };
    let parked = still_asked(opened.parked, asking, home)?;
    let (writer, _) = opened.log.ok_or_else(nothing)?;
    let end = parked.end(&home.dir);
    let mut memory = SessionMemory::of_read(&home.dir, opened.doc, settings.secrets.clone())?;
    memory.go_on(RunRef {
        run_id: parked.started.run_id.clone(),
        log_file: parked.started.log_file.clone().unwrap_or_default(),
        query: String::new(),
    });
    Keeper::drop_parked(memory, writer, parked.turn, end).map_err(BeginError::Keep)
}

impl ParkedTurn {
    /// The last line of its transcript, where it is dropped: no line of a step has what the step that asked used.
    fn end(&self, dir: &Path) -> impl FnOnce() -> Result<(), RunError> + use<> {
        let calls = self
            .calls
            .last()
            .into_iter()
            .chain(&self.guards)
            .chain(&self.unanswered);
        let owed = calls.map(|call| Some(used(call))).fold(None, Usage::both);
        let path = transcript_of(dir, &self.started);
        let who = AgentRef {
            run_id: self.started.run_id.clone(),
            parent_run_id: None,
            depth: 0,
        };
        move || {
            let end = EndRecord {
                outcome: Some(RunError::Cancelled.outcome()),
                unanswered: owed.as_ref().map(usage_record),
                ..EndRecord::default()
            };
            match path {
                Some(path) => Ok(TranscriptWriter::open(&path)?.end(&who, now(), &end)?),
                None => Ok(()),
            }
        }
    }
}

/// The parked turn, where it still waits with the question that is meant: whoever waited for the session may have been
/// overtaken by another answer.
fn still_asked(parked: Option<ParkedTurn>, asking: Asking, home: &Home) -> Result<ParkedTurn, BeginError> {
    let waits = match parked {
        Some(parked) if parked.asking() == asking => return Ok(parked),
        other => other.map(|parked| parked.question),
    };
    Err(BeginError::AnsweredMeanwhile {
        dir: home.dir.clone(),
        waits,
    })
}

/// What the session in `dir` waits for, read without taking its lock; `None` when it does not wait.
///
/// # Errors
/// Those of its store.
pub fn waiting(dir: &Path) -> Result<Option<Question>, StoreError> {
    Ok(asking(dir)?.map(|(_, question)| question))
}

/// What a session in an open store waits for.
///
/// # Errors
/// Those of the store.
pub fn waiting_in(log: &SessionLog) -> Result<Option<Question>, StoreError> {
    Ok(asking_in(log)?.map(|(_, question)| question))
}

/// As [`waiting`], with which of the session's questions it is.
///
/// # Errors
/// Those of its store.
pub fn asking(dir: &Path) -> Result<Option<(Asking, Question)>, StoreError> {
    match log_of(dir)? {
        Some((store, session)) => asking_in(&SessionLog { store, session }),
        None => Ok(None),
    }
}

/// As [`waiting_in`], with which of the session's questions it is.
///
/// # Errors
/// Those of the store.
pub fn asking_in(log: &SessionLog) -> Result<Option<(Asking, Question)>, StoreError> {
    let parked = load_parked(&log.store, &log.session)?;
    Ok(parked.map(|parked| (parked.asking(), parked.question)))
}
