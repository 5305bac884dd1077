//! The words of a question, in rows. Where they are too many for their place they are paged through, and a mark says
//! how many are out of sight: nobody should answer what cannot be read to its end.

use crate::text::{SafeText, wrap_line};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What is asked.
#[derive(Clone, Debug)]
pub(super) struct Wording {
    text: SafeText,
    /// The first row in sight.
    top: usize,
    /// Rows in sight, and all, when it was drawn last.
    drawn: (usize, usize),
}

impl Wording {
    /// Of a raw text.
    pub(super) fn of(text: &str) -> Self {
        Self {
            text: SafeText::block(text),
            top: 0,
            drawn: (0, 0),
        }
    }

    /// Rows it takes in all.
    pub(super) fn height(&self, width: u16) -> usize {
        self.rows(width).len()
    }

    /// The next rows, or those before; `false` when all are in sight.
    pub(super) fn page(&mut self, down: bool) -> bool {
        let (seen, all) = self.drawn;
        let step = seen.max(1);
        self.top = match down {
            true => (self.top + step).min(all.saturating_sub(seen)),
            false => self.top.saturating_sub(step),
        };
        seen < all
    }

    pub(super) fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let rows = self.rows(area.width);
        let all = rows.len();
        let is_cut = all > usize::from(area.height);
        // The last row of the place tells of the others.
        let seen = usize::from(area.height).saturating_sub(usize::from(is_cut && area.height > 1));
        self.drawn = (seen.min(all), all);
        self.top = self.top.min(all.saturating_sub(seen));
        let below = all - self.top - self.drawn.0;
        let line = |y: u16| Rect { y, height: 1, ..area };
        for (row, y) in rows.into_iter().skip(self.top).take(seen).zip(area.y..area.bottom()) {
            Styled::of(row, ctx.style(Role::Title)).draw(line(y), buf);
        }
        if is_cut && area.height > 1 {
            let words = format!("… {} rows above, {below} below: PageUp, PageDown", self.top);
            Styled::of(SafeText::line(&words), ctx.style(Role::Warning)).draw(line(area.bottom() - 1), buf);
        }
    }

    fn rows(&self, width: u16) -> Vec<SafeText> {
        let row = |line: &str, bytes: std::ops::Range<usize>| {
            // The blank that a row was broken at is no part of it.
            let row = line.get(bytes).unwrap_or_default();
            SafeText::line(row.trim_end())
        };
        let lines = self.text.lines();
        let rows = lines.flat_map(|line| {
            let rows = wrap_line(line, usize::from(width.max(1)));
            rows.into_iter().map(move |found| row(line, found.bytes))
        });
        rows.collect()
    }
}
