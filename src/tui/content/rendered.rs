//! Text with a role for each stretch of it: what every renderer of content produces.

use crate::text::SafeText;
use crate::tui::theme::Role;
use crate::tui::widgets::{Highlights, StyleSpan};

/// Text for a [`TextPane`](crate::tui::widgets::TextPane), and the highlights to lay over it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rendered {
    /// The text.
    pub text: SafeText,
    /// What its parts mean.
    pub highlights: Highlights,
}

impl Rendered {
    /// Text without highlights.
    pub fn plain(text: SafeText) -> Self {
        Self {
            text,
            highlights: Highlights::default(),
        }
    }
}

/// Builds [`Rendered`] text piece by piece. Pieces must come from text that was sanitised already.
#[derive(Debug, Default)]
pub(super) struct Builder {
    text: String,
    spans: Vec<StyleSpan>,
}

impl Builder {
    /// Appends a piece. [`Role::Text`] is the role of everything that is nothing else.
    pub(super) fn push(&mut self, piece: &str, role: Role) {
        let start = self.text.len();
        self.text.push_str(piece);
        if role == Role::Text || piece.is_empty() {
            return;
        }
        let end = self.text.len();
        match self.spans.last_mut() {
            Some(last) if last.role == role && last.bytes.end == start => last.bytes.end = end,
            _ => self.spans.push(StyleSpan {
                bytes: start..end,
                role,
            }),
        }
    }

    /// Appends rendered text with its highlights.
    pub(super) fn append(&mut self, rendered: &Rendered) {
        let start = self.text.len();
        let text = rendered.text.as_str();
        self.text.push_str(text);
        let whole = 0..text.len();
        let inside = rendered.highlights.within(&whole);
        self.spans.extend(inside.map(|span| StyleSpan {
            bytes: start + span.bytes.start..start + span.bytes.end,
            role: span.role,
        }));
    }

    /// Ends the line.
    pub(super) fn newline(&mut self) {
        self.text.push('\n');
    }

    /// The result. Sanitising clean text changes nothing; should it change something, the highlights no longer fit
    /// and are given up rather than misplaced.
    pub(super) fn finish(self) -> Rendered {
        let text = SafeText::block(&self.text);
        if text.as_str() != self.text {
            return Rendered::plain(text);
        }
        Rendered {
            text,
            highlights: Highlights::new(self.spans),
        }
    }
}

/// The stretches of rendered text that mean something, for tests.
#[cfg(test)]
pub(super) fn parts<'a>(text: &'a str, highlights: &'a Highlights) -> Vec<(&'a str, Role)> {
    highlights
        .within(&(0..text.len()))
        .map(|span| (text.get(span.bytes.clone()).unwrap(), span.role))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_role_join() {
        let mut builder = Builder::default();
        builder.push("x = ", Role::Text);
        builder.push("'a", Role::CodeString);
        builder.push("b'", Role::CodeString);
        builder.newline();
        builder.push("1", Role::CodeNumber);
        let rendered = builder.finish();
        let parts = parts(rendered.text.as_str(), &rendered.highlights);
        assert_eq!(parts, [("'ab'", Role::CodeString), ("1", Role::CodeNumber)]);
    }

    #[test]
    fn highlights_that_would_not_fit_are_given_up() {
        let mut builder = Builder::default();
        builder.push("a\u{1b}", Role::CodeString);
        let rendered = builder.finish();
        assert!(rendered.highlights.is_empty());
        assert!(!rendered.text.as_str().contains('\u{1b}'));
    }
}
