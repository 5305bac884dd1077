//! How many files may be open, and how many threads there may be.

#[cfg(feature = "engine")]
use super::advice::is_limit_of_files;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What a pool of threads opens for itself, and a little for its first work.
#[cfg(feature = "engine")]
const NEEDED: usize = 16;
/// Besides the pool's: for what blocks, and for Python.
#[cfg(feature = "engine")]
const OTHER_THREADS: usize = 8;

/// Asks for the descriptors that threads of an asynchronous runtime need: where there are none left, it would panic.
///
/// # Errors
///
/// The limit of open files is reached.
#[cfg(feature = "engine")]
pub(crate) fn need_some() -> io::Result<()> {
    let open = |_| match std::fs::File::open(if cfg!(windows) { "NUL" } else { "/dev/null" }) {
        Err(cause) if is_limit_of_files(&cause) => Err(cause),
        // Whatever else is wrong with it is not asked here.
        opened => Ok(opened.ok()),
    };
    // Held until all are there.
    (0..NEEDED).map(open).collect::<io::Result<Vec<_>>>().map(drop)
}

/// Asks for what a pool of threads needs, which would panic without them: descriptors, and the threads themselves.
///
/// # Errors
///
/// The limit of open files or of threads is reached.
#[cfg(feature = "engine")]
pub(crate) fn need_a_pool() -> io::Result<()> {
    need_some()?;
    let pool = thread::available_parallelism().map_or(1, usize::from);
    need_threads(pool + OTHER_THREADS)
}

/// Asks for so many threads.
///
/// # Errors
///
/// The system gives no more.
pub(crate) fn need_threads(count: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        // Held until all are there.
        let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = || drop(gate.lock());
        let start = |_| thread::Builder::new().spawn_scoped(scope, wait).map(drop);
        let started = (0..count).try_for_each(start);
        drop(closed);
        started
    })
}
