//! A session's directory while it is imported: beside its place under a name that no session has. It gets its own name
//! when everything of the session is there. What a crash leaves is found by that name at the next import.

use super::file_error;
use crate::disk::lock::{LockError, SessionLock};
use crate::engine::BeginError;
use crate::lab::LabError;
use crate::store::{Digest, IMPORTING, Origin, Store, StoreError, remove_session};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Digits of the bundle's digest that are part of the name.
const DIGITS: usize = 16;

/// A directory in the making.
pub(super) struct Stage {
    dir: PathBuf,
    place: PathBuf,
    /// An import of the same bundle was cut.
    pub(super) goes_on: bool,
    _lock: SessionLock,
}

impl Stage {
    /// That of the session `id` of a bundle, in the storage directory `root`. What another bundle of that name left
    /// unfinished is removed.
    ///
    /// # Errors
    ///
    /// [`LabError::Begin`] while another process imports it.
    pub(super) fn open(to: &Store, root: &Path, id: &str, bundle: Digest) -> Result<Self, LabError> {
        let digits: String = bundle.to_string().chars().take(DIGITS).collect();
        let name = format!("{IMPORTING}{id}.{digits}");
        for (other, _) in unfinished(root)
            .into_iter()
            .filter(|(other, of)| *other != name && of == id)
        {
            sweep(to, root, id, &root.join(other))?;
        }
        let dir = root.join(name);
        let made = fs::create_dir(&dir);
        let goes_on = made
            .as_ref()
            .is_err_and(|cause| cause.kind() == io::ErrorKind::AlreadyExists);
        let is_directory = dir.symlink_metadata().is_ok_and(|found| found.is_dir());
        if !goes_on || !is_directory {
            made.map_err(|cause| file_error(&dir, "making", cause))?;
        }
        let lock = locked(&dir, root, id)?;
        Ok(Self {
            place: root.join(id),
            dir,
            goes_on,
            _lock: lock,
        })
    }

    /// Puts a bundle's files in.
    pub(super) fn fill(&self, from: &Path) -> Result<(), LabError> {
        let failed = |cause| file_error(&self.dir, "filling", cause);
        let logs = self.dir.join("logs");
        fs::create_dir_all(&logs).map_err(failed)?;
        for entry in fs::read_dir(from.join("logs")).into_iter().flatten().flatten() {
            fs::copy(entry.path(), logs.join(entry.file_name())).map_err(failed)?;
        }
        match fs::copy(from.join("state.json"), self.dir.join("state.json")) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(failed(cause)),
            _ => Ok(()),
        }
    }

    /// Gives it its place.
    pub(super) fn put(&self) -> Result<(), LabError> {
        fs::rename(&self.dir, &self.place).map_err(|cause| file_error(&self.place, "making", cause))
    }

    /// Removes it after an error. It stays where its part of the log could not be removed either, as on a full disk:
    /// the next import goes on with it.
    pub(super) fn leave(&self, to: &Store, id: &str, error: &LabError) {
        let is_anothers = matches!(error, LabError::Store(StoreError::SessionExists { .. }));
        if is_anothers || to.events.session(id).is_err() {
            // Why the import failed is what is told.
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

/// Takes the lock of a directory in the making. Who has it is told of the session: nobody knows the directory.
fn locked(dir: &Path, root: &Path, id: &str) -> Result<SessionLock, LabError> {
    let lock = SessionLock::acquire(dir, Duration::ZERO).map_err(|error| match error {
        LockError::Busy { holder, .. } => LockError::Busy {
            dir: root.join(id),
            holder,
        },
        other => other,
    });
    Ok(lock.map_err(BeginError::from)?)
}

/// Removes what an import left unfinished: its part of the log, unless the session is another one, and its directory.
fn sweep(to: &Store, root: &Path, id: &str, dir: &Path) -> Result<(), LabError> {
    let _lock = locked(dir, root, id)?;
    let place = root.join(id);
    let row = to.events.session(id);
    if row.is_ok_and(|row| row.origin == Origin::Imported && !row.in_root) && place.symlink_metadata().is_err() {
        remove_session(to, id)?;
    }
    fs::remove_dir_all(dir).map_err(|cause| file_error(dir, "removing", cause))
}

/// Names of directories of imports that run or were cut, with their sessions' ids.
fn unfinished(root: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let (id, digits) = name.strip_prefix(IMPORTING)?.rsplit_once('.')?;
        (digits.len() == DIGITS).then(|| (name.clone(), id.to_owned()))
    });
    named.collect()
}

/// Sessions of a storage directory that are being imported, or whose import was cut: importing the same bundle again
/// finishes it.
pub fn unfinished_imports(root: &Path) -> HashSet<String> {
    let unfinished = unfinished(root).into_iter().map(|(_, id)| id);
    // An import of a bundle whose session is there already is refused, and harms nobody.
    unfinished.filter(|id| !root.join(id).exists()).collect()
}
