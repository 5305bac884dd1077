//! Forgetting: the session starts anew, its log and transcripts stay.

use super::error::Error;
use super::session::Session;
use crate::disk::atomic::sync_directory;
use crate::disk::lock::SessionLock;
use crate::disk::state_doc::StateDocError;
use crate::engine::{MemoryError, SessionMemory};
use crate::store::payload::{ClearReason, Cleared, Outcome, TurnEnded};
use crate::store::{NewEvent, SessionWriter, Storage, Store, StoreError, locate};
use crate::text::secret::Secrets;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

impl Session {
    /// Forgets everything: the next query starts with an empty REPL. Transcripts and the log stay, and the log says
    /// that the session was cleared. A session that does not exist yet is left so.
    ///
    /// # Errors
    ///
    /// [`Error::Lock`] while a query runs, here or in another process; [`Error::Memory`] when state.json comes from a
    /// newer build; [`Error::Store`], [`Error::File`]. A damaged state.json is cleared.
    pub fn clear(&self) -> Result<(), Error> {
        let dir = self.open_dir()?;
        if !dir.exists() {
            return Ok(());
        }
        let home = self.home();
        let _lock = SessionLock::acquire(dir, home.wait)?;
        refuse_newer(dir)?;
        // First: a process that dies in between leaves a file that the next writer knows to be cleared.
        match &home.log {
            Some(log) => clear_log(&log.store, &log.session)?,
            None => append_cleared(dir, home.storage.as_deref())?,
        }
        unlink(&dir.join("state.json"))
    }
}

fn refuse_newer(dir: &Path) -> Result<(), Error> {
    match SessionMemory::open(dir, Secrets::default()) {
        Err(MemoryError::Refused {
            cause: StateDocError::Damaged { .. },
            ..
        })
        | Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A session without a log (of another program, or one that never began) gets none.
fn append_cleared(dir: &Path, storage: Option<&Path>) -> Result<(), Error> {
    let location = locate(dir, storage)?;
    if !location.exists {
        return Ok(());
    }
    let store = Storage::dir(&location.root).open()?;
    let found = match &location.session {
        Some(name) => store.events.session(name).map(Some),
        None => store
            .events
            .sessions()
            .map(|rows| rows.into_iter().find(|row| row.in_root)),
    };
    let row = match found {
        Ok(Some(row)) => row,
        Ok(None) | Err(StoreError::UnknownSession { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    clear_log(&store, &row.id)
}

fn clear_log(store: &Store, session: &str) -> Result<(), Error> {
    let writer = SessionWriter::take_over(store, session)?;
    let row = writer.row()?;
    let cleared = Cleared {
        reason: ClearReason::Asked,
    };
    let mut events = drop_questions(store, &writer)?;
    events.push(NewEvent::of_session(
        &format!("cleared.{}", row.events),
        now(),
        cleared.into(),
    ));
    writer.append(events)?;
    Ok(())
}

/// Questions that wait go with the variables that their steps need. First: a turn that is suspended and asks nothing is
/// closed by the next writer, should this process die.
fn drop_questions(store: &Store, writer: &SessionWriter) -> Result<Vec<NewEvent>, StoreError> {
    let turns: BTreeSet<u32> = store
        .flow
        .parked(writer.session())?
        .iter()
        .map(|parked| parked.turn)
        .collect();
    let cancelled = |turn: &u32| {
        let ended = TurnEnded {
            outcome: Outcome::Cancelled,
            ..TurnEnded::default()
        };
        NewEvent::of_turn(*turn, now(), ended.into())
    };
    turns.iter().try_for_each(|turn| writer.unpark(*turn))?;
    Ok(turns.iter().map(cancelled).collect())
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn unlink(path: &Path) -> Result<(), Error> {
    let failed = |cause| Error::File {
        path: path.to_owned(),
        doing: "removing",
        cause,
    };
    match fs::remove_file(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(failed(cause)),
        Ok(()) => path.parent().map_or(Ok(()), sync_directory).map_err(failed),
    }
}
