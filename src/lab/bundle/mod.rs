//! A session in one file: its state.json and transcripts, and its part of the two stores.

mod archive;
mod stage;

pub use stage::unfinished_imports;

use super::error::LabError;
use super::replay::Source;
use crate::disk::fault;
use crate::disk::files::open_inside;
use crate::disk::private_dir::PrivateDir;
use crate::engine::{mark_imported, now};
use crate::store::{
    Copying, EVENTS_FILE, FLOW_FILE, Fact, SessionRow, Storage, Store, StoreError, check_session_id, copy_session,
    remove_session,
};
use archive::{Packer, unpack};
use stage::Stage;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

/// Writes the session into `file`, which must not be there yet, and is not before it is whole.
///
/// # Errors
///
/// [`LabError::File`], [`LabError::Store`].
pub fn export_bundle(source: &Source, file: &Path) -> Result<(), LabError> {
    if file.symlink_metadata().is_ok() {
        return Err(LabError::Exists {
            path: file.to_owned(),
            advice: "write into another file, or remove it",
        });
    }
    let failed = |cause| file_error(file, "writing", cause);
    let mut bundle = Packer::new(file).map_err(failed)?;
    let part = PrivateDir::new("bundle").map_err(failed)?;
    {
        let store = Storage::dir(part.path()).open()?;
        copy_session(&source.store, &source.session, &store, None, now())?;
    }
    for name in [EVENTS_FILE, FLOW_FILE] {
        add(&mut bundle, part.path(), Path::new(name), file)?;
    }
    add(&mut bundle, &source.dir, Path::new("state.json"), file)?;
    for entry in entries(&source.dir.join("logs")) {
        add(&mut bundle, &source.dir, &Path::new("logs").join(entry), file)?;
    }
    bundle.finish(file).map_err(failed)
}

/// Names in a directory, in order; but for those of directories, pipes and the like.
fn entries(dir: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<_> = files.map(|entry| entry.file_name()).collect();
    names.sort();
    names
}

/// Adds a file of the directory `dir` to the bundle that becomes `file`, where it is there.
fn add(bundle: &mut Packer, dir: &Path, name: &Path, file: &Path) -> Result<(), LabError> {
    let path = dir.join(name);
    match open_inside(dir, &path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(file_error(&path, "reading", cause)),
        Ok((mut opened, _)) => bundle
            .add(&mut opened, name)
            .map_err(|cause| file_error(file, "writing", cause)),
    }
}

/// Takes the session in `file` over into the storage directory `dir`: its id there, and how many events of it were not
/// understood. An import that a crash cut is finished by importing the same file again.
///
/// Files that its queries were asked about are not read here: a stranger's record may name any.
///
/// # Errors
///
/// [`LabError::BadBundle`], [`LabError::File`] (also where something of that name is there already),
/// [`LabError::Store`] when the id is taken or none, [`LabError::Begin`] while another process imports it. Nothing is
/// left of a session that could not be taken over.
pub fn import_bundle(file: &Path, dir: &Path, id: Option<&str>) -> Result<(String, usize), LabError> {
    let part = PrivateDir::new("bundle").map_err(|cause| file_error(file, "unpacking", cause))?;
    let digest = unpack(file, part.path())?;
    let bad = |what: &str| LabError::BadBundle {
        path: file.to_owned(),
        what: what.to_owned(),
    };
    let damaged = |error: StoreError| match error {
        StoreError::Damaged { detail, .. } => bad(&format!("its log is damaged ({detail})")),
        error => error.into(),
    };
    let from = Store::open_read_only(part.path()).map_err(damaged)?;
    let row = from
        .events
        .sessions()
        .map_err(damaged)?
        .pop()
        .ok_or_else(|| bad("it holds no session"))?;
    let id = id.unwrap_or(&row.id);
    check_session_id(id)?;
    let place = dir.join(id);
    if fs::symlink_metadata(&place).is_ok() {
        return Err(LabError::Exists {
            path: place,
            advice: "give the session another id (--session-id)",
        });
    }
    let to = Storage::dir(dir).open()?;
    let stage = Stage::open(&to, dir, id, digest)?;
    let taken = take_over((&from, &row), (&to, id), part.path(), &stage);
    let (copied, skipped) = taken.inspect_err(|error| stage.leave(&to, id, error))?;
    Ok((copied.id, skipped))
}

/// The log after the files, and the directory's own name last: then it is whole.
fn take_over(
    (from, row): (&Store, &SessionRow),
    (to, id): (&Store, &str),
    files: &Path,
    stage: &Stage,
) -> Result<(SessionRow, usize), LabError> {
    let reached = |name: &'static str| fault::point(name).map_err(|cause| file_error(files, "filling", cause));
    stage.fill(files)?;
    reached("import.filled")?;
    let strangers = |fact: &mut Fact| {
        if let Fact::TurnStarted(started) = fact {
            mark_imported(started);
        }
    };
    let copying = Copying {
        as_id: Some(id),
        time: now(),
        goes_on: stage.goes_on,
        change: &strangers,
    };
    let (copied, skipped) = copying.copy(from, &row.id, to)?;
    reached("import.logged").and_then(|()| stage.put()).inspect_err(|_| {
        // Its files are not in their place yet. The first error is the one to tell.
        let _ = remove_session(to, &copied.id);
    })?;
    Ok((copied, skipped))
}

fn file_error(path: &Path, doing: &'static str, cause: io::Error) -> LabError {
    LabError::File {
        path: path.to_owned(),
        doing,
        cause,
    }
}
