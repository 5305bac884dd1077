//! Where a pane's view stands. Positions are a line and a byte in it, so that they keep their meaning when the width
//! changes; rows are walked, never counted from the start.

use super::TextPane;
use super::rows::Rows;
use crate::tui::widgets::Scrollbar;

/// The first visible row: a line, and the first byte of it that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Anchor {
    pub(super) line: usize,
    pub(super) byte: usize,
}

impl TextPane {
    /// Scrolls by rows; negative is up. Any scrolling that moves the view unpins it from the end.
    pub fn scroll(&mut self, rows: isize) {
        let end = self.last_top();
        let from = if self.pinned { end } else { self.top.min(end) };
        let to = self.step(from, rows).min(end);
        if to != from {
            self.pinned = false;
        }
        self.top = to;
    }

    /// Shows a line (from 0) at the top.
    pub fn to_line(&mut self, line: usize) {
        self.pinned = false;
        self.top = Anchor {
            line: line.min(self.lines.count() - 1),
            byte: 0,
        };
    }

    /// The first visible line, from 0.
    pub fn top_line(&self) -> usize {
        self.top.line
    }

    /// The line (from 0) that is shown on a screen row, for the mouse.
    pub fn line_at_row(&mut self, y: u16) -> Option<usize> {
        let row = y.checked_sub(self.area.y).filter(|row| *row < self.area.height)?;
        let top = self.top;
        let at = self.step(top, isize::from(i16::try_from(row).unwrap_or(0)));
        Some(at.line)
    }

    /// Shows the row of a byte of the text at the top.
    pub(super) fn go_to_byte(&mut self, byte: usize) {
        self.pinned = false;
        self.top = self.anchor_of(byte).min(self.last_top());
    }

    /// The row that shows a byte of the text.
    pub(super) fn anchor_of(&mut self, byte: usize) -> Anchor {
        let line = self.lines.at(byte);
        let within = byte.saturating_sub(self.lines.bytes(line).start);
        self.snap(Anchor { line, byte: within })
    }

    /// The start of the row that an anchor lies in, at the present width.
    fn snap(&mut self, anchor: Anchor) -> Anchor {
        let rows = self.rows(anchor);
        let row = rows.as_slice().get(rows.at(anchor.byte));
        Anchor {
            byte: row.map_or(0, |row| row.bytes.start),
            ..anchor
        }
    }

    /// The rows around an anchor.
    pub(super) fn rows(&mut self, at: Anchor) -> Rows {
        let text = self.lines.text(at.line);
        if self.wrap {
            self.cache.rows(at.line, text, at.byte)
        } else {
            Rows::One(crate::text::Row {
                bytes: 0..text.len(),
                cells: 0,
            })
        }
    }

    /// The row `rows` after (or before) an anchor, within the text.
    pub(super) fn step(&mut self, from: Anchor, rows: isize) -> Anchor {
        let mut left = rows.unsigned_abs();
        let mut at = Anchor {
            line: from.line.min(self.lines.count() - 1),
            ..from
        };
        let mut of = self.rows(at);
        let mut row = of.at(from.byte);
        while left > 0 {
            let room = if rows < 0 { row } else { of.as_slice().len() - 1 - row };
            let moved = room.min(left);
            row = if rows < 0 { row - moved } else { row + moved };
            left -= moved;
            let next = if rows < 0 {
                before(at.line, &of)
            } else {
                self.after(at.line, &of)
            };
            let (Some(next), true) = (next, left > 0) else {
                break;
            };
            at = next;
            of = self.rows(at);
            row = if rows < 0 { of.as_slice().len() - 1 } else { 0 };
            left -= 1;
        }
        let byte = of.as_slice().get(row).map_or(0, |row| row.bytes.start);
        Anchor { byte, ..at }
    }

    /// Where what follows rows of a line begins.
    fn after(&self, line: usize, rows: &Rows) -> Option<Anchor> {
        let byte = rows.bytes().end;
        if byte < self.lines.bytes(line).len() {
            return Some(Anchor { line, byte });
        }
        let next = Anchor {
            line: line + 1,
            byte: 0,
        };
        Some(next).filter(|next| next.line < self.lines.count())
    }

    /// The highest view that still shows the end of the text.
    pub(super) fn last_top(&mut self) -> Anchor {
        let end = Anchor {
            line: self.lines.count() - 1,
            byte: usize::MAX,
        };
        let height = isize::from(i16::try_from(self.area.height).unwrap_or(i16::MAX));
        self.step(end, 1 - height.max(1))
    }

    /// Brings the view into the text: after the text, its width or its height changed.
    pub(super) fn settle(&mut self) {
        let end = self.last_top();
        let at = self.snap(Anchor {
            line: self.top.line.min(self.lines.count() - 1),
            ..self.top
        });
        self.top = if self.pinned { end } else { at.min(end) };
    }

    /// In bytes of the text: they need no counting of rows.
    pub(super) fn scrollbar(&mut self) -> Scrollbar {
        let top = self.top;
        let below = self.step(top, isize::from(i16::try_from(self.area.height).unwrap_or(i16::MAX)));
        let byte = |pane: &Self, anchor: Anchor| pane.lines.bytes(anchor.line).start + anchor.byte;
        let start = byte(self, top);
        let total = self.text.as_str().len();
        let end = if top >= self.last_top() {
            total
        } else {
            byte(self, below)
        };
        Scrollbar {
            start,
            visible: end.saturating_sub(start),
            total,
        }
    }
}

/// The end of what comes before rows of a line.
fn before(line: usize, rows: &Rows) -> Option<Anchor> {
    if let Some(byte) = rows.bytes().start.checked_sub(1) {
        return Some(Anchor { line, byte });
    }
    let line = line.checked_sub(1)?;
    Some(Anchor { line, byte: usize::MAX })
}
