//! Painting the visible rows of a pane.

use super::TextPane;
use super::scroll::Anchor;
use crate::text::{Row, SafeText};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::{Pen, Styled};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

impl TextPane {
    /// Paints what is visible into `area`, with a scrollbar in its last column where not everything is.
    pub fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        self.place(area);
        if self.area.is_empty() {
            return;
        }
        let (mut at, end) = (self.top, self.area.bottom());
        for y in self.area.y..end {
            let row = Rect {
                y,
                height: 1,
                ..self.area
            };
            self.draw_row(at, row, buf, ctx);
            let next = self.step(at, 1);
            if next == at {
                break;
            }
            at = next;
        }
        self.scrollbar().draw(self.bar, buf, ctx);
    }

    /// Finds the room for text, numbers and scrollbar, and brings the view into it.
    fn place(&mut self, area: Rect) {
        let gutter = self.gutter().min(area.width.saturating_sub(8));
        let bar = u16::from(area.width > 4);
        self.bar = Rect {
            x: area.right() - bar,
            width: bar,
            ..area
        };
        self.area = Rect {
            x: area.x + gutter,
            width: area.width - gutter - bar,
            ..area
        };
        self.cache.set_width(usize::from(self.area.width).max(1));
        self.place_match();
        self.settle();
    }

    /// The cells that are left of `area` for the text, beside numbers and scrollbar.
    pub fn text_width(&self, area: Rect) -> u16 {
        let bar = u16::from(area.width > 4);
        area.width - self.gutter().min(area.width.saturating_sub(8)) - bar
    }

    /// Cells for line numbers, with a space after them; 0 without.
    fn gutter(&self) -> u16 {
        let digits = self.lines.count().to_string().len();
        if self.numbers {
            u16::try_from(digits + 1).unwrap_or(0)
        } else {
            0
        }
    }

    fn draw_row(&mut self, at: Anchor, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let line = self.lines.bytes(at.line);
        let rows = self.rows(at);
        let Some(row) = rows.as_slice().get(rows.at(at.byte)).cloned() else {
            return;
        };
        let row = if self.wrap { row } else { self.scrolled(at.line, row) };
        if self.numbers && at.byte == 0 {
            self.draw_number(at.line, area, buf, ctx);
        }
        let bytes = line.start + row.bytes.start..line.start + row.bytes.end;
        let indent = u16::try_from(row.cells).unwrap_or(0).min(area.width);
        let area = if self.wrap {
            area
        } else {
            Rect {
                x: area.x + indent,
                width: area.width - indent,
                ..area
            }
        };
        self.draw_text(bytes, area, buf, ctx);
    }

    /// What is left of an unwrapped line beyond the columns that are scrolled away. Where those end within a wide
    /// character, `cells` says how many cells of it stay empty.
    fn scrolled(&mut self, line: usize, row: Row) -> Row {
        let (byte, column) = self.cache.column(line, self.lines.text(line), self.left);
        Row {
            bytes: byte..row.bytes.end,
            cells: column.saturating_sub(self.left),
        }
    }

    fn draw_number(&self, line: usize, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let gutter = self.gutter();
        let Some(x) = area.x.checked_sub(gutter) else {
            return;
        };
        let number = SafeText::line(&(line + 1).to_string());
        let room = Rect {
            x,
            width: gutter - 1,
            ..area
        };
        Styled::of(number, ctx.style(Role::LineNumber)).draw_right(room, buf);
    }

    /// Paints bytes of one line, cluster by cluster: a style begins with the cluster it begins in, so that no boundary
    /// of a match or a token can cut a character.
    fn draw_text(&self, bytes: Range<usize>, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let text = self.text.as_str().get(bytes.clone()).unwrap_or_default();
        let seen = self.visible_bytes(&bytes, area);
        let spans = self.overlays(&seen, ctx);
        let mut spans = spans.iter().peekable();
        let plain = ctx.style(Role::Text);
        let mut pen = Pen::new(buf, area);
        for (offset, cluster) in text.grapheme_indices(true) {
            let at = bytes.start + offset;
            while spans.next_if(|(span, _)| span.end <= at).is_some() {}
            let style = spans
                .peek()
                .filter(|(span, _)| span.start <= at)
                .map_or(plain, |(_, style)| *style);
            if !pen.write(cluster, style) {
                break;
            }
        }
    }

    /// The part of a row that can be visible at all: a cluster may be long, but not a line of a megabyte.
    fn visible_bytes(&self, bytes: &Range<usize>, area: Rect) -> Range<usize> {
        bytes.start..bytes.end.min(bytes.start.saturating_add(usize::from(area.width) * 256))
    }

    /// Styles over a range, in order and without overlaps: matches win over highlights.
    fn overlays(&self, bytes: &Range<usize>, ctx: &Ctx<'_>) -> Vec<(Range<usize>, Style)> {
        let mut out = Vec::new();
        let mut matches = self.found.within(bytes).peekable();
        let highlights = self.highlights.iter().flat_map(|highlights| highlights.within(bytes));
        for span in highlights {
            let mut start = span.bytes.start;
            while let Some((found, current)) = matches.next_if(|(found, _)| found.start < span.bytes.end) {
                out.push((start..found.start.max(start), ctx.style(span.role)));
                out.push((found.clone(), match_style(current, ctx)));
                start = found.end.max(start);
            }
            out.push((start..span.bytes.end.max(start), ctx.style(span.role)));
        }
        out.extend(matches.map(|(found, current)| (found.clone(), match_style(current, ctx))));
        out
    }
}

fn match_style(current: bool, ctx: &Ctx<'_>) -> Style {
    ctx.style(if current { Role::MatchCurrent } else { Role::Match })
}
