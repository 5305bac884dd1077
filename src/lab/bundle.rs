//! A session in one file: its state.json and transcripts, and its part of the two stores, as an uncompressed tar.

use super::error::LabError;
use super::remove::remove;
use super::replay::Source;
use crate::engine::now;
use crate::store::{EVENTS_FILE, FLOW_FILE, SessionRow, Storage, Store, StoreError, check_session_id, copy_session};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// What a bundle may hold; a file is taken for anybody's.
const MOST_FILES: usize = 100_000;
/// Bytes of a name.
const LONGEST_NAME: u64 = 4_096;

/// Writes the session into `file`, which must not be there yet.
///
/// # Errors
///
/// [`LabError::File`], [`LabError::Store`].
pub fn export_bundle(source: &Source, file: &Path) -> Result<(), LabError> {
    let failed = |cause| file_error(file, "writing", cause);
    let part = tempfile::tempdir().map_err(failed)?;
    {
        let store = Storage::dir(part.path()).open()?;
        copy_session(&source.store, &source.session, &store, None, now())?;
    }
    let mut bundle = tar::Builder::new(File::create_new(file).map_err(failed)?);
    for name in [EVENTS_FILE, FLOW_FILE] {
        bundle
            .append_path_with_name(part.path().join(name), name)
            .map_err(failed)?;
    }
    let state = source.dir.join("state.json");
    if state.is_file() {
        bundle.append_path_with_name(&state, "state.json").map_err(failed)?;
    }
    let logs = source.dir.join("logs");
    let mut names: Vec<_> = fs::read_dir(&logs).into_iter().flatten().flatten().collect();
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in names
        .iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
    {
        let name = Path::new("logs").join(entry.file_name());
        bundle.append_path_with_name(entry.path(), name).map_err(failed)?;
    }
    bundle
        .into_inner()
        .and_then(|written| written.sync_all())
        .map_err(failed)
}

/// Takes the session in `file` over into the storage directory `dir`: its id there, and how many events of it were not
/// understood.
///
/// # Errors
///
/// [`LabError::BadBundle`], [`LabError::File`] (also where something of that name is there already), [`LabError::Store`]
/// when the id is taken or none. Nothing is left of a session that could not be taken over.
pub fn import_bundle(file: &Path, dir: &Path, id: Option<&str>) -> Result<(String, usize), LabError> {
    let part = tempfile::tempdir().map_err(|cause| file_error(file, "unpacking", cause))?;
    unpack(file, part.path())?;
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
        return Err(file_error(&place, "making", io::ErrorKind::AlreadyExists.into()));
    }
    let to = Storage::dir(dir).open()?;
    let (copied, skipped) = copy_session(&from, &row.id, &to, Some(id), now())?;
    put_files(part.path(), &to, &copied).inspect_err(|_| {
        let imported = Source {
            store: to.clone(),
            session: copied.id.clone(),
            dir: place,
        };
        // The first error is the one to tell.
        let _ = remove(&imported);
    })?;
    Ok((copied.id, skipped))
}

fn put_files(from: &Path, to: &Store, row: &SessionRow) -> Result<(), LabError> {
    let Some(dir) = to.session_dir(&row.id)? else {
        return Ok(());
    };
    let failed = |cause| file_error(&dir, "filling", cause);
    fs::create_dir_all(dir.join("logs")).map_err(failed)?;
    for entry in fs::read_dir(from.join("logs")).into_iter().flatten().flatten() {
        fs::copy(entry.path(), dir.join("logs").join(entry.file_name())).map_err(failed)?;
    }
    match fs::copy(from.join("state.json"), dir.join("state.json")) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(failed(cause)),
        _ => Ok(()),
    }
}

/// Only plain files of known names: a bundle's paths lead nowhere else.
fn unpack(file: &Path, dir: &Path) -> Result<(), LabError> {
    let bad = |what: String| LabError::BadBundle {
        path: file.to_owned(),
        what,
    };
    let opened = || File::open(file).map_err(|cause| file_error(file, "reading", cause));
    look_at(&mut tar::Archive::new(opened()?)).map_err(bad)?;
    let mut bundle = tar::Archive::new(opened()?);
    for entry in bundle.entries().map_err(|error| bad(error.to_string()))? {
        let mut entry = entry.map_err(|error| bad(error.to_string()))?;
        let path = entry.path().map_err(|error| bad(error.to_string()))?.into_owned();
        if !entry.header().entry_type().is_file() || !is_known(&path) {
            return Err(bad(format!("{} has no place in it", path.display())));
        }
        write(&mut entry, &dir.join(&path)).map_err(|cause| file_error(&path, "unpacking", cause))?;
    }
    Ok(())
}

/// Looks at the headers alone: a name longer than a header holds comes as an entry of its own, which is read as a whole.
fn look_at(bundle: &mut tar::Archive<File>) -> Result<(), String> {
    let entries = bundle.entries_with_seek().map_err(|error| error.to_string())?;
    for (number, entry) in entries.raw(true).enumerate() {
        let header = entry.map_err(|error| error.to_string())?.header().clone();
        let kind = header.entry_type();
        let is_name = kind.is_gnu_longname() || kind.is_pax_local_extensions();
        let size = header.size().map_err(|error| error.to_string())?;
        match () {
            () if number >= MOST_FILES => return Err(format!("it holds more than {MOST_FILES} files")),
            () if is_name && size > LONGEST_NAME => return Err(format!("a name in it has {size} bytes")),
            () if !is_name && !kind.is_file() => return Err("it holds something that is no plain file".into()),
            () => {}
        }
    }
    Ok(())
}

fn write(entry: &mut impl Read, path: &PathBuf) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    io::copy(entry, &mut File::create(path)?).map(drop)
}

fn is_known(path: &Path) -> bool {
    let parts: Vec<Component<'_>> = path.components().collect();
    match parts.as_slice() {
        [Component::Normal(name)] => [EVENTS_FILE, FLOW_FILE, "state.json"].iter().any(|known| name == known),
        [Component::Normal(logs), Component::Normal(_)] => *logs == "logs",
        _ => false,
    }
}

fn file_error(path: &Path, doing: &'static str, cause: io::Error) -> LabError {
    LabError::File {
        path: path.to_owned(),
        doing,
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_bundle_lead_nowhere_else() {
        for known in ["events.db", "state.json", "logs/run.jsonl"] {
            assert!(is_known(Path::new(known)), "{known}");
        }
        for other in ["../x", "/etc/passwd", "logs/../../x", "logs/a/b", "other", ""] {
            assert!(!is_known(Path::new(other)), "{other}");
        }
    }
}
