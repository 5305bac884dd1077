//! Instants and ids of runs.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in unix milliseconds.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A new run id, as existing programs make them: unix milliseconds and nine random characters.
pub(super) fn new_run_id(now: i64) -> String {
    format!("{now}-{}", random_name(9))
}

/// Random bits, not for secrets.
pub(super) fn random_bits() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// `length` random characters of `0-9a-z`. The hasher's keys are random per process and differ per call.
pub(super) fn random_name(length: usize) -> String {
    let mut bits = random_bits();
    let digit = |_| {
        let digit = u32::try_from(bits % 36).unwrap_or_default();
        bits /= 36;
        char::from_digit(digit, 36).unwrap_or('0')
    };
    (0..length).map(digit).collect()
}

/// The file name of a transcript started at `now`: `run_2026-11-29T12-47-50-415Z.jsonl`, with `prefix` for `run`.
pub(super) fn transcript_name(prefix: &str, now: i64) -> String {
    let stamp = jiff::Timestamp::from_millisecond(now)
        .map(|at| format!("{at:.3}"))
        .unwrap_or_default();
    format!("{prefix}_{}.jsonl", stamp.replace([':', '.'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_existing_programs() {
        assert_eq!(
            transcript_name("run", 1_795_956_470_415),
            "run_2026-11-29T12-47-50-415Z.jsonl"
        );
        let id = new_run_id(7);
        assert!(id.starts_with("7-") && id.len() == 11, "{id}");
        assert_ne!(new_run_id(7), id);
    }
}
