//! What is searched for: plain text, ignoring case unless it has a capital.

use std::ops::Range;

use memchr::memmem::Finder;

use super::colours;

/// A pattern. Never empty.
#[derive(Clone, Debug)]
pub struct SearchPattern {
    needle: String,
    ignore_case: bool,
    /// The longest part of it that stands in JSON text as it is; for lines that cannot match to be passed by.
    anchor: Vec<u8>,
}

/// Matches of a text that are counted.
const MOST: usize = 10_000;

impl SearchPattern {
    /// `None` for nothing to search.
    pub fn new(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let ignore_case = !text.chars().any(char::is_uppercase);
        let plain =
            |c: char| c.is_ascii() && !c.is_ascii_control() && !matches!(c, '"' | '\\' | '/') && !folds_oddly(c);
        let anchor = text
            .split(|c| !plain(c))
            .max_by_key(|part| part.len())
            .unwrap_or_default();
        Some(Self {
            needle: text.to_owned(),
            ignore_case,
            anchor: anchor.as_bytes().to_vec(),
        })
    }

    /// What was typed.
    pub fn text(&self) -> &str {
        &self.needle
    }

    /// Whether JSON text may hold a match, judged in a moment.
    pub(super) fn may_match(&self, json: &[u8]) -> bool {
        let holds = match self.ignore_case {
            _ if self.anchor.is_empty() => true,
            false => Finder::new(&self.anchor).find(json).is_some(),
            true => contains_ignoring_case(json, &self.anchor),
        };
        // Colours may stand within a match.
        holds || (self.anchor.len() > 1 && colours::may_hold(json))
    }

    /// Matches in a text, left to right, without overlaps.
    pub fn matches(&self, text: &str) -> Vec<Range<usize>> {
        if !self.ignore_case {
            let found = Finder::new(&self.needle);
            let starts = found.find_iter(text.as_bytes()).take(MOST);
            return starts.map(|start| start..start + self.needle.len()).collect();
        }
        if self.needle.is_ascii() && text.is_ascii() {
            return ascii_matches(text.as_bytes(), self.needle.as_bytes());
        }
        folded_matches(text, &self.needle)
    }
}

/// Characters outside of ASCII become these when their case is ignored: a text may match without the letter itself.
fn folds_oddly(c: char) -> bool {
    matches!(c, 'k' | 's' | 'i')
}

/// Whether `text` contains `needle`, which is in lower case, in any case.
fn contains_ignoring_case(text: &[u8], needle: &[u8]) -> bool {
    next_ignoring_case(text, needle, 0).is_some()
}

fn next_ignoring_case(text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let (at, rare) = rarest(needle)?;
    let mut search = from + at;
    loop {
        let rest = text.get(search..)?;
        let found = search + memchr::memchr2(rare, rare.to_ascii_uppercase(), rest)?;
        let start = found - at;
        let candidate = text.get(start..start + needle.len())?;
        if candidate.eq_ignore_ascii_case(needle) {
            return Some(start);
        }
        search = found + 1;
    }
}

/// The byte of a needle that stands least often in transcripts, and its place.
fn rarest(needle: &[u8]) -> Option<(usize, u8)> {
    /// Common bytes, the most common first.
    const COMMON: &[u8] = b" etaoinsrhldcumpfgyb_,.'=()n:-w0v1k";
    let rank = |byte: &u8| COMMON.iter().position(|common| common == byte).unwrap_or(COMMON.len());
    needle
        .iter()
        .copied()
        .enumerate()
        .max_by_key(|(_, byte)| rank(&byte.to_ascii_lowercase()))
}

fn ascii_matches(text: &[u8], needle: &[u8]) -> Vec<Range<usize>> {
    let needle = needle.to_ascii_lowercase();
    let mut all = Vec::new();
    let mut from = 0;
    while let Some(start) = next_ignoring_case(text, &needle, from).filter(|_| all.len() < MOST) {
        from = start + needle.len();
        all.push(start..from);
    }
    all
}

/// Folds both sides, and finds back where each folded character came from.
fn folded_matches(text: &str, needle: &str) -> Vec<Range<usize>> {
    let needle: String = needle.chars().flat_map(char::to_lowercase).collect();
    let mut folded = String::with_capacity(text.len());
    let mut origins: Vec<usize> = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        folded.extend(c.to_lowercase());
        origins.resize(folded.len(), at);
    }
    origins.push(text.len());
    let finder = Finder::new(&needle);
    let mut all: Vec<Range<usize>> = Vec::new();
    for start in finder.find_iter(folded.as_bytes()).take(MOST) {
        let origin = |at: usize| origins.get(at).copied().unwrap_or(text.len());
        // A character that folds to several ends where the next one begins.
        let last = origin(start + needle.len() - 1);
        let end = text
            .get(last..)
            .and_then(|rest| rest.chars().next())
            .map_or(text.len(), |c| last + c.len_utf8());
        all.push(origin(start)..end);
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(pattern: &str, text: &str) -> Vec<String> {
        let pattern = SearchPattern::new(pattern).unwrap();
        pattern
            .matches(text)
            .into_iter()
            .map(|range| text[range].to_owned())
            .collect()
    }

    #[test]
    fn case_counts_only_with_a_capital() {
        assert_eq!(found("agi", "AGI agi Agi"), ["AGI", "agi", "Agi"]);
        assert_eq!(found("AGI", "AGI agi Agi"), ["AGI"]);
        assert_eq!(found("straße", "STRAßE Straße"), ["STRAßE", "Straße"]);
        assert_eq!(found("日本", "日本日本"), ["日本", "日本"]);
        assert_eq!(
            found("k", "\u{212A}elvin K"),
            ["\u{212A}", "K"],
            "the Kelvin sign folds to k"
        );
        assert_eq!(found("i̇x", "İX"), ["İX"], "one character that folds to two");
    }

    #[test]
    fn nothing_is_no_pattern() {
        assert!(SearchPattern::new("").is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_line_with_a_match_is_never_passed_by(before in "\\PC{0,20}", needle in "[a-zA-Zé\"\\\\ \n0-9]{1,6}", after in "\\PC{0,20}") {
            let text = format!("{before}{needle}{after}");
            let pattern = SearchPattern::new(&needle).unwrap();
            prop_assert!(!pattern.matches(&text).is_empty());
            let json = serde_json::to_string(&text).unwrap();
            prop_assert!(pattern.may_match(json.as_bytes()));
        }

        #[test]
        fn matches_are_slices(text in "\\PC{0,40}", needle in "\\PC{1,3}") {
            let pattern = SearchPattern::new(&needle).unwrap();
            for range in pattern.matches(&text) {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
