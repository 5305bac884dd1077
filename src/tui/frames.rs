//! When to draw: at once when something changed, but at most 60 times a second, and at the moments that screens asked
//! for. Nothing asked for, nothing drawn.
//!
//! What answers a key does not wait for its turn: it is drawn at once, and the frame after it waits longer for it.

use std::collections::BTreeSet;
use std::time::Duration;

/// The shortest time between two frames.
const SHORTEST: Duration = Duration::from_micros(16_667);

/// Decides when the next frame is due. All times are since the program's start.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    dirty: bool,
    /// What changed answers a key.
    hurried: bool,
    /// When a frame may be drawn that nobody waits for.
    next: Duration,
    wanted: BTreeSet<Duration>,
}

impl Frames {
    /// Something changed: draw as soon as may be.
    pub fn dirty(&mut self) {
        self.dirty = true;
    }

    /// What changed answers a key: whoever pressed it waits.
    pub fn hurry(&mut self) {
        self.hurried |= self.dirty;
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
        self.dirty && now >= self.earliest()
    }

    /// When a change is drawn: in its turn, or one turn before it when somebody waits.
    fn earliest(&self) -> Duration {
        match self.hurried {
            true => self.next.saturating_sub(SHORTEST),
            false => self.next,
        }
    }

    /// A frame was drawn. One that was drawn before its turn has used up that turn.
    pub fn drawn(&mut self, now: Duration) {
        (self.dirty, self.hurried) = (false, false);
        self.next = self.next.max(now) + SHORTEST;
    }

    /// How long nothing is to be done, if nothing happens; `None` for ever.
    pub fn wait(&self, now: Duration) -> Option<Duration> {
        let frame = self.dirty.then(|| self.earliest());
        let next = [frame, self.wanted.first().copied()].into_iter().flatten().min()?;
        Some(next.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn what_answers_a_key_is_drawn_at_once_and_uses_up_a_turn() {
        let mut frames = Frames::default();
        frames.dirty();
        frames.drawn(ms(0));
        frames.hurry();
        assert!(!frames.is_due(ms(1)), "nothing changed");
        frames.dirty();
        frames.hurry();
        assert_eq!(frames.wait(ms(1)), Some(Duration::ZERO));
        assert!(frames.is_due(ms(1)));
        frames.drawn(ms(1));
        frames.dirty();
        assert!(!frames.is_due(ms(33)) && frames.is_due(ms(34)));
        frames.hurry();
        assert!(
            !frames.is_due(ms(16)) && frames.is_due(ms(17)),
            "keys alone keep the pace, too"
        );
    }

    proptest! {
        #[test]
        fn no_second_has_more_than_sixty_frames_and_the_one_ahead(
            changes in proptest::collection::vec((0u64..25, any::<bool>()), 0..400),
        ) {
            let (mut frames, mut now, mut drawn) = (Frames::default(), 0, Vec::new());
            for (rest, is_key) in changes {
                now += rest;
                frames.dirty();
                if is_key {
                    frames.hurry();
                }
                if frames.is_due(ms(now)) {
                    frames.drawn(ms(now));
                    drawn.push(now);
                }
            }
            for (index, from) in drawn.iter().enumerate() {
                let within = drawn[index..].iter().take_while(|at| **at < from + 1000).count();
                prop_assert!(within <= 62, "{within} frames");
            }
        }
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
