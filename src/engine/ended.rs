//! Why a session has nothing that could be resumed: what became of its last query, and what to do instead.

use super::begin_error::BeginError;
use super::home::{Home, SessionLog};
use super::journal::{IN_TURN, WRITES};
use super::limits::flag_of;
use super::onward::{Interruption, interruption};
use super::open::catch_up;
use super::session::log_of;
use crate::disk::state_file::{STATE_FILE, read_head};
use crate::disk::whole::{LARGEST_STATE, read_bytes};
use crate::store::payload::{Outcome, TurnEnded};
use crate::store::{Action, Digest, Fact, FileState, Select, StoreError, reconcile, recorded};
use std::path::Path;

/// Of a query that has no record here.
const FOREIGN: &str =
    "its last query was asked by another program and has no record, so it cannot be resumed: ask it again";

/// Of one whose process died before it was in state.json.
const MADE_UP: &str = " (state.json did not have its end yet, and has it now)";

/// Why the last query of a session with this log cannot be resumed, where nothing of it was cut. Where its process died
/// after it had ended and before state.json said so, that is made up for.
///
/// # Errors
///
/// Those of its store; what keeps the session from being written, where that is needed.
pub fn why_nothing_cut(home: &Home, log: Option<&SessionLog>) -> Result<String, BeginError> {
    let last = log.map(last_of).transpose()?.flatten();
    let behind = is_unsaid(&home.dir, last.as_ref()) && is_behind(&home.dir, log)?;
    if behind {
        catch_up(home)?;
    }
    let made_up = if behind { MADE_UP } else { "" };
    Ok(match last {
        last if is_unsaid(&home.dir, last.as_ref()) => FOREIGN.into(),
        Some(Fact::TurnEnded(ended)) => of_end(&ended) + made_up,
        _ => "nothing to resume: no query of it has a record".into(),
    })
}

/// Whether the query that has no FINAL in the state.json of `dir` is another program's: the log has none that goes on
/// or waits, and did not go ahead of the file. Blocks on files.
///
/// # Errors
///
/// Those of its store.
pub fn asked_elsewhere(dir: &Path) -> Result<bool, StoreError> {
    let log = log_of(dir)?.map(|(store, session)| SessionLog { store, session });
    let last = log.as_ref().map(last_of).transpose()?.flatten();
    Ok(is_unsaid(dir, last.as_ref()) && !is_behind(dir, log.as_ref())?)
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

/// Whether state.json has a query without an end of which the log does not say that it goes on or waits.
fn is_unsaid(dir: &Path, last: Option<&Fact>) -> bool {
    let goes_on = match last {
        Some(Fact::TurnEnded(ended)) => matches!(ended.outcome, Outcome::Suspended | Outcome::Interrupted),
        last => last.is_some(),
    };
    !goes_on && read_head(&dir.join(STATE_FILE)).is_ok_and(|head| head.pending.is_some())
}

/// Whether state.json is one that was written from this log, which has gone ahead of it.
fn is_behind(dir: &Path, log: Option<&SessionLog>) -> Result<bool, StoreError> {
    let (Some(log), Ok(bytes)) = (log, read_bytes(&dir.join(STATE_FILE), LARGEST_STATE)) else {
        return Ok(false);
    };
    let writes = log.store.events.read_all(&log.session, &Select::all().only(&WRITES))?;
    let found = FileState::Whole(Digest::of(&bytes));
    Ok(reconcile(&recorded(&writes.events), found) == Action::RewriteProjection)
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
