//! When to draw: at once when something changed, but at most 60 times a second, and at the moments that screens asked
//! for. Nothing asked for, nothing drawn.

use std::collections::BTreeSet;
use std::time::Duration;

/// The shortest time between two frames.
const SHORTEST: Duration = Duration::from_micros(16_667);

/// Decides when the next frame is due. All times are since the program's start.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    dirty: bool,
    last: Option<Duration>,
    wanted: BTreeSet<Duration>,
}

impl Frames {
    /// Something changed: draw as soon as may be.
    pub fn dirty(&mut self) {
        self.dirty = true;
    }

    /// A frame is wanted at a moment.
    pub fn want_at(&mut self, at: Duration) {
        self.wanted.insert(at);
    }

    /// A wanted moment has come: screens are to be told. Consumes it, and others that have passed.
    pub fn take_wanted(&mut self, now: Duration) -> bool {
        let due = self.wanted.first().is_some_and(|at| *at <= now);
        if due {
            self.wanted.retain(|at| *at > now);
            self.dirty = true;
        }
        due
    }

    /// Whether to draw now.
    pub fn is_due(&self, now: Duration) -> bool {
        self.dirty && self.last.is_none_or(|last| now >= last + SHORTEST)
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: Duration) {
        self.dirty = false;
        self.last = Some(now);
    }

    /// How long nothing is to be done, if nothing happens; `None` for ever.
    pub fn wait(&self, now: Duration) -> Option<Duration> {
        let frame = self.dirty.then(|| self.last.map_or(now, |last| last + SHORTEST));
        let next = [frame, self.wanted.first().copied()].into_iter().flatten().min()?;
        Some(next.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_first_change_is_drawn_at_once_and_then_sixty_times_a_second_at_most() {
        let mut frames = Frames::default();
        frames.dirty();
        assert!(frames.is_due(ms(0)));
        frames.drawn(ms(0));
        frames.dirty();
        assert!(!frames.is_due(ms(5)));
        assert_eq!(frames.wait(ms(5)), Some(SHORTEST - ms(5)));
        assert!(frames.is_due(ms(17)));
    }

    #[test]
    fn with_nothing_to_do_it_waits_for_ever() {
        let mut frames = Frames::default();
        frames.dirty();
        frames.drawn(ms(3));
        assert_eq!((frames.wait(ms(9)), frames.is_due(ms(1000))), (None, false));
    }

    #[test]
    fn a_wanted_moment_comes_once() {
        let mut frames = Frames::default();
        frames.want_at(ms(500));
        frames.want_at(ms(200));
        assert_eq!(frames.wait(ms(150)), Some(ms(50)));
        assert!(!frames.take_wanted(ms(199)));
        assert!(frames.take_wanted(ms(201)));
        assert!(!frames.take_wanted(ms(202)));
        assert!(frames.is_due(ms(202)));
        frames.drawn(ms(202));
        assert_eq!(frames.wait(ms(202)), Some(ms(298)));
        assert!(frames.take_wanted(ms(500)));
        assert_eq!(frames.wait(ms(600)), Some(Duration::ZERO));
    }
}
