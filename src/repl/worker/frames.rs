//! Frames between host and worker: a byte for the kind, four for the length (little-endian), then the payload.
//! `assets/python/worker/channel.py` has the same numbers.

use crate::repl::wire;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest payloads that are taken from a worker: what a person may have made large, what is said of a step or of its
/// names, and what is never long.
const LARGE: usize = 128 << 20;
const REPORT: usize = 64 << 20;
const SMALL: usize = 1 << 20;

/// What a worker sends beside what the sandbox's guest does (`wire::REQUEST` to `wire::VALUE`).
pub(super) const CALL: u8 = 6;
pub(super) const PRINTED: u8 = 7;
pub(super) const DROPPED: u8 = 8;
pub(super) const IDLE: u8 = 9;
pub(super) const READ: u8 = 10;
/// What the host sends.
pub(super) const COMMAND: u8 = 1;
pub(super) const ANSWER: u8 = 2;
pub(super) const REPLY: u8 = 3;
pub(super) const CANCEL: u8 = 4;
pub(super) const BYTES: u8 = 5;

/// A frame as bytes.
pub(super) fn frame(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = Vec::with_capacity(length + 5);
    bytes.push(kind);
    bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

/// How long a message of this kind may be, in bytes, where a pickle may have `pickle_bytes`.
fn limit(kind: u8, pickle_bytes: usize) -> usize {
    match (kind, u32::from(kind)) {
        (CALL | PRINTED, _) | (_, wire::REQUEST | wire::FINAL) => LARGE,
        (_, wire::DONE | wire::NOTE) => REPORT,
        // Its name, and what is noted of it, are before it.
        (_, wire::VALUE) => pickle_bytes.saturating_add(REPORT).min(LARGE),
        _ => SMALL,
    }
}

/// The next frame; `None` at the end. Only as much is held as has come.
pub(super) async fn read(
    input: &mut (impl AsyncRead + Unpin),
    pickle_bytes: usize,
) -> Result<Option<(u8, Vec<u8>)>, String> {
    let Ok(kind) = input.read_u8().await else {
        return Ok(None);
    };
    let Ok(length) = input.read_u32_le().await else {
        return Ok(None);
    };
    if length as usize > limit(kind, pickle_bytes) {
        return Err(format!("it sent a message of {length} bytes, which is too large"));
    }
    let mut payload = Vec::new();
    let read = input.take(u64::from(length)).read_to_end(&mut payload).await;
    match read {
        Ok(count) if count == length as usize => Ok(Some((kind, payload))),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_come_back_and_a_cut_or_endless_one_does_not() {
        let bytes = frame(CALL, &[b"ab", b"c"]);
        assert_eq!(read(&mut bytes.as_slice(), 0).await, Ok(Some((CALL, b"abc".to_vec()))));
        let cut = bytes.get(..bytes.len() - 1).unwrap();
        assert_eq!(read(&mut &*cut, 0).await, Ok(None));
        assert!(read(&mut [CALL, 255, 255, 255, 255].as_slice(), 0).await.is_err());
    }

    #[tokio::test]
    async fn each_kind_has_a_limit_of_its_own() {
        let value = u8::try_from(wire::VALUE).unwrap();
        let bytes = frame(value, &[&vec![0; REPORT + 10]]);
        assert!(read(&mut bytes.as_slice(), 10).await.is_ok());
        assert!(read(&mut bytes.as_slice(), 9).await.is_err());
        let idle = frame(IDLE, &[&vec![0; (1 << 20) + 1]]);
        assert!(read(&mut idle.as_slice(), 5_000_000).await.is_err());
    }
}
