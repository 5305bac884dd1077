//! Labelled lines.

use std::io::{self, Write};

use crate::cli::terminal::Look;
use crate::text::{SafeText, ascii, cell_width, cut};

/// Columns of a label.
const LABEL: usize = 11;
/// Columns before the fields of a run.
const INDENT: usize = 4;

/// How a piece of text stands out.
#[derive(Clone, Copy)]
enum Weight {
    Bold,
    Dim,
}

/// Writes lines, a field each.
pub(super) struct Sheet<'a> {
    out: &'a mut dyn Write,
    look: Look,
    indent: usize,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(out: &'a mut dyn Write, look: Look) -> Self {
        Self { out, look, indent: 0 }
    }

    /// Lines from here on belong to a run.
    pub(super) fn of_run(&mut self) {
        self.indent = INDENT;
    }

    /// Lines from here on belong to the whole.
    pub(super) fn of_whole(&mut self) {
        self.indent = 0;
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// A field, whole. `value` is text of the program, or sanitised.
    pub(super) fn field(&mut self, label: &str, value: &str) -> io::Result<()> {
        let label = self.weighted(&format!("{label:LABEL$}"), Weight::Dim);
        let (indent, value) = (self.indent, self.plain(value));
        writeln!(self.out, "{:indent$}{label} {}", "", value.trim_end())
    }

    /// A field of data in one line, cut to what the line has room for.
    pub(super) fn data(&mut self, label: &str, raw: &str) -> io::Result<()> {
        let room = self.look.columns.saturating_sub(self.indent + LABEL + 1);
        let value = one_line(raw, room);
        self.field(label, &value)
    }

    /// A run's name and its query, cut.
    pub(super) fn heading(&mut self, name: &str, raw: &str) -> io::Result<()> {
        let name = format!("{name:<width$}", width = INDENT.saturating_sub(1));
        let room = self.look.columns.saturating_sub(cell_width(&name) + 1);
        let query = self.plain(&one_line(raw, room));
        let name = self.weighted(&name, Weight::Bold);
        writeln!(self.out, "{name} {query}")
    }

    /// Columns of a table, the header among them; all but the last are padded, numbers to the right.
    pub(super) fn row(&mut self, cells: &[String], header: bool) -> io::Result<()> {
        let line = self.plain(cells.join("  ").trim_end());
        let line = if header {
            self.weighted(&line, Weight::Dim)
        } else {
            line
        };
        writeln!(self.out, "{line}")
    }

    fn plain(&self, text: &str) -> String {
        if self.look.ascii {
            ascii(text).into_owned()
        } else {
            text.to_owned()
        }
    }

    fn weighted(&self, text: &str, weight: Weight) -> String {
        let code = match weight {
            Weight::Bold => 1,
            Weight::Dim => 2,
        };
        if self.look.styled {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Data on one line of at most `room` cells, newlines as `⏎`.
pub(super) fn one_line(raw: &str, room: usize) -> String {
    // So much data always fills the line: sanitising the rest would be for nothing.
    let enough: String = raw.trim_end().chars().take(room.saturating_mul(4).max(4096)).collect();
    let line = SafeText::line(&enough);
    let (head, _) = cut(line.as_str(), room);
    if head.len() == line.as_str().len() {
        return head.to_owned();
    }
    format!("{}…", cut(line.as_str(), room.saturating_sub(1)).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_one_line_that_fits() {
        assert_eq!(one_line("a\nb\r\nc\n", 20), "a⏎b⏎c");
        assert_eq!(one_line("日本語", 5), "日本…");
        assert_eq!(one_line(&"x".repeat(1 << 20), 10), "xxxxxxxxx…");
        assert!(!one_line("\x1b[31m\u{9b}\u{202e}", 40).contains(['\x1b', '\u{9b}', '\u{202e}']));
    }

    #[test]
    fn labels_align_and_ascii_is_ascii() {
        let mut out = Vec::new();
        let look = Look {
            columns: 30,
            styled: false,
            ascii: true,
            utc: true,
        };
        let mut sheet = Sheet::new(&mut out, look);
        sheet.field("Queries", "4 completed").unwrap();
        sheet.heading("Q1", "What is the answer to everything?").unwrap();
        sheet.of_run();
        sheet.data("FINAL", "naïve…").unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "Queries     4 completed\nQ1  What is the answer to eve~\n    FINAL       na?ve~\n"
        );
    }
}
