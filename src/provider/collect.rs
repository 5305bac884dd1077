//! Gathers a reply while it streams: forwards the deltas, keeps the text, bounds its size, takes the time.

use super::error::{ErrorKind, Partial};
use super::reply::{Finish, Usage};
use super::{Delta, DeltaSink};
use std::time::{Duration, Instant};

/// The ends of a reply that are not text.
#[derive(Debug, Default)]
pub(super) struct Ending {
    pub(super) finish: Option<Finish>,
    pub(super) served_by: Option<String>,
    pub(super) id: Option<String>,
}

/// What an attempt writes the reply into.
pub(super) struct Collector<'a> {
    sink: &'a mut dyn DeltaSink,
    limit: usize,
    begun: Instant,
    pub(super) first_delta: Option<Duration>,
    pub(super) partial: Partial,
    pub(super) ending: Ending,
}

impl<'a> Collector<'a> {
    pub(super) fn new(sink: &'a mut dyn DeltaSink, limit: usize) -> Self {
        Self {
            sink,
            limit,
            begun: Instant::now(),
            first_delta: None,
            partial: Partial::default(),
            ending: Ending::default(),
        }
    }

    /// Whether something was given out that cannot be taken back.
    pub(super) fn has_output(&self) -> bool {
        self.first_delta.is_some()
    }

    /// Forgets what a failed attempt left that nobody has seen; what it is billed for stays.
    pub(super) fn start_over(&mut self) {
        self.ending = Ending::default();
        let Partial { earlier, usage, .. } = &mut self.partial;
        *earlier = Usage::both(earlier.take(), usage.take());
    }

    pub(super) fn push(&mut self, delta: Delta<'_>, server: &str) -> Result<(), ErrorKind> {
        let (Delta::Text(piece) | Delta::Reasoning(piece)) = delta;
        if piece.is_empty() {
            return Ok(());
        }
        if self.partial.text.len() + self.partial.reasoning.len() + piece.len() > self.limit {
            return Err(ErrorKind::TooLarge {
                server: server.to_owned(),
                limit: self.limit,
            });
        }
        match delta {
            Delta::Text(piece) => self.partial.text.push_str(piece),
            Delta::Reasoning(piece) => self.partial.reasoning.push_str(piece),
        }
        self.first_delta.get_or_insert_with(|| self.begun.elapsed());
        self.sink.delta(delta);
        Ok(())
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Takes what a provider reports, by the one rule for all of them. The last report counts.
    pub(super) fn usage(&mut self, usage: Usage) {
        self.partial.usage = Some(usage.sound());
    }
}
