//! How far a long scan is, on a terminal's standard error; nothing elsewhere, and nothing for a short one.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::terminal::one_row;
use crate::source::Progress;
use crate::text::count;

/// A scan that is done by then needs no line.
const PATIENCE: Duration = Duration::from_millis(400);
/// Between two lines.
const PACE: Duration = Duration::from_millis(100);

/// The progress line.
pub(super) struct ProgressLine {
    next: Option<Instant>,
    shown: bool,
}

impl ProgressLine {
    pub(super) fn new() -> Self {
        let next = io::stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Self { next, shown: false }
    }

    /// Shows how far it is, if it is time.
    pub(super) fn show(&mut self, progress: Progress) {
        let now = Instant::now();
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.next = Some(now + PACE);
        self.shown = true;
        let Progress {
            bytes_read,
            bytes_total,
            logs_read,
            logs_total,
        } = progress;
        let percent = u128::from(bytes_read) * 100 / u128::from(bytes_total.max(1));
        let (logs_read, logs_total) = (count(u128::from(logs_read)), count(u128::from(logs_total)));
        let line = format!("reading transcripts: {percent}% ({logs_read} of {logs_total})");
        let _ = write!(io::stderr(), "\r\x1b[K{}", one_row(&line));
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.shown {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
