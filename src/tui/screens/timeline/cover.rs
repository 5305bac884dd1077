//! How much of a stretch of the axis something covers, whatever the number of its segments: running sums over
//! segments that do not overlap, searched by halving.

use std::ops::Range;

/// Covered stretches of the axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    /// Sorted and apart.
    stretches: Vec<Range<u64>>,
    /// Covered before each of them.
    before: Vec<u64>,
}

impl Cover {
    /// Of stretches in any order; overlaps count once, empty ones as one millisecond, so that nothing is hidden.
    pub(super) fn new(mut stretches: Vec<Range<u64>>) -> Self {
        stretches.sort_unstable_by_key(|stretch| stretch.start);
        let mut cover = Self::default();
        let (mut end, mut sum) = (0, 0_u64);
        for stretch in stretches {
            let from = stretch.start.max(end);
            let to = stretch.end.max(stretch.start.saturating_add(1));
            if from < to {
                cover.before.push(sum);
                cover.stretches.push(from..to);
                sum = sum.saturating_add(to - from);
                end = to;
            }
        }
        cover
    }

    /// Milliseconds covered within a range.
    pub(super) fn within(&self, range: &Range<u64>) -> u64 {
        self.until(range.end).saturating_sub(self.until(range.start))
    }

    /// Milliseconds covered in all.
    pub(super) fn total(&self) -> u64 {
        self.until(u64::MAX)
    }

    fn until(&self, moment: u64) -> u64 {
        let after = self.stretches.partition_point(|stretch| stretch.start < moment);
        let last = after
            .checked_sub(1)
            .and_then(|at| Some((self.stretches.get(at)?, self.before.get(at)?)));
        last.map_or(0, |(stretch, before)| {
            before.saturating_add(moment.min(stretch.end) - stretch.start)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn overlaps_count_once_and_instants_are_not_lost() {
        let cover = Cover::new(vec![10..20, 15..25, 40..40]);
        assert_eq!(cover.total(), 16);
        assert_eq!(cover.within(&(0..15)), 5);
        assert_eq!(cover.within(&(18..41)), 8);
        assert_eq!(cover.within(&(25..40)), 0);
    }

    proptest! {
        #[test]
        fn agrees_with_counting(stretches in prop::collection::vec((0u64..60, 0u64..9), 0..12), from in 0u64..70, len in 0u64..30) {
            let stretches: Vec<_> = stretches.into_iter().map(|(start, len)| start..start + len).collect();
            let covers = |moment: u64| stretches.iter().any(|s| s.contains(&moment) || (s.is_empty() && s.start == moment));
            let counted = (from..from + len).filter(|moment| covers(*moment)).count();
            prop_assert_eq!(Cover::new(stretches.clone()).within(&(from..from + len)), counted as u64);
        }
    }
}
