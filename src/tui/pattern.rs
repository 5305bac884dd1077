//! What is searched for: plain text, ignoring case unless it has a capital.

use std::ops::Range;

/// Matches that are kept at most; beyond that a count is of no use to anyone.
const MOST: usize = 100_000;

/// A search pattern. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    needle: String,
    fold: bool,
}

impl Pattern {
    /// `None` for nothing to search.
    pub fn new(text: &str) -> Option<Self> {
        let fold = !text.chars().any(char::is_uppercase);
        (!text.is_empty()).then(|| Self {
            needle: text.to_owned(),
            fold,
        })
    }

    /// What was typed.
    pub fn text(&self) -> &str {
        &self.needle
    }

    /// Byte ranges of its matches in `text`, in order, without overlaps; and whether there are more than are kept.
    pub fn find_all(&self, text: &str) -> (Vec<Range<usize>>, bool) {
        let mut found: Vec<_> = self.find_iter(text).take(MOST + 1).collect();
        let more = found.len() > MOST;
        found.truncate(MOST);
        (found, more)
    }

    /// Whether `text` has a match.
    pub fn is_in(&self, text: &str) -> bool {
        self.find_iter(text).next().is_some()
    }

    /// Matches one after another.
    pub fn find_iter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.find_from(text, from)?;
            from = found.end.max(found.start + 1);
            Some(found)
        })
    }

    fn find_from(&self, text: &str, from: usize) -> Option<Range<usize>> {
        if !self.fold {
            let at = from + memchr::memmem::find(text.as_bytes().get(from..)?, self.needle.as_bytes())?;
            return Some(at..at + self.needle.len());
        }
        let first = self.needle.chars().next()?;
        let mut at = from;
        loop {
            at += next_start(text.as_bytes().get(at..)?, first)?;
            if let Some(len) = text.get(at..).and_then(|rest| self.folded_prefix(rest)) {
                return Some(at..at + len);
            }
            at += 1;
        }
    }

    /// Bytes at the start of `rest` that spell the needle, case aside.
    fn folded_prefix(&self, rest: &str) -> Option<usize> {
        let mut chars = rest.char_indices();
        let mut end = 0;
        for wanted in self.needle.chars() {
            let (at, c) = chars.next()?;
            if c != wanted && !c.to_lowercase().eq(wanted.to_lowercase()) {
                return None;
            }
            end = at + c.len_utf8();
        }
        Some(end)
    }
}

/// Where a match could start: at either case of an ASCII letter (`k` and `s` have other folds that are not ASCII, so
/// any non-ASCII byte is tried too), or anywhere.
fn next_start(bytes: &[u8], first: char) -> Option<usize> {
    let Ok(letter) = u8::try_from(first) else {
        return (!bytes.is_empty()).then_some(0);
    };
    if !letter.is_ascii() || matches!(letter, b'k' | b's' | b'i') {
        return (!bytes.is_empty()).then_some(0);
    }
    memchr::memchr2(letter, letter.to_ascii_uppercase(), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find(pattern: &str, text: &str) -> Vec<Range<usize>> {
        Pattern::new(pattern).unwrap().find_all(text).0
    }

    #[test]
    fn small_letters_match_both_cases_and_a_capital_only_itself() {
        assert_eq!(find("final", "FINAL final Final"), [0..5, 6..11, 12..17]);
        assert_eq!(find("Final", "FINAL final Final"), [12..17]);
        assert_eq!(find("é", "É é"), [0..2, 3..5]);
        assert_eq!(find("straße", "STRAßE"), [0..7]);
    }

    #[test]
    fn matches_do_not_overlap_and_nothing_is_no_pattern() {
        assert_eq!(find("aa", "aaaaa"), [0..2, 2..4]);
        assert_eq!(Pattern::new(""), None);
    }

    #[test]
    fn too_many_matches_are_cut_and_said_so() {
        let (found, more) = Pattern::new("x").unwrap().find_all(&"x".repeat(MOST + 1));
        assert_eq!((found.len(), more), (MOST, true));
    }

    proptest! {
        #[test]
        fn matches_lie_on_character_boundaries_and_spell_the_pattern(
            needle in "[a-cé中k]{1,3}",
            text in "[a-cA-CéÉ中kK]{0,40}",
        ) {
            let pattern = Pattern::new(&needle).unwrap();
            let mut last = 0;
            for found in pattern.find_iter(&text) {
                prop_assert!(found.start >= last);
                last = found.end;
                prop_assert_eq!(text.get(found).unwrap().to_lowercase(), needle.to_lowercase());
            }
        }
    }
}
