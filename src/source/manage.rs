//! New sessions, and other names for those that are there: the only things besides driving that change a directory.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::lock;
use crate::store::{check_session_id, locate};

use super::open::open_new;
use super::{OpenOptions, Opened};

/// Why a session cannot be made or renamed. Paths are raw.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    /// The name is none.
    #[error("{name:?} is no session name: 1 to 64 of A-Z a-z 0-9 . _ -, not beginning with . or -, and not logs")]
    BadName {
        /// What was given.
        name: String,
    },
    /// Something of that name is there.
    #[error("{} is there already: choose another name", path.display())]
    Exists {
        /// Its path.
        path: PathBuf,
    },
    /// A writer holds it.
    #[error("in use by {holder}: rename it when that is done")]
    Held {
        /// Who.
        holder: String,
    },
    /// Its log is found by its name.
    #[error("{} has its log in {}, under its name: it cannot be renamed", path.display(), log.display())]
    Named {
        /// The session's directory.
        path: PathBuf,
        /// Where its log is.
        log: PathBuf,
    },
    /// The system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Makes the directory of a new session, beside others in `dir`, and opens it. Nothing is in it until something is
/// asked.
///
/// # Errors
/// [`ManageError`]; nothing was made then.
pub fn create(dir: &Path, name: &str, options: &OpenOptions) -> Result<Opened, ManageError> {
    let path = free_place(dir, name)?;
    std::fs::create_dir(&path).map_err(|source| ManageError::Io {
        doing: "create",
        path: path.clone(),
        source,
    })?;
    Ok(open_new(&path, options))
}

/// Gives the session in `dir` another name beside its neighbours; returns its directory then.
///
/// # Errors
/// [`ManageError`]; everything is as it was then.
pub fn rename(dir: &Path, name: &str) -> Result<PathBuf, ManageError> {
    let to = free_place(dir.parent().unwrap_or(dir), name)?;
    check_rename(dir)?;
    std::fs::rename(dir, &to).map_err(|source| ManageError::Io {
        doing: "rename",
        path: dir.to_owned(),
        source,
    })?;
    Ok(to)
}

/// Whether a session can have another name, whatever that is.
///
/// # Errors
/// [`ManageError`]: why it cannot.
pub fn check_rename(dir: &Path) -> Result<(), ManageError> {
    if let Some(holder) = lock::holder(dir) {
        return Err(ManageError::Held {
            holder: holder.to_string(),
        });
    }
    if let Ok(location) = locate(dir, None)
        && location.session.is_some()
    {
        return Err(ManageError::Named {
            path: dir.to_owned(),
            log: location.root,
        });
    }
    Ok(())
}

/// The path of a session of this name in `dir`, at which nothing is.
fn free_place(dir: &Path, name: &str) -> Result<PathBuf, ManageError> {
    check_session_id(name).map_err(|_| ManageError::BadName { name: name.to_owned() })?;
    let path = dir.join(name);
    match path.symlink_metadata() {
        Ok(_) => Err(ManageError::Exists { path }),
        Err(_) => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Event;
    use crate::store::{NewSession, Storage};

    #[test]
    fn a_new_session_opens_without_a_problem_and_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let opened = create(dir.path(), "trip", &OpenOptions::default()).unwrap();
        let Opened::Session { events, source } = opened else {
            panic!("no session")
        };
        assert!(
            !events.iter().any(|event| matches!(event, Event::Problem(_))),
            "{events:?}"
        );
        assert_eq!(source.dir(), dir.path().join("trip"));
        let again = create(dir.path(), "trip", &OpenOptions::default());
        assert!(matches!(again, Err(ManageError::Exists { .. })));
    }

    #[test]
    fn a_session_takes_another_name_with_everything_in_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        std::fs::write(dir.path().join("a/state.json"), "{}").unwrap();
        std::fs::create_dir(dir.path().join("b")).unwrap();
        for bad in ["b", "../c", "logs", "", ".x"] {
            rename(&dir.path().join("a"), bad).unwrap_err();
        }
        check_rename(&dir.path().join("a")).unwrap();
        let to = rename(&dir.path().join("a"), "c").unwrap();
        assert!(to.join("state.json").exists() && !dir.path().join("a").exists());
    }

    #[test]
    fn that_a_session_can_have_no_other_name_is_known_before_there_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("a");
        std::fs::create_dir(&session).unwrap();
        let location = locate(&session, Some(dir.path())).unwrap();
        let store = Storage::dir(&location.root).open().unwrap();
        store.events.create_session(&NewSession::named("a", 0)).unwrap();
        drop(store);
        let refused = check_rename(&session).unwrap_err();
        assert!(matches!(refused, ManageError::Named { .. }), "{refused}");
        assert_eq!(rename(&session, "b").unwrap_err().to_string(), refused.to_string());
    }
}
