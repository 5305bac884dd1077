//! A step's printed text on its way to the owner: bounded however fast the guest prints.

use super::api::OutputChunk;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

#[derive(Default)]
struct Tail {
    text: String,
    limit: usize,
    total: u64,
    /// Bytes at the end of `text` that were not taken yet.
    unread: usize,
    /// Bytes that were cut off before they were taken.
    skipped: u64,
}

impl Tail {
    fn push(&mut self, data: &str) {
        self.total = self.total.saturating_add(data.len() as u64);
        self.text.push_str(data);
        self.unread += data.len();
        // Cutting only at twice the limit makes the cost of it constant a byte.
        if self.text.len() > self.limit.saturating_mul(2) {
            self.cut();
        }
    }

    /// Keeps the last `limit` bytes, or a few less to end at a character.
    fn cut(&mut self) {
        let surplus = self.text.len().saturating_sub(self.limit);
        let start = (surplus..=self.text.len())
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(0);
        self.text.drain(..start);
        let lost = self.unread.saturating_sub(self.text.len());
        self.skipped += lost as u64;
        self.unread -= lost;
    }
}

/// The output of the running step.
#[derive(Default)]
pub(super) struct Output {
    tail: Mutex<Tail>,
    more: Notify,
}

impl Output {
    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a step, of whose output the last `limit` bytes are kept.
    pub(super) fn start(&self, limit: usize) {
        *self.tail() = Tail {
            limit,
            ..Tail::default()
        };
    }

    pub(super) fn push(&self, data: &str) {
        self.tail().push(data);
        self.more.notify_one();
    }

    /// Resolves when something was printed since the last time.
    pub(super) async fn printed(&self) {
        self.more.notified().await;
    }

    /// What was printed since the last time, if anything.
    pub(super) fn take_new(&self) -> Option<OutputChunk> {
        let mut tail = self.tail();
        let at = tail.text.len().saturating_sub(tail.unread);
        let text = tail.text.get(at..).unwrap_or_default().to_owned();
        let skipped_bytes = std::mem::take(&mut tail.skipped);
        tail.unread = 0;
        (!text.is_empty() || skipped_bytes > 0).then_some(OutputChunk { text, skipped_bytes })
    }

    /// Bytes printed so far.
    pub(super) fn total(&self) -> u64 {
        self.tail().total
    }

    /// The kept text and the number of bytes printed in all.
    pub(super) fn finish(&self) -> (String, u64) {
        let mut tail = self.tail();
        tail.cut();
        (std::mem::take(&mut tail.text), tail.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_arrive_in_order_and_the_last_bytes_are_kept() {
        let output = Output::default();
        output.start(8);
        output.push("abc");
        assert_eq!(
            output.take_new(),
            Some(OutputChunk {
                text: "abc".into(),
                skipped_bytes: 0
            })
        );
        assert_eq!(output.take_new(), None);
        output.push("defghijklmnopq");
        assert_eq!(
            output.take_new(),
            Some(OutputChunk {
                text: "jklmnopq".into(),
                skipped_bytes: 6
            })
        );
        assert_eq!(output.finish(), ("jklmnopq".into(), 17));
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let output = Output::default();
        output.start(4);
        output.push("ééééé");
        let (text, total) = output.finish();
        assert_eq!((text.as_str(), total), ("éé", 10));
        output.start(3);
        output.push("ééééé");
        assert_eq!(output.finish().0, "é");
    }
}
