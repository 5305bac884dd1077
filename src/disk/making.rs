//! Files in the making: hidden beside what they become, locked for as long as whoever makes them lives. What a killed
//! process left is told by its name and by nobody's lock on it, and goes when the next one makes the same file, or opens
//! the session that it lies in.

use super::lock::is_still_at;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// Ends the name of a file that is written whole.
pub(super) const WHOLE: &str = ".tmp";
/// Ends the name of a large file, which is written piece by piece.
pub(super) const PART: &str = ".part";
/// Characters of a name that nobody can foresee.
const RANDOM: usize = 6;

/// A builder of names that [`remove_dead`] knows again: `.state.json.` and chance and `.tmp`.
pub(super) fn named<'a>(prefix: &'a OsStr, suffix: &'a str) -> tempfile::Builder<'a, 'a> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(suffix).rand_bytes(RANDOM);
    builder
}

/// Makes a file and locks it, until its name is still its own: between its making and its lock another process may have
/// taken it for dead.
pub(super) fn locked<T>(mut make: impl FnMut() -> io::Result<T>, file: impl Fn(&T) -> &NamedTempFile) -> io::Result<T> {
    loop {
        let made = make()?;
        let held = file(&made);
        // Where there are no locks, nobody can take one, to remove it.
        let _ = held.as_file().lock();
        if is_still_at(held.as_file(), held.path()) {
            return Ok(made);
        }
    }
}

/// Removes what killed processes of this user left in a session's directory, and in those in it.
#[cfg(feature = "engine")]
pub(crate) fn sweep(session: &Path) {
    remove_all_dead(session, |name| name == b".state.json.", WHOLE);
    // A link leads to somebody else's directory.
    let inner =
        |name| Some(session.join(name)).filter(|dir| fs::symlink_metadata(dir).is_ok_and(|found| found.is_dir()));
    if let Some(logs) = inner("logs") {
        remove_all_dead(
            &logs,
            |name| name.starts_with(b".") && name.ends_with(b".query."),
            WHOLE,
        );
    }
    if let Some(inputs) = inner("inputs") {
        remove_all_dead(&inputs, |name| name == b".stdin.", PART);
    }
}

/// Removes what killed processes of this user left of files that begin so.
pub(super) fn remove_dead(dir: &Path, prefix: &OsStr, suffix: &str) {
    remove_all_dead(dir, |name| name == prefix.as_encoded_bytes(), suffix);
}

fn remove_all_dead(dir: &Path, begins: impl Fn(&[u8]) -> bool, suffix: &str) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if !is_ours(entry.file_name().as_encoded_bytes(), &begins, suffix) {
            continue;
        }
        // Removed while its lock is held: who makes one and gets the lock later sees that it is gone.
        if let Some(_dead) = dead(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_ours(name: &[u8], begins: impl Fn(&[u8]) -> bool, suffix: &str) -> bool {
    let rest = name.strip_suffix(suffix.as_bytes());
    let parts = rest.and_then(|rest| rest.split_at_checked(rest.len().checked_sub(RANDOM)?));
    let Some((before, random)) = parts else { return false };
    begins(before) && random.iter().all(u8::is_ascii_alphanumeric)
}

/// The file, locked, if no living process holds it.
#[cfg(unix)]
fn dead(path: &Path) -> Option<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    let mut options = fs::OpenOptions::new();
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.read(true).custom_flags(flags).open(path).ok()?;
    let found = file.metadata().ok()?;
    let ours = found.is_file() && found.uid() == rustix::process::geteuid().as_raw();
    (ours && file.try_lock().is_ok()).then_some(file)
}

/// Elsewhere a lock keeps its own holder from nothing, and others from opening.
#[cfg(not(unix))]
fn dead(path: &Path) -> Option<File> {
    let file = fs::OpenOptions::new().read(true).write(true).open(path).ok()?;
    file.try_lock().is_ok().then_some(file)
}

#[cfg(all(test, feature = "engine"))]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_swept_of_what_nobody_makes_any_more() {
        let dir = tempfile::tempdir().unwrap();
        for inner in ["logs", "inputs"] {
            fs::create_dir(dir.path().join(inner)).unwrap();
        }
        let put = |name: &str| {
            let path = dir.path().join(name);
            fs::write(&path, "x").unwrap();
            path
        };
        let dead = [
            ".state.json.a1B2c3.tmp",
            "logs/.q.query.a1B2c3.tmp",
            "inputs/.stdin.a1B2c3.part",
        ]
        .map(put);
        let others = [
            "state.json",
            "..a1B2c3.tmp",
            ".state.json.a1B2c.tmp",
            ".notes.a1B2c3.tmp",
            "logs/.notes.a1B2c3.tmp",
            "inputs/.stdin.a1B2c3.tmp",
            "a1B2c3.tmp",
            "logs/run.jsonl",
        ]
        .map(put);
        let alive = named(OsStr::new(".state.json."), WHOLE).tempfile_in(dir.path());
        let alive = alive.unwrap();
        alive.as_file().lock().unwrap();
        sweep(dir.path());
        assert!(!dead.iter().any(|path| path.exists()), "{dead:?}");
        assert!(alive.path().exists() && others.iter().all(|path| path.exists()));
        #[cfg(unix)]
        {
            let (received, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            std::os::unix::fs::symlink(elsewhere.path(), received.path().join("logs")).unwrap();
            let theirs = elsewhere.path().join(".q.query.a1B2c3.tmp");
            fs::write(&theirs, "x").unwrap();
            sweep(received.path());
            assert!(theirs.exists(), "a link leads out of the session");
        }
    }
}
