//! The guest's clocks: real ones whose readings are kept, or recorded ones, so that a step can be replayed.

use super::api::READINGS;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// What a pinned clock advances at each reading, in nanoseconds: loops that wait for time to pass still end.
const TICK: u64 = 1_000;

/// The clock of one instance. While it is pinned, wall and monotonic time are the same count.
pub(super) struct PinnedClock {
    state: Mutex<State>,
    start: Instant,
}

#[derive(Default)]
struct State {
    /// Nanoseconds since 1970 of the last reading; `None` for the real clocks.
    pinned: Option<u64>,
    /// Recorded readings that are still to be shown.
    recorded: VecDeque<u64>,
    /// What was shown since the step began.
    shown: Vec<u64>,
}

impl PinnedClock {
    pub(super) fn new(pinned: Option<u64>) -> Self {
        let state = State {
            pinned,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            start: Instant::now(),
        }
    }

    /// A step begins: at `nanoseconds`, or with what another one was shown.
    pub(super) fn pin(&self, nanoseconds: Option<u64>, readings: Option<&[u64]>) {
        *self.state() = State {
            pinned: nanoseconds,
            recorded: readings.unwrap_or_default().iter().copied().collect(),
            shown: Vec::new(),
        };
    }

    /// The step ended: the real clocks again. What the step was shown.
    pub(super) fn unpin(&self) -> Vec<u64> {
        std::mem::take(&mut *self.state()).shown
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self, real: impl FnOnce() -> u64) -> u64 {
        let mut state = self.state();
        let shown = match (state.recorded.pop_front(), state.pinned) {
            (Some(recorded), _) => {
                // Whoever reads more often than was recorded goes on from here.
                state.pinned = Some(recorded.saturating_add(TICK));
                recorded
            }
            (None, Some(now)) => {
                state.pinned = Some(now.saturating_add(TICK));
                now
            }
            (None, None) => real(),
        };
        if state.shown.len() < READINGS {
            state.shown.push(shown);
        }
        shown
    }
}

/// `time.time` and its kin.
pub(super) struct PinnedWall(pub(super) std::sync::Arc<PinnedClock>);

impl HostWallClock for PinnedWall {
    fn resolution(&self) -> Duration {
        Duration::from_micros(1)
    }

    fn now(&self) -> Duration {
        let real = || {
            let since = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default();
            u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
        };
        Duration::from_nanos(self.0.reading(real))
    }
}

/// `time.monotonic`, `time.perf_counter`.
pub(super) struct PinnedMonotonic(pub(super) std::sync::Arc<PinnedClock>);

impl HostMonotonicClock for PinnedMonotonic {
    fn resolution(&self) -> u64 {
        TICK
    }

    fn now(&self) -> u64 {
        let real = || u64::try_from(self.0.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.reading(real)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_pinned_clock_shows_its_time_and_advances_by_a_microsecond_a_reading() {
        let clock = Arc::new(PinnedClock::new(Some(5_000_000_000)));
        let wall = PinnedWall(clock.clone());
        assert_eq!(wall.now(), Duration::from_secs(5));
        assert_eq!(wall.now(), Duration::from_nanos(5_000_001_000));
        assert_eq!(PinnedMonotonic(clock.clone()).now(), 5_000_002_000);
        clock.unpin();
        assert!(wall.now() > Duration::from_secs(1_600_000_000), "the real time again");
    }

    #[test]
    fn what_was_shown_is_shown_again() {
        let clock = Arc::new(PinnedClock::new(None));
        clock.pin(None, None);
        let (wall, monotonic) = (PinnedWall(clock.clone()), PinnedMonotonic(clock.clone()));
        let live = (wall.now(), monotonic.now());
        let shown = clock.unpin();
        assert_eq!(shown.len(), 2);
        clock.pin(None, Some(&shown));
        assert_eq!((wall.now(), monotonic.now()), live);
        assert_eq!(monotonic.now(), live.1 + TICK, "beyond what was recorded");
    }
}
