//! Which instants of a transcript can be true. A clock that was never set or a damaged digit gives an instant that is
//! years away from all others: taken as it is, it would stretch the run over centuries and misplace its agents.

use super::lines::{StoredKind, StoredLine};
use super::{Time, Timings};

/// No run takes longer: what is further from the middle instant is not believed.
const FAR: u64 = 366 * 86_400_000;

/// The first and the last instant that are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    first: Time,
    last: Time,
}

impl Window {
    /// Of all instants on the lines of a transcript.
    pub(super) fn of(lines: &[StoredLine]) -> Self {
        let all = Self::around(instants(lines));
        let empty = all.first > all.last;
        if empty || all.first.abs_diff(all.last) <= FAR {
            return all;
        }
        let mut every: Vec<Time> = instants(lines).collect();
        let middle = every.len().saturating_sub(1) / 2;
        every.select_nth_unstable(middle);
        let median = every.get(middle).copied().unwrap_or_default();
        Self::around(every.into_iter().filter(|time| time.abs_diff(median) <= FAR))
    }

    fn around(instants: impl Iterator<Item = Time>) -> Self {
        let start = Self {
            first: Time::MAX,
            last: Time::MIN,
        };
        instants.fold(start, |seen, time| Self {
            first: seen.first.min(time),
            last: seen.last.max(time),
        })
    }

    /// The instant, or the edge that is nearest to it.
    pub(super) fn hold(self, time: Time) -> Time {
        time.min(self.last).max(self.first)
    }
}

fn instants(lines: &[StoredLine]) -> impl Iterator<Item = Time> {
    lines.iter().flat_map(|line| {
        let timings = match &line.kind {
            StoredKind::Step(step) => step.timings,
            _ => Timings::default(),
        };
        instants_of(timings).chain(line.time)
    })
}

/// The instants of a step that were recorded.
pub(super) fn instants_of(timings: Timings) -> impl Iterator<Item = Time> {
    let Timings {
        call_start,
        call_end,
        exec_start,
        exec_end,
    } = timings;
    [call_start, call_end, exec_start, exec_end].into_iter().flatten()
}
