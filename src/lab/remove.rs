//! A session that is not to be: a branch that was refused, an import that could not be completed, one in which nothing was
//! ever asked.

use super::error::LabError;
use super::replay::Source;
use crate::disk::lock::SessionLock;
use crate::engine::BeginError;
use crate::store::{SessionWriter, Store};
use std::fs;
use std::io;
use std::time::Duration;

/// Removes a session: its part of the log, its namespaces, its directory. Its id is not used again. The files of one that
/// has the storage directory for its own stay: the store and other sessions are among them.
///
/// # Errors
///
/// [`LabError::Begin`] while another process writes to it; those of the store and of files.
pub(crate) fn remove(source: &Source) -> Result<(), LabError> {
    let Source { store, session, dir } = source;
    let in_root = store.events.session(session)?.in_root;
    let lock = dir.is_dir().then(|| SessionLock::acquire(dir, Duration::ZERO));
    let _lock = lock.transpose().map_err(BeginError::from)?;
    remove_log(store, session)?;
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

/// Removes a session's part of the log and its namespaces. Only for who holds its lock, or where it has no directory.
pub(super) fn remove_log(store: &Store, session: &str) -> Result<(), LabError> {
    let token = SessionWriter::take_over(store, session)?.token();
    store.flow.forget(session, token)?;
    Ok(store.events.remove_session(session, token)?)
}
