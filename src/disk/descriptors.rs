//! How many files may be open.

use std::io;

/// What a pool of threads opens for itself, and a little for its first work.
#[cfg(feature = "engine")]
const NEEDED: usize = 16;

/// Asks for the descriptors that threads of an asynchronous runtime need: where there are none left, it would panic.
///
/// # Errors
///
/// The limit of open files is reached.
#[cfg(feature = "engine")]
pub(crate) fn need_some() -> io::Result<()> {
    let open = |_| match std::fs::File::open(if cfg!(windows) { "NUL" } else { "/dev/null" }) {
        Err(cause) if is_limit(&cause) => Err(cause),
        // Whatever else is wrong with it is not asked here.
        opened => Ok(opened.ok()),
    };
    // Held until all are there.
    (0..NEEDED).map(open).collect::<io::Result<Vec<_>>>().map(drop)
}

/// The process or the system has as many files open as it may.
#[cfg(unix)]
pub(crate) fn is_limit(cause: &io::Error) -> bool {
    use rustix::io::Errno;
    let limits = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    cause.raw_os_error().is_some_and(|code| limits.contains(&code))
}

#[cfg(not(unix))]
pub(crate) fn is_limit(_cause: &io::Error) -> bool {
    false
}
