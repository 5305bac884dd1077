//! Text that is typed over several rows: an editor, its view, and the rhythm of its keys.

use super::burst::Burst;
use super::content::Content;
use super::editor::{Editor, Reach};
use super::layout::{Layout, Spot};
use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::theme::Role;
use crate::tui::widgets::{Pen, Scrollbar};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// A multi-line text with a caret.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    editor: Editor,
    burst: Burst,
    /// What came in a burst after its beginning was folded.
    tail: String,
    /// The last character of a burst was a carriage return: a line feed that follows is the same line break.
    returned: bool,
    layout: Layout,
    /// What the layout was made of.
    laid_out: Option<(u64, usize)>,
    /// The first row in sight.
    top: usize,
    /// The column that vertical motion keeps.
    goal: Option<usize>,
    /// The caret must become visible.
    reveal: bool,
    area: Rect,
}

/// What came of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyed {
    /// Something was done, or there was nothing to do.
    Taken,
    /// ↑ in the first row.
    AtTop,
    /// ↓ in the last row.
    AtBottom,
    /// There is no room for what it types.
    Full,
    /// The key means nothing here.
    Ignored,
}

impl Field {
    /// What stands there.
    pub(super) fn content(&self) -> &Content {
        self.editor.content()
    }

    /// The editor, after what is still held back of a burst was given to it.
    pub(super) fn editor(&mut self) -> &mut Editor {
        self.flush();
        (self.goal, self.reveal) = (None, true);
        &mut self.editor
    }

    /// Changes with every edit.
    pub(super) fn revision(&self) -> (u64, usize) {
        (self.editor.revision(), self.tail.len())
    }

    /// Where the caret is, in bytes.
    pub(super) fn caret(&self) -> usize {
        self.editor.caret()
    }

    /// When a burst that is held back in part will be over.
    pub(super) fn burst_over_at(&self) -> Option<Duration> {
        self.burst.over_at().filter(|_| !self.tail.is_empty())
    }

    /// Whether a key that comes now belongs to a paste that is not bracketed.
    pub(super) fn is_pasting(&self, now: Duration) -> bool {
        self.burst.goes_on(now)
    }

    /// Types a line break: `returned` for that of `Enter`, which terminals send as a carriage return. Text with both
    /// (`\r\n`), pasted without brackets, has one line break there; false when there is no room for it.
    pub(super) fn break_line(&mut self, returned: bool, now: Duration) -> bool {
        let is_second = !returned && self.returned && self.burst.goes_on(now);
        let fits = is_second || self.type_char('\n', now);
        self.returned = returned;
        fits
    }

    /// Types a character, or takes it for a part of a paste; false when there is no room for it.
    pub(super) fn type_char(&mut self, c: char, now: Duration) -> bool {
        self.returned = false;
        let in_burst = self.burst.key(now);
        if !in_burst {
            self.flush();
        }
        (self.goal, self.reveal) = (None, true);
        if in_burst && (!self.tail.is_empty() || self.editor.burst_is_folded()) {
            self.tail.push(c);
            return true;
        }
        self.editor.type_char(c, in_burst)
    }

    /// Inserts a paste, as one edit; false when there is no room for it.
    pub(super) fn paste(&mut self, text: &str, now: Duration) -> bool {
        let fits = self.editor().paste(text);
        self.burst.pasted(now);
        fits
    }

    /// A key did something else just now: an `Enter` that comes with it sends nothing.
    pub(super) fn hold(&mut self, now: Duration) {
        self.editor.end_burst();
        self.burst.pasted(now);
    }

    /// The burst is over.
    pub(super) fn flush(&mut self) {
        if !self.tail.is_empty() {
            let tail = std::mem::take(&mut self.tail);
            self.editor.add_to_burst(&tail);
            self.editor.end_burst();
        }
    }

