//! A large file in the making: hidden beside its place, which it gets when it is whole. It goes with its object and at an
//! exit; what a killed process leaves is removed by the next that makes the same file.

use super::atomic::{directory_of, sync_directory, temp_prefix};
use super::lock::is_still_at;
use super::private_dir::GoesAtExit;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Ends the name of no other file of ours, so that nobody else's work is taken for something left behind.
const SUFFIX: &str = ".part";
/// Characters between the file's name and that.
const RANDOM: usize = 6;

/// A file in the making. Its lock tells other processes that this one lives.
#[derive(Debug)]
pub(crate) struct PartFile {
    file: NamedTempFile,
    _goes: GoesAtExit,
}

impl PartFile {
    /// One that can become `place`, with the permissions that a new file there gets.
    pub(crate) fn beside(place: &Path) -> io::Result<Self> {
        remove_leftovers(place)?;
        loop {
            let (file, goes) = GoesAtExit::with(|| create(place))?;
            // Where there are no locks, nobody can take one, to remove it.
            let _ = file.as_file().lock();
            // Between its making and its lock another process may have taken it for a leftover.
            if is_still_at(file.as_file(), file.path()) {
                return Ok(Self { file, _goes: goes });
            }
        }
    }

    /// Gives it its place, where nothing may be yet.
    pub(crate) fn put(self, place: &Path) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist_noclobber(place).map_err(|refused| refused.error)?;
        sync_directory(directory_of(place))
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

fn create(place: &Path) -> io::Result<NamedTempFile> {
    let prefix = temp_prefix(place)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory_of(place))
}

/// Removes what killed processes of this user left of the same file.
fn remove_leftovers(place: &Path) -> io::Result<()> {
    let prefix = temp_prefix(place)?;
    for entry in fs::read_dir(directory_of(place)).into_iter().flatten().flatten() {
        if !is_part(entry.file_name().as_encoded_bytes(), prefix.as_encoded_bytes()) {
            continue;
        }
        // Removed while its lock is held: who makes one and gets the lock later sees that it is gone.
        if let Some(_left) = leftover(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

fn is_part(name: &[u8], prefix: &[u8]) -> bool {
    let rest = name.strip_prefix(prefix);
    let random = rest.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    random.is_some_and(|random| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric))
}

/// The file, locked, if no living process holds it.
#[cfg(unix)]
fn leftover(path: &Path) -> Option<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    let mut options = fs::OpenOptions::new();
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.read(true).write(true).custom_flags(flags).open(path).ok()?;
    let found = file.metadata().ok()?;
    let ours = found.is_file() && found.uid() == rustix::process::geteuid().as_raw();
    (ours && file.try_lock().is_ok()).then_some(file)
}

/// Elsewhere a lock keeps its own holder from nothing, and others from opening.
#[cfg(not(unix))]
fn leftover(path: &Path) -> Option<File> {
    let file = fs::OpenOptions::new().read(true).write(true).open(path).ok()?;
    file.try_lock().is_ok().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn it_gets_its_place_when_it_is_whole_and_takes_nobody_elses() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("one.tar");
        let mut part = PartFile::beside(&place).unwrap();
        part.write_all(b"whole").unwrap();
        assert!(!place.exists());
        part.put(&place).unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"whole");
        let refused = PartFile::beside(&place).unwrap().put(&place).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        drop(PartFile::beside(&place).unwrap());
        assert_eq!(names(dir.path()), ["one.tar"]);
    }

    #[test]
    fn what_dead_processes_left_of_the_same_file_goes_and_nothing_else_does() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("one.tar");
        let alive = PartFile::beside(&place).unwrap();
        fs::write(dir.path().join(".one.tar.a1B2c3.part"), "left").unwrap();
        let others = [
            ".one.tar.a1B2c3.tmp",
            ".one.tar.my-own.part",
            ".one.tar.part",
            ".two.tar.a1B2c3.part",
        ];
        others
            .iter()
            .for_each(|name| fs::write(dir.path().join(name), "kept").unwrap());
        let again = PartFile::beside(&place).unwrap();
        assert!(alive.file.path().exists() && again.file.path().exists());
        drop((alive, again));
        assert_eq!(names(dir.path()), others);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_or_a_pipe_of_such_a_name_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("one.tar");
        let (victim, link) = (dir.path().join("victim"), dir.path().join(".one.tar.aaaaaa.part"));
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        drop(PartFile::beside(&place).unwrap());
        assert!(link.symlink_metadata().is_ok() && victim.exists());
    }
}
