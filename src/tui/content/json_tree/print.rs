//! Rows of the tree as text.

use super::super::Rendered;
use super::super::rendered::Builder;
use super::{JsonRow, JsonTree, RowKind, escape};
use crate::text::{SafeText, count};
use crate::tui::theme::Role;
use std::ops::Range;

/// Deeper rows are not indented further.
const MAX_INDENT: u32 = 20;
/// Bytes of a value that a row shows.
const SHOWN_BYTES: usize = 64 * 1024;
/// Characters of a folded value that its row quotes.
const QUOTED_CHARS: usize = 48;

impl JsonTree {
    /// Everything as folded now, one line a row (an open string of several lines takes as many), and for each line
    /// its row.
    pub fn styled(&self) -> (Rendered, Vec<usize>) {
        let mut out = Builder::default();
        let mut row_of_line = Vec::with_capacity(self.rows.len());
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 {
                out.newline();
            }
            let lines = self.print(row, &mut out);
            row_of_line.extend(std::iter::repeat_n(index, lines));
        }
        (out.finish(), row_of_line)
    }

    fn source(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Prints a row; how many lines it took.
    fn print(&self, row: &JsonRow, out: &mut Builder) -> usize {
        let indent = "  ".repeat(row.depth.min(MAX_INDENT) as usize);
        out.push(&indent, Role::Text);
        let mark = match (row.folds() && row.kind != RowKind::More, row.open) {
            (true, true) => "▾ ",
            (true, false) => "▸ ",
            (false, _) => "  ",
        };
        out.push(mark, Role::Dim);
        if let (Some(key), true) = (&row.key, row.kind != RowKind::More) {
            out.push(
                SafeText::line(&escape::readable(self.source(key))).as_str(),
                Role::CodeKey,
            );
            out.push(": ", Role::CodeOperator);
        }
        let lines = self.print_value(row, &indent, out);
        if row.comma && !(row.open && row.kind != RowKind::Text) {
            out.push(",", Role::CodeOperator);
        }
        lines
    }

    fn print_value(&self, row: &JsonRow, indent: &str, out: &mut Builder) -> usize {
        let object = self.source(&row.value).starts_with('{');
        match row.kind {
            RowKind::Close => out.push(if object { "}" } else { "]" }, Role::CodeOperator),
            RowKind::Object(_) | RowKind::Array(_) if row.open => {
                out.push(if object { "{" } else { "[" }, Role::CodeOperator);
            }
            RowKind::Object(members) => self.print_folded(row, members, ("member", "members"), out),
            RowKind::Array(members) => self.print_folded(row, members, ("item", "items"), out),
            RowKind::More => out.push("… more", Role::Dim),
            RowKind::Text if row.open => return self.print_lines(row, indent, out),
            RowKind::Text | RowKind::Scalar => self.print_scalar(row, out),
        }
        1
    }

    /// The start of a folded value and its size.
    fn print_folded(&self, row: &JsonRow, members: usize, names: (&str, &str), out: &mut Builder) {
        let source = self.source(&row.value);
        let head: String = source.chars().take(QUOTED_CHARS).collect();
        let whole = head.len() == source.len();
        out.push(SafeText::line(&escape::readable(&head)).as_str(), Role::CodeComment);
        if !whole {
            let name = if members == 1 { names.0 } else { names.1 };
            out.push(&format!("… {} {name}", count(members as u128)), Role::Dim);
        }
    }

    fn print_scalar(&self, row: &JsonRow, out: &mut Builder) {
        let source = self.source(&row.value);
        let head = head_of(source, SHOWN_BYTES);
        let role = match source.as_bytes().first() {
            Some(b'"') => Role::CodeString,
            Some(b'0'..=b'9' | b'-') => Role::CodeNumber,
            Some(b't' | b'f' | b'n') => Role::CodeConstant,
            _ => Role::Text,
        };
        out.push(SafeText::line(&escape::readable(head)).as_str(), role);
        push_left(source.len() - head.len(), out);
    }

    /// A string of several lines, one line each, below its key.
    fn print_lines(&self, row: &JsonRow, indent: &str, out: &mut Builder) -> usize {
        let source = self.source(&row.value);
        let head = head_of(source, SHOWN_BYTES);
        let text = SafeText::block(&escape::decoded(head.trim_matches('"')));
        let mut lines = 0;
        for (i, line) in text.lines().enumerate() {
            if i > 0 || row.key.is_some() {
                out.newline();
                lines += 1;
                out.push(indent, Role::Text);
                out.push("  │ ", Role::Dim);
            }
            out.push(line, Role::CodeString);
        }
        push_left(source.len() - head.len(), out);
        lines + 1
    }
}

fn push_left(bytes: usize, out: &mut Builder) {
    if bytes > 0 {
        out.push(&format!(" … {} more bytes", count(bytes as u128)), Role::Dim);
    }
}

/// The first bytes of `text`, on a character boundary.
fn head_of(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}