    /// Takes a key that is bound to nothing.
    pub(super) fn key(&mut self, key: KeyEvent, now: Duration) -> Keyed {
        if key.kind == KeyEventKind::Release {
            return Keyed::Ignored;
        }
        if let Some(c) = typed(key) {
            return match self.type_char(c, now) {
                true => Keyed::Taken,
                false => Keyed::Full,
            };
        }
        self.flush();
        self.burst.end();
        match key.code {
            KeyCode::Up => self.vertical(false),
            KeyCode::Down => self.vertical(true),
            _ => {
                let done = self.command(key);
                if done {
                    (self.goal, self.reveal) = (None, true);
                }
                if done { Keyed::Taken } else { Keyed::Ignored }
            }
        }
    }

    /// Motion and deleting.
    fn command(&mut self, key: KeyEvent) -> bool {
        let far = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let (control, alt) = (KeyModifiers::CONTROL, KeyModifiers::ALT);
        let edit = &mut self.editor;
        match (key.code, key.modifiers - KeyModifiers::SHIFT) {
            (KeyCode::Left, _) => edit.go(if far { Reach::WordBefore } else { Reach::Before }),
            (KeyCode::Right, _) => edit.go(if far { Reach::WordAfter } else { Reach::After }),
            (KeyCode::Home, _) => edit.go(if far { Reach::Start } else { Reach::LineStart }),
            (KeyCode::End, _) => edit.go(if far { Reach::End } else { Reach::LineEnd }),
            (KeyCode::Backspace, _) if far => edit.kill(Reach::WordBefore),
            (KeyCode::Backspace, _) => edit.erase(Reach::Before),
            (KeyCode::Delete, _) if far => edit.kill(Reach::WordAfter),
            (KeyCode::Delete, _) => edit.erase(Reach::After),
            (KeyCode::Char('h'), m) if m == control => edit.erase(Reach::Before),
            (KeyCode::Char('d'), m) if m == control => edit.erase(Reach::After),
            (KeyCode::Char('b'), m) if m == alt => edit.go(Reach::WordBefore),
            (KeyCode::Char('f'), m) if m == alt => edit.go(Reach::WordAfter),
            (KeyCode::Char('d'), m) if m == alt => edit.kill(Reach::WordAfter),
            (KeyCode::Char('b'), m) if m == control => edit.go(Reach::Before),
            (KeyCode::Char('f'), m) if m == control => edit.go(Reach::After),
            (KeyCode::Char('a'), m) if m == control => edit.go(Reach::LineStart),
            (KeyCode::Char('e'), m) if m == control => edit.go(Reach::LineEnd),
            (KeyCode::Char('k'), m) if m == control => edit.kill(Reach::LineEnd),
            (KeyCode::Char('u'), m) if m == control => edit.kill(Reach::LineStart),
            (KeyCode::Char('w'), m) if m == control => edit.kill(Reach::WordBefore),
            (KeyCode::Char('y'), m) if m == control => edit.yank(),
            _ => return false,
        }
        true
    }

    /// To the row above or below, in the column where vertical motion began.
    fn vertical(&mut self, down: bool) -> Keyed {
        self.lay_out_again();
        let spot = self.layout.spot(self.editor.caret());
        let row = match down {
            true if spot.row + 1 >= self.layout.height() => return Keyed::AtBottom,
            true => spot.row + 1,
            false if spot.row == 0 => return Keyed::AtTop,
            false => spot.row - 1,
        };
        let column = *self.goal.get_or_insert(spot.column);
        let place = self.layout.place(Spot { row, column }, self.editor.content());
        self.editor.go_to(place);
        self.reveal = true;
        Keyed::Taken
    }

    /// One page of a text that does not fit; `false` when all of it is in sight.
    pub(super) fn page(&mut self, down: bool) -> bool {
        let (height, shown) = (self.layout.height(), usize::from(self.area.height));
        if height <= shown {
            return false;
        }
        let rows = shown.saturating_sub(1).max(1);
        for _ in 0..rows {
            if self.vertical(down) != Keyed::Taken {
                break;
            }
        }
        true
    }

