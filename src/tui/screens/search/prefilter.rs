//! Telling from a transcript line's bytes that a pattern cannot be in it, so that it need not be decoded.
//!
//! Writers of JSON escape quotes, backslashes, control and non-ASCII characters, some also `/`, `<`, `>`, `&` and
//! `'`; plain ASCII letters, digits and spaces stand in the file as they are. The longest piece of the pattern made of
//! those must be in the bytes.

use crate::tui::pattern::Pattern;
use memchr::memmem;

/// A piece of a pattern that every line with a match contains.
pub(super) enum Prefilter {
    /// No such piece: every line is decoded.
    None,
    /// These bytes.
    Exact(Box<memmem::Finder<'static>>),
    /// These bytes, small or capital. Never empty.
    Folded { small: Vec<u8>, first: u8 },
}

impl Prefilter {
    pub(super) fn new(pattern: &Pattern) -> Self {
        let text = pattern.text();
        let folds = !text.chars().any(char::is_uppercase);
        // Letters that other scripts' letters fold to are no proof when case does not matter.
        let plain =
            |c: char| (c.is_ascii_alphanumeric() || c == ' ' || c == '_') && !(folds && matches!(c, 'k' | 's' | 'i'));
        let pieces = text.split(|c| !plain(c));
        let piece = pieces.max_by_key(|piece| piece.len()).unwrap_or_default().as_bytes();
        match piece.first() {
            None => Self::None,
            Some(_) if !folds => Self::Exact(Box::new(memmem::Finder::new(piece).into_owned())),
            Some(first) => Self::Folded {
                small: piece.to_vec(),
                first: *first,
            },
        }
    }

    /// Whether a match is possible in `line`.
    pub(super) fn admits(&self, line: &[u8]) -> bool {
        match self {
            Self::None => true,
            Self::Exact(finder) => finder.find(line).is_some(),
            Self::Folded { small, first } => {
                let mut starts = memchr::memchr2_iter(*first, first.to_ascii_uppercase(), line);
                starts.any(|at| {
                    let here = line.get(at..at + small.len());
                    here.is_some_and(|here| here.eq_ignore_ascii_case(small))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is in a text is admitted in its JSON.
        #[test]
        fn a_line_with_a_match_is_admitted(
            before in "\\PC{0,8}", found in "[a-zA-Z0-9 \"\\\\\nékıſKsS<]{1,12}", after in "\\PC{0,8}", upper in any::<bool>(),
        ) {
            let text = format!("{before}{found}{after}");
            let typed = if upper { found.clone() } else { found.to_lowercase() };
            let pattern = Pattern::new(&typed).unwrap();
            let line = serde_json::to_vec(&serde_json::json!({"code": text})).unwrap();
            prop_assert!(!pattern.is_in(&text) || Prefilter::new(&pattern).admits(&line));
        }
    }

    #[test]
    fn a_line_without_the_piece_is_not_decoded() {
        let filter = |text| Prefilter::new(&Pattern::new(text).unwrap());
        assert!(!filter("goat").admits(br#"{"code":"a sheep"}"#));
        assert!(filter("goat").admits(br#"{"code":"A GOAT"}"#));
        assert!(!filter("Goat").admits(br#"{"code":"A GOAT"}"#));
        assert!(filter("\"").admits(b"{}"));
    }
}
