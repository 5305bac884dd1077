//! From what was typed to a session.

use super::args::Target;
use super::{Failure, list};
use crate::cli::query::config::Config;
use crate::cli::query::{OnwardArgs, can_be_directory, tell_unknown};
use crate::client::Session;
use crate::engine::last_models;
use crate::lab::unfinished_imports;
use crate::source::name_of;
use crate::store::{SessionRow, Store, StoreError, check_session_id};
use std::fs::{metadata, read_dir};
use std::io;
use std::path::{Path, PathBuf};

impl Target {
    pub(super) fn open(&self) -> Result<Session, Failure> {
        open(&self.session, &self.dir)
    }

    /// The session, with the models that it had, or those that are given.
    pub(super) fn open_onward(&self, args: &OnwardArgs) -> Result<Session, Failure> {
        let session = self.open()?;
        let set = Config::find(args.run.config.as_deref())?;
        if args.show.tells() {
            tell_unknown(&set);
        }
        let (root, sub) = args.models(last_models(session.dir())?);
        let mut config = set.with(&args.run)?;
        if let Some(model) = root {
            config = config.primary_agent(model);
        }
        if let Some(model) = sub {
            config = config.sub_agent(model);
        }
        if let Some(file) = &args.input_file {
            config = config.input_file(file);
        }
        Ok(session.config(config))
    }
}

/// `last`, an id in `dir`, or a session's directory.
pub(super) fn open(text: &str, dir: &Path) -> Result<Session, Failure> {
    Ok(Session::open(find(text, dir)?, None)?)
}

/// Where that session has its files.
pub(super) fn find(text: &str, dir: &Path) -> Result<PathBuf, Failure> {
    is_directory(dir)?;
    let none = || {
        Failure::Usage(format!(
            "no session {text:?} in {0}: `fast-rlm sessions {0}` lists those there are",
            dir.display()
        ))
    };
    match text {
        "last" => last(dir),
        id if check_session_id(id).is_ok() && is_session(&dir.join(id)) => Ok(dir.join(id)),
        path if is_session(Path::new(path)) => Ok(PathBuf::from(path)),
        // The one that keeps its files in the directory itself is listed by its name.
        name if is_session(dir) && name_of(dir) == name => Ok(dir.to_owned()),
        id => match known(id, dir)? {
            Some(path) => Ok(path),
            // What may not be looked into is not there for the eye alone.
            None => [dir, &dir.join(id), Path::new(id)]
                .into_iter()
                .try_for_each(enter)
                .and(Err(none())),
        },
    }
}

/// A directory that may not be entered is no empty one: every file in it looks as if it were not there.
fn enter(dir: &Path) -> Result<(), Failure> {
    refused(dir, metadata(dir.join(".")).err())
}

/// The same of one that is to be listed.
pub(super) fn look_into(dir: &Path) -> Result<(), Failure> {
    enter(dir)?;
    refused(dir, read_dir(dir).err())
}

fn refused(dir: &Path, error: Option<io::Error>) -> Result<(), Failure> {
    match error.filter(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        Some(source) => Err(Failure::Store(StoreError::Io {
            path: dir.to_owned(),
            doing: "looking into",
            source,
        })),
        None => Ok(()),
    }
}

/// What `--dir` names is a directory, or can become one.
pub(super) fn is_directory(dir: &Path) -> Result<(), Failure> {
    can_be_directory("--dir", dir).map_err(Failure::Usage)
}

fn is_session(path: &Path) -> bool {
    path.join("state.json").is_file() || path.join("logs").is_dir() || path.join("events.db").is_file()
}

/// Where a session of the store in `dir` has its files.
pub(super) fn place(dir: &Path, row: &SessionRow) -> PathBuf {
    if row.in_root { dir.to_owned() } else { dir.join(&row.id) }
}

fn known(id: &str, dir: &Path) -> Result<Option<PathBuf>, Failure> {
    if check_session_id(id).is_err() || !dir.is_dir() {
        return Ok(None);
    }
    if unfinished_imports(dir).contains(id) {
        let what = "its import was not finished: import the same file again";
        return Err(Failure::Usage(format!("session {id}: {what}")));
    }
    let store = Store::open_read_only(dir)?;
    Ok(store.events.session(id).ok().map(|row| place(dir, &row)))
}

fn last(dir: &Path) -> Result<PathBuf, Failure> {
    let none = || {
        Failure::Usage(format!(
            "no session in {}: --dir names the directory that holds them",
            dir.display()
        ))
    };
    look_into(dir)?;
    if !dir.is_dir() {
        return Err(none());
    }
    list::latest(dir)?.ok_or_else(none)
}
