//! Descriptors that whoever started this program left open: what it starts itself gets none of them.

use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use std::os::fd::{BorrowedFd, RawFd};

/// Marks all open descriptors but the standard streams as not to be inherited. Our own are marked from the beginning;
/// these are a shell's or a supervisor's, and a server or a coding agent has no business with them.
///
/// For the first line of a program: a library must leave its host's descriptors alone.
pub(crate) fn keep_descriptors() {
    let Ok(open) = std::fs::read_dir("/dev/fd") else { return };
    let numbers = open
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // Only then: the directory's own descriptor is closed here.
    let numbers: Vec<RawFd> = numbers.filter(|number| *number > 2).collect();
    numbers.into_iter().for_each(keep);
}

#[allow(unsafe_code)]
fn keep(number: RawFd) {
    // SAFETY: the number was listed as open and is not -1; it is borrowed for two calls that read and set a flag and
    // touch nothing else. Should it be closed or another file by now, the flag is an error or true already.
    let open = unsafe { BorrowedFd::borrow_raw(number) };
    if let Ok(flags) = fcntl_getfd(open) {
        let _ = fcntl_setfd(open, flags | FdFlags::CLOEXEC);
    }
}
