//! Text put together from lines of facts and from rendered parts, for panes that show several things in one.

use super::Rendered;
use super::rendered::Builder;
use crate::text::{SafeText, cell_width, wrap_line};
use crate::tui::theme::Role;

/// A document that grows line by line. Texts may be raw: they are sanitised here.
#[derive(Debug, Default)]
pub struct Document {
    builder: Builder,
    started: bool,
}

impl Document {
    /// A line of texts, each with its role; newlines in them become marks.
    pub fn line(&mut self, parts: &[(&str, Role)]) {
        self.start_line();
        for (text, role) in parts {
            self.builder.push(SafeText::line(text).as_str(), *role);
        }
    }

    /// A text behind a name, wrapped for `width` cells and indented below its own start.
    pub fn named(&mut self, name: &str, text: &str, role: Role, width: usize) {
        let indent = cell_width(name);
        let text = SafeText::line(text);
        for (i, row) in wrap_line(text.as_str(), width.saturating_sub(indent))
            .into_iter()
            .enumerate()
        {
            let blank = " ".repeat(indent);
            let row = text.as_str().get(row.bytes).unwrap_or_default();
            self.line(&[(if i == 0 { name } else { &blank }, Role::Dim), (row, role)]);
        }
    }

    /// A line of facts with dots between them; empty ones are left out. Nothing when all are.
    pub fn facts(&mut self, facts: &[(&str, Role)]) {
        let mut parts: Vec<(&str, Role)> = Vec::new();
        for (text, role) in facts.iter().filter(|(text, _)| !text.is_empty()) {
            if !parts.is_empty() {
                parts.push((" · ", Role::Dim));
            }
            parts.push((text, *role));
        }
        if !parts.is_empty() {
            self.line(&parts);
        }
    }

    /// A rendered text, from a new line on.
    pub fn append(&mut self, rendered: &Rendered) {
        self.start_line();
        self.builder.append(rendered);
    }

    fn start_line(&mut self) {
        if std::mem::replace(&mut self.started, true) {
            self.builder.newline();
        }
    }

    /// The whole.
    pub fn finish(self) -> Rendered {
        self.builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::rendered::parts;
    use super::*;

    #[test]
    fn named_texts_hang() {
        let mut document = Document::default();
        document.named("note ", "some words that wrap", Role::Text, 15);
        let shown = document.finish();
        let lines: Vec<_> = shown.text.lines().map(str::trim_end).collect();
        assert_eq!(lines, ["note some words", "     that wrap"]);
    }

    #[test]
    fn highlights_move_with_their_text() {
        let mut inner = Builder::default();
        inner.push("x ", Role::Text);
        inner.push("1", Role::CodeNumber);
        let mut document = Document::default();
        document.facts(&[("", Role::Dim), ("list", Role::CodeType), ("a\nb", Role::Text)]);
        document.append(&inner.finish());
        let whole = document.finish();
        assert_eq!(whole.text.as_str(), "list · a⏎b\nx 1");
        let expected = [("list", Role::CodeType), (" · ", Role::Dim), ("1", Role::CodeNumber)];
        assert_eq!(parts(whole.text.as_str(), &whole.highlights), expected);
    }
}
