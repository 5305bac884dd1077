//! How far a scan is.

use std::sync::atomic::{AtomicU64, Ordering};

/// How far a scan is. Transcripts taken from the cache count as read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of transcripts that were read.
    pub bytes_read: u64,
    /// Bytes of all transcripts.
    pub bytes_total: u64,
    /// Transcripts that were read.
    pub logs_read: u64,
    /// All transcripts.
    pub logs_total: u64,
}

/// Progress as threads count it.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) bytes_read: AtomicU64,
    pub(super) bytes_total: AtomicU64,
    pub(super) logs_read: AtomicU64,
    pub(super) logs_total: AtomicU64,
}

impl Counters {
    pub(super) fn start(&self, logs: u64, bytes: u64) {
        self.logs_total.store(logs, Ordering::Relaxed);
        self.bytes_total.store(bytes, Ordering::Relaxed);
        self.logs_read.store(0, Ordering::Relaxed);
        self.bytes_read.store(0, Ordering::Relaxed);
    }

    pub(super) fn read(&self, logs: u64, bytes: u64) {
        self.logs_read.fetch_add(logs, Ordering::Relaxed);
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn now(&self) -> Progress {
        Progress {
            bytes_read: self.bytes_read.load(Ordering::Relaxed),
            bytes_total: self.bytes_total.load(Ordering::Relaxed),
            logs_read: self.logs_read.load(Ordering::Relaxed),
            logs_total: self.logs_total.load(Ordering::Relaxed),
        }
    }
}
