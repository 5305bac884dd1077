//! What a person can do about an error of the system: with a file that is written, with one that is read because it was
//! named, and where the system has too little of something. Errors say the rest: what, and where.

use std::io;

/// Open files.
const FILES: &str = "raise the limit of open files (`ulimit -n`), then try again";
/// Threads and processes, whose stacks are memory.
const THREADS: &str =
    "raise the limits of threads and processes (`ulimit -u`) and of memory (`ulimit -v`), then try again";
/// Address space, most of which is never touched; a container's limit of memory does not count it.
const MEMORY: &str =
    "raise the limit of address space (`ulimit -v`), of which each Python reserves 4 GB, or run fewer at once";

/// What to do where the system has no more of something; `None` for any other error.
pub(crate) fn on_scarcity(cause: &io::Error) -> Option<&'static str> {
    match cause.kind() {
        _ if is_limit_of_files(cause) => Some(FILES),
        io::ErrorKind::OutOfMemory => Some(MEMORY),
        io::ErrorKind::WouldBlock => Some(THREADS),
        _ => None,
    }
}

/// What to do about an error of a file system.
pub(crate) fn advice(cause: &io::Error) -> &'static str {
    use io::ErrorKind as K;
    if let Some(scarce) = on_scarcity(cause) {
        return scarce;
    }
    match cause.kind() {
        K::StorageFull | K::QuotaExceeded => "free some space, then try again",
        K::ReadOnlyFilesystem => "the file system is read-only: use a session directory on another one",
        K::PermissionDenied => "check who owns the file and its directory, and their permissions",
        K::NotFound => "its directory is gone: put it back, or use another session directory",
        K::NotADirectory => "a part of the path is a file: use another session directory",
        K::AlreadyExists => "a file has the name of the directory: use another one",
        K::IsADirectory => "a directory has the file's name: move it away",
        // One that was read, and has words of its own.
        K::FileTooLarge if cause.get_ref().is_some() => "move it away, or use another session directory",
        K::FileTooLarge => "the file may not grow so large: raise the limit, or start a new session",
        K::InvalidFilename if cause.raw_os_error().is_some() => "use a shorter name",
        K::InvalidInput => "move it away, or use another session directory",
        _ => "check the disk, its quota and the directory, then try again",
    }
}

/// What to do about a file that a person named, and that cannot be read.
pub(crate) fn on_named(cause: &io::Error) -> &'static str {
    use io::ErrorKind as K;
    match cause.kind() {
        _ if is_limit_of_files(cause) => FILES,
        K::PermissionDenied => "check who owns it, and its permissions",
        K::IsADirectory => "name a file, or put one there",
        K::InvalidInput => "name a regular file",
        K::FileTooLarge => "name a smaller one, or a part of it",
        K::InvalidData => "save it as UTF-8",
        K::NotFound | K::NotADirectory | K::InvalidFilename => "check its name",
        _ => "check the disk, then try again",
    }
}

/// The process or the system has as many files open as it may.
#[cfg(unix)]
pub(crate) fn is_limit_of_files(cause: &io::Error) -> bool {
    use rustix::io::Errno;
    let limits = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    cause.raw_os_error().is_some_and(|code| limits.contains(&code))
}

#[cfg(not(unix))]
pub(crate) fn is_limit_of_files(_cause: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::whole::read_text;

    #[test]
    fn what_is_wrong_with_a_named_file_is_told_by_its_cause() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| {
            std::fs::write(dir.path().join(name), bytes).unwrap();
        };
        put("latin", b"caf\xe9");
        put("large", b"123456");
        let told = |path: &std::path::Path| on_named(&read_text(path, 5).unwrap_err());
        assert_eq!(told(&dir.path().join("nothing")), "check its name");
        assert_eq!(told(&dir.path().join("large/below")), "check its name");
        assert_eq!(told(dir.path()), "name a file, or put one there");
        assert_eq!(told(&dir.path().join("latin")), "save it as UTF-8");
        assert_eq!(told(&dir.path().join("large")), "name a smaller one, or a part of it");
        if cfg!(unix) {
            assert_eq!(told(std::path::Path::new("/dev/zero")), "name a regular file");
        }
        let denied = io::ErrorKind::PermissionDenied.into();
        assert_eq!(on_named(&denied), "check who owns it, and its permissions");
    }
}
