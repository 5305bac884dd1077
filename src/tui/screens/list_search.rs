//! The search of a screen whose items are rows of a list: which rows match, and going from one to the next.

use super::Matches;
use crate::tui::pattern::Pattern;

/// Rows that match what is searched for.
#[derive(Clone, Debug, Default)]
pub(super) struct ListSearch {
    pattern: Option<Pattern>,
    hits: Vec<usize>,
}

impl ListSearch {
    /// Searches `len` rows; `matching` says whether one matches. Returns the row to go to, from `selected` on.
    pub(super) fn set(
        &mut self,
        pattern: Option<&Pattern>,
        len: usize,
        selected: Option<usize>,
        matching: impl Fn(&Pattern, usize) -> bool,
    ) -> Option<usize> {
        self.pattern = pattern.cloned();
        self.refresh(len, matching);
        let from = selected.unwrap_or(0);
        let next = self.hits.partition_point(|hit| *hit < from);
        self.hits.get(next).or(self.hits.first()).copied()
    }

    /// Searches again: the rows changed.
    pub(super) fn refresh(&mut self, len: usize, matching: impl Fn(&Pattern, usize) -> bool) {
        self.hits = match &self.pattern {
            Some(pattern) => (0..len).filter(|row| matching(pattern, *row)).collect(),
            None => Vec::new(),
        };
    }

    /// The matching row after `selected`, or before it, around the ends.
    pub(super) fn advance(&self, forward: bool, selected: Option<usize>) -> Option<usize> {
        let from = selected.unwrap_or(0);
        let found = if forward {
            let next = self.hits.partition_point(|hit| *hit <= from);
            self.hits.get(next).or(self.hits.first())
        } else {
            let before = self.hits.partition_point(|hit| *hit < from);
            before
                .checked_sub(1)
                .and_then(|at| self.hits.get(at))
                .or(self.hits.last())
        };
        found.copied()
    }

    /// How it stands, while there is one.
    pub(super) fn matches(&self, selected: Option<usize>) -> Option<Matches> {
        self.pattern.as_ref()?;
        let current = selected.and_then(|row| self.hits.binary_search(&row).ok());
        Some(Matches {
            current: current.map_or(0, |at| at + 1),
            total: self.hits.len(),
            more: false,
            elsewhere: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_around_both_ends() {
        let mut search = ListSearch::default();
        let pattern = Pattern::new("x").unwrap();
        assert_eq!(search.set(Some(&pattern), 10, Some(4), |_, row| row % 3 == 0), Some(6));
        assert_eq!(search.advance(true, Some(6)), Some(9));
        assert_eq!(search.advance(true, Some(9)), Some(0));
        assert_eq!(search.advance(false, Some(0)), Some(9));
        assert_eq!(search.advance(false, Some(5)), Some(3));
        let matches = search.matches(Some(6)).unwrap();
        assert_eq!((matches.current, matches.total), (3, 4));
    }

    #[test]
    fn without_a_pattern_there_is_nothing() {
        let mut search = ListSearch::default();
        assert_eq!(search.set(None, 10, Some(1), |_, _| true), None);
        assert_eq!(search.advance(true, None), None);
        assert!(search.matches(None).is_none());
    }
}
