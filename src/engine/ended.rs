//! Why a session has nothing that could be resumed: what became of its last query, and what to do instead.

use super::home::SessionLog;
use super::journal::IN_TURN;
use super::limits::flag_of;
use super::onward::{Interruption, interruption};
use super::session::log_of;
use crate::disk::state_file::{STATE_FILE, read_head};
use crate::store::payload::{Outcome, TurnEnded};
use crate::store::{Fact, StoreError};
use std::path::Path;

/// Of a query that has no record here.
const FOREIGN: &str =
    "its last query was asked by another program and has no record, so it cannot be resumed: ask it again";

/// Why the last query of the session in `dir`, with this log, cannot be resumed, where nothing of it was cut.
///
/// # Errors
///
/// Those of its store.
pub fn why_nothing_cut(dir: &Path, log: Option<&SessionLog>) -> Result<String, StoreError> {
    let last = log.map(last_of).transpose()?.flatten();
    Ok(match last {
        last if is_foreign(dir, last.as_ref()) => FOREIGN.into(),
        Some(Fact::TurnEnded(ended)) => of_end(&ended),
        _ => "nothing to resume: no query of it has a record".into(),
    })
}

/// Whether the query that has no FINAL in the state.json of `dir` is another program's: the log has none that goes on
/// or waits. Blocks on files.
///
/// # Errors
///
/// Those of its store.
pub fn asked_elsewhere(dir: &Path) -> Result<bool, StoreError> {
    let log = log_of(dir)?.map(|(store, session)| SessionLog { store, session });
    let last = log.as_ref().map(last_of).transpose()?.flatten();
    Ok(is_foreign(dir, last.as_ref()))
}

/// The query of the session in `dir` that a crash cut and that can be resumed, until another one is asked. Blocks on
/// files.
///
/// # Errors
///
/// Those of its store.
pub fn resumable(dir: &Path) -> Result<Option<Interruption>, StoreError> {
    let Some((store, session)) = log_of(dir)? else {
        return Ok(None);
    };
    let cut = interruption(&store, &session)?;
    Ok(cut.filter(|cut| cut.completed > 0 || cut.in_flight))
}

fn last_of(log: &SessionLog) -> Result<Option<Fact>, StoreError> {
    let last = log.store.events.last_of(&log.session, &IN_TURN)?;
    Ok(last.map(|event| event.fact))
}

fn is_foreign(dir: &Path, last: Option<&Fact>) -> bool {
    let ours = match last {
        Some(Fact::TurnEnded(ended)) => matches!(ended.outcome, Outcome::Suspended | Outcome::Interrupted),
        last => last.is_some(),
    };
    !ours && read_head(&dir.join(STATE_FILE)).is_ok_and(|head| head.pending.is_some())
}

fn of_end(ended: &TurnEnded) -> String {
    let limit = ended.limit.as_deref().unwrap_or("a limit");
    match ended.outcome {
        Outcome::Ok => "nothing to resume: its last query was answered".into(),
        Outcome::Cancelled => {
            "nothing to resume: its last query was cancelled; ask it again: names and values are kept".into()
        }
        Outcome::Limit => format!(
            "nothing to resume: its last query was stopped by {limit}; ask it again with more ({}): names and values \
             are kept",
            flag_of(limit)
        ),
        Outcome::Suspended => "nothing to resume: it waits for an answer (`fast-rlm answer`)".into(),
        Outcome::Error | Outcome::Halted | Outcome::Interrupted => {
            "nothing to resume: its last query ended in an error; ask it again: names and values are kept".into()
        }
    }
}
