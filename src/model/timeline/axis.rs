//! One wall clock for a whole session. Between queries hours can pass: gaps that are long against the time in which
//! something happened are folded away.

use super::{Timeline, activity, length};
use crate::model::{Session, Time};

/// A gap is folded when it is longer than this part of the busy time.
const FOLDED_PART: u64 = 10;

/// A gap that was folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// Where it is marked, in milliseconds on the folded axis.
    pub at: u64,
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
}

/// A stretch of time that is shown, and where it begins on the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    from: Time,
    to: Time,
    at: u64,
}

/// Maps instants to milliseconds on an axis without the long gaps.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Axis {
    stretches: Vec<Stretch>,
}

impl Axis {
    /// An axis for spans of activity, in any order; ends before starts count as length 0.
    pub fn new(spans: impl IntoIterator<Item = (Time, Time)>) -> Self {
        let mut spans: Vec<(Time, Time)> = spans.into_iter().map(|(from, to)| (from, to.max(from))).collect();
        spans.sort_unstable();
        let mut busy: Vec<(Time, Time)> = Vec::new();
        for (from, to) in spans {
            match busy.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => busy.push((from, to)),
            }
        }
        let total = busy
            .iter()
            .fold(0_u64, |sum, (from, to)| sum.saturating_add(length(*from, *to)));
        let mut stretches: Vec<Stretch> = Vec::new();
        for (from, to) in busy {
            match stretches.last_mut() {
                Some(last) if length(last.to, from) <= total / FOLDED_PART => last.to = to,
                Some(last) => {
                    let at = last.at.saturating_add(length(last.from, last.to));
                    stretches.push(Stretch { from, to, at });
                }
                None => stretches.push(Stretch { from, to, at: 0 }),
            }
        }
        Self { stretches }
    }

    /// Milliseconds of the whole axis.
    pub fn len(&self) -> u64 {
        self.stretches
            .last()
            .map_or(0, |last| last.at.saturating_add(length(last.from, last.to)))
    }

    /// There is nothing on it.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// Where an instant lies on the axis; one in a folded gap lies at its break, others are clamped to the ends.
    pub fn position(&self, time: Time) -> u64 {
        let after = self.stretches.partition_point(|stretch| stretch.from <= time);
        match after.checked_sub(1).and_then(|index| self.stretches.get(index)) {
            Some(stretch) => stretch.at.saturating_add(length(stretch.from, time.min(stretch.to))),
            None => 0,
        }
    }

    /// The instant at a position of the axis.
    pub fn time_at(&self, position: u64) -> Option<Time> {
        let after = self.stretches.partition_point(|stretch| stretch.at <= position);
        let stretch = self.stretches.get(after.checked_sub(1)?)?;
        let into = i64::try_from(position - stretch.at).unwrap_or(i64::MAX);
        Some(stretch.from.saturating_add(into).min(stretch.to))
    }

    /// The folded gaps, in order: one for each place of the axis that is marked. Two with nothing but an instant between
    /// them are one, and behind the end nothing can be marked.
    pub fn breaks(&self) -> impl Iterator<Item = Break> {
        let pairs = self.stretches.iter().zip(self.stretches.iter().skip(1));
        let gaps = pairs.map(|(before, after)| Break {
            at: after.at,
            from: before.to,
            to: after.from,
        });
        let (end, mut gaps) = (self.len(), gaps.peekable());
        std::iter::from_fn(move || {
            let mut gap = gaps.next().filter(|gap| gap.at < end)?;
            while let Some(next) = gaps.next_if(|next| next.at == gap.at) {
                gap.to = next.to;
            }
            Some(gap)
        })
    }
}

/// All runs of a session on one axis.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SessionTimeline {
    /// Index into [`Session::queries`] with that run's timeline; runs without any instant are left out.
    pub runs: Vec<(usize, Timeline)>,
    /// The wall clock.
    pub axis: Axis,
}

impl SessionTimeline {
    /// The timeline of all runs.
    pub fn of_session(session: &Session) -> Self {
        let known = session
            .queries
            .iter()
            .enumerate()
            .filter(|(_, query)| query.run.span.is_some());
        let runs: Vec<(usize, Timeline)> = known
            .map(|(index, query)| (index, Timeline::of_run(&query.run)))
            .collect();
        let axis = Axis::new(session.queries.iter().flat_map(|query| activity(&query.run)));
        Self { runs, axis }
    }
}
