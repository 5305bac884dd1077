//! `session.lock`: one writer per session, across processes. An advisory lock of the operating system on a file that
//! is never deleted; it ends with its process, so a dead writer never blocks. Inside, for people and for readers,
//! stands who holds it.
//!
//! What a holder may do, and the fencing of writers that only believe they hold it, is the store's.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::atomic::advice;

/// Name of the lock's file in a session directory.
pub const LOCK_FILE: &str = "session.lock";

/// A record is a few hundred bytes; what is longer is not ours.
const RECORD_LIMIT: u64 = 4096;
const POLL: Duration = Duration::from_millis(20);
/// A holder writes its record just after taking the lock: a reader that comes between looks again this often.
const RECORD_TRIES: u32 = 5;

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
    /// one lock. A held lock is waited for up to `wait`; zero refuses at once.
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
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(LockError::Busy {
                        holder: read_signed(&path),
                        dir,
                    });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
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

/// Who writes to the session in `dir`, judged without touching the lock, so that a reader is never in a writer's way.
///
/// `None` if nobody does: no lock file, no record, or one of a process of this machine that has ended. A holder on
/// another machine cannot be checked, and is believed.
pub fn holder(dir: &Path) -> Option<Holder> {
    read_record(&dir.join(LOCK_FILE)).filter(is_alive)
}

fn read_signed(path: &Path) -> Option<Holder> {
    for _ in 0..RECORD_TRIES {
        if let Some(holder) = read_record(path).filter(is_alive) {
            return Some(holder);
        }
        std::thread::sleep(POLL);
    }
    None
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
        process_started: process_started(pid),
    }
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Linux says it in a file; elsewhere the shell's variables may, and an empty name only makes the message poorer.
fn host() -> String {
    let named = fs::read_to_string("/proc/sys/kernel/hostname");
    let named = named
        .or_else(|_| std::env::var("HOSTNAME"))
        .or_else(|_| std::env::var("COMPUTERNAME"));
    named.unwrap_or_default().trim().to_owned()
}

fn is_alive(holder: &Holder) -> bool {
    if holder.host != host() {
        return true;
    }
    match (holder.process_started, process_started(holder.pid)) {
        (Some(recorded), Some(running)) => recorded == running,
        _ => runs(holder.pid),
    }
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

/// Field 22 of `/proc/PID/stat`; the second, the program's name, may itself hold spaces and parentheses.
fn process_started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_is_told_who_holds_it_and_gets_it_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let held = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
        let LockError::Busy { holder: Some(by), .. } = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap_err()
        else {
            panic!("not busy");
        };
        assert_eq!(by.pid, std::process::id());
        assert_eq!(holder(dir.path()), Some(by));
        drop(held);
        assert_eq!(holder(dir.path()), None);
        assert!(dir.path().join(LOCK_FILE).exists());
        SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
    }

    #[test]
    fn the_message_names_the_holder_and_offers_to_follow() {
        let dir = tempfile::tempdir().unwrap();
        let _held = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
        let text = SessionLock::acquire(dir.path(), Duration::ZERO)
            .unwrap_err()
            .to_string();
        assert!(text.contains(&format!("process {}", std::process::id())), "{text}");
        assert!(text.contains("read-only"), "{text}");
    }

    #[test]
    fn waiting_ends_when_the_holder_lets_go() {
        let dir = tempfile::tempdir().unwrap();
        let held = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
        let path = dir.path().to_owned();
        let waiter = std::thread::spawn(move || SessionLock::acquire(&path, Duration::from_secs(60)).map(drop));
        std::thread::sleep(POLL);
        drop(held);
        waiter.join().unwrap().unwrap();
    }

    #[test]
    fn a_dead_holders_record_blocks_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let mut dead = myself();
        dead.process_started = dead.process_started.map(|ticks| ticks + 1);
        dead.pid = if dead.process_started.is_some() {
            dead.pid
        } else {
            u32::MAX
        };
        fs::write(dir.path().join(LOCK_FILE), serde_json::to_vec(&dead).unwrap()).unwrap();
        assert_eq!(holder(dir.path()), None);
        SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
    }

    #[test]
    fn a_holder_elsewhere_is_believed_by_readers() {
        let dir = tempfile::tempdir().unwrap();
        let far = Holder {
            host: "elsewhere.invalid".into(),
            ..myself()
        };
        fs::write(dir.path().join(LOCK_FILE), serde_json::to_vec(&far).unwrap()).unwrap();
        assert_eq!(holder(dir.path()), Some(far));
    }

    #[test]
    fn garbage_in_the_file_is_nobody() {
        let dir = tempfile::tempdir().unwrap();
        for garbage in [&b"\xff\x00"[..], b"{\"pid\":", b"[]", b""] {
            fs::write(dir.path().join(LOCK_FILE), garbage).unwrap();
            assert_eq!(holder(dir.path()), None);
            SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
        }
    }

    #[test]
    fn a_missing_directory_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = SessionLock::acquire(&dir.path().join("gone"), Duration::ZERO).unwrap_err();
        assert!(error.to_string().contains("gone"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn paths_to_one_directory_share_its_lock_and_links_in_its_place_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        fs::create_dir(&real).unwrap();
        let alias = dir.path().join("alias");
        std::os::unix::fs::symlink(&real, &alias).unwrap();
        let held = SessionLock::acquire(&real, Duration::ZERO).unwrap();
        assert!(matches!(
            SessionLock::acquire(&alias, Duration::ZERO),
            Err(LockError::Busy { .. })
        ));
        drop(held);

        let victim = dir.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        fs::remove_file(real.join(LOCK_FILE)).unwrap();
        std::os::unix::fs::symlink(&victim, real.join(LOCK_FILE)).unwrap();
        assert!(matches!(
            SessionLock::acquire(&real, Duration::ZERO),
            Err(LockError::NotAFile { .. })
        ));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }
}
