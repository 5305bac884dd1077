//! A session that is not to be: a branch that was refused, an import that could not be completed.

use super::error::LabError;
use super::replay::Source;
use crate::store::SessionWriter;
use std::fs;
use std::io;

/// Removes a session: its part of the log, its namespaces, its directory. Its id is not used again. The files of one that
/// has the storage directory for its own stay: the store and other sessions are among them.
///
/// # Errors
///
/// Those of the store and of files.
pub(crate) fn remove(source: &Source) -> Result<(), LabError> {
    let Source { store, session, dir } = source;
    let in_root = store.events.session(session)?.in_root;
    let token = SessionWriter::take_over(store, session)?.token();
    store.flow.forget(session, token)?;
    store.events.remove_session(session, token)?;
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
