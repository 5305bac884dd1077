//! What the system had too little of, where wasmtime asked it for memory or a file: said with what to do, and told apart
//! from files that are no use. The words are those of [`crate::disk::advice`].

use super::error::PrepareError;
use crate::disk::advice::on_scarcity;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::error::Error;
use std::io;

/// What to do, where the system had no more of something; `None` for any other error.
fn advice(error: &wasmtime::Error) -> Option<&'static str> {
    error.chain().find_map(advice_on)
}

fn advice_on(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    match cause.downcast_ref::<Errno>() {
        Some(code) => on_scarcity(&io::Error::from(*code)),
        None => cause.downcast_ref::<io::Error>().and_then(on_scarcity),
    }
}

/// Whether the system refused, and not what was loaded.
pub(super) fn is_scarcity(error: &wasmtime::Error) -> bool {
    advice(error).is_some()
}

/// The error in one line, with what to do where the system refused.
pub(super) fn told(error: &wasmtime::Error) -> String {
    match advice(error) {
        Some(advice) => format!("{error:#}; {advice}"),
        None => format!("{error:#}"),
    }
}

/// Address space that a preparation takes at its widest: what one Python reserves, and what compiling it takes.
const TO_PREPARE: u64 = 5_290 << 20;
/// Memory that it takes of that.
const MEMORY: u64 = 600 << 20;
/// Address space without which no Python starts: its memory is reserved as wide as it can become, with a guard.
const TO_START: u64 = 4_160 << 20;

/// Asks whether the limits of this process leave room for one Python. With much less, anything may end the process.
pub(super) fn need_room_to_start() -> Result<(), PrepareError> {
    need_address_space(TO_START).map_err(|reason| PrepareError::Stage {
        stage: "start Python",
        reason,
    })
}

/// Asks whether the limits of this process leave room to prepare Python.
pub(super) fn need_room_to_prepare() -> Result<(), String> {
    need_address_space(TO_PREPARE)?;
    match too_little(Resource::Data, MEMORY) {
        Some(told) => Err(format!(
            "it takes {} of memory, and {told}; raise the limit (`ulimit -d`)",
            mb(MEMORY)
        )),
        None => Ok(()),
    }
}

fn need_address_space(needed: u64) -> Result<(), String> {
    let Some(told) = too_little(Resource::As, needed) else {
        return Ok(());
    };
    let advice = on_scarcity(&io::ErrorKind::OutOfMemory.into()).unwrap_or_default();
    Err(format!(
        "it takes {} of address space, and {told}; {advice}",
        mb(needed)
    ))
}

/// What this process may have, where that is less.
fn too_little(resource: Resource, needed: u64) -> Option<String> {
    let limit = getrlimit(resource).current.filter(|limit| *limit < needed)?;
    Some(format!("may have {}", mb(limit)))
}

fn mb(bytes: u64) -> String {
    format!("{} MB", bytes >> 20)
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
