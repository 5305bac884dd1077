//! Colours in a program's output. Screens show output without them, so it is searched without them, too: a word is found
//! however it was coloured.

use memchr::{memchr, memmem};

/// Introducers of colours, and most bytes of one that is held back because its end may be still to come.
const INTRODUCERS: [&str; 2] = ["\u{1b}[", "\u{9b}"];
const LONGEST: usize = 256;

/// Whether JSON text may hold colours, judged in a moment.
pub(super) fn may_hold(json: &[u8]) -> bool {
    let escaped = |at: usize| {
        let code = json.get(at + 4..at + 6);
        code.is_some_and(|code| [b"1b", b"1B", b"9b", b"9B"].iter().any(|known| code == *known))
    };
    memmem::find_iter(json, "\\u00").any(escaped)
        || memchr(0x1B, json).is_some()
        || memmem::find(json, INTRODUCERS.map(str::as_bytes)[1]).is_some()
}

/// Bytes at the end that may be a colour which is still to be closed.
pub(super) fn begun(bytes: &[u8]) -> usize {
    let is_open = |length: &usize| {
        let tail = bytes.get(bytes.len() - length..).unwrap_or_default();
        let is_parameter = |byte: &u8| matches!(byte, b'0'..=b';');
        INTRODUCERS.iter().any(|open| match tail.strip_prefix(open.as_bytes()) {
            Some(rest) => rest.iter().all(is_parameter),
            None => open.as_bytes().starts_with(tail),
        })
    };
    (1..=bytes.len().min(LONGEST)).rev().find(is_open).unwrap_or(0)
}

/// What was left out of a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Where, in the text without colours, and how many bytes up to there.
    places: Vec<(usize, usize)>,
    /// Bytes before the first of them, and in all.
    before: usize,
    all: usize,
}

impl LeftOut {
    /// Appends a piece without its colours to `text`, which begins at byte `start` of all of it.
    pub(super) fn append(&mut self, piece: &str, text: &mut String, start: usize) {
        let mut rest = piece;
        while let Some(at) = rest.find(['\u{1b}', '\u{9b}']) {
            let (plain, coloured) = rest.split_at(at);
            text.push_str(plain);
            let length = length(coloured);
            if length > 0 {
                self.all += length;
                self.places.push((start + text.len(), self.all));
            }
            // What begins like one and is none stays.
            let next = length.max(coloured.chars().next().map_or(0, char::len_utf8));
            let (taken, behind) = coloured.split_at(next);
            text.push_str(if length == 0 { taken } else { "" });
            rest = behind;
        }
        text.push_str(rest);
    }

    /// Where a byte of the text without colours stood in the text with them.
    pub(super) fn origin(&self, at: usize) -> usize {
        let after = self.places.partition_point(|(place, _)| *place <= at);
        let before = after.checked_sub(1).and_then(|last| self.places.get(last));
        at + before.map_or(self.before, |(_, left_out)| *left_out)
    }

    /// Nothing before this byte is asked for any more.
    pub(super) fn forget(&mut self, until: usize) {
        let gone = self.places.partition_point(|(place, _)| *place <= until);
        self.before = self
            .places
            .drain(..gone)
            .next_back()
            .map_or(self.before, |(_, left_out)| left_out);
    }
}

/// Bytes of the colour that a text begins with; 0 when it is none.
fn length(text: &str) -> usize {
    let parameters = INTRODUCERS.iter().find_map(|open| text.strip_prefix(*open));
    let end = parameters.map(|rest| rest.trim_start_matches(|c: char| matches!(c, '0'..=';')));
    end.and_then(|end| end.strip_prefix('m'))
        .map_or(0, |rest| text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SafeText;
    use proptest::prelude::*;

    fn without(text: &str) -> (String, LeftOut) {
        let (mut plain, mut left_out) = (String::new(), LeftOut::default());
        left_out.append(text, &mut plain, 0);
        (plain, left_out)
    }

    #[test]
    fn what_is_no_colour_stays() {
        for text in ["\u{1b}[2Jx", "\u{1b}", "\u{1b}[", "\u{1b}[31", "\u{9b}1K", "[31mx"] {
            assert_eq!(without(text).0, text);
        }
        assert_eq!(without("a\u{1b}[38;5;1mb\u{9b}0mc\u{1b}[md").0, "abcd");
    }

    #[test]
    fn json_that_may_hold_colours_is_known_by_every_way_to_write_them() {
        for text in [
            r#""a\u001b[1mb""#,
            r#""a\u001B[1mb""#,
            r#""\u009b1m""#,
            "\"\u{1b}[1m\"",
            "\"\u{9b}1m\"",
        ] {
            assert!(may_hold(text.as_bytes()), "{text}");
        }
        assert!(!may_hold("\"é \\u00e9 [1m\"".as_bytes()));
    }

    proptest! {
        #[test]
        fn it_is_what_screens_show(text in "(a|é|\u{1b}\\[|\u{9b}|[0-9;]|m|-){0,30}") {
            prop_assert_eq!(
                SafeText::raw(&without(&text).0).as_str().to_owned(),
                SafeText::block(&text).as_str().to_owned()
            );
        }

        #[test]
        fn every_byte_is_found_back(text in "(a|é|\u{1b}\\[1;2m|\u{9b}m|\u{1b}){0,30}", until in 0usize..20) {
            let (plain, mut left_out) = without(&text);
            left_out.forget(until);
            for (at, c) in plain.char_indices().filter(|(at, _)| *at >= until) {
                prop_assert_eq!(text.get(left_out.origin(at)..).and_then(|rest| rest.chars().next()), Some(c));
            }
        }

        #[test]
        fn a_colour_that_a_piece_cuts_is_held_back(text in "(a|é|\u{1b}\\[1;2m|\u{9b}m|\u{1b}|\u{1b}\\[|7){0,30}", cut in 0usize..90) {
            let bytes = text.as_bytes();
            let cut = text.floor_char_boundary(cut.min(bytes.len()));
            let held = cut - begun(&bytes[..cut]);
            let (mut plain, mut left_out) = (String::new(), LeftOut::default());
            left_out.append(&text[..held], &mut plain, 0);
            left_out.append(&text[held..], &mut plain, 0);
            prop_assert_eq!(plain, without(&text).0);
        }
    }
}
