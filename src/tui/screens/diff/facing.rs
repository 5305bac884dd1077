//! Two texts face to face: equal lines stand in the same row, and what one side lacks is left blank there.

use crate::model::operations;
use crate::text::{SafeText, wrap_line};
use crate::tui::theme::Role;
use crate::tui::widgets::{Highlights, StyleSpan};
use similar::DiffOp;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Texts that differ in everything could take long to align; then they are aligned more coarsely.
const BUDGET: Duration = Duration::from_millis(8);

/// Lines of one section that are aligned and shown, on each side.
const LINES: usize = 4_000;

/// One side of a row: its mark, its line, and what that means.
#[derive(Clone, Debug)]
struct Line {
    mark: &'static str,
    text: String,
    role: Option<Role>,
}

/// Two columns, row by row; a side that has nothing in a row is blank there.
#[derive(Debug, Default)]
pub(super) struct Facing {
    rows: Vec<[Option<Line>; 2]>,
}

/// A column, ready to be shown.
pub(super) type Ready = (SafeText, Arc<Highlights>);

/// The text of one side while it is put together.
#[derive(Debug, Default)]
struct Column {
    text: String,
    spans: Vec<StyleSpan>,
}

impl Column {
    /// A line in as many rows as it takes in `width` cells, the mark before each; then blank ones up to `rows`.
    fn line(&mut self, line: Option<&Line>, pieces: &[&str], rows: usize) {
        for row in 0..rows.max(1) {
            let from = self.text.len();
            if let (Some(line), Some(piece)) = (line, pieces.get(row)) {
                self.text.push_str(line.mark);
                self.text.push_str(piece);
                let bytes = from..self.text.len();
                self.spans.extend(line.role.map(|role| StyleSpan { bytes, role }));
            }
            self.text.push('\n');
        }
    }

    fn ready(self) -> Ready {
        // Blank rows at the end stay: they keep the other side's lines company.
        let text = SafeText::block(self.text.strip_suffix('\n').unwrap_or_default());
        (text, Arc::new(Highlights::new(self.spans)))
    }
}

impl Facing {
    fn push(&mut self, left: Option<Line>, right: Option<Line>) {
        self.rows.push([left, right]);
    }

    /// A heading over both sides.
    pub(super) fn heading(&mut self, words: &str) {
        if !self.rows.is_empty() {
            self.push(None, None);
        }
        let heading = Line {
            mark: "",
            text: words.to_owned(),
            role: Some(Role::Dim),
        };
        self.push(Some(heading.clone()), Some(heading));
    }

    /// Two texts, line by line; `None` on a side that has no such step.
    pub(super) fn section(&mut self, left: Option<&str>, right: Option<&str>) {
        let (left, right) = (lines_of(left), lines_of(right));
        for operation in operations(&left, &right, Instant::now().checked_add(BUDGET)) {
            self.rows(operation, &left, &right);
        }
    }

    fn rows(&mut self, operation: DiffOp, left: &[&str], right: &[&str]) {
        let equal = matches!(operation, DiffOp::Equal { .. });
        let old = left.get(operation.old_range()).unwrap_or_default();
        let new = right.get(operation.new_range()).unwrap_or_default();
        let (one, other) = match equal {
            true => (("  ", None), ("  ", None)),
            false => (("- ", Some(Role::Failure)), ("+ ", Some(Role::Success))),
        };
        for row in 0..old.len().max(new.len()) {
            let [left, right] = [(old, one), (new, other)].map(|(lines, (mark, role))| {
                let text = (*lines.get(row)?).trim_end_matches('\n').to_owned();
                Some(Line { mark, text, role })
            });
            self.push(left, right);
        }
    }

    /// Both columns, for panes of `width` cells: a line that is longer goes on below, and what faces it waits.
    pub(super) fn ready(&self, width: usize) -> (Ready, Ready) {
        let (mut left, mut right) = (Column::default(), Column::default());
        for [one, other] in &self.rows {
            let pieces = [one, other].map(|line| line.as_ref().map_or_else(Vec::new, |line| line.pieces(width)));
            let [ones, others] = &pieces;
            let rows = ones.len().max(others.len());
            left.line(one.as_ref(), ones, rows);
            right.line(other.as_ref(), others, rows);
        }
        (left.ready(), right.ready())
    }
}

impl Line {
    fn pieces(&self, width: usize) -> Vec<&str> {
        let rows = wrap_line(&self.text, width.saturating_sub(self.mark.len()));
        let pieces: Vec<_> = rows.into_iter().filter_map(|row| self.text.get(row.bytes)).collect();
        if pieces.is_empty() { vec![""] } else { pieces }
    }
}

fn lines_of(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().lines().take(LINES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn faced(left: &str, right: &str) -> (String, String) {
        let mut facing = Facing::default();
        facing.section(Some(left), Some(right));
        let ((left, _), (right, _)) = facing.ready(80);
        (left.as_str().to_owned(), right.as_str().to_owned())
    }

    #[test]
    fn equal_lines_stand_in_one_row() {
        let (left, right) = faced("a\nb\nc", "a\nx\ny\nc");
        assert_eq!(left, "  a\n- b\n\n  c");
        assert_eq!(right, "  a\n+ x\n+ y\n  c");
    }

    #[test]
    fn spans_cover_what_differs() {
        let mut facing = Facing::default();
        facing.heading("code");
        facing.section(Some("a"), Some("b"));
        let ((text, highlights), _) = facing.ready(80);
        let marked: Vec<_> = highlights
            .within(&(0..text.as_str().len()))
            .map(|span| (&text.as_str()[span.bytes.clone()], span.role))
            .collect();
        assert_eq!(marked, [("code", Role::Dim), ("- a", Role::Failure)]);
    }

    #[test]
    fn a_long_line_goes_on_below_with_its_mark_and_what_faces_it_waits() {
        let mut facing = Facing::default();
        facing.section(Some("one two three\nend"), Some("four\nend"));
        let ((left, _), (right, _)) = facing.ready(10);
        assert_eq!(left.as_str(), "- one two \n- three\n  end");
        assert_eq!(right.as_str(), "+ four\n\n  end");
    }

    proptest! {
        #[test]
        fn both_sides_have_as_many_rows(left in "([ab日]\n){0,9}", right in "([ab日]\n){0,9}") {
            let mut facing = Facing::default();
            facing.section(Some(&left), Some(&right));
            let ((left, _), (right, _)) = facing.ready(80);
            let rows = |text: &SafeText| text.as_str().split('\n').count();
            prop_assert_eq!(rows(&left), rows(&right));
        }
    }
}
