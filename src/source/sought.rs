//! A pattern sought in a text that comes in pieces: however long the text is, little of it is held.

use std::ops::Range;

use super::colours::{self, LeftOut};
use super::{SearchPattern, Stop};

/// Bytes that are searched at a time: more than a match and what is shown around it.
const PIECE: usize = 512 << 10;
/// Characters of a snippet before and after the match.
const BEFORE: usize = 40;
const AFTER: usize = 120;
/// Most bytes of a character.
const WIDEST: usize = 4;
/// Matches of a text that are counted.
const MOST: usize = 10_000;

/// The first match of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct First {
    /// Its byte in the text.
    pub(super) offset: usize,
    /// A part of the text's line around it.
    pub(super) snippet: String,
    /// Bytes of the snippet that match.
    pub(super) matched: Range<usize>,
}

/// What was found so far.
pub(super) struct Sought<'a> {
    pattern: &'a SearchPattern,
    stop: &'a Stop,
    /// What was read and is no text yet: the last may be half a character.
    bytes: Vec<u8>,
    /// The text that is held, from byte `start` of all of it; up to `done` it was searched.
    text: String,
    start: usize,
    done: usize,
    count: usize,
    first: Option<First>,
    /// Bytes that are searched at a time.
    piece: usize,
    /// Colours that were left out, where they are.
    left_out: Option<LeftOut>,
}

impl<'a> Sought<'a> {
    pub(super) fn new(pattern: &'a SearchPattern, stop: &'a Stop) -> Self {
        Self {
            pattern,
            stop,
            bytes: Vec::new(),
            text: String::new(),
            start: 0,
            done: 0,
            count: 0,
            first: None,
            piece: PIECE,
            left_out: None,
        }
    }

    /// Seeks what screens show of a program's output: without colours.
    pub(super) fn without_colours(self) -> Self {
        Self {
            left_out: Some(LeftOut::default()),
            ..self
        }
    }

    /// Takes the next piece.
    pub(super) fn read(&mut self, mut piece: &[u8]) {
        while let Some((now, rest)) = piece.split_at_checked(self.piece.saturating_sub(self.bytes.len())) {
            self.bytes.extend_from_slice(now);
            self.search(false);
            piece = rest;
        }
        self.bytes.extend_from_slice(piece);
    }

    /// How many matches there are, and the first of them.
    pub(super) fn found(mut self) -> (usize, Option<First>) {
        self.search(true);
        (self.count, self.first)
    }

    /// Searches what was read, but for an end of it where a match, or what is shown around it, may reach into what is
    /// still to come.
    fn search(&mut self, last: bool) {
        if self.stop.is_stopped() || self.count >= MOST {
            self.bytes.clear();
            return;
        }
        self.decode(last);
        let ahead = if last {
            0
        } else {
            (self.pattern.text().len() + AFTER) * WIDEST
        };
        let end = self.text.floor_char_boundary(self.text.len().saturating_sub(ahead));
        let mut done = end.max(self.done);
        for found in self.pattern.matches(self.text.get(self.done..).unwrap_or_default()) {
            let found = found.start + self.done..found.end + self.done;
            if found.start >= end && !last {
                break;
            }
            done = done.max(found.end);
            self.count += 1;
            if self.first.is_none() {
                let mut found = first(&self.text, &found, self.start);
                found.offset = self
                    .left_out
                    .as_ref()
                    .map_or(found.offset, |left_out| left_out.origin(found.offset));
                self.first = Some(found);
            }
        }
        self.done = done;
        self.count = self.count.min(MOST);
        self.forget();
    }

    /// Makes text of bytes, and keeps those of a character that has only begun.
    fn decode(&mut self, last: bool) {
        let whole = match std::str::from_utf8(&self.bytes) {
            Err(error) if error.error_len().is_none() && !last => error.valid_up_to(),
            _ => self
                .bytes
                .len()
                .saturating_sub(if last { 0 } else { begun(&self.bytes) }),
        };
        let held = match (&self.left_out, last) {
            (Some(_), false) => colours::begun(self.bytes.get(..whole).unwrap_or_default()),
            _ => 0,
        };
        let rest = self.bytes.split_off(whole - held);
        let text = String::from_utf8_lossy(&self.bytes);
        match &mut self.left_out {
            Some(left_out) => left_out.append(&text, &mut self.text, self.start),
            None => self.text.push_str(&text),
        }
        self.bytes = rest;
    }

    /// Lets go of what was searched, all but what a snippet may show of it.
    fn forget(&mut self) {
        let until = self.done.saturating_sub(BEFORE * WIDEST);
        let until = self.text.floor_char_boundary(until);
        self.text.drain(..until);
        self.start += until;
        self.done -= until;
        if let Some(left_out) = &mut self.left_out {
            left_out.forget(self.start);
        }
    }
}

