//! Directories of processes that were killed: found by their names, their owner and by a lock that nobody holds.

use super::{OWNER_FILE, PREFIX, UNNAMED_OWNER, remove};
use std::fs::{self, DirEntry, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Once;

/// What directories are made for.
const KINDS: [&str; 7] = ["agent", "bundle", "copy", "demo", "python", "session", "text"];
/// Whoever makes a directory owns it in much less time.
const OWNED_BY: std::time::Duration = std::time::Duration::from_secs(3_600);

pub(super) fn remove_once(parent: &Path) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| remove_all(parent));
}

/// Removes what processes of this user left that were killed.
fn remove_all(parent: &Path) {
    let ours = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        // Held until it is gone, so that two processes do not remove the same.
        if let Some(_lock) = leftover(&entry, ours) {
            let _ = remove(&entry.path());
        }
    }
}

/// The lock of a directory whose process is dead.
fn leftover(entry: &DirEntry, user: u32) -> Option<File> {
    let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
    let private = |m: &fs::Metadata| m.is_dir() && m.uid() == user && m.mode() & 0o077 == 0;
    let found = entry.metadata().ok().filter(private).filter(|_| named)?;
    let path = entry.path();
    let unborn = || is_named_by_us(entry) && is_unborn(&path, &found);
    let lock = match File::open(path.join(OWNER_FILE)) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound && unborn() => File::open(&path),
        owner => owner,
    };
    lock.ok().filter(|lock| lock.try_lock().is_ok())
}

/// Whether a name is one that this program makes, as `fast-rlm-session-a1B2c3`: any program can make a directory that is
/// empty.
fn is_named_by_us(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    let parts = rest.and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(what, chance)| {
        KINDS.contains(&what) && chance.len() == 6 && chance.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Whether a process was killed in the instant between making a directory and owning it, or before the very last step of
/// removing it: long ago, and nothing is in it that could be anybody's.
fn is_unborn(path: &Path, found: &fs::Metadata) -> bool {
    let is_old = found
        .modified()
        .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > OWNED_BY));
    let ours = |entry: io::Result<DirEntry>| entry.is_ok_and(|entry| entry.file_name() == UNNAMED_OWNER);
    is_old && fs::read_dir(path).is_ok_and(|mut entries| entries.all(ours))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::private_dir::PrivateDir;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    /// A directory that was made long ago, with a file in it.
    fn aged(dir: PathBuf, inside: Option<&str>) -> PathBuf {
        if let Some(name) = inside {
            fs::write(dir.join(name), "").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - OWNED_BY * 2;
        File::open(&dir).unwrap().set_modified(long_ago).unwrap();
        dir
    }

    #[test]
    fn leftovers_of_dead_processes_go_and_nothing_else_does() {
        let parent = tempfile::tempdir().unwrap();
        let alive = PrivateDir::make(parent.path(), "session").unwrap();
        // A killed process: its lock is gone, its directory is not.
        let mut dead = std::mem::ManuallyDrop::new(PrivateDir::make(parent.path(), "python").unwrap());
        drop(std::mem::replace(&mut dead._owner, File::open("/dev/null").unwrap()));
        let another = parent.path().join("fast-rlm-notes");
        fs::create_dir(&another).unwrap();
        fs::write(another.join(OWNER_FILE), "").unwrap();
        let made_by = |prefix: &str| {
            let mut builder = tempfile::Builder::new();
            builder.prefix(prefix).permissions(fs::Permissions::from_mode(0o700));
            builder.tempdir_in(parent.path()).unwrap().keep()
        };
        let nobodys = || made_by("fast-rlm-session-");
        let anothers = aged(made_by("fast-rlm-"), None);
        let unowned = nobodys();
        let unborn = [None, Some(UNNAMED_OWNER)].map(|inside| aged(nobodys(), inside));
        let filled = aged(nobodys(), Some("notes"));
        remove_all(parent.path());
        assert!(!dead.path().exists() && !unborn.iter().any(|dir| dir.exists()));
        assert!(alive.path().exists() && unowned.exists() && filled.exists());
        assert!(another.exists(), "others can enter it: none of ours");
        assert!(
            anothers.exists(),
            "any program can make an empty directory: {anothers:?}"
        );
    }
}
