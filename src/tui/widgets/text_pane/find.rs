//! Matches of a search in a pane, and going from one to the next.

use super::TextPane;
use crate::tui::pattern::Pattern;
use crate::tui::screens::Matches;
use std::ops::Range;

/// What is searched for and where it was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pattern: Option<Pattern>,
    matches: Vec<Range<usize>>,
    more: bool,
    current: Option<usize>,
    /// There was no text yet when the search began: its first match is gone to when it comes.
    waits: bool,
    /// The current match was gone to before the pane had a place: where in it the match is to be is open.
    unplaced: bool,
}

impl Found {
    /// Searches again: the text changed.
    pub(super) fn refresh(&mut self, text: &str) {
        (self.matches, self.more) = self
            .pattern
            .as_ref()
            .map(|pattern| pattern.find_all(text))
            .unwrap_or_default();
        self.current = self.current.filter(|current| *current < self.matches.len());
    }

    pub(super) fn forget_current(&mut self) {
        (self.current, self.waits, self.unplaced) = (None, false, false);
    }

    /// The matches that touch `bytes`, each with whether it is the current one.
    pub(super) fn within(&self, bytes: &Range<usize>) -> impl Iterator<Item = (&Range<usize>, bool)> {
        let from = self.matches.partition_point(|found| found.end <= bytes.start);
        let end = bytes.end;
        let touching = self
            .matches
            .iter()
            .enumerate()
            .skip(from)
            .take_while(move |(_, found)| found.start < end);
        touching.map(|(place, found)| (found, Some(place) == self.current))
    }

    /// The next one, or the previous one, around the ends; the first one at or after `byte` to begin with.
    fn advance(&mut self, forward: bool, byte: usize) -> Option<Range<usize>> {
        let count = self.matches.len();
        let last = count.checked_sub(1)?;
        let to = match (self.current, forward) {
            (Some(current), true) => (current + 1) % count,
            (Some(current), false) => current.checked_sub(1).unwrap_or(last),
            (None, true) => self.matches.partition_point(|found| found.start < byte) % count,
            (None, false) => self
                .matches
                .partition_point(|found| found.start < byte)
                .checked_sub(1)
                .unwrap_or(last),
        };
        self.current = Some(to);
        self.matches.get(to).cloned()
    }
}

impl TextPane {
    /// Searches for a pattern and goes to its first match from the view on; `None` ends the search.
    pub fn search(&mut self, pattern: Option<&Pattern>) {
        self.found.pattern = pattern.cloned();
        self.found.current = None;
        self.found.refresh(self.text.as_str());
        if pattern.is_some() {
            self.go_to_match(true);
        }
        self.found.waits = pattern.is_some() && self.text.is_empty();
    }

    /// A search waits for the text: there is none yet.
    pub(super) fn is_awaited(&self) -> bool {
        self.found.waits && self.text.is_empty()
    }

    /// The text that a search waited for has come.
    pub(super) fn go_to_awaited(&mut self) {
        if self.found.waits && !self.text.is_empty() {
            self.found.waits = false;
            self.go_to_match(true);
        }
    }

    /// How the search stands, while there is one.
    pub fn matches(&self) -> Option<Matches> {
        self.found.pattern.as_ref().map(|_| Matches {
            current: self.found.current.map_or(0, |current| current + 1),
            total: self.found.matches.len(),
            more: self.found.more,
            elsewhere: None,
        })
    }

    /// Goes to the next or the previous match; `false` when there is none.
    pub(super) fn go_to_match(&mut self, forward: bool) -> bool {
        let from = self.lines.bytes(self.top.line).start + self.top.byte;
        let Some(found) = self.found.advance(forward, from) else {
            return false;
        };
        self.reveal(found);
        true
    }

    /// Brings a part of the text into sight: nothing moves when it is, else it lands a third below the top.
    fn reveal(&mut self, bytes: Range<usize>) {
        let at = self.anchor_of(bytes.start);
        let height = isize::from(i16::try_from(self.area.height).unwrap_or(i16::MAX)).max(1);
        let top = if self.pinned { self.last_top() } else { self.top };
        let bottom = self.step(top, height - 1);
        if at < top || at > bottom || self.found.unplaced {
            self.pinned = false;
            self.top = self.step(at, -(height / 3));
        }
        self.found.unplaced = self.area.is_empty();
        self.reveal_column(bytes);
    }

    /// The pane has its place now.
    pub(super) fn place_match(&mut self) {
        let current = self
            .found
            .current
            .filter(|_| self.found.unplaced && !self.area.is_empty());
        if let Some(found) = current.and_then(|current| self.found.matches.get(current).cloned()) {
            self.reveal(found);
        }
    }

    fn reveal_column(&mut self, bytes: Range<usize>) {
        if self.wrap {
            return;
        }
        let line = self.lines.bytes(self.lines.at(bytes.start));
        let column = |to: usize| {
            let before = self.text.as_str().get(line.start..to);
            before.map_or(0, crate::text::cell_width)
        };
        let (start, end) = (column(bytes.start), column(bytes.end.min(line.end)));
        let width = usize::from(self.area.width);
        if start < self.left || end > self.left + width {
            self.left = start.saturating_sub(width / 3);
        }
    }
}
