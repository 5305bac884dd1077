//! The guest's clocks: real, or pinned so that a step can be replayed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// What a pinned clock advances at each reading, in nanoseconds: loops that wait for time to pass still end.
const TICK: u64 = 1_000;

/// The clock of one instance. While it is pinned, wall and monotonic time are the same count.
pub(super) struct PinnedClock {
    /// Nanoseconds since 1970, or 0 for the real clocks.
    pinned: AtomicU64,
    start: Instant,
}

impl PinnedClock {
    pub(super) fn new(pinned: Option<u64>) -> Self {
        Self {
            pinned: AtomicU64::new(pinned.unwrap_or(0)),
            start: Instant::now(),
        }
    }

    pub(super) fn pin(&self, nanoseconds: Option<u64>) {
        self.pinned.store(nanoseconds.unwrap_or(0), Ordering::Relaxed);
    }

    fn reading(&self) -> Option<u64> {
        let advance = |now: u64| (now != 0).then(|| now.saturating_add(TICK));
        self.pinned
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, advance)
            .ok()
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
            SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default()
        };
        self.0.reading().map_or_else(real, Duration::from_nanos)
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
        self.0.reading().unwrap_or_else(real)
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
        clock.pin(None);
        assert!(wall.now() > Duration::from_secs(1_600_000_000), "the real time again");
    }
}
