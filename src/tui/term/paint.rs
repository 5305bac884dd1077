//! From a frame to the bytes that change the terminal into it.

use crate::text::cell_width;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use std::io;

const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";
const HIDE: &[u8] = b"\x1b[?25l";
const SHOW: &[u8] = b"\x1b[?25h";
const CLEAR: &[u8] = b"\x1b[0m\x1b[2J";

/// Knows what the terminal shows.
#[derive(Debug)]
pub struct Painter {
    shown: Buffer,
    cursor: Option<Position>,
    /// What the terminal shows is not known: it is cleared first.
    unknown: bool,
    out: Vec<u8>,
}

impl Painter {
    /// For an empty screen of that size, without a cursor.
    pub fn new(size: Size) -> Self {
        Self {
            shown: Buffer::empty(Rect::new(0, 0, size.width, size.height)),
            cursor: None,
            unknown: false,
            out: Vec::new(),
        }
    }

    /// The screen may show anything now.
    pub fn forget(&mut self) {
        self.unknown = true;
    }

    /// The bytes that turn the screen into `frame`, as one synchronised update; none when it is that already.
    ///
    /// # Errors
    /// None that a memory buffer can have.
    pub fn paint(&mut self, frame: &Buffer, cursor: Option<Position>) -> io::Result<&[u8]> {
        self.out.clear();
        let clear = self.unknown || self.shown.area != frame.area;
        if clear {
            self.shown = Buffer::empty(frame.area);
        }
        let disputed = disputed_rows(&self.shown, frame);
        let cells = self.shown.diff_iter(frame).filter(|(_, y, _)| !disputed.contains(y));
        let mut cells = cells.peekable();
        let changed = clear || !disputed.is_empty() || cells.peek().is_some();
        if !changed && cursor == self.cursor {
            return Ok(&self.out);
        }
        self.out.extend_from_slice(BEGIN);
        if changed && self.cursor.is_some() {
            self.out.extend_from_slice(HIDE);
        }
        if clear {
            self.out.extend_from_slice(CLEAR);
        }
        CrosstermBackend::new(&mut self.out).draw(cells)?;
        for y in disputed {
            paint_whole(&mut self.out, frame, y)?;
        }
        place_cursor(&mut self.out, cursor);
        self.out.extend_from_slice(END);
        self.shown.clone_from(frame);
        (self.cursor, self.unknown) = (cursor, false);
        Ok(&self.out)
    }
}

/// Changed rows in which one of the two frames has a character of which terminals disagree how wide it is: what such
/// a terminal shows beside it is not known.
fn disputed_rows(shown: &Buffer, frame: &Buffer) -> Vec<u16> {
    let width = usize::from(frame.area.width).max(1);
    let disputed = |cells: &[Cell]| cells.iter().any(|cell| is_disputed(cell.symbol()));
    let rows = shown.content.chunks(width).zip(frame.content.chunks(width));
    (frame.area.top()..)
        .zip(rows)
        .filter(|(_, (before, after))| before != after && (disputed(before) || disputed(after)))
        .map(|(y, _)| y)
        .collect()
}

/// Terminals disagree about the width of sequences, of emoji, and of what came into Unicode with them; not about CJK,
/// and not about single characters of one cell.
fn is_disputed(symbol: &str) -> bool {
    let mut chars = symbol.chars();
    match (chars.next(), chars.next()) {
        (Some(_), Some(_)) => true,
        (Some(c), None) if c.is_ascii() => false,
        (Some(c), None) => {
            matches!(u32::from(c), 0x1F000..=0x1FBFF) || (u32::from(c) < 0x2E80 && cell_width(symbol) > 1)
        }
        _ => false,
    }
}

/// A row from its first cell to its last. A disputed character is written onto blanks, for a terminal that takes it
/// for narrower, and what follows it is placed anew, for one that takes it for wider.
fn paint_whole(out: &mut Vec<u8>, frame: &Buffer, y: u16) -> io::Result<()> {
    let blank = Cell::EMPTY;
    let mut run: Vec<(u16, u16, &Cell)> = Vec::new();
    let mut x = frame.area.left();
    while let Some(cell) = frame.cell((x, y)).filter(|_| x < frame.area.right()) {
        let width = u16::try_from(cell_width(cell.symbol()).max(1)).unwrap_or(1);
        if is_disputed(cell.symbol()) {
            run.extend((x..x + width).map(|x| (x, y, &blank)));
            CrosstermBackend::new(&mut *out).draw(run.drain(..))?;
            CrosstermBackend::new(&mut *out).draw(std::iter::once((x, y, cell)))?;
        } else {
            run.push((x, y, cell));
        }
        x = x.saturating_add(width);
    }
    CrosstermBackend::new(out).draw(run.into_iter())
}

