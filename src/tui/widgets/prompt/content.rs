//! The text of a draft with its chips, and where its characters begin and end. Knows no caret and no screen.
//!
//! A chip is one object replacement character in the text and an entry beside it. The same character without an entry
//! is only a character.

use super::chip::Chip;
use std::ops::Range;
use unicode_segmentation::GraphemeCursor;

/// What stands in the text for a chip.
const MARK: &str = "\u{FFFC}";

/// Text with chips. Offsets are bytes; newlines are `\n` only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    text: String,
    /// Where each chip's mark begins, ascending.
    chips: Vec<(usize, Chip)>,
}

/// A stretch of a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text without chips, never empty.
    Text(&'a str),
    /// A chip.
    Chip(&'a Chip),
}

impl Piece<'_> {
    /// Bytes it takes in its content.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Chip(_) => MARK.len(),
        }
    }
}

impl From<&str> for Content {
    /// Newlines of all systems become `\n`.
    fn from(text: &str) -> Self {
        let text = match text.contains('\r') {
            true => text.replace("\r\n", "\n").replace('\r', "\n"),
            false => text.to_owned(),
        };
        Self {
            text,
            chips: Vec::new(),
        }
    }
}

impl From<Chip> for Content {
    fn from(chip: Chip) -> Self {
        Self {
            text: MARK.to_owned(),
            chips: vec![(0, chip)],
        }
    }
}

impl Content {
    /// Bytes.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// There is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text, with a mark for each chip.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A part of the text; empty when the range is none of it.
    pub(super) fn get(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// Its chips.
    pub(super) fn chips(&self) -> impl Iterator<Item = &Chip> {
        self.chips.iter().map(|(_, chip)| chip)
    }

    /// The chip whose mark begins at `at`.
    pub(super) fn chip_at(&self, at: usize) -> Option<&Chip> {
        let index = self.chips.binary_search_by_key(&at, |(place, _)| *place).ok()?;
        self.chips.get(index).map(|(_, chip)| chip)
    }

    /// Text and chips of a range, in order.
    pub(super) fn pieces(&self, range: Range<usize>) -> Vec<Piece<'_>> {
        let mut pieces = Vec::new();
        let mut at = range.start;
        let inside = self.chips.iter().filter(|(place, _)| range.contains(place));
        for (place, chip) in inside {
            if at < *place {
                pieces.push(Piece::Text(self.get(at..*place)));
            }
            pieces.push(Piece::Chip(chip));
            at = place + MARK.len();
        }
        if at < range.end {
            pieces.push(Piece::Text(self.get(at..range.end)));
        }
        pieces
    }