    /// A press puts the caret there, the wheel scrolls; `false` when it happened elsewhere.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> bool {
        if !mouse.is_in(self.area) {
            return false;
        }
        // It may have changed since it was drawn.
        self.lay_out_again();
        match mouse.kind {
            MouseKind::Press | MouseKind::DoublePress => {
                let spot = Spot {
                    row: self.top + usize::from(mouse.at.y - self.area.y),
                    column: usize::from(mouse.at.x - self.area.x),
                };
                let place = self.layout.place(spot, self.editor.content());
                self.editor().go_to(place);
                self.burst.end();
            }
            MouseKind::Wheel(rows) => {
                let last = self.layout.height().saturating_sub(usize::from(self.area.height));
                self.top = self.top.saturating_add_signed(rows as isize).min(last);
            }
            MouseKind::Drag | MouseKind::Release => {}
        }
        true
    }

    /// As wide as it was drawn last.
    fn lay_out_again(&mut self) {
        self.lay_out(self.laid_out.map_or(80, |(_, width)| width));
    }

    fn lay_out(&mut self, width: usize) {
        let made_of = Some((self.editor.revision(), width));
        if self.laid_out != made_of {
            self.layout = Layout::of(self.editor.content(), width);
            self.laid_out = made_of;
        }
    }

    /// Rows that it takes in an area of `width` cells.
    pub(super) fn height(&mut self, width: u16) -> usize {
        self.lay_out(room(width));
        self.layout.height()
    }

    /// Paints it, scrolled so that the caret is visible after it moved; returns the caret's cell.
    pub(super) fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return None;
        }
        self.reveal |= area != self.area;
        self.area = area;
        self.lay_out(room(area.width));
        let (height, shown) = (self.layout.height(), usize::from(area.height));
        let caret = self.layout.spot(self.editor.caret());
        if std::mem::take(&mut self.reveal) {
            self.top = self.top.clamp((caret.row + 1).saturating_sub(shown), caret.row);
        }
        self.top = self.top.min(height.saturating_sub(shown));
        for (row, y) in (self.top..height).zip(area.top()..area.bottom()) {
            self.draw_row(row, Rect { y, height: 1, ..area }, buf, ctx);
        }
        let bar = Scrollbar {
            start: self.top,
            visible: shown,
            total: height,
        };
        if area.width > 2 {
            let x = area.right() - 1;
            bar.draw(Rect { x, width: 1, ..area }, buf, ctx);
        }
        caret_cell(caret, self.top, area)
    }

    fn draw_row(&self, row: usize, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut pen = Pen::new(buf, area);
        for (text, is_chip) in self.layout.row(row) {
            let role = if is_chip { Role::Accent } else { Role::Prompt };
            pen.write(text, ctx.style(role));
        }
    }

    /// Its first line, for where there is only one.
    pub(super) fn first_line(&self) -> SafeText {
        let content = self.content();
        let line = content.slice(content.line(0));
        let mut out = String::new();
        for piece in line.pieces(0..line.len()) {
            match piece {
                super::content::Piece::Text(text) => out.push_str(text),
                super::content::Piece::Chip(chip) => out.push_str(&chip.label()),
            }
        }
        SafeText::line(&out)
    }
}

/// Cells of a row: the last column is for the caret and the scrollbar.
fn room(width: u16) -> usize {
    usize::from(width.saturating_sub(1)).max(1)
}

fn caret_cell(caret: Spot, top: usize, area: Rect) -> Option<Position> {
    let row = u16::try_from(caret.row.checked_sub(top)?).ok()?;
    let column = u16::try_from(caret.column).unwrap_or(u16::MAX).min(area.width - 1);
    (row < area.height).then(|| Position {
        x: area.x + column,
        y: area.y + row,
    })
}

/// The character that a key types: also one that is typed with AltGr, which some systems report as Ctrl-Alt.
fn typed(key: KeyEvent) -> Option<char> {
    let KeyCode::Char(c) = key.code else {
        return None;
    };
    let modifiers = key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
    let types = modifiers.is_empty() || modifiers == (KeyModifiers::CONTROL | KeyModifiers::ALT);
    types.then_some(c)
}
