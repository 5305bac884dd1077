//! Text with a class for each stretch of it: what every renderer of content produces.

use std::ops::Range;

use crate::text::SafeText;

/// What a stretch of text is. Themes give each class its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Class {
    /// Ordinary text.
    #[default]
    Plain,
    /// A keyword or a constant of the language.
    Keyword,
    /// A string.
    String,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// The name of a function.
    Function,
    /// The name of a type.
    Type,
    /// An operator.
    Operator,
    /// Brackets, commas, colons.
    Punctuation,
    /// The key of a mapping, or the name of an argument.
    Key,
    /// A heading.
    Heading,
    /// Strong text.
    Strong,
    /// Emphasised text.
    Emphasis,
    /// Text in a fixed form: code inside prose.
    Code,
    /// The target of a link.
    Link,
    /// Text that was struck out.
    Struck,
    /// The program's own marks among the data: folds, cuts, rules, bullets.
    Mark,
}

/// A stretch of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Bytes of the line, on character boundaries.
    pub bytes: Range<usize>,
    /// What it is; never [`Class::Plain`].
    pub class: Class,
}

/// Safe text and the classes of its lines.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Styled {
    /// The text.
    pub text: SafeText,
    /// For each line of the text its spans, in order and apart; missing lines are plain.
    pub lines: Vec<Vec<Span>>,
}

impl Styled {
    /// Text without any class.
    pub fn plain(text: SafeText) -> Self {
        Self {
            text,
            lines: Vec::new(),
        }
    }

    /// The spans of a line.
    pub fn spans(&self, line: usize) -> &[Span] {
        self.lines.get(line).map_or(&[], Vec::as_slice)
    }

    /// The stretches of a line, plain ones included, that cover it from end to end.
    pub fn pieces<'a>(&'a self, line: usize, text: &'a str) -> impl Iterator<Item = (&'a str, Class)> {
        pieces(text, self.spans(line))
    }
}

/// The stretches of `text` under `spans`, plain ones between them included. Spans that do not fit the text are
/// skipped.
pub(super) fn pieces<'a>(text: &'a str, spans: &'a [Span]) -> impl Iterator<Item = (&'a str, Class)> {
    let mut at = 0;
    let ends = spans.iter().map(|span| (span.bytes.clone(), span.class));
    ends.chain(std::iter::once((text.len()..text.len(), Class::Plain)))
        .flat_map(move |(bytes, class)| {
            let gap = text.get(at..bytes.start).unwrap_or_default();
            let body = text.get(bytes.start.max(at)..bytes.end).unwrap_or_default();
            at = at.max(bytes.end);
            [(gap, Class::Plain), (body, class)]
        })
        .filter(|(piece, _)| !piece.is_empty())
}

/// Builds [`Styled`] text piece by piece. Pieces must come from text that was sanitised already.
#[derive(Debug, Default)]
pub struct StyledBuilder {
    text: String,
    lines: Vec<Vec<Span>>,
    spans: Vec<Span>,
    line_start: usize,
}

impl StyledBuilder {
    /// Appends a piece; a newline inside it starts a new line of the same class.
    pub fn push(&mut self, piece: &str, class: Class) {
        for (i, part) in piece.split('\n').enumerate() {
            if i > 0 {
                self.newline();
            }
            self.push_part(part, class);
        }
    }

    fn push_part(&mut self, part: &str, class: Class) {
        let start = self.text.len() - self.line_start;
        self.text.push_str(part);
        if class == Class::Plain || part.is_empty() {
            return;
        }
        let end = start + part.len();
        match self.spans.last_mut() {
            Some(last) if last.class == class && last.bytes.end == start => last.bytes.end = end,
            _ => self.spans.push(Span {
                bytes: start..end,
                class,
            }),
        }
    }

    /// Ends the line.
    pub fn newline(&mut self) {
        self.text.push('\n');
        self.line_start = self.text.len();
        self.lines.push(std::mem::take(&mut self.spans));
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Nothing was pushed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text so far.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The result. Sanitising clean text changes nothing; should it change something, the classes no longer fit
    /// and are given up rather than misplaced.
    pub fn finish(mut self) -> Styled {
        self.lines.push(self.spans);
        let text = SafeText::block(&self.text);
        if text.as_str() != self.text {
            return Styled::plain(text);
        }
        Styled {
            text,
            lines: self.lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_line() {
        let mut builder = StyledBuilder::default();
        builder.push("x = ", Class::Plain);
        builder.push("'a\nb'", Class::String);
        builder.push("!", Class::Plain);
        let styled = builder.finish();
        let lines: Vec<_> = styled.text.lines().collect();
        let first: Vec<_> = styled.pieces(0, lines[0]).collect();
        let second: Vec<_> = styled.pieces(1, lines[1]).collect();
        assert_eq!(first, [("x = ", Class::Plain), ("'a", Class::String)]);
        assert_eq!(second, [("b'", Class::String), ("!", Class::Plain)]);
    }

    #[test]
    fn neighbours_of_one_class_join() {
        let mut builder = StyledBuilder::default();
        builder.push("ab", Class::Key);
        builder.push("cd", Class::Key);
        assert_eq!(
            builder.finish().spans(0),
            [Span {
                bytes: 0..4,
                class: Class::Key
            }]
        );
    }

    #[test]
    fn spans_that_do_not_fit_are_skipped() {
        let spans = [
            Span {
                bytes: 1..2,
                class: Class::Key,
            },
            Span {
                bytes: 5..9,
                class: Class::Key,
            },
        ];
        let joined: String = pieces("aé", &spans).map(|(piece, _)| piece).collect();
        assert!("aé".starts_with(&joined));
    }
}
