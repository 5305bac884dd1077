//! The entrance of the cards: one after another, each uncovered from the left. Only time decides: what is on screen is
//! a function of the moment.

use std::time::Duration;

/// From one card to the next, while there are few.
const EACH: Duration = Duration::from_millis(130);
/// All of them together, however many are in sight.
const ALL: Duration = Duration::from_millis(1_500);
/// Between frames.
const FRAME: Duration = Duration::from_millis(16);

/// Whether the cards are still entering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Entrance {
    /// There was nothing to enter yet.
    #[default]
    Waiting,
    /// They began at this moment.
    Since(Duration),
    /// They are all there.
    Over,
}

impl Entrance {
    /// The cards are there for the first time.
    pub(super) fn begin(&mut self, now: Duration) {
        if *self == Self::Waiting {
            *self = Self::Since(now);
        }
    }

    /// Shows everything at once.
    pub(super) fn finish(&mut self) {
        *self = Self::Over;
    }

    /// When the next frame is due, while cards are entering.
    pub(super) fn next_frame(&mut self, now: Duration, cards: usize) -> Option<Duration> {
        let Self::Since(start) = *self else {
            return None;
        };
        if now >= start + each(cards) * count(cards) {
            *self = Self::Over;
            return None;
        }
        Some(now + FRAME)
    }

    /// How far the card in `place` of the `cards` in sight is uncovered, from 0 to 1. It begins fast and ends slowly.
    pub(super) fn progress(&self, place: usize, cards: usize, now: Duration) -> f64 {
        match *self {
            Self::Waiting => 0.0,
            Self::Over => 1.0,
            Self::Since(start) => {
                let each = each(cards);
                let since = now.saturating_sub(start).saturating_sub(each * count(place));
                let part = (since.as_secs_f64() / each.as_secs_f64()).clamp(0.0, 1.0);
                1.0 - (1.0 - part).powi(3)
            }
        }
    }
}

/// A card's time, so that all of them keep to theirs.
fn each(cards: usize) -> Duration {
    EACH.min(ALL / count(cards.max(1))).max(Duration::from_millis(1))
}

fn count(cards: usize) -> u32 {
    u32::try_from(cards).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn few_cards_take_their_time_and_many_share_it() {
        let mut entrance = Entrance::default();
        entrance.begin(at(100));
        assert_eq!(entrance.progress(0, 4, at(100)), 0.0);
        assert_eq!(entrance.progress(0, 4, at(230)), 1.0);
        assert_eq!(entrance.progress(1, 4, at(230)), 0.0);
        assert!(entrance.next_frame(at(100 + 4 * 130 - 1), 4).is_some());
        assert_eq!(entrance.next_frame(at(100 + 4 * 130), 4), None);
        assert_eq!(entrance, Entrance::Over);

        let mut many = Entrance::Since(at(0));
        assert_eq!(many.progress(49, 50, at(1_500)), 1.0);
        assert_eq!(many.next_frame(at(1_501), 50), None);
    }

    #[test]
    fn it_begins_once() {
        let mut entrance = Entrance::default();
        entrance.finish();
        entrance.begin(at(5));
        assert_eq!(entrance.progress(9, 10, at(5)), 1.0);
    }
}
