//! Removing a directory, whatever was made in it: directories without rights, deeper than a path can tell, links to
//! elsewhere.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, chmodat, open, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, Result as IoResult};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Entries of a directory that are held at a time.
const PIECE: usize = 1_024;

/// Removes a directory with everything in it, and `last` behind all else: whoever is killed meanwhile leaves a directory
/// that can still be told from others'.
pub(super) fn remove(path: &Path, last: &str) -> io::Result<()> {
    empty(path, last.as_bytes())?;
    empty(path, b"")?;
    fs::remove_dir(path)
}

/// Empties a directory without going down into it: what is below a directory in it is moved up first, so that neither
/// depth nor number needs memory, descriptors or a path that is too long. What is called `spared` stays.
fn empty(path: &Path, spared: &[u8]) -> IoResult<()> {
    let top = open(path, DIRECTORY, Mode::empty())?;
    let mut lifted = 0;
    loop {
        let entries = piece(top.as_fd(), spared)?;
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
        let entries = piece(inner.as_fd(), b"")?;
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

/// Some entries of a directory but for one, and which of them are directories themselves.
fn piece(dir: BorrowedFd<'_>, spared: &[u8]) -> IoResult<Vec<(CString, bool)>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") || name.to_bytes() == spared {
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
    fn deep(top: &Path, depth: usize) {
        let mut inner = open(top, DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..depth {
            rustix::fs::mkdirat(&inner, "d", Mode::RWXU).unwrap();
            inner = openat(&inner, "d", DIRECTORY, Mode::empty()).unwrap();
        }
    }

    #[test]
    fn what_nobody_else_could_remove_is_removed() {
        let (outside, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("kept"), "x").unwrap();
        let path = parent.path().join("hostile");
        fs::create_dir(&path).unwrap();
        // More than there are descriptors for.
        deep(&path, 3_000);
        fs::create_dir(path.join("lifted-1")).unwrap();
        fs::write(path.join("lifted-1/full"), "x").unwrap();
        symlink(outside.path(), path.join("elsewhere")).unwrap();
        fs::create_dir_all(path.join("shut/inner/most")).unwrap();
        for shut in ["shut/inner/most", "shut/inner", "shut"] {
            fs::set_permissions(path.join(shut), fs::Permissions::from_mode(0o000)).unwrap();
        }
        fs::write(path.join(".owner"), "").unwrap();
        empty(&path, b".owner").unwrap();
        let left: Vec<_> = fs::read_dir(&path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, [".owner"]);
        remove(&path, ".owner").unwrap();
        assert!(!path.exists());
        assert!(outside.path().join("kept").exists());
    }
}
