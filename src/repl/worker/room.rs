//! The directory that a worker may write to: how much is in it while it runs, and its removal, whatever was made there.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, chmodat, open, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, Result as IoResult};
use std::ffi::CString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Bytes on disk that a worker's files may have together, those included that have no name any more.
const MOST_BYTES: u64 = 256 << 20;
/// Its files and directories.
const MOST_FILES: usize = 4_096;
/// Entries of a directory that are held at a time.
const PIECE: usize = 1_024;

/// A directory of its own, which is removed when this is dropped.
pub(super) struct Room(PathBuf);

impl Room {
    pub(super) fn new() -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("fast-rlm-python-").tempdir()?;
        // What removes it otherwise goes down as deep as there are directories.
        Ok(Self(dir.keep()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Why there is too much in it, if there is; `process` is whose files these are.
    pub(super) fn excess(&self, process: u32) -> Option<String> {
        let mut found = Found::default();
        let walked = found.below(&self.0);
        // Files that were removed and are still open. A process that has ended has none.
        let open = fs::read_dir(format!("/proc/{process}/fd"))
            .into_iter()
            .flatten()
            .flatten();
        let nameless = open.filter_map(|entry| fs::metadata(entry.path()).ok());
        nameless
            .filter(|file| file.is_file() && file.nlink() == 0)
            .for_each(|file| found.count(&file));
        match walked {
            _ if found.bytes > MOST_BYTES => {
                Some(format!("its files are larger than {} MB together", MOST_BYTES >> 20))
            }
            _ if found.files > MOST_FILES => Some(format!("it made more than {MOST_FILES} files")),
            Err(error) => Some(format!("its directory cannot be looked at: {error}")),
            Ok(()) => None,
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = empty(&self.0);
        let _ = fs::remove_dir(&self.0);
    }
}

#[derive(Default)]
struct Found {
    files: usize,
    bytes: u64,
}

impl Found {
    fn count(&mut self, file: &Metadata) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(file.blocks().saturating_mul(512));
    }

    /// Counts all that is there, or more than may be. What cannot be seen is an error: things could be hidden in it.
    fn below(&mut self, top: &Path) -> io::Result<()> {
        let mut pending = vec![top.to_owned()];
        while let Some(dir) = pending.pop() {
            let entries = match fs::read_dir(&dir) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries.flatten() {
                let Ok(file) = entry.metadata() else { continue };
                self.count(&file);
                if self.files > MOST_FILES || self.bytes > MOST_BYTES {
                    return Ok(());
                }
                if file.is_dir() {
                    pending.push(entry.path());
                }
            }
        }
        Ok(())
    }
}

/// Empties a directory without going down into it: what is below a directory in it is moved up first, so that neither
/// depth nor number needs memory, descriptors or a path that is too long.
fn empty(path: &Path) -> IoResult<()> {
    let top = open(path, DIRECTORY, Mode::empty())?;
    let mut lifted = 0;
    loop {
        let entries = piece(top.as_fd())?;
        if entries.is_empty() {
            return Ok(());
        }
        for (name, is_dir) in entries {
            match is_dir {
                true => remove_dir(top.as_fd(), &name, &mut lifted)?,
                false => unlinkat(&top, &name, AtFlags::empty())?,
            }
        }
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Removes a directory in `top`, whose own directories become directories in `top`.
fn remove_dir(top: BorrowedFd<'_>, name: &CString, lifted: &mut u64) -> IoResult<()> {
    let inner = unlocked(top, name)?;
    loop {
        let entries = piece(inner.as_fd())?;
        if entries.is_empty() {
            return unlinkat(top, name, AtFlags::REMOVEDIR);
        }
        for (entry, is_dir) in entries {
            match is_dir {
                true => lift(inner.as_fd(), &entry, top, lifted)?,
                false => unlinkat(&inner, &entry, AtFlags::empty())?,
            }
        }
    }
}

/// A directory that was perhaps made without any rights.
fn unlocked(parent: BorrowedFd<'_>, name: &CString) -> IoResult<OwnedFd> {
    chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
    openat(parent, name, DIRECTORY, Mode::empty())
}

fn lift(from: BorrowedFd<'_>, name: &CString, top: BorrowedFd<'_>, lifted: &mut u64) -> IoResult<()> {
    // Moving one writes to it: where it came from is an entry of its own.
    chmodat(from, name, Mode::RWXU, AtFlags::empty())?;
    loop {
        *lifted += 1;
        match renameat(from, name, top, format!("lifted-{lifted}")) {
            // There is one of this name already.
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            moved => return moved,
        }
    }
}

/// Some entries of a directory, and which of them are directories themselves.
fn piece(dir: BorrowedFd<'_>) -> IoResult<Vec<(CString, bool)>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => FileType::from_raw_mode(statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode),
            kind => kind,
        };
        entries.push((name.to_owned(), kind == FileType::Directory));
        if entries.len() == PIECE {
            break;
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// Makes directories deeper than any path can tell.
    fn deep(room: &Room, depth: usize) {
        let mut inner = open(room.path(), DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..depth {
            rustix::fs::mkdirat(&inner, "d", Mode::RWXU).unwrap();
            inner = openat(&inner, "d", DIRECTORY, Mode::empty()).unwrap();
        }
    }

    #[test]
    fn what_nobody_else_could_remove_is_removed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let room = Room::new().unwrap();
        let path = room.path().to_owned();
        // More than there are descriptors for.
        deep(&room, 3_000);
        fs::create_dir(path.join("lifted-1")).unwrap();
        fs::write(path.join("lifted-1/full"), "x").unwrap();
        symlink(outside.path(), path.join("elsewhere")).unwrap();
        fs::create_dir_all(path.join("shut/inner/most")).unwrap();
        for shut in ["shut/inner/most", "shut/inner", "shut"] {
            fs::set_permissions(path.join(shut), fs::Permissions::from_mode(0o000)).unwrap();
        }
        drop(room);
        assert!(!path.exists());
        assert!(outside.path().join("kept").exists());
    }

    #[test]
    fn too_many_or_hidden_files_are_an_excess() {
        let room = Room::new().unwrap();
        let own = std::process::id();
        fs::write(room.path().join("one"), "x").unwrap();
        assert_eq!(room.excess(own), None);
        for number in 0..MOST_FILES {
            fs::write(room.path().join(number.to_string()), "").unwrap();
        }
        assert!(room.excess(own).unwrap().contains("more than 4096 files"));
        let room = Room::new().unwrap();
        deep(&room, 2_500);
        assert!(room.excess(own).unwrap().contains("cannot be looked at"));
    }
}
