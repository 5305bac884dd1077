//! Making what a pane shows out of its pieces: words of the program, and texts in the form they have (JSON as a tree,
//! Markdown laid out), or as they were recorded.

use crate::text::{SafeText, Shared};
use crate::tui::body::Text;
use crate::tui::content::Rendered;
use crate::tui::content::detect::{Form, form_of};
use crate::tui::content::json_tree::JsonTree;
use crate::tui::content::markdown;
use crate::tui::theme::Role;
use crate::tui::widgets::{Highlights, StyleSpan};

/// Texts up to this many bytes are made on the spot; longer ones are shown plain until they are made elsewhere.
pub(super) const AT_ONCE: usize = 32 << 10;

/// A piece of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// The program's own words, with data they quote.
    Words(SafeText, Role),
    /// Data in whatever form it has.
    Data(Text),
    /// Source code: highlighted by another way, never folded.
    Code(Text),
    /// A text that still grows: shown as it is, whatever it looks like.
    Plain(Text),
}

impl Piece {
    /// Own words.
    pub(super) fn words(words: &'static str, role: Role) -> Self {
        Self::Words(SafeText::literal(words), role)
    }

    fn text(&self) -> Option<&Text> {
        match self {
            Self::Words(..) => None,
            Self::Data(text) | Self::Code(text) | Self::Plain(text) => Some(text),
        }
    }
}

/// Bytes of data in pieces.
pub(super) fn size(pieces: &[Piece]) -> usize {
    pieces.iter().filter_map(Piece::text).map(|text| text.raw.len()).sum()
}

/// A piece in its form.
#[derive(Clone, Debug)]
enum Shape {
    Words(SafeText, Role),
    Plain(SafeText),
    Json(JsonTree),
    Markdown(Shared),
}

/// Pieces in their forms, ready to be printed at a width and to be folded.
#[derive(Clone, Debug, Default)]
pub(super) struct Rendering {
    shapes: Vec<Shape>,
}

impl Rendering {
    /// Finds the form of each piece. Work is proportional to the texts.
    pub(super) fn of(pieces: &[Piece]) -> Self {
        Self {
            shapes: pieces.iter().map(shape).collect(),
        }
    }

    /// Everything as text without looking for forms.
    pub(super) fn plain(pieces: &[Piece]) -> Self {
        Self::each(pieces, |text| text.safe.clone())
    }

    /// Everything as recorded, with what was left out as marks.
    pub(super) fn raw(pieces: &[Piece]) -> Self {
        Self::each(pieces, Text::with_marks)
    }

    fn each(pieces: &[Piece], form: impl Fn(&Text) -> SafeText) -> Self {
        let shape = |piece: &Piece| match piece {
            Piece::Words(words, role) => Shape::Words(words.clone(), *role),
            Piece::Data(text) | Piece::Code(text) | Piece::Plain(text) => Shape::Plain(form(text)),
        };
        Self {
            shapes: pieces.iter().map(shape).collect(),
        }
    }

    /// Nothing in it has another form: it looks as it did before forms were looked for.
    pub(super) fn is_plain(&self) -> bool {
        let plain = |shape: &Shape| matches!(shape, Shape::Words(..) | Shape::Plain(_));
        self.shapes.iter().all(plain)
    }

    /// It must be printed again when the width changes.
    pub(super) fn depends_on_width(&self) -> bool {
        self.shapes.iter().any(|shape| matches!(shape, Shape::Markdown(_)))
    }

    /// Something in it folds.
    pub(super) fn folds(&self) -> bool {
        self.shapes.iter().any(|shape| matches!(shape, Shape::Json(_)))
    }

    /// Folds all trees to their outermost members; if they are, unfolds everything.
    pub(super) fn toggle_all(&mut self) {
        let trees = self.shapes.iter_mut().filter_map(|shape| match shape {
            Shape::Json(tree) => Some(tree),
            _ => None,
        });
        let mut trees: Vec<&mut JsonTree> = trees.collect();
        let unfolded = |tree: &&mut JsonTree| tree.rows().iter().any(|row| row.depth > 0 && row.open);
        let fold = trees.iter().any(unfolded);
        for tree in &mut trees {
            if fold { tree.fold_all() } else { tree.unfold_all() }
        }
    }