/// Bytes at the end that may be the beginning of a character.
fn begun(bytes: &[u8]) -> usize {
    let tail = bytes.rchunks(WIDEST).next().unwrap_or_default();
    let chunk = tail.utf8_chunks().last();
    // An invalid sequence that the end cut short is shorter than what it would be.
    chunk.map_or(0, |chunk| chunk.invalid().len())
}

/// The match with what stands around it in its line.
fn first(text: &str, found: &Range<usize>, start: usize) -> First {
    let before = text.get(..found.start).unwrap_or_default();
    let before = before.rsplit('\n').next().unwrap_or_default();
    let skip = before.chars().count().saturating_sub(BEFORE);
    let before: String = before.chars().skip(skip).collect();
    let matched = text.get(found.clone()).unwrap_or_default();
    let after = text.get(found.end..).unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();
    let after = after.chars().take(AFTER);
    First {
        offset: start + found.start,
        matched: before.len()..before.len() + matched.len(),
        snippet: before.chars().chain(matched.chars()).chain(after).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As found in the whole text at once.
    fn at_once(pattern: &SearchPattern, text: &str) -> (usize, Option<First>) {
        let matches = pattern.matches(text);
        (matches.len(), matches.first().map(|found| first(text, found, 0)))
    }

    /// Bytes of a piece in these tests.
    const SMALL: usize = 1 << 10;

    fn in_pieces(pattern: &SearchPattern, text: &[u8], size: usize) -> (usize, Option<First>) {
        let stop = Stop::default();
        let mut sought = Sought::new(pattern, &stop);
        sought.piece = SMALL;
        text.chunks(size).for_each(|piece| sought.read(piece));
        sought.found()
    }

    #[test]
    fn matches_across_pieces_are_found_once() {
        let pattern = SearchPattern::new("needle").unwrap();
        for place in SMALL - 700..SMALL + 10 {
            let text = format!(
                "{}é needle\n{}needle",
                "日".repeat(place / 3),
                "x".repeat(2 * SMALL + place % 3)
            );
            assert_eq!(in_pieces(&pattern, text.as_bytes(), 300), at_once(&pattern, &text));
        }
    }

    #[test]
    fn a_character_that_a_piece_cuts_is_whole() {
        let pattern = SearchPattern::new("日本").unwrap();
        for shift in 0..3 {
            let text = "x".repeat(shift) + &"日本".repeat(12_000);
            let (count, first) = in_pieces(&pattern, text.as_bytes(), 777);
            assert_eq!((count, first.map(|first| first.offset)), (MOST, Some(shift)));
            let rare = text + "語";
            let sought = SearchPattern::new("本語").unwrap();
            assert_eq!(
                in_pieces(&sought, rare.as_bytes(), SMALL * 2 + 1),
                at_once(&sought, &rare)
            );
        }
    }

    #[test]
    fn colours_hide_no_word_wherever_pieces_end() {
        let pattern = SearchPattern::new("needle").unwrap();
        let stop = Stop::default();
        for before in SMALL - 30..SMALL + 2 {
            let raw = format!(
                "{}\u{1b}[31mnee\u{1b}[0;1mdle\u{1b}[0m",
                "\u{1b}[1mx".repeat(before / 5) + &"-".repeat(before % 5)
            );
            let mut sought = Sought::new(&pattern, &stop).without_colours();
            sought.piece = SMALL;
            raw.as_bytes().chunks(99).for_each(|piece| sought.read(piece));
            let (count, first) = sought.found();
            assert_eq!(
                (count, first.map(|first| first.offset)),
                (1, raw.find("nee")),
                "{before}"
            );
        }
    }

    proptest! {
        #[test]
        fn pieces_change_nothing(text in "[aAbİ日\n]{0,60}", far in 0usize..5, needle in "[ab日]{1,2}", size in 1usize..9) {
            let text = text + &"-".repeat(far * SMALL / 2) + "ab日a";
            let pattern = SearchPattern::new(&needle).unwrap();
            prop_assert_eq!(in_pieces(&pattern, text.as_bytes(), size * 61), at_once(&pattern, &text));
        }

        #[test]
        fn invalid_bytes_are_replaced_wherever_pieces_end(bytes in prop::collection::vec(prop_oneof![Just(0xE6), Just(0x97), Just(0xA5), Just(b'a'), Just(0xFF)], 0..30), far in 0usize..8) {
            let mut all = vec![b'-'; SMALL - far];
            all.extend(bytes);
            let pattern = SearchPattern::new("a").unwrap();
            prop_assert_eq!(in_pieces(&pattern, &all, SMALL), at_once(&pattern, &String::from_utf8_lossy(&all)));
        }
    }
}
