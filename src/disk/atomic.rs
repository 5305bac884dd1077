//! Writing a file whole, or not at all, and durably: a temporary file in the same directory, fsync, rename, fsync of
//! the directory. `kill -9` or a power cut at any instant leaves the old content or the new one.
//!
//! What the content means is the caller's; so is keeping other writers away ([`super::lock`]).

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::advice::advice;
use super::fault;
use super::making::{WHOLE, locked, named, remove_dead};

/// What was being done when a write failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePhase {
    /// Making the temporary file beside the target.
    Create,
    /// Writing the content to it.
    Write,
    /// Waiting until the content is on the disk.
    Sync,
    /// Putting it in the target's place.
    Rename,
    /// Waiting until the new name is on the disk. The content is in place already.
    SyncDirectory,
}

impl WritePhase {
    /// In words, before the file's path.
    pub(crate) fn doing(self) -> &'static str {
        match self {
            Self::Create => "creating a temporary file for",
            Self::Write => "writing",
            Self::Sync => "syncing",
            Self::Rename => "replacing",
            Self::SyncDirectory => "syncing the directory of",
        }
    }
}

/// A file could not be written. Its earlier content is intact, unless only [`WritePhase::SyncDirectory`] failed.
#[derive(Debug, thiserror::Error)]
#[error("{} {}: {source}; {}", phase.doing(), path.display(), advice(source))]
pub struct WriteError {
    /// The file that was to be written.
    pub path: PathBuf,
    /// How far it came.
    pub phase: WritePhase,
    /// The cause.
    pub source: io::Error,
}

/// Replaces `path` by `content`.
///
/// Permissions of an existing file are kept; a new one gets those of the process. A symbolic link is replaced, never
/// written through: a received session cannot aim a write outside its directory.
///
/// # Errors
///
/// [`WriteError`] naming the path, what was being done and the cause; the temporary file is removed.
pub fn write(path: &Path, content: &[u8]) -> Result<(), WriteError> {
    write_with(path, |file| file.write_all(content))
}

/// As [`write()`], for content that is produced piece by piece. `produce` gets an unbuffered file.
///
/// # Errors
///
/// As [`write()`]; an error of `produce` counts as [`WritePhase::Write`].
pub fn write_with(path: &Path, produce: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    replace(path, create_beside, produce)
}

/// As [`write()`], for a file that only its owner can read, whatever the permissions were before.
///
/// # Errors
///
/// As [`write()`].
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), WriteError> {
    replace(path, create_private_beside, |file| file.write_all(content))
}

fn replace(
    path: &Path,
    create: impl Fn(&Path, &OsStr) -> io::Result<NamedTempFile>,
    produce: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let failed = |phase| {
        move |source| WriteError {
            path: path.to_owned(),
            phase,
            source,
        }
    };
    let mut temp = in_the_making(path, create).map_err(failed(WritePhase::Create))?;
    produce(temp.as_file_mut())
        .and_then(|()| fault::point("atomic.write"))
        .map_err(failed(WritePhase::Write))?;
    temp.as_file()
        .sync_all()
        .and_then(|()| fault::point("atomic.sync"))
        .map_err(failed(WritePhase::Sync))?;
    temp.persist(path)
        .map_err(|refused| refused.error)
        .and_then(|_| fault::point("atomic.rename"))
        .map_err(failed(WritePhase::Rename))?;
    sync_directory(directory_of(path))
        .and_then(|()| fault::point("atomic.sync_directory"))
        .map_err(failed(WritePhase::SyncDirectory))
}

/// Makes a change of names in `directory` durable. Where directories cannot be synced this does nothing.
///
/// # Errors
///
/// The file system's own.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()
    } else {
        Ok(())
    }
}

/// A temporary file that can become `path` and that only its owner can read, for what is worth no wait for the disk.
pub(super) fn private_beside(path: &Path) -> io::Result<NamedTempFile> {
    in_the_making(path, create_private_beside)
}

