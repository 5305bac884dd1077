//! A session that is not to be: a branch that was refused, an import that could not be completed, one in which nothing
//! was ever asked.

use super::error::LabError;
use super::replay::Source;
use crate::disk::lock::{LOCK_FILE, SessionLock};
use crate::engine::BeginError;
use crate::store::{Kind, Select, remove_session};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Removes a session: its part of the log, its namespaces, its directory. Its id is not used again. The files of one
/// that has the storage directory for its own stay: the store and other sessions are among them.
///
/// # Errors
///
/// [`LabError::Begin`] while another process writes to it; those of the store and of files.
pub(crate) fn remove(source: &Source) -> Result<(), LabError> {
    let Source { store, session, dir } = source;
    let in_root = store.events.session(session)?.in_root;
    let _lock = locked(dir)?;
    remove_session(store, session)?;
    if in_root {
        return Ok(());
    }
    match fs::remove_dir_all(dir) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(LabError::File {
            path: dir.clone(),
            doing: "removing",
            cause,
        }),
        _ => Ok(()),
    }
}

/// Removes a session in which nothing was asked, or says that something was meanwhile. Of its directory goes what a
/// session makes that is asked nothing: whatever else lies there is somebody's.
///
/// # Errors
///
/// [`LabError::Begin`] while another process writes to it; those of the store.
pub(crate) fn prune(source: &Source) -> Result<bool, LabError> {
    let Source { store, session, dir } = source;
    let in_root = store.events.session(session)?.in_root;
    let _lock = locked(dir)?;
    let asked = Select::all().only(&[Kind::TurnStarted]);
    if !store.events.read_all(session, &asked)?.events.is_empty() || dir.join("state.json").exists() {
        return Ok(false);
    }
    remove_session(store, session)?;
    let logs = dir.join("logs");
    // A directory that holds something cannot be removed, which is what is wanted.
    let _ = fs::remove_dir(&logs);
    let only_lock =
        || fs::read_dir(dir).is_ok_and(|mut rest| rest.all(|entry| entry.is_ok_and(|e| e.file_name() == LOCK_FILE)));
    if !in_root && only_lock() {
        let _ = fs::remove_file(dir.join(LOCK_FILE)).and_then(|()| fs::remove_dir(dir));
    }
    Ok(true)
}

fn locked(dir: &Path) -> Result<Option<SessionLock>, LabError> {
    let lock = dir.is_dir().then(|| SessionLock::acquire(dir, Duration::ZERO));
    Ok(lock.transpose().map_err(BeginError::from)?)
}
