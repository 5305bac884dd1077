//! How often what a session's transcripts tell is worked into what is shown, while all of them are read for the first
//! time: the reading goes on meanwhile, and what matters is its end.

use std::time::Duration;

/// Progress is shown so often at most.
const OFTEN: Duration = Duration::from_millis(150);
/// Times as long as it took to derive what is shown is waited until it is derived again: a run of a hundred thousand
/// agents is derived as a whole, and keys are answered between.
const REST: u32 = 4;

/// The pace of one session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// When it may be derived again, while it is read.
    next: Option<Duration>,
}

impl Pace {
    /// A session begins to be read; what is known of it is derived already.
    pub(super) fn begin(&mut self, now: Duration) {
        self.next = Some(now + OFTEN);
    }

    /// Everything is read.
    pub(super) fn end(&mut self) {
        self.next = None;
    }

    /// When what was read is due to be shown; `None` for at once.
    pub(super) fn next(self) -> Option<Duration> {
        self.next
    }

    /// Whether what was read may be derived now.
    pub(super) fn is_due(self, now: Duration) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// It was derived, which took so long until now.
    pub(super) fn took(&mut self, now: Duration, took: Duration) {
        if let Some(next) = &mut self.next {
            *next = now + OFTEN.max(took.saturating_mul(REST));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn while_it_is_read_there_is_time_between_and_at_the_end_there_is_none() {
        let mut pace = Pace::default();
        assert!(pace.is_due(ms(0)), "nothing is read");
        pace.begin(ms(20));
        assert!(!pace.is_due(ms(169)) && pace.is_due(ms(170)));
        pace.took(ms(180), ms(10));
        assert_eq!(pace.next(), Some(ms(330)));
        pace.took(ms(730), ms(500));
        assert!(!pace.is_due(ms(2_729)) && pace.is_due(ms(2_730)));
        pace.end();
        assert!(pace.is_due(ms(731)) && pace.next().is_none());
        pace.took(ms(740), ms(9));
        assert!(pace.is_due(ms(741)));
    }
}