/// A temporary file that can become `path`. What killed writers of `path` left of theirs goes first.
fn in_the_making(
    path: &Path,
    create: impl Fn(&Path, &OsStr) -> io::Result<NamedTempFile>,
) -> io::Result<NamedTempFile> {
    fault::point("atomic.create")?;
    let prefix = temp_prefix(path)?;
    remove_dead(directory_of(path), &prefix, WHOLE);
    locked(|| create(path, &prefix), |temp| temp)
}

/// A temporary file that can become `path`, with the permissions that a new file there gets.
fn create_beside(path: &Path, prefix: &OsStr) -> io::Result<NamedTempFile> {
    let kept = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
    let temp = temporary(path, prefix, &mut File::options())?;
    if let Some(old) = kept {
        temp.as_file().set_permissions(old.permissions())?;
    }
    Ok(temp)
}

fn create_private_beside(path: &Path, prefix: &OsStr) -> io::Result<NamedTempFile> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    temporary(path, prefix, &mut options)
}

/// A new file of a name that nobody has. An error is the system's own, with its code: the one that names the temporary file
/// has none, and a limit could not be told from a full disk.
fn temporary(path: &Path, prefix: &OsStr, options: &mut OpenOptions) -> io::Result<NamedTempFile> {
    let mut refused = None;
    let made = named(prefix, WHOLE).make_in(directory_of(path), |name| {
        let opened = options.read(true).write(true).create_new(true).open(name);
        opened.inspect_err(|error| refused = error.raw_os_error())
    });
    made.map_err(|error| refused.map_or(error, io::Error::from_raw_os_error))
}

/// `.state.json.` for `…/state.json`: hidden, and told apart from the files of any other program.
pub(super) fn temp_prefix(path: &Path) -> io::Result<OsString> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    Ok(prefix)
}

/// The directory of a file; of a mere name the working directory.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_content_and_leaves_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        write(&path, b"old").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(dir.path()), ["state.json"]);
    }

    #[test]
    fn a_failure_while_producing_keeps_the_old_file_and_no_temporary_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        write(&path, b"old").unwrap();
        let error = write_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert_eq!(error.phase, WritePhase::Write);
        let text = error.to_string();
        assert!(
            text.contains(&*path.to_string_lossy()) && text.contains("free some space"),
            "{text}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["state.json"]);
    }

    #[test]
    fn a_name_that_is_too_long_is_to_be_shorter() {
        let dir = tempfile::tempdir().unwrap();
        let error = write(&dir.path().join("n".repeat(250)), b"x").unwrap_err();
        assert_eq!(error.phase, WritePhase::Create);
        assert!(error.to_string().contains("use a shorter name"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        write_private(&path, b"x").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_vanished_directory_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gone").join("state.json");
        let error = write(&path, b"x").unwrap_err();
        assert_eq!(error.phase, WritePhase::Create);
        assert!(error.to_string().contains("directory is gone"), "{error}");
    }

    #[test]
    fn a_directory_in_the_files_place_is_refused_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        fs::create_dir(&path).unwrap();
        assert_eq!(write(&path, b"x").unwrap_err().phase, WritePhase::Rename);
        assert_eq!(names(dir.path()), ["state.json"]);
        assert!(path.is_dir());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_of_an_existing_file_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        write(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_its_target_untouched() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let path = dir.path().join("state.json");
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }

    #[test]
    fn what_killed_writers_of_this_file_left_goes_and_nothing_else_does() {
        let dir = tempfile::tempdir().unwrap();
        let others = [
            ".other.json.a1B2c3.tmp",
            ".state.json.mine.tmp",
            ".state.json.tmp",
            "x.tmp",
        ];
        for name in [".state.json.a1B2c3.tmp", ".state.json.zzzzzz.tmp"]
            .iter()
            .chain(&others)
        {
            fs::write(dir.path().join(name), "").unwrap();
        }
        write(&dir.path().join("state.json"), b"new").unwrap();
        let left = [
            ".other.json.a1B2c3.tmp",
            ".state.json.mine.tmp",
            ".state.json.tmp",
            "state.json",
            "x.tmp",
        ];
        assert_eq!(names(dir.path()), left);
    }

    #[test]
    fn what_another_writer_makes_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.json");
        write_with(&path, |file| {
            write(&path, b"first").unwrap();
            file.write_all(b"second")
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
    }
}
