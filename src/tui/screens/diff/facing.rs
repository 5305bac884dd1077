//! Two texts face to face: equal lines stand in the same row, and what one side lacks is left blank there.

use crate::model::operations;
use crate::text::SafeText;
use crate::tui::theme::Role;
use crate::tui::widgets::{Highlights, StyleSpan};
use similar::DiffOp;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Texts that differ in everything could take long to align; then they are aligned more coarsely.
const BUDGET: Duration = Duration::from_millis(8);

/// Lines of one section that are aligned and shown, on each side.
const LINES: usize = 4_000;

/// One side: its text, and what its lines mean.
#[derive(Debug, Default)]
struct Column {
    text: String,
    spans: Vec<StyleSpan>,
}

/// Two columns that are being filled.
#[derive(Debug, Default)]
pub(super) struct Facing {
    left: Column,
    right: Column,
}

/// A column, ready to be shown.
pub(super) type Ready = (SafeText, Arc<Highlights>);

impl Column {
    fn line(&mut self, mark: &str, line: &str, role: Option<Role>) {
        let from = self.text.len();
        self.text.push_str(mark);
        self.text.push_str(line.trim_end_matches('\n'));
        if let Some(role) = role {
            let bytes = from..self.text.len();
            self.spans.push(StyleSpan { bytes, role });
        }
        self.text.push('\n');
    }

    fn ready(self) -> Ready {
        // Blank rows at the end stay: they keep the other side's lines company.
        let text = SafeText::block(self.text.strip_suffix('\n').unwrap_or_default());
        (text, Arc::new(Highlights::new(self.spans)))
    }
}

impl Facing {
    /// A heading over both sides.
    pub(super) fn heading(&mut self, words: &str) {
        for column in [&mut self.left, &mut self.right] {
            if !column.text.is_empty() {
                column.line("", "", None);
            }
            column.line("", words, Some(Role::Dim));
        }
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
        let marks = if equal { ("  ", "  ") } else { ("- ", "+ ") };
        let roles = if equal {
            (None, None)
        } else {
            (Some(Role::Failure), Some(Role::Success))
        };
        for row in 0..old.len().max(new.len()) {
            match old.get(row) {
                Some(line) => self.left.line(marks.0, line, roles.0),
                None => self.left.line("", "", None),
            }
            match new.get(row) {
                Some(line) => self.right.line(marks.1, line, roles.1),
                None => self.right.line("", "", None),
            }
        }
    }

    /// Both columns.
    pub(super) fn ready(self) -> (Ready, Ready) {
        (self.left.ready(), self.right.ready())
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
        let ((left, _), (right, _)) = facing.ready();
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
        let ((text, highlights), _) = facing.ready();
        let marked: Vec<_> = highlights
            .within(&(0..text.as_str().len()))
            .map(|span| (&text.as_str()[span.bytes.clone()], span.role))
            .collect();
        assert_eq!(marked, [("code", Role::Dim), ("- a", Role::Failure)]);
    }

    proptest! {
        #[test]
        fn both_sides_have_as_many_rows(left in "([ab日]\n){0,9}", right in "([ab日]\n){0,9}") {
            let mut facing = Facing::default();
            facing.section(Some(&left), Some(&right));
            let ((left, _), (right, _)) = facing.ready();
            let rows = |text: &SafeText| text.as_str().split('\n').count();
            prop_assert_eq!(rows(&left), rows(&right));
        }
    }
}