    /// What is sent: pastes expanded, files by their names.
    pub(super) fn plain(&self) -> String {
        let mut out = String::with_capacity(self.len());
        for piece in self.pieces(0..self.len()) {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Chip(chip) => out.push_str(&chip.sent()),
            }
        }
        out
    }

    /// Bytes of what is sent, without the names of files.
    pub(super) fn plain_len(&self) -> usize {
        let folded = self.chips().map(|chip| match chip {
            Chip::Pasted { text, .. } => text.len(),
            Chip::File { .. } => 0,
        });
        self.len() + folded.sum::<usize>()
    }

    /// A copy of a range.
    pub(super) fn slice(&self, range: Range<usize>) -> Self {
        let inside = self.chips.iter().filter(|(place, _)| range.contains(place));
        Self {
            text: self.get(range.clone()).to_owned(),
            chips: inside
                .map(|(place, chip)| (place - range.start, chip.clone()))
                .collect(),
        }
    }

    /// Puts `with` in the place of a range and returns what was there. The range is on boundaries.
    pub(super) fn splice(&mut self, range: Range<usize>, with: &Self) -> Self {
        if self.text.get(range.clone()).is_none() {
            return Self::default();
        }
        let removed = self.slice(range.clone());
        self.text.replace_range(range.clone(), &with.text);
        let later = self
            .chips
            .split_off(self.chips.partition_point(|(place, _)| *place < range.start));
        self.chips.extend(
            with.chips
                .iter()
                .map(|(place, chip)| (place + range.start, chip.clone())),
        );
        let moved = later.into_iter().filter(|(place, _)| *place >= range.end);
        self.chips
            .extend(moved.map(|(place, chip)| (place - range.len() + with.len(), chip)));
        removed
    }

    /// Adds at the end.
    pub(super) fn append(&mut self, more: &Self) {
        let end = self.len();
        self.splice(end..end, more);
    }

    /// The stretch without chips around `at`.
    fn segment(&self, at: usize) -> Range<usize> {
        let next = self.chips.partition_point(|(place, _)| *place < at);
        let before = next.checked_sub(1).and_then(|index| self.chips.get(index));
        let start = before.map_or(0, |(place, _)| place + MARK.len());
        let end = self.chips.get(next).map_or(self.len(), |(place, _)| *place);
        start..end
    }

    /// Where the character or chip at `at` ends.
    pub(super) fn after(&self, at: usize) -> usize {
        if self.chip_at(at).is_some() {
            return at + MARK.len();
        }
        let segment = self.segment(at);
        let mut cursor = GraphemeCursor::new(at.saturating_sub(segment.start), segment.len(), true);
        let next = cursor.next_boundary(self.get(segment.clone()), 0).ok().flatten();
        next.map_or(segment.end, |next| segment.start + next)
    }

    /// Where the character or chip before `at` begins.
    pub(super) fn before(&self, at: usize) -> usize {
        let chip = at
            .checked_sub(MARK.len())
            .filter(|start| self.chip_at(*start).is_some());
        if let Some(start) = chip {
            return start;
        }
        let segment = self.segment(at);
        let mut cursor = GraphemeCursor::new(at.saturating_sub(segment.start), segment.len(), true);
        let before = cursor.prev_boundary(self.get(segment.clone()), 0).ok().flatten();
        before.map_or(segment.start, |before| segment.start + before)
    }

    /// The first boundary at or behind `at`: characters that met may have become one.
    pub(super) fn settled(&self, at: usize) -> usize {
        let at = at.min(self.len());
        let segment = self.segment(at);
        let mut cursor = GraphemeCursor::new(at.saturating_sub(segment.start), segment.len(), true);
        match cursor.is_boundary(self.get(segment), 0) {
            Ok(false) => self.after(at),
            _ => at,
        }
    }

    /// The line around `at`, without its newline.
    pub(super) fn line(&self, at: usize) -> Range<usize> {
        let start = self.get(0..at).rfind('\n').map_or(0, |newline| newline + 1);
        let end = self
            .get(at..self.len())
            .find('\n')
            .map_or(self.len(), |newline| at + newline);
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Content {
        let mut content = Content::from("ab");
        content.append(&Chip::pasted("one\ntwo").into());
        content.append(&"\u{301}c👩‍👩‍👧".into());
        content
    }

    #[test]
    fn a_chip_is_one_character_and_takes_no_other_with_it() {
        let content = sample();
        let mut places = vec![0];
        while places.last() != Some(&content.len()) {
            places.push(content.after(*places.last().unwrap()));
        }
        assert_eq!(places, [0, 1, 2, 5, 7, 8, content.len()]);
        let mut back = vec![content.len()];
        while back.last() != Some(&0) {
            back.push(content.before(*back.last().unwrap()));
        }
        back.reverse();
        assert_eq!(back, places);
    }

    #[test]
    fn pastes_are_sent_whole() {
        assert_eq!(sample().plain(), "abone\ntwo\u{301}c👩‍👩‍👧");
    }

    #[test]
    fn a_mark_that_is_typed_is_a_character() {
        let content = Content::from("a\u{FFFC}b");
        assert_eq!((content.plain(), content.chips().count()), ("a\u{FFFC}b".into(), 0));
    }

    #[test]
    fn newlines_of_all_systems_are_one() {
        assert_eq!(Content::from("a\r\nb\rc\n").text(), "a\nb\nc\n");
    }

    proptest! {
        #[test]
        fn what_was_replaced_can_be_put_back(from in 0usize..9, to in 0usize..9, text in "\\PC{0,4}") {
            let mut content = sample();
            let at = |n: usize| (0..n).fold(0, |at, _| content.after(at));
            let (from, to) = (at(from.min(to)), at(from.max(to)));
            let before = content.clone();
            let mut with = Content::from(text.as_str());
            with.append(&Chip::pasted("x").into());
            let removed = content.splice(from..to, &with);
            prop_assert!(content.chips.is_sorted_by_key(|(place, _)| *place));
            prop_assert!(content.chips.iter().all(|(place, _)| content.get(*place..place + 3) == MARK));
            content.splice(from..from + with.len(), &removed);
            prop_assert_eq!(content, before);
        }
    }
}
