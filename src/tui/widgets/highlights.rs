//! What parts of a text mean: made off the screen's thread, laid over a pane's text when they arrive.

use crate::tui::theme::Role;
use std::ops::Range;

/// A part of a text and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyleSpan {
    /// Bytes of the text.
    pub bytes: Range<usize>,
    /// What it means.
    pub role: Role,
}

/// Spans of one text, sorted and without overlaps. Roles become styles when drawn: a change of theme needs no new ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlights {
    spans: Vec<StyleSpan>,
}

impl Highlights {
    /// Takes spans in any order; of overlapping ones the first stays.
    pub fn new(mut spans: Vec<StyleSpan>) -> Self {
        spans.sort_by_key(|span| span.bytes.start);
        let mut end = 0;
        spans.retain(|span| {
            let keep = span.bytes.start >= end && !span.bytes.is_empty();
            if keep {
                end = span.bytes.end;
            }
            keep
        });
        Self { spans }
    }

    /// The spans that touch `bytes`, in order.
    pub fn within(&self, bytes: &Range<usize>) -> impl Iterator<Item = &StyleSpan> {
        let from = self.spans.partition_point(|span| span.bytes.end <= bytes.start);
        let end = bytes.end;
        self.spans
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take_while(move |span| span.bytes.start < end)
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(bytes: Range<usize>) -> StyleSpan {
        StyleSpan {
            bytes,
            role: Role::CodeKeyword,
        }
    }

    #[test]
    fn spans_are_found_by_place_and_never_overlap() {
        let highlights = Highlights::new(vec![span(10..12), span(0..4), span(3..8), span(5..5), span(6..9)]);
        let found: Vec<_> = highlights.within(&(2..11)).map(|span| span.bytes.clone()).collect();
        assert_eq!(found, [0..4, 6..9, 10..12]);
        assert_eq!(highlights.within(&(4..6)).count(), 0);
    }
}