    /// Folds or unfolds the row on a line; `false` where there is none.
    pub(super) fn toggle_line(&mut self, line: usize, width: usize) -> bool {
        let mut start = 0;
        for shape in &mut self.shapes {
            let lines = shape.print(width).text.lines().count();
            if let Shape::Json(tree) = shape
                && let Some(within) = line.checked_sub(start).filter(|within| *within < lines)
            {
                let row = tree.styled().1.get(within).copied();
                return row.is_some_and(|row| tree.toggle(row));
            }
            start += lines;
        }
        false
    }

    /// The text at a width. A lone plain text is not copied.
    pub(super) fn print(&self, width: usize) -> Rendered {
        if let [shape] = self.shapes.as_slice() {
            return shape.print(width);
        }
        let (mut texts, mut spans, mut start) = (Vec::new(), Vec::new(), 0);
        for shape in &self.shapes {
            let part = shape.print(width);
            let all = 0..part.text.as_str().len();
            let moved = |span: &StyleSpan| StyleSpan {
                bytes: span.bytes.start + start..span.bytes.end + start,
                role: span.role,
            };
            spans.extend(part.highlights.within(&all).map(moved));
            // With the newline between them.
            start += all.end + 1;
            texts.push(part.text);
        }
        Rendered {
            text: SafeText::below(&texts),
            highlights: Highlights::new(spans),
        }
    }
}

impl Shape {
    fn print(&self, width: usize) -> Rendered {
        match self {
            Self::Words(words, role) => Rendered {
                text: words.clone(),
                highlights: Highlights::new(vec![StyleSpan {
                    bytes: 0..words.as_str().len(),
                    role: *role,
                }]),
            },
            Self::Plain(text) => Rendered::plain(text.clone()),
            Self::Json(tree) => tree.styled().0,
            Self::Markdown(source) => markdown::render(source, width),
        }
    }
}

/// Markdown is laid out whenever the width changes, so that only what is quick to lay out counts as such.
fn shape(piece: &Piece) -> Shape {
    match piece {
        Piece::Words(words, role) => Shape::Words(words.clone(), *role),
        Piece::Code(text) | Piece::Plain(text) => Shape::Plain(text.safe.clone()),
        Piece::Data(text) => match form_of(&text.raw) {
            Form::Json => Shape::Json(JsonTree::new(text.raw.clone())),
            Form::Markdown if text.raw.len() <= AT_ONCE => Shape::Markdown(text.raw.clone()),
            Form::Markdown | Form::Plain => Shape::Plain(text.safe.clone()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Piece {
        Piece::Data(Text::new(text))
    }

    #[test]
    fn pieces_follow_each_other_with_their_roles() {
        let pieces = [
            data("40 episodes"),
            Piece::words("FINAL", Role::Title),
            data("[1, [2, 3]]"),
        ];
        let printed = Rendering::of(&pieces).print(40);
        let lines: Vec<&str> = printed.text.lines().collect();
        assert_eq!(lines.get(..2), Some(&["40 episodes", "FINAL"][..]));
        assert!(lines.len() > 3, "{lines:?}");
        let title = printed.highlights.within(&(12..17)).next();
        assert_eq!(
            title.map(|span| (span.bytes.clone(), span.role)),
            Some((12..17, Role::Title))
        );
    }

    #[test]
    fn a_tree_below_other_lines_folds_by_its_own_lines() {
        let mut rendering = Rendering::of(&[data("one\ntwo"), data(r#"{"a": [1, 2], "b": 3}"#)]);
        let lines = |rendering: &Rendering| rendering.print(40).text.lines().count();
        let before = lines(&rendering);
        assert!(!rendering.toggle_line(1, 40), "plain text does not fold");
        assert!(rendering.toggle_line(3, 40));
        assert!(lines(&rendering) < before);
        rendering.toggle_all();
        assert_eq!(lines(&rendering), before);
        rendering.toggle_all();
        assert!(lines(&rendering) < before);
    }

    #[test]
    fn raw_shows_what_was_left_out() {
        let pieces = [data("\u{1b}[31mred\u{1b}[0m")];
        assert_eq!(Rendering::of(&pieces).print(40).text.as_str(), "red");
        assert!(Rendering::raw(&pieces).print(40).text.as_str().contains("[31m"));
    }
}
