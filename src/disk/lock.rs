//! `session.lock`: one writer per session, across processes. An advisory lock of the operating system on a file that
//! is never deleted; it ends with its process, so a dead writer never blocks. Inside, for people and for readers,
//! stands who holds it.
//!
//! What a holder may do, and the fencing of writers that only believe they hold it, is the store's.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::advice::advice;
use crate::text::instant;

/// Name of the lock's file in a session directory.
pub const LOCK_FILE: &str = "session.lock";

/// A record is a few hundred bytes; what is longer is not ours.
const RECORD_LIMIT: u64 = 4096;
const POLL: Duration = Duration::from_millis(20);
/// A holder writes its record just after taking the lock, and a reader that asks whether a holder elsewhere still lives
/// has the lock for an instant: one that nobody has signed is waited for, however busy the machine is.
const UNSIGNED_WAIT: Duration = Duration::from_secs(2);

/// Who holds a session's lock, as it wrote there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id, on `host`.
    pub pid: u32,
    /// Its machine's name; empty if that was not to be found.
    #[serde(default)]
    pub host: String,
    /// When it took the lock, RFC 3339 in UTC.
    #[serde(default)]
    pub started: String,
    /// When its process was started, in the kernel's own ticks since boot: tells it from a later process of the same
    /// id. `None` where the system does not say.
    #[serde(default)]
    pub process_started: Option<u64>,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {}", self.pid)?;
        if !self.host.is_empty() {
            write!(f, " on {}", self.host)?;
        }
        if !self.started.is_empty() {
            write!(f, ", since {}", self.started)?;
        }
        Ok(())
    }
}

/// The lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another writer holds it.
    #[error(
        "session {} is busy: {} writes to it; wait for it, or follow it read-only with fast-rlm-log",
        dir.display(),
        holder.as_ref().map_or_else(|| "another process".to_owned(), Holder::to_string)
    )]
    Busy {
        /// The session directory, canonical.
        dir: PathBuf,
        /// Who holds it; `None` if its record could not be read.
        holder: Option<Holder>,
    },
    /// `session.lock` is a link, a directory or a device: nothing of ours.
    #[error("{} is not a plain file: a session's lock must be one; move it away", path.display())]
    NotAFile {
        /// The lock's path.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("locking {}: {source}; {}", path.display(), advice(source))]
    Io {
        /// The lock's path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The held lock of one session. Dropping it frees the session.
#[derive(Debug)]
pub struct SessionLock {
    file: File,
    dir: PathBuf,
}

impl SessionLock {
    /// Takes the lock of the session directory `dir`, which must exist. Paths that lead to the same directory share
    /// one lock. A held lock is waited for up to `wait`; one that nobody has signed, two seconds longer.
    ///
    /// # Errors
    ///
    /// [`LockError`]; [`LockError::Busy`] also when this same process holds it.
    pub fn acquire(dir: &Path, wait: Duration) -> Result<Self, LockError> {
        let dir = dir.canonicalize().map_err(|source| LockError::Io {
            path: dir.join(LOCK_FILE),
            source,
        })?;
        let path = dir.join(LOCK_FILE);
        let deadline = Instant::now() + wait;
        loop {
            let file = open(&path)?;
            match file.try_lock() {
                Ok(()) if is_still_at(&file, &path) => {
                    let mut lock = Self { file, dir };
                    lock.sign().map_err(|source| LockError::Io { path, source })?;
                    return Ok(lock);
                }
                // Someone removed or replaced the file meanwhile: a lock on the lost one excludes nobody.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let now = Instant::now();
                    let holder = holder(&dir);
                    if now >= deadline && (holder.is_some() || now >= deadline + UNSIGNED_WAIT) {
                        return Err(LockError::Busy { holder, dir });
                    }
                    std::thread::sleep(POLL);
                }
                Err(TryLockError::Error(source)) => return Err(LockError::Io { path, source }),
            }
        }
    }

    /// The session directory, canonical.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn sign(&mut self) -> io::Result<()> {
        let record = serde_json::to_vec(&myself())?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&record)?;
        self.file.write_all(b"\n")
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // An empty file tells readers that nobody writes, even while this process lives on.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Who writes to the session in `dir`, so that a reader is never in a writer's way.
///
/// `None` if nobody does: no lock file, no record, or one of a process that has ended. On this machine the kernel says
/// so; of a holder on another one, or in another container, the lock itself does, and where it cannot be asked the
/// holder is believed.
pub fn holder(dir: &Path) -> Option<Holder> {
    let path = dir.join(LOCK_FILE);
    read_record(&path).filter(|holder| is_alive(holder, &path))
}

fn read_record(path: &Path) -> Option<Holder> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path)
        .ok()?
        .take(RECORD_LIMIT)
        .read_to_string(&mut text)
        .ok()?;
    serde_json::from_str(&text).ok()
}

fn open(path: &Path) -> Result<File, LockError> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    refuse_links(&mut options);
    let file = options.open(path).map_err(|source| refused(path, source))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(LockError::NotAFile { path: path.to_owned() }),
        Err(source) => Err(LockError::Io {
            path: path.to_owned(),
            source,
        }),
    }
}

/// A link in a received session could aim the record at any file of the user's.
#[cfg(unix)]
fn refuse_links(options: &mut fs::OpenOptions) {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
}

#[cfg(not(unix))]
fn refuse_links(_options: &mut fs::OpenOptions) {}

fn refused(path: &Path, source: io::Error) -> LockError {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => LockError::NotAFile { path: path.to_owned() },
        _ => LockError::Io {
            path: path.to_owned(),
            source,
        },
    }
}

/// Whether an open file is the one of this path.
#[cfg(unix)]
pub(super) fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
pub(super) fn is_still_at(_file: &File, _path: &Path) -> bool {
    true
}

fn myself() -> Holder {
    let pid = std::process::id();
    Holder {
        pid,
        host: host(),
        started: now(),
        process_started: process(pid).map(|process| process.started),
    }
}

fn now() -> String {
    instant(SystemTime::now()).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Linux says it in a file; elsewhere the shell's variables may, and an empty name only makes the message poorer.
fn host() -> String {
    let named = fs::read_to_string("/proc/sys/kernel/hostname");
    let named = named
        .or_else(|_| std::env::var("HOSTNAME"))
        .or_else(|_| std::env::var("COMPUTERNAME"));
    named.unwrap_or_default().trim().to_owned()
}

fn is_alive(holder: &Holder, path: &Path) -> bool {
    if holder.host != host() {
        return is_locked(path);
    }
    match (holder.process_started, process(holder.pid)) {
        // Its locks are gone; only its parent has not asked yet how it ended.
        (_, Some(process)) if process.has_ended => false,
        (Some(recorded), Some(process)) => recorded == process.started,
        _ => runs(holder.pid),
    }
}

/// Whether someone has the lock, as far as this machine can tell: another machine's may be unknown here.
fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock_shared().is_err())
}

#[cfg(unix)]
fn runs(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn runs(_pid: u32) -> bool {
    true
}

/// What the kernel says of a process.
struct Process {
    has_ended: bool,
    started: u64,
}

/// Fields 3 and 22 of `/proc/PID/stat`; the second, the program's name, may itself hold spaces and parentheses.
fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X" | "x");
    let started = fields.nth(18)?.parse().ok()?;
    Some(Process { has_ended, started })
}

#[cfg(test)]
mod tests;
