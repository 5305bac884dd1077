//! A large file in the making: hidden beside its place, which it gets when it is whole. It goes with its object and at an
//! exit; what a killed process leaves is removed by the next that makes the same file ([`super::making`]).

use super::atomic::{directory_of, sync_directory, temp_prefix};
use super::making::{PART, locked, named, remove_dead};
use super::private_dir::GoesAtExit;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file in the making. Its lock tells other processes that this one lives.
#[derive(Debug)]
pub(crate) struct PartFile {
    file: NamedTempFile,
    _goes: GoesAtExit,
}

impl PartFile {
    /// One that can become `place`, with the permissions that a new file there gets.
    #[cfg_attr(not(feature = "engine"), allow(dead_code, reason = "for bundles"))]
    pub(crate) fn beside(place: &Path) -> io::Result<Self> {
        Self::new(directory_of(place), &temp_prefix(place)?, 0o666)
    }

    /// One for a place in `dir` that is not known yet, or that nobody makes twice: `kind` is what dead ones are found by.
    /// Its permissions are `mode`, less what new files never get.
    pub(crate) fn inside(dir: &Path, kind: &str, mode: u32) -> io::Result<Self> {
        Self::new(dir, format!(".{kind}.").as_ref(), mode)
    }

    fn new(dir: &Path, prefix: &OsStr, mode: u32) -> io::Result<Self> {
        remove_dead(dir, prefix, PART);
        let make = || GoesAtExit::with(|| create(dir, prefix, mode));
        let (file, goes) = locked(make, |(file, _)| file)?;
        Ok(Self { file, _goes: goes })
    }

    /// Gives it its place, where nothing may be yet.
    #[cfg_attr(not(feature = "engine"), allow(dead_code, reason = "for bundles"))]
    pub(crate) fn put(self, place: &Path) -> io::Result<()> {
        self.put_first([place.to_owned()]).map(drop)
    }

    /// Gives it the first of these places where nothing is yet.
    pub(crate) fn put_first(self, places: impl IntoIterator<Item = PathBuf>) -> io::Result<PathBuf> {
        let Self { mut file, _goes } = self;
        file.as_file().sync_all()?;
        for place in places {
            match file.persist_noclobber(&place) {
                Ok(_) => return sync_directory(directory_of(&place)).map(|()| place),
                Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => file = refused.file,
                Err(refused) if is_unsupported(&refused.error) => {
                    file = refused.file;
                    match File::create_new(&place) {
                        Ok(_) => return replace(&file, &place).map(|()| place),
                        Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => {}
                        Err(other) => return Err(other),
                    }
                }
                Err(refused) => return Err(refused.error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// Some file systems of networks cannot give a file a name only where there is none.
fn is_unsupported(cause: &io::Error) -> bool {
    use io::ErrorKind as K;
    matches!(cause.kind(), K::Unsupported | K::PermissionDenied | K::InvalidInput)
}

/// Puts a file in the place of an empty one that was made to hold it.
fn replace(file: &NamedTempFile, place: &Path) -> io::Result<()> {
    std::fs::rename(file.path(), place).inspect_err(|_| drop(std::fs::remove_file(place)))?;
    sync_directory(directory_of(place))
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

fn create(dir: &Path, prefix: &OsStr, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = named(prefix, PART);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder.tempfile_in(dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn whole(place: &Path) -> PartFile {
        let mut part = PartFile::beside(place).unwrap();
        part.write_all(b"whole").unwrap();
        part
    }

    #[test]
    fn it_gets_its_place_when_it_is_whole_and_takes_nobody_elses() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("one.tar");
        let part = whole(&place);
        assert!(!place.exists());
        part.put(&place).unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"whole");
        let refused = PartFile::beside(&place).unwrap().put(&place).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        drop(PartFile::beside(&place).unwrap());
        assert_eq!(names(dir.path()), ["one.tar"]);
    }

    #[test]
    fn where_a_name_cannot_be_taken_alone_the_file_replaces_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("one.txt");
        let part = whole(&place);
        File::create_new(&place).unwrap();
        replace(&part.file, &place).unwrap();
        drop(part);
        assert_eq!(
            (names(dir.path()), fs::read(&place).unwrap()),
            (vec!["one.txt".to_owned()], b"whole".to_vec())
        );
        let kinds = [22, 1, 38, 95].map(|code| is_unsupported(&io::Error::from_raw_os_error(code)));
        if cfg!(target_os = "linux") {
            assert_eq!(kinds, [true; 4], "EINVAL, EPERM, ENOSYS, EOPNOTSUPP");
        }
        assert!(!is_unsupported(&io::ErrorKind::StorageFull.into()));
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
