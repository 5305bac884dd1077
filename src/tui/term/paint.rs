//! From a frame to the bytes that change the terminal into it.

use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
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
        let mut cells = self.shown.diff_iter(frame).peekable();
        let changed = clear || cells.peek().is_some();
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
        place_cursor(&mut self.out, cursor);
        self.out.extend_from_slice(END);
        self.shown.clone_from(frame);
        (self.cursor, self.unknown) = (cursor, false);
        Ok(&self.out)
    }
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
}
