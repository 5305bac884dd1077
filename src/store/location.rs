//! Which store a session directory belongs to: exactly one.

use std::path::{Path, PathBuf};

use super::sqlite::EVENTS_FILE;
use super::{EventStore, SqliteEvents, StoreError, check_session_id};

/// The store of a session directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The storage directory: that of `events.db`.
    pub root: PathBuf,
    /// The session's name there; `None` for the one that keeps its files in the storage directory itself.
    pub session: Option<String>,
    /// There is a store already.
    pub exists: bool,
}

/// Finds the store of the session directory `dir`, looking only: `events.db` inside it, else the one beside it if that
/// knows a session of its name, else a new one in `storage` (the directory that was given as storage) if it lies
/// directly in there, else a new one inside it.
///
/// # Errors
///
/// `dir` or its parent cannot be resolved, or the database beside it cannot be read. A `dir` that is not there yet is
/// no error as long as its parent is.
pub fn locate(dir: &Path, storage: Option<&Path>) -> Result<Location, StoreError> {
    let dir = resolve(dir)?;
    if dir.join(EVENTS_FILE).exists() {
        return Ok(Location {
            root: dir,
            session: None,
            exists: true,
        });
    }
    let name = dir.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    if let (Some(parent), Some(name)) = (dir.parent(), &name)
        && knows(parent, name)?
    {
        return Ok(Location {
            root: parent.to_owned(),
            session: Some(name.clone()),
            exists: true,
        });
    }
    let storage = storage.map(resolve).transpose()?;
    let (root, session) = match (storage, name) {
        // Only what is directly inside, and can be a session's name, has its place in the given directory.
        (Some(root), Some(name)) if dir.parent() == Some(&root) && check_session_id(&name).is_ok() => {
            (root, Some(name))
        }
        _ => (dir, None),
    };
    Ok(Location {
        exists: root.join(EVENTS_FILE).exists(),
        root,
        session,
    })
}

fn knows(root: &Path, name: &str) -> Result<bool, StoreError> {
    let file = root.join(EVENTS_FILE);
    if check_session_id(name).is_err() || !file.exists() {
        return Ok(false);
    }
    match SqliteEvents::open_read_only(&file)?.session(name) {
        Ok(session) => Ok(!session.in_root),
        Err(StoreError::UnknownSession { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The canonical path; of a directory that is not there yet, by its parent.
fn resolve(dir: &Path) -> Result<PathBuf, StoreError> {
    let failed = |source| StoreError::Io {
        path: dir.to_owned(),
        doing: "opening",
        source,
    };
    if let Ok(resolved) = dir.canonicalize() {
        return Ok(resolved);
    }
    let parent = dir
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    match dir.file_name() {
        Some(name) => Ok(parent.canonicalize().map_err(failed)?.join(name)),
        None => Err(failed(std::io::ErrorKind::NotFound.into())),
    }
}
