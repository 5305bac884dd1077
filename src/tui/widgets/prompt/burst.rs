//! Telling a paste from typing on terminals that do not bracket pastes: nobody types several keys within a few
//! milliseconds. The caller says what time it is.

use std::time::Duration;

/// Keys that follow each other faster than this are no typing.
const FAST: Duration = Duration::from_millis(8);
/// So many of them are a paste,
const SURE: usize = 3;
/// and then an `Enter` that comes this soon still belongs to it: the network may have cut it into pieces.
const LINGER: Duration = Duration::from_millis(120);

/// The rhythm of the keys that typed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    last: Option<Duration>,
    run: usize,
}

impl Burst {
    /// Whether an `Enter` that comes now belongs to a paste.
    pub(super) fn goes_on(&self, now: Duration) -> bool {
        let patience = if self.run >= SURE { LINGER } else { FAST };
        self.last.is_some_and(|last| now < last + patience)
    }

    /// A key typed something; whether it came too fast. After a pause it may well be the first that is typed.
    pub(super) fn key(&mut self, now: Duration) -> bool {
        let fast = self.last.is_some_and(|last| now < last + FAST);
        self.run = if fast { self.run + 1 } else { 1 };
        self.last = Some(now);
        fast
    }

    /// A bracketed paste ended: where its text held the closing bracket, the rest of it follows as keys.
    pub(super) fn pasted(&mut self, now: Duration) {
        (self.run, self.last) = (SURE, Some(now));
    }

    /// A key that types nothing ended it.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }

    /// When it will be over, if nothing more comes.
    pub(super) fn over_at(&self) -> Option<Duration> {
        self.last.map(|last| last + LINGER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn typing_is_no_burst() {
        let mut burst = Burst::default();
        assert!(!burst.goes_on(ms(0)));
        assert!([0, 30, 42, 51].map(|at| burst.key(ms(at))).iter().all(|is| !is));
        assert!(!burst.goes_on(ms(60)));
    }

    #[test]
    fn fast_keys_are_one_and_its_pauses_may_be_longer() {
        let mut burst = Burst::default();
        assert_eq!([0, 1, 2].map(|at| burst.key(ms(at))), [false, true, true]);
        assert!(burst.goes_on(ms(100)) && !burst.goes_on(ms(200)));
    }

    #[test]
    fn what_follows_a_paste_at_once_belongs_to_it() {
        let mut burst = Burst::default();
        burst.pasted(ms(5));
        assert!(burst.goes_on(ms(9)));
        burst.end();
        assert!(!burst.goes_on(ms(9)));
    }
}
