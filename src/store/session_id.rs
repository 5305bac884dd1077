//! Session ids: names that are safe as directory names and never mean a path.

use super::StoreError;

const MAX_LENGTH: usize = 64;

/// What the directory of a session begins with while it is imported: no id does.
pub const IMPORTING: &str = ".import-";

/// Names of files and directories that stand where a session's directory would.
const TAKEN: [&str; 9] = [
    "logs",
    "state.json",
    "session.lock",
    "events.db",
    "events.db-wal",
    "events.db-shm",
    "flow.db",
    "flow.db-wal",
    "flow.db-shm",
];

/// Checks a session id: 1 to 64 of `[A-Za-z0-9._-]`, not starting with `.` or `-`, and no file's name of ours.
///
/// # Errors
///
/// [`StoreError::BadSessionId`] with the reason.
pub fn check(id: &str) -> Result<(), StoreError> {
    let reason = if id.is_empty() {
        "it is empty"
    } else if id.len() > MAX_LENGTH {
        "it is longer than 64 characters"
    } else if !id
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    {
        "only letters, digits, '.', '_' and '-' are allowed"
    } else if id.starts_with(['.', '-']) {
        "it must not start with '.' or '-'"
    } else if TAKEN.iter().any(|taken| taken.eq_ignore_ascii_case(id)) {
        "a session directory holds a file or directory of that name"
    } else {
        return Ok(());
    };
    Err(StoreError::BadSessionId {
        id: id.to_owned(),
        reason,
    })
}

/// Far above any number that minting reaches: a name beyond it, given by hand, does not move the counter.
const LARGEST_MINTED: i64 = 1 << 52;

/// The number of an id of the form `s_<n>`, without leading zeros.
pub(super) fn minted_number(id: &str) -> Option<i64> {
    let digits = id.strip_prefix("s_")?;
    let number: i64 = digits.parse().ok()?;
    (number.to_string() == digits && (0..=LARGEST_MINTED).contains(&number)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_ids() {
        for id in ["podcasts", "s_1", "a", "A.b-c_9", &"x".repeat(64)] {
            check(id).unwrap();
        }
    }

    #[test]
    fn bad_ids_say_why() {
        for id in [
            "",
            "../x",
            "a/b",
            ".hidden",
            "-flag",
            "logs",
            "Logs",
            "events.db",
            "é",
            "a b",
            "a\0",
            &"x".repeat(65),
        ] {
            let error = check(id).unwrap_err();
            assert!(matches!(error, StoreError::BadSessionId { .. }), "{id:?}: {error}");
        }
    }

    #[test]
    fn minted_numbers() {
        assert_eq!(minted_number("s_12"), Some(12));
        for id in [
            "s_",
            "s_01",
            "s_+1",
            "t_1",
            "s_1x",
            "s_-1",
            "s_9223372036854775807",
            "s_99999999999999999999",
        ] {
            assert_eq!(minted_number(id), None, "{id}");
        }
    }
}
