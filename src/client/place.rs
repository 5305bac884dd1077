//! Where a session lives, from the directory and id that were given, or not given.

use super::ephemeral::EphemeralDir;
use super::error::Error;
use crate::engine::SessionLog;
use crate::store::check_session_id;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a session lives.
#[derive(Debug)]
pub(super) enum Place {
    /// In a private directory, until the session ends.
    Ephemeral(EphemeralDir),
    /// In a directory of the caller's.
    Kept {
        /// Of `state.json`.
        dir: PathBuf,
        /// Of the store, where the session is not in one already.
        storage: PathBuf,
    },
    /// In a client's store that is open.
    Stored {
        /// Of `state.json`.
        dir: PathBuf,
        /// Its log.
        log: SessionLog,
        /// Keeps the directory of a store that has none.
        files: Arc<Files>,
    },
}

/// Where a client's sessions have their files: the storage directory, or a private one that goes with the client.
#[derive(Debug)]
pub(super) enum Files {
    /// The storage directory.
    Storage(PathBuf),
    /// Of stores without one.
    Ephemeral(EphemeralDir),
}

impl Files {
    pub(super) fn dir(&self) -> &Path {
        match self {
            Self::Storage(dir) => dir,
            Self::Ephemeral(dir) => dir.path(),
        }
    }
}

impl Place {
    /// By the rules for the two arguments that say where a session lives. Makes nothing but an ephemeral directory.
    pub(super) fn of(dir: Option<PathBuf>, id: Option<&str>) -> Result<Self, Error> {
        match (dir.filter(|dir| !dir.as_os_str().is_empty()), id) {
            (None, None) => Ok(Self::Ephemeral(EphemeralDir::new()?)),
            (None, Some(id)) => Err(Error::IdWithoutDirectory { id: id.to_owned() }),
            (Some(dir), None) => Ok(Self::Kept {
                storage: dir.clone(),
                dir,
            }),
            (Some(dir), Some(id)) => {
                check_session_id(id)?;
                Ok(Self::Kept {
                    dir: dir.join(id),
                    storage: dir,
                })
            }
        }
    }

    /// The session directory.
    pub(super) fn dir(&self) -> &Path {
        match self {
            Self::Ephemeral(dir) => dir.path(),
            Self::Kept { dir, .. } | Self::Stored { dir, .. } => dir,
        }
    }

    /// Where its store is, if there is none in or beside its directory.
    pub(super) fn storage(&self) -> &Path {
        match self {
            Self::Ephemeral(dir) => dir.path(),
            Self::Kept { storage, .. } => storage,
            Self::Stored { dir, .. } => dir,
        }
    }

    /// Its log, where its store is open.
    pub(super) fn log(&self) -> Option<SessionLog> {
        match self {
            Self::Stored { log, .. } => Some(log.clone()),
            Self::Ephemeral(_) | Self::Kept { .. } => None,
        }
    }

    /// Where its store's sessions have their files, where the store is open.
    pub(super) fn files(&self) -> Option<Arc<Files>> {
        match self {
            Self::Stored { files, .. } => Some(files.clone()),
            Self::Ephemeral(_) | Self::Kept { .. } => None,
        }
    }

    /// Removes what is not to be kept.
    pub(super) fn leave(&self) -> Result<(), Error> {
        match self {
            Self::Ephemeral(dir) => dir.remove(),
            Self::Kept { .. } | Self::Stored { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreError;

    #[test]
    fn the_two_arguments_decide() {
        let kept = |dir: &str, id: Option<&str>| Place::of(Some(dir.into()), id).unwrap().dir().to_owned();
        assert_eq!(kept("runs", None), Path::new("runs"));
        assert_eq!(kept("runs", Some("podcasts")), Path::new("runs/podcasts"));
        let ephemeral = Place::of(None, None).unwrap();
        assert!(ephemeral.dir().is_dir());
    }

    #[test]
    fn an_id_needs_a_directory_and_must_be_one() {
        let error = Place::of(None, Some("podcasts")).unwrap_err();
        assert!(
            error.to_string().contains("\"podcasts\" needs a session directory"),
            "{error}"
        );
        // An empty path is no directory: "runs unset" must not become the working directory.
        assert!(matches!(
            Place::of(Some(PathBuf::new()), Some("x")),
            Err(Error::IdWithoutDirectory { .. })
        ));
        for id in ["", "..", "a/b", "logs", "-x"] {
            let refused = Place::of(Some("runs".into()), Some(id));
            assert!(
                matches!(refused, Err(Error::Store(StoreError::BadSessionId { .. }))),
                "{id:?}"
            );
        }
    }
}
