//! A bordered area with a title; its border says whether it has the focus.

use super::{Pen, Styled};
use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Corners and lines: top left, top right, bottom left, bottom right, horizontal, vertical.
type Lines = [&'static str; 6];

const PLAIN: Lines = ["╭", "╮", "╰", "╯", "─", "│"];
const FOCUSED: Lines = ["┏", "┓", "┗", "┛", "━", "┃"];
const ASCII: Lines = ["+", "+", "+", "+", "-", "|"];
const ASCII_FOCUSED: Lines = ["#", "#", "#", "#", "=", "#"];

/// A border with a title, and room for words at its right end.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    title: Styled,
    aside: Styled,
    focused: bool,
}

impl Panel {
    /// A panel called `title`.
    pub fn new(title: SafeText, ctx: &Ctx<'_>) -> Self {
        Self::titled(Styled::of(title, ctx.style(Role::Title)))
    }

    /// A panel with a title of several styles; an empty one is no title.
    pub fn titled(title: Styled) -> Self {
        Self {
            title,
            ..Self::default()
        }
    }

    /// Words at the right end of the title's row: counts, a state.
    #[must_use]
    pub fn aside(mut self, aside: Styled) -> Self {
        self.aside = aside;
        self
    }

    /// It has the focus: other lines as well as another colour.
    #[must_use]
    pub fn focused(mut self, focused: bool) -> Self {
        self.focused = focused;
        self
    }

    /// Paints the border and returns the area inside. Below 3×3 there is no border, and all of it is inside.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        if area.width < 3 || area.height < 3 {
            return area;
        }
        let style = ctx.style(if self.focused { Role::Focus } else { Role::Border });
        let lines = match (ctx.options.ascii, self.focused) {
            (false, false) => PLAIN,
            (false, true) => FOCUSED,
            (true, false) => ASCII,
            (true, true) => ASCII_FOCUSED,
        };
        draw_border(area, buf, lines, style);
        self.draw_title(area, buf, style);
        Rect::new(area.x + 1, area.y + 1, area.width - 2, area.height - 2)
    }

    fn draw_title(&self, area: Rect, buf: &mut Buffer, style: Style) {
        let mut room = Rect::new(area.x + 2, area.y, area.width.saturating_sub(4), 1);
        let both = self.title.width() + self.aside.width() + 5;
        if self.aside.width() > 0 && both <= usize::from(room.width) {
            let aside = padded(&self.aside, style);
            room.width -= aside.draw_right(room, buf) + 1;
        }
        if self.title.width() > 0 && room.width > 2 {
            padded(&self.title, style).draw(room, buf);
        }
    }
}

fn padded(line: &Styled, style: Style) -> Styled {
    let mut out = Styled::words(" ", style);
    out.append(line.clone());
    out.then(SafeText::literal(" "), style)
}

fn draw_border(area: Rect, buf: &mut Buffer, lines: Lines, style: Style) {
    let [top_left, top_right, bottom_left, bottom_right, across, down] = lines;
    for (y, left, right) in [
        (area.y, top_left, top_right),
        (area.bottom() - 1, bottom_left, bottom_right),
    ] {
        let mut pen = Pen::new(buf, Rect { y, height: 1, ..area });
        pen.write(left, style);
        for _ in 2..area.width {
            pen.write(across, style);
        }
        pen.write(right, style);
    }
    for y in area.y + 1..area.bottom() - 1 {
        for x in [area.x, area.right() - 1] {
            Pen::new(buf, Rect::new(x, y, 1, 1)).write(down, style);
        }
    }
}
