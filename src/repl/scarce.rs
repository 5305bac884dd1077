//! What the system had too little of, where wasmtime asked it for memory or a file: said with what to do, and told apart
//! from files that are no use.

use rustix::io::Errno;
use std::error::Error;
use std::io;

/// The error of a system that has no more of something; `None` for any other.
fn code(error: &wasmtime::Error) -> Option<Errno> {
    error
        .chain()
        .find_map(|cause| code_of(cause).filter(|code| advice(*code).is_some()))
}

fn code_of(cause: &(dyn Error + 'static)) -> Option<Errno> {
    let io_error = || Errno::from_io_error(cause.downcast_ref::<io::Error>()?);
    cause.downcast_ref::<Errno>().copied().or_else(io_error)
}

fn advice(code: Errno) -> Option<&'static str> {
    match code {
        Errno::MFILE | Errno::NFILE => Some("raise the limit of open files (`ulimit -n`)"),
        // Address space, most of which is never touched; a container's limit of memory does not count it.
        Errno::NOMEM | Errno::AGAIN => {
            Some("each Python reserves 4 GB of address space: raise its limit (`ulimit -v`), or run fewer at once")
        }
        _ => None,
    }
}

/// Whether the system refused, and not what was loaded.
pub(super) fn is_scarcity(error: &wasmtime::Error) -> bool {
    code(error).is_some()
}

/// The error in one line, with what to do where the system refused.
pub(super) fn told(error: &wasmtime::Error) -> String {
    match code(error).and_then(advice) {
        Some(advice) => format!("{error:#}; {advice}"),
        None => format!("{error:#}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmtime::error::Context as _;

    #[test]
    fn a_system_that_has_no_more_is_told_from_a_bad_file() {
        let reserve: Result<(), Errno> = Err(Errno::NOMEM);
        let reserve = reserve.context("mmap failed to reserve 0x104000000 bytes").unwrap_err();
        assert!(is_scarcity(&reserve));
        assert!(told(&reserve).contains("0x104000000") && told(&reserve).contains("ulimit -v"));
        let open: Result<(), _> = Err(io::Error::from(Errno::MFILE));
        let open = open.context("failed to open file").unwrap_err();
        assert!(is_scarcity(&open) && told(&open).contains("ulimit -n"));
        for other in [
            wasmtime::Error::msg("compiled with another version"),
            wasmtime::Error::new(io::Error::from(Errno::NOENT)),
        ] {
            assert!(!is_scarcity(&other));
        }
    }
}
