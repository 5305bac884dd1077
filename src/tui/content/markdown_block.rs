//! Blocks of Markdown in lines: prefixes of lists and quotes, wrapped text, gaps between blocks.

use super::Rendered;
use super::rendered::Builder;
use crate::text::{cell_width, wrap_line};
use crate::tui::theme::Role;

/// Prefixes take at most this part of the width, so that deep nesting still leaves room for text.
const PREFIX_SHARE: usize = 2;

/// A list item, a quote or a block of code that is open.
#[derive(Clone, Debug)]
struct Open {
    /// Before its first line; taken when printed.
    first: Option<String>,
    /// Before its other lines.
    rest: String,
}

/// Writes blocks line by line.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    width: usize,
    out: Builder,
    opens: Vec<Open>,
    styles: Vec<Role>,
    /// Pieces of the text that is being collected.
    line: Vec<(String, Role)>,
    heading: Option<usize>,
    /// An empty line goes before the next one.
    gap: bool,
    tight: bool,
    started: bool,
}

impl Blocks {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width: width.max(1),
            ..Self::default()
        }
    }

    /// A block starts: an empty line before it, but inside lists.
    pub(super) fn gap(&mut self) {
        self.end_line();
        self.gap |= !self.tight;
    }

    /// Inside a list nothing is set apart.
    pub(super) fn tight(&mut self, tight: bool) {
        self.end_line();
        self.tight = tight;
    }

    pub(super) fn heading(&mut self, level: usize) {
        self.gap();
        self.heading = Some(level);
        self.styles.push(Role::MarkdownHeading);
    }

    /// The two highest levels are underlined, so that headings show without colour too.
    pub(super) fn end_heading(&mut self) {
        let cells: usize = self.line.iter().map(|(text, _)| cell_width(text)).sum();
        self.end_line();
        self.styles.pop();
        let rule = match self.heading.take() {
            Some(1) => "━",
            Some(2) => "─",
            _ => return,
        };
        self.print(&[(rule.repeat(cells.min(self.room())), Role::MarkdownMark)]);
    }

    pub(super) fn open_block(&mut self, first: &str, rest: &str) {
        self.gap();
        self.opens.push(Open {
            first: Some(first.to_owned()),
            rest: rest.to_owned(),
        });
    }

    pub(super) fn close_block(&mut self) {
        self.end_line();
        // An empty item still shows its mark.
        if self
            .opens
            .last()
            .is_some_and(|open| open.first.as_deref().is_some_and(|first| !first.trim().is_empty()))
        {
            self.print(&[]);
        }
        self.opens.pop();
        self.gap |= !self.tight;
    }

    pub(super) fn open_style(&mut self, role: Role) {
        self.styles.push(role);
    }

    pub(super) fn close_style(&mut self) {
        self.styles.pop();
    }

    /// Text of the current line, in `role` or in that of the innermost open style.
    pub(super) fn text(&mut self, text: &str, role: Option<Role>) {
        let role = role.or(self.styles.last().copied()).unwrap_or(Role::Text);
        for (i, part) in text.split('\n').enumerate() {
            if i > 0 {
                self.end_line();
            }
            if !part.is_empty() {
                self.line.push((part.to_owned(), role));
            }
        }
    }

    /// Lines of code: never wrapped here, so that copying gives them back.
    pub(super) fn code(&mut self, text: &str) {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.print(&[(line.to_owned(), Role::MarkdownCode)]);
        }
    }

    pub(super) fn rule(&mut self) {
        self.gap();
        let rule = "─".repeat(self.room().min(40));
        self.print(&[(rule, Role::MarkdownMark)]);
        self.gap |= !self.tight;
    }

    pub(super) fn line_ends_with(&self, text: &str) -> bool {
        self.line.last().is_some_and(|(last, _)| last == text)
    }

    /// Cells that the prefixes leave.
    pub(super) fn room(&self) -> usize {
        let prefixes: usize = self.opens.iter().map(|open| cell_width(&open.rest)).sum();
        self.width
            .saturating_sub(prefixes.min(self.width / PREFIX_SHARE))
            .max(1)
    }

    /// Wraps and prints the collected text.
    pub(super) fn end_line(&mut self) {
        let pieces = std::mem::take(&mut self.line);
        let text: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
        if text.trim().is_empty() {
            return;
        }
        for row in wrap_line(&text, self.room()) {
            let shown = text.get(row.bytes.clone()).unwrap_or_default().trim_end();
            self.print(&between(&pieces, row.bytes.start, row.bytes.start + shown.len()));
        }
    }

    /// Prints one line behind the prefixes.
    pub(super) fn print(&mut self, pieces: &[(String, Role)]) {
        if self.started {
            self.out.newline();
        }
        if std::mem::take(&mut self.gap) && self.started {
            let prefix = self.prefix(false);
            self.out.push(prefix.trim_end(), Role::MarkdownMark);
            self.out.newline();
        }
        self.started = true;
        let prefix = self.prefix(true);
        self.out.push(&prefix, Role::MarkdownMark);
        for (text, role) in pieces {
            self.out.push(text, *role);
        }
    }

    /// The prefixes, cut to their share; a real line takes the first ones of its blocks, an empty one does not and
    /// stays outside blocks that have not begun.
    fn prefix(&mut self, real: bool) -> String {
        let mut prefix = String::new();
        for open in &mut self.opens {
            match (&open.first, real) {
                (Some(_), true) => prefix.push_str(&open.first.take().unwrap_or_default()),
                (Some(_), false) => break,
                (None, _) => prefix.push_str(&open.rest),
            }
        }
        crate::text::cut(&prefix, self.width / PREFIX_SHARE).0.to_owned()
    }

    pub(super) fn finish(mut self) -> Rendered {
        self.end_line();
        self.out.finish()
    }
}

/// The parts of pieces between two bytes of their joined text.
fn between(pieces: &[(String, Role)], start: usize, end: usize) -> Vec<(String, Role)> {
    let (mut at, mut parts) = (0, Vec::new());
    for (text, role) in pieces {
        let from = start.saturating_sub(at).min(text.len());
        let to = end.saturating_sub(at).min(text.len());
        at += text.len();
        match text.get(from..to) {
            Some(part) if !part.is_empty() => parts.push((part.to_owned(), *role)),
            _ => {}
        }
    }
    parts
}
