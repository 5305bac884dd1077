//! One line of safe text in several styles, and the one way in which text gets into cells.

use crate::text::{Row, SafeText, cell_width, wrap_line};
use ratatui::buffer::{Buffer, CellDiffOption, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::num::NonZeroU16;
use unicode_segmentation::UnicodeSegmentation;

/// A line of safe text in several styles. Newlines in it are not broken: they take no cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Styled {
    spans: Vec<(SafeText, Style)>,
}

impl Styled {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A text in one style.
    pub fn of(text: SafeText, style: Style) -> Self {
        Self::new().then(text, style)
    }

    /// The program's own words in one style.
    pub fn words(text: &'static str, style: Style) -> Self {
        Self::of(SafeText::literal(text), style)
    }

    /// A text of the program's own in lines of at most `width` cells, each behind `indent` blanks.
    pub fn wrapped(text: &'static str, indent: usize, width: usize, style: Style) -> Vec<Self> {
        let room = width.saturating_sub(indent);
        let line = |row: Row| {
            let words = text.get(row.bytes).unwrap_or_default().trim_end();
            Self::of(SafeText::line(&format!("{:indent$}{words}", "")), style)
        };
        wrap_line(text, room).into_iter().map(line).collect()
    }

    /// Adds a text.
    #[must_use]
    pub fn then(mut self, text: SafeText, style: Style) -> Self {
        self.push(text, style);
        self
    }

    /// Adds a text.
    pub fn push(&mut self, text: SafeText, style: Style) {
        self.spans.push((text, style));
    }

    /// Adds another line's spans.
    pub fn append(&mut self, other: Styled) {
        self.spans.extend(other.spans);
    }

    /// Cells it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|(text, _)| cell_width(text.as_str())).sum()
    }

    /// Its texts and styles.
    pub fn spans(&self) -> impl Iterator<Item = (&str, Style)> {
        self.spans.iter().map(|(text, style)| (text.as_str(), *style))
    }

    /// Paints it into the first row of `area`, cut with `…` where it is too long; returns the cells it took.
    pub fn draw(&self, area: Rect, buf: &mut Buffer) -> u16 {
        let area = Rect {
            height: area.height.min(1),
            ..area
        }
        .intersection(buf.area);
        if area.is_empty() {
            return 0;
        }
        let cut = self.width() > usize::from(area.width);
        let room = if cut { area.width - 1 } else { area.width };
        let mut pen = Pen::new(buf, Rect { width: room, ..area });
        let mut last = Style::new();
        for (text, style) in self.spans() {
            last = style;
            if !pen.write(text, style) {
                break;
            }
        }
        let taken = pen.at - area.x;
        if cut {
            Pen::new(
                buf,
                Rect {
                    x: area.x + taken,
                    width: 1,
                    ..area
                },
            )
            .write("…", last);
        }
        taken + u16::from(cut)
    }

    /// Paints it at the right end of the first row of `area`.
    pub fn draw_right(&self, area: Rect, buf: &mut Buffer) -> u16 {
        let width = u16::try_from(self.width()).unwrap_or(u16::MAX).min(area.width);
        let x = area.right() - width;
        self.draw(Rect { x, width, ..area }, buf)
    }

    /// Paints it in the middle of the first row of `area`.
    pub fn draw_centred(&self, area: Rect, buf: &mut Buffer) -> u16 {
        let width = u16::try_from(self.width()).unwrap_or(u16::MAX).min(area.width);
        let x = area.x + (area.width - width) / 2;
        self.draw(Rect { x, width, ..area }, buf)
    }
}

/// Writes clusters into one row of cells, never half a wide one. Widths are those of the text room: the terminal is
/// told them, so that what a library thinks of a rare cluster cannot shift a row.
pub(crate) struct Pen<'a> {
    buf: &'a mut Buffer,
    row: Rect,
    at: u16,
}

impl<'a> Pen<'a> {
    /// At the start of the first row of `row`, clipped to the buffer.
    pub(crate) fn new(buf: &'a mut Buffer, row: Rect) -> Self {
        let row = row.intersection(buf.area);
        Self { at: row.x, row, buf }
    }

    /// Cells left.
    pub(crate) fn room(&self) -> u16 {
        self.row.right().saturating_sub(self.at)
    }

    /// Writes a text of one line; `false` when it did not fit as a whole.
    pub(crate) fn write(&mut self, text: &str, style: Style) -> bool {
        if self.row.height == 0 {
            return text.is_empty();
        }
        if text.is_ascii() {
            return self.write_ascii(text, style);
        }
        text.graphemes(true).all(|cluster| self.cluster(cluster, style))
    }

    fn write_ascii(&mut self, text: &str, style: Style) -> bool {
        let mut bytes = text.bytes().filter(|byte| *byte >= b' ' && *byte != 0x7f);
        for byte in bytes.by_ref().take(usize::from(self.room())) {
            if let Some(cell) = self.buf.cell_mut((self.at, self.row.y)) {
                cell.set_char(char::from(byte))
                    .set_style(style)
                    .set_diff_option(CellDiffOption::None);
            }
            self.at += 1;
        }
        bytes.next().is_none()
    }

    fn cluster(&mut self, cluster: &str, style: Style) -> bool {
        let width = u16::try_from(cell_width(cluster)).unwrap_or(0);
        if width == 0 {
            return true;
        }
        if width > self.room() {
            return false;
        }
        if let Some(cell) = self.buf.cell_mut((self.at, self.row.y)) {
            let agreed = cluster.cell_width() == width;
            let forced = NonZeroU16::new(width)
                .filter(|_| !agreed)
                .map(CellDiffOption::ForcedWidth);
            cell.set_symbol(cluster)
                .set_style(style)
                .set_diff_option(forced.unwrap_or_default());
        }
        for x in self.at + 1..self.at + width {
            if let Some(cell) = self.buf.cell_mut((x, self.row.y)) {
                cell.reset();
                cell.set_style(style);
            }
        }
        self.at += width;
        true
    }

    /// Fills the rest of the row with a style, keeping what is there.
    pub(crate) fn fill(&mut self, style: Style) {
        let rest = Rect {
            x: self.at,
            width: self.room(),
            height: self.row.height.min(1),
            ..self.row
        };
        self.buf.set_style(rest, style);
    }
}

/// Empties an area and gives it a style. A wide character that reaches into it from the left goes as a whole.
pub fn clear(area: Rect, buf: &mut Buffer, style: Style) {
    let area = area.intersection(buf.area);
    for y in area.top()..area.bottom() {
        let left = area.x.checked_sub(1).and_then(|x| buf.cell_mut((x, y)));
        if let Some(cell) = left.filter(|cell| cell.cell_width() > 1) {
            cell.set_symbol(" ").set_diff_option(CellDiffOption::None);
        }
    }
    for position in area.positions() {
        if let Some(cell) = buf.cell_mut(position) {
            cell.reset();
        }
    }
    buf.set_style(area, style);
}
