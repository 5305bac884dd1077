//! The private directory of an ephemeral session, and every way in which it goes: close, drop (so a panic that unwinds
//! too), an ordinary exit, and, for programs that ask for it, a signal. What a killed process leaves behind goes when
//! the next one makes such a directory.

use super::error::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};

const PREFIX: &str = "fast-rlm-";
/// Locked by the directory's process for as long as it lives.
const OWNER_FILE: &str = ".owner";
/// Threads of an ending process may still write while their directory is removed.
const TRIES: u32 = 5;

/// What an exit has to remove.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A directory that only this user can enter and that is removed when it is dropped, and when the program exits.
#[derive(Debug)]
pub struct EphemeralDir {
    path: PathBuf,
    /// Its lock tells other processes that this one lives.
    _owner: File,
}

impl EphemeralDir {
    /// Makes one in the system's directory for temporary files.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn new() -> Result<Self, Error> {
        let parent = std::env::temp_dir();
        remove_leftovers_once(&parent);
        Self::make(&parent).map_err(|cause| Error::File {
            path: parent,
            doing: "making a directory in",
            cause,
        })
    }

    fn make(parent: &Path) -> io::Result<Self> {
        remove_at_exit()?;
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent)?;
        let path = made.keep();
        live().insert(path.clone());
        match own(&path) {
            Ok(owner) => Ok(Self { path, _owner: owner }),
            Err(cause) => {
                let _ = discard(&path);
                Err(cause)
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it now. One that is gone already is no error.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn remove(&self) -> Result<(), Error> {
        discard(&self.path).map_err(|cause| Error::File {
            path: self.path.clone(),
            doing: "removing",
            cause,
        })
    }
}

impl Drop for EphemeralDir {
    fn drop(&mut self) {
        let _ = discard(&self.path);
    }
}

/// The lock is taken before the file has its name: whoever finds the file unlocked knows that its process is dead.
fn own(path: &Path) -> io::Result<File> {
    let unnamed = path.join(".owner.new");
    let owner = File::create_new(&unnamed)?;
    owner.try_lock()?;
    fs::rename(unnamed, path.join(OWNER_FILE))?;
    Ok(owner)
}

fn discard(path: &Path) -> io::Result<()> {
    let removed = remove(path);
    live().remove(path);
    removed
}

fn remove(path: &Path) -> io::Result<()> {
    let mut last = Ok(());
    for _ in 0..TRIES {
        last = match fs::remove_dir_all(path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        if last.is_ok() {
            break;
        }
    }
    last
}

fn remove_all() {
    for path in std::mem::take(&mut *live()) {
        let _ = remove(&path);
    }
}

/// `std` has no way of being told of an exit, and a session may be held where no destructor runs then (a static, a
/// thread, a call of [`std::process::exit`]).
#[allow(unsafe_code)]
fn remove_at_exit() -> io::Result<()> {
    // SAFETY: this is the C library's `atexit`, declared as it is; it is safe to call with any function that does not
    // unwind, and `exiting` is `extern "C"`, which never does.
    unsafe extern "C" {
        safe fn atexit(exiting: extern "C" fn()) -> std::ffi::c_int;
    }
    static REGISTERED: OnceLock<(std::ffi::c_int, u32)> = OnceLock::new();
    extern "C" fn exiting() {
        // A fork of this process that exits has no right to the directories of its parent.
        if REGISTERED
            .get()
            .is_some_and(|(_, process)| *process == std::process::id())
        {
            remove_all();
        }
    }
    match REGISTERED.get_or_init(|| (atexit(exiting), std::process::id())) {
        (0, _) => Ok(()),
        _ => Err(io::ErrorKind::OutOfMemory.into()),
    }
}

/// Removes the directories of ephemeral sessions when SIGINT, SIGTERM or SIGHUP ends the program, which it still does.
///
/// For programs that leave these signals alone; call it once, early. A program that handles them itself needs no help
/// as long as it ends by returning from `main` or by [`std::process::exit`], and must not call this: it would be ended
/// in the middle of its own handling.
///
/// # Errors
///
/// The system's own.
pub fn remove_on_signals() -> io::Result<()> {
    static LISTENING: Mutex<bool> = Mutex::new(false);
    let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
    if *listening {
        return Ok(());
    }
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let listen = move || {
        for signal in signals.forever() {
            remove_all();
            let _ = emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new()
        .name("fast-rlm-signals".into())
        .spawn(listen)?;
    *listening = true;
    Ok(())
}

fn remove_leftovers_once(parent: &Path) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| remove_leftovers(parent));
}

/// Removes what processes of this user left that were killed.
fn remove_leftovers(parent: &Path) {
    let ours = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if is_leftover(&entry, ours) {
            let _ = remove(&entry.path());
        }
    }
}

fn is_leftover(entry: &DirEntry, user: u32) -> bool {
    let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
    let private = |m: fs::Metadata| m.is_dir() && m.uid() == user && m.mode() & 0o077 == 0;
    if !named || !entry.metadata().is_ok_and(private) {
        return false;
    }
    File::open(entry.path().join(OWNER_FILE)).is_ok_and(|owner| owner.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_private_and_goes_with_its_object() {
        let parent = tempfile::tempdir().unwrap();
        let dir = EphemeralDir::make(parent.path()).unwrap();
        assert_eq!(fs::metadata(dir.path()).unwrap().mode() & 0o777, 0o700);
        fs::write(dir.path().join("state.json"), "{}").unwrap();
        dir.remove().unwrap();
        dir.remove().unwrap();
        drop(dir);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
        assert!(!live().iter().any(|path| path.starts_with(parent.path())));
    }

    #[test]
    fn leftovers_of_dead_processes_go_and_nothing_else_does() {
        let parent = tempfile::tempdir().unwrap();
        let alive = EphemeralDir::make(parent.path()).unwrap();
        let dead = EphemeralDir::make(parent.path()).unwrap();
        // A killed process: its lock is gone, its directory is not.
        let (dead, owner) = (
            dead.path.clone(),
            std::mem::replace(
                &mut std::mem::ManuallyDrop::new(dead)._owner,
                File::open("/dev/null").unwrap(),
            ),
        );
        drop(owner);
        let another = parent.path().join("fast-rlm-notes");
        fs::create_dir(&another).unwrap();
        fs::write(another.join(OWNER_FILE), "").unwrap();
        let unowned = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(parent.path())
            .unwrap();
        remove_leftovers(parent.path());
        assert!(!dead.exists());
        assert!(alive.path().exists() && unowned.path().exists());
        assert!(another.exists(), "others can enter it: none of ours");
    }
}
