//! Named points at which a crash test may stop this process, or a write may be told that it failed. Inert unless the
//! environment variable `FAST_RLM_FAULT` is set; it is read once, at the first point reached.
//!
//! `FAST_RLM_FAULT=NAME[:N][=WHAT]` acts when the point NAME is reached for the N-th time (default 1); NAME `*` counts
//! every point. WHAT is `abort` (default: the process ends at once, with nothing flushed or unwound, as by `kill -9`),
//! `full`, `readonly`, `denied` or `gone` (the point reports that error instead). A point is called after the write,
//! fsync, rename or commit it is named for, so that a crash there leaves that one done and the next one not.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The environment variable that arms a fault.
pub const VARIABLE: &str = "FAST_RLM_FAULT";

static ARMED: OnceLock<Option<Fault>> = OnceLock::new();

struct Fault {
    name: String,
    at: u64,
    seen: AtomicU64,
    what: Option<io::ErrorKind>,
}

/// Passes the point `name`. Does nothing unless the armed fault is due here.
///
/// # Errors
///
/// The injected error, when the fault is one.
pub fn point(name: &str) -> io::Result<()> {
    match ARMED.get_or_init(|| parse(&std::env::var(VARIABLE).unwrap_or_default())) {
        Some(fault) if fault.is_due(name) => fault.strike(),
        _ => Ok(()),
    }
}

impl Fault {
    fn is_due(&self, name: &str) -> bool {
        (self.name == "*" || self.name == name) && self.seen.fetch_add(1, Ordering::Relaxed) + 1 == self.at
    }

    fn strike(&self) -> io::Result<()> {
        match self.what {
            None => std::process::abort(),
            Some(kind) => Err(io::Error::new(kind, format!("{kind} (injected by {VARIABLE})"))),
        }
    }
}

/// A fault that cannot be understood arms nothing: it is a test's tool, and the tests notice.
fn parse(text: &str) -> Option<Fault> {
    let (place, what) = text.split_once('=').unwrap_or((text, "abort"));
    let (name, at) = place.rsplit_once(':').unwrap_or((place, "1"));
    let what = match what {
        "abort" => None,
        "full" => Some(io::ErrorKind::StorageFull),
        "readonly" => Some(io::ErrorKind::ReadOnlyFilesystem),
        "denied" => Some(io::ErrorKind::PermissionDenied),
        "gone" => Some(io::ErrorKind::NotFound),
        _ => return None,
    };
    let at = at.parse().ok()?;
    (!name.is_empty()).then(|| Fault {
        name: name.to_owned(),
        at,
        seen: AtomicU64::new(0),
        what,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_due_once_at_its_count() {
        let fault = parse("store.commit:2=full").unwrap();
        let due: Vec<bool> = ["store.commit", "other", "store.commit", "store.commit"]
            .map(|n| fault.is_due(n))
            .to_vec();
        assert_eq!(due, [false, false, true, false]);
        assert_eq!(fault.strike().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_star_counts_every_point() {
        let fault = parse("*:3").unwrap();
        assert_eq!(
            ["a", "b", "c", "d"].map(|n| fault.is_due(n)),
            [false, false, true, false]
        );
        assert!(fault.what.is_none());
    }

    #[test]
    fn what_is_not_understood_arms_nothing() {
        for text in ["", ":3", "name:x", "name:1=later"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
