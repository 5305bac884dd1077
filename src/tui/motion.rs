//! Movement: how far a card has come in, and when the next frame of it is wanted. Times are those of
//! [`Ctx::now`](super::ctx::Ctx); nothing here has a clock.

use std::time::Duration;

/// The whole entrance takes no longer than this.
const LONGEST: Duration = Duration::from_millis(1500);

/// Between the starts of two neighbours, and of each one's own way, where there is time for it.
const STEP: Duration = Duration::from_millis(130);
const OWN: Duration = Duration::from_millis(180);

/// Between two frames of a movement.
const FRAME: Duration = Duration::from_millis(17);

/// Things that come in one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entrance {
    start: Duration,
    step: Duration,
    count: usize,
    /// Everything is in place.
    done: bool,
}

impl Entrance {
    /// `count` things that begin to come in at `start`; all at once where movement is not wanted.
    pub fn new(start: Duration, count: usize, animate: bool) -> Self {
        let gaps = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX).max(1);
        Self {
            start,
            step: STEP.min((LONGEST - OWN) / gaps),
            count,
            done: !animate || count == 0,
        }
    }

    /// Everything is in place from now on: a key was pressed.
    pub fn finish(&mut self) {
        self.done = true;
    }

    /// How far the thing at `index` has come in, from 0 to 1.
    pub fn progress(&self, index: usize, now: Duration) -> f32 {
        if self.done {
            return 1.0;
        }
        let index = u32::try_from(index.min(self.count)).unwrap_or(u32::MAX);
        let since = now
            .saturating_sub(self.start)
            .saturating_sub(self.step.saturating_mul(index));
        ease_out(since.as_secs_f32() / OWN.as_secs_f32())
    }

    /// Whether everything is in place.
    pub fn is_over(&self, now: Duration) -> bool {
        self.done || self.progress(self.count.saturating_sub(1), now) >= 1.0
    }

    /// When the next frame is wanted; `None` when nothing moves any more.
    pub fn next_frame(&self, now: Duration) -> Option<Duration> {
        (!self.is_over(now)).then(|| now + FRAME)
    }
}

/// Fast first, then slower: 0 to 1 for 0 to 1, and clamped outside.
pub fn ease_out(t: f32) -> f32 {
    let rest = 1.0 - t.clamp(0.0, 1.0);
    1.0 - rest * rest * rest
}

/// Whether movement is welcome: not with `--no-animation`, `NO_COLOR` or the reduced-motion setting
/// (`FAST_RLM_REDUCED_MOTION`, or `REDUCE_MOTION` as some desktops set it).
pub fn is_welcome(flag: bool, var: impl Fn(&str) -> Option<String>) -> bool {
    let is_set = |name| var(name).is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    flag && !["NO_COLOR", "FAST_RLM_REDUCED_MOTION", "REDUCE_MOTION"]
        .into_iter()
        .any(is_set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn neighbours_start_a_step_apart_and_a_key_ends_it() {
        let mut entrance = Entrance::new(Duration::from_secs(1), 3, true);
        let at = |ms: u64| Duration::from_millis(1000 + ms);
        assert_eq!(entrance.progress(0, at(0)), 0.0);
        assert!(entrance.progress(0, at(100)) > 0.0 && entrance.progress(1, at(100)) == 0.0);
        assert!(entrance.next_frame(at(100)).is_some());
        assert!(entrance.is_over(at(441)) && entrance.next_frame(at(441)).is_none());
        entrance.finish();
        assert_eq!(entrance.progress(2, at(0)), 1.0);
    }

    #[test]
    fn without_movement_everything_is_in_place_at_once() {
        let entrance = Entrance::new(Duration::ZERO, 30, false);
        assert!(entrance.is_over(Duration::ZERO));
        let none = |_: &str| None;
        assert!(is_welcome(true, none) && !is_welcome(false, none));
        assert!(!is_welcome(true, |name| (name == "NO_COLOR").then(|| "1".into())));
        assert!(is_welcome(true, |name| (name == "REDUCE_MOTION").then(|| "0".into())));
    }

    proptest! {
        #[test]
        fn the_whole_entrance_is_over_in_time(count in 0usize..100_000) {
            prop_assert!(Entrance::new(Duration::ZERO, count, true).is_over(LONGEST));
        }
    }
}
