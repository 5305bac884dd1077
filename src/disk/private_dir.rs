//! Temporary directories that only this user can enter, and every way in which they go: with their object (so by a panic
//! that unwinds, too), by an ordinary exit, and, for programs that ask for it, by a signal. What a killed process leaves
//! behind goes when the next one makes such a directory or opens a session ([`sweep`]).

#[cfg(unix)]
mod leftovers;
#[cfg(unix)]
mod removal;

#[cfg(unix)]
use std::collections::BTreeSet;
#[cfg(unix)]
use std::fs::{self, File};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;
#[cfg(unix)]
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

#[cfg(unix)]
const PREFIX: &str = "fast-rlm-";
/// Locked by the directory's process for as long as it lives.
#[cfg(unix)]
const OWNER_FILE: &str = ".owner";
/// Its name before it is locked.
#[cfg(unix)]
const UNNAMED_OWNER: &str = ".owner.new";
/// Threads and children of an ending process may still write while their directory is removed.
#[cfg(unix)]
const TRIES: u32 = 20;
#[cfg(unix)]
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(1);

/// What an exit has to remove.
#[cfg(unix)]
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

#[cfg(unix)]
fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A directory of the system's place for temporary files, removed when this is dropped, and when the program exits. It
/// holds a hidden file of its own.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct PrivateDir {
    path: PathBuf,
    /// Its lock tells other processes that this one lives.
    _owner: File,
}

#[cfg(unix)]
impl PrivateDir {
    /// Makes one; `what` it is for is part of its name.
    pub(crate) fn new(what: &str) -> io::Result<Self> {
        let parent = std::env::temp_dir();
        leftovers::remove_once(&parent);
        Self::make(&parent, what)
    }

    fn make(parent: &Path, what: &str) -> io::Result<Self> {
        let prefix = format!("{PREFIX}{what}-");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).permissions(fs::Permissions::from_mode(0o700));
        let path = registered(|| builder.tempdir_in(parent))?.keep();
        match own(&path) {
            Ok(owner) => Ok(Self { path, _owner: owner }),
            Err(cause) => {
                let _ = discard(&path);
                Err(cause)
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it now. One that is gone already is no error.
    #[cfg_attr(not(feature = "engine"), allow(dead_code, reason = "for ephemeral sessions"))]
    pub(crate) fn remove(&self) -> io::Result<()> {
        discard(&self.path)
    }
}

#[cfg(unix)]
impl Drop for PrivateDir {
    fn drop(&mut self) {
        let _ = discard(&self.path);
    }
}

/// A file that an exit removes too, for as long as this is there.
#[derive(Debug)]
#[cfg_attr(not(unix), allow(dead_code, reason = "nothing goes at an exit there"))]
pub(crate) struct GoesAtExit(std::path::PathBuf);

#[cfg(unix)]
impl GoesAtExit {
    /// Makes a file, and has it go.
    pub(crate) fn with<T: AsRef<Path>>(make: impl FnOnce() -> io::Result<T>) -> io::Result<(T, Self)> {
        let made = registered(make)?;
        let path = made.as_ref().to_owned();
        Ok((made, Self(path)))
    }
}

#[cfg(unix)]
impl Drop for GoesAtExit {
    fn drop(&mut self) {
        live().remove(&self.0);
    }
}

#[cfg(not(unix))]
impl GoesAtExit {
    /// Makes a file.
    pub(crate) fn with<T: AsRef<Path>>(make: impl FnOnce() -> io::Result<T>) -> io::Result<(T, Self)> {
        let made = make()?;
        let path = made.as_ref().to_owned();
        Ok((made, Self(path)))
    }
}

/// Elsewhere it goes with its object alone.
#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct PrivateDir(tempfile::TempDir);

#[cfg(not(unix))]
impl PrivateDir {
    /// Makes one; `what` it is for is part of its name.
    pub(crate) fn new(what: &str) -> io::Result<Self> {
        let builder = tempfile::Builder::new().prefix(&format!("fast-rlm-{what}-")).tempdir();
        builder.map(Self)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// The lock is taken before the file has its name: whoever finds the file unlocked knows that its process is dead.
#[cfg(unix)]
fn own(path: &Path) -> io::Result<File> {
    let unnamed = path.join(UNNAMED_OWNER);
    let owner = File::create_new(&unnamed)?;
    owner.try_lock()?;
    fs::rename(unnamed, path.join(OWNER_FILE))?;
    Ok(owner)
}

#[cfg(unix)]
fn discard(path: &Path) -> io::Result<()> {
    let removed = remove(path);
    live().remove(path);
    removed
}

#[cfg(unix)]
fn remove(path: &Path) -> io::Result<()> {
    let mut last = Ok(());
    for _ in 0..TRIES {
        last = match removal::remove(path, OWNER_FILE) {
            // What is not found may be something in it, which a thread of ours removed meanwhile.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => gone(path).then_some(()).ok_or(cause),
            Err(cause) if cause.kind() == io::ErrorKind::NotADirectory => fs::remove_file(path),
            other => other,
        };
        if last.is_ok() {
            break;
        }
        std::thread::sleep(BETWEEN);
    }
    last
}

#[cfg(unix)]
fn gone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound)
}

/// Makes something that goes at an exit: one that comes meanwhile waits for it.
#[cfg(unix)]
fn registered<T: AsRef<Path>>(make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    remove_at_exit()?;
    let mut live = live();
    let made = make()?;
    live.insert(made.as_ref().to_owned());
    Ok(made)
}

/// Removes every one that this process has, and its files that go at an exit.
#[cfg(all(unix, feature = "engine"))]
pub(crate) fn remove_all() {
    remove_each(&mut live());
}

#[cfg(unix)]
fn remove_each(live: &mut BTreeSet<PathBuf>) {
    for path in std::mem::take(live) {
        let _ = remove(&path);
    }
}

/// `std` has no way of being told of an exit, and a directory may be held where no destructor runs then (a static, a
/// thread, a call of [`std::process::exit`]).
#[cfg(unix)]
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
            let mut live = live();
            remove_each(&mut live);
            // Nobody makes another one while the program ends: whoever wants to waits until it has ended.
            std::mem::forget(live);
        }
    }
    match REGISTERED.get_or_init(|| (atexit(exiting), std::process::id())) {
        (0, _) => Ok(()),
        _ => Err(io::ErrorKind::OutOfMemory.into()),
    }
}

/// Removes what killed processes of this user left, once a process: not only when it makes a directory of its own, for
/// what comes next may need none.
#[cfg(feature = "engine")]
pub(crate) fn sweep() {
    #[cfg(unix)]
    leftovers::remove_once(&std::env::temp_dir());
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_directory_is_private_and_goes_with_its_object() {
        let parent = tempfile::tempdir().unwrap();
        let dir = PrivateDir::make(parent.path(), "session").unwrap();
        assert_eq!(fs::metadata(dir.path()).unwrap().mode() & 0o777, 0o700);
        fs::write(dir.path().join("state.json"), "{}").unwrap();
        dir.remove().unwrap();
        dir.remove().unwrap();
        drop(dir);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
        assert!(!live().iter().any(|path| path.starts_with(parent.path())));
    }
}