fn place_cursor(out: &mut Vec<u8>, cursor: Option<Position>) {
    match cursor {
        Some(Position { x, y }) => {
            out.extend_from_slice(format!("\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1).as_bytes());
            out.extend_from_slice(SHOW);
        }
        None => out.extend_from_slice(HIDE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::widgets::Pen;
    use proptest::prelude::*;
    use ratatui::style::Style;

    fn frame(rows: &[String], width: u16) -> Buffer {
        let height = u16::try_from(rows.len()).unwrap();
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        for (row, y) in rows.iter().zip(0..) {
            Pen::new(&mut buf, Rect::new(0, y, width, 1)).write(row, Style::new());
        }
        buf
    }

    #[test]
    fn an_unchanged_frame_writes_nothing() {
        let mut painter = Painter::new(Size::new(10, 1));
        let text = frame(&["hello".into()], 10);
        assert!(!painter.paint(&text, None).unwrap().is_empty());
        assert!(painter.paint(&text, None).unwrap().is_empty());
        assert!(!painter.paint(&text, Some(Position::new(1, 0))).unwrap().is_empty());
        assert!(painter.paint(&text, Some(Position::new(1, 0))).unwrap().is_empty());
        painter.forget();
        assert!(!painter.paint(&text, None).unwrap().is_empty());
    }

    #[test]
    fn only_a_change_of_size_clears_the_screen() {
        let clears = |bytes: &[u8]| bytes.windows(4).any(|window| window == b"\x1b[2J");
        let mut painter = Painter::new(Size::new(10, 1));
        assert!(!clears(painter.paint(&frame(&["a".into()], 10), None).unwrap()));
        assert!(!clears(painter.paint(&frame(&["b".into()], 10), None).unwrap()));
        assert!(clears(painter.paint(&frame(&["b".into()], 9), None).unwrap()));
    }

    proptest! {
        /// Whatever two frames follow each other, a real terminal shows the second one.
        #[test]
        fn a_terminal_shows_what_was_painted(
            first in proptest::collection::vec("[a-z中é ]{0,12}", 3),
            second in proptest::collection::vec("[a-z中é ]{0,12}", 3),
        ) {
            let mut painter = Painter::new(Size::new(12, 3));
            let mut terminal = vt100::Parser::new(3.try_into().unwrap(), 12.try_into().unwrap(), 0);
            for rows in [&first, &second] {
                let buf = frame(rows, 12);
                terminal.process(painter.paint(&buf, None).unwrap());
                let shown = terminal.screen().contents();
                let expected = crate::tui::testing::text_of(&buf);
                let trim = |text: &str| {
                    let rows: Vec<_> = text.lines().map(str::trim_end).collect();
                    rows.join("\n").trim_end().to_owned()
                };
                prop_assert_eq!(trim(&shown), trim(&expected));
            }
        }
    }

    /// `vt100` takes a family for as many characters as it has members: a terminal of another opinion. What stands
    /// beside such characters is right all the same.
    #[test]
    fn a_terminal_that_counts_wider_or_narrower_shows_borders_in_place() {
        const ODD: [&str; 6] = ["👨‍👩‍👧‍👦", "⚠️", "🇩🇪", "e\u{301}", "🫩", "क्षि"];
        let row = |inside: &str| {
            let mut buf = Buffer::empty(Rect::new(0, 0, 14, 1));
            Pen::new(&mut buf, Rect::new(0, 0, 13, 1)).write(&format!("│{inside}"), Style::new());
            Pen::new(&mut buf, Rect::new(13, 0, 1, 1)).write("│", Style::new());
            buf
        };
        let mut painter = Painter::new(Size::new(14, 1));
        let mut terminal = vt100::Parser::new(2.try_into().unwrap(), 14.try_into().unwrap(), 0);
        for odd in ODD {
            for inside in [
                "abcdefghijkl".to_owned(),
                format!("ab{odd}cd"),
                String::new(),
                odd.repeat(5),
                "x".into(),
            ] {
                let buf = row(&inside);
                terminal.process(painter.paint(&buf, None).unwrap());
                let cell = |x| {
                    terminal
                        .screen()
                        .cell(0, x)
                        .map(|cell| cell.contents().to_owned())
                        .unwrap_or_default()
                };
                assert_eq!((cell(0).as_str(), cell(13).as_str()), ("│", "│"), "{inside}");
                let mut x = 0;
                while x < 14 {
                    let symbol = buf[(x, 0)].symbol();
                    if symbol.is_ascii() {
                        assert_eq!(cell(x).trim(), symbol.trim(), "cell {x} of {inside}");
                    }
                    x += u16::try_from(cell_width(symbol).max(1)).unwrap();
                }
            }
        }
    }
}
