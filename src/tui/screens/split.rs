//! Where a list and the detail of its selected row go: side by side, or one above the other where it is narrow.

use ratatui::layout::Rect;

use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Styled};
use ratatui::buffer::Buffer;

/// Columns from which both fit side by side.
const WIDE: u16 = 72;
/// Rows from which both get borders when one is above the other.
const TALL: u16 = 18;

/// Two areas for panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// Of the list.
    pub(super) list: Rect,
    /// Of the detail.
    pub(super) detail: Rect,
    bordered: bool,
}

impl Split {
    /// Divides `area`; the list takes `share` percent of what is divided.
    pub(super) fn of(area: Rect, share: u16) -> Self {
        let part = |whole: u16| u16::try_from(u32::from(whole) * u32::from(share) / 100).unwrap_or(whole);
        if area.width >= WIDE {
            let width = part(area.width).clamp(28, 52);
            return Self {
                list: Rect { width, ..area },
                detail: Rect {
                    x: area.x + width,
                    width: area.width - width,
                    ..area
                },
                bordered: area.height >= 5,
            };
        }
        let height = part(area.height).max(4).min(area.height);
        Self {
            list: Rect { height, ..area },
            detail: Rect {
                y: area.y + height,
                height: area.height - height,
                ..area
            },
            bordered: area.height >= TALL,
        }
    }

    /// The list in the first `width` columns, the detail in the rest.
    pub(super) fn beside(area: Rect, width: u16) -> Self {
        let width = width.min(area.width);
        Self {
            list: Rect { width, ..area },
            detail: Rect {
                x: area.x + width,
                width: area.width - width,
                ..area
            },
            bordered: area.height >= TALL,
        }
    }

    /// The detail below the list, `rows` high inside its frame.
    pub(super) fn above(area: Rect, rows: u16) -> Self {
        let bordered = area.height >= TALL;
        let height = (rows + if bordered { 2 } else { 1 }).min(area.height / 2);
        Self {
            list: Rect {
                height: area.height - height,
                ..area
            },
            detail: Rect {
                y: area.bottom() - height,
                height,
                ..area
            },
            bordered,
        }
    }

    /// Paints a frame around a pane, or its title alone where rows are dear; returns the area inside.
    pub(super) fn frame(&self, pane: Rect, title: Title, focused: bool, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        if self.bordered {
            let panel = Panel::new(title.text, ctx).aside(title.aside).focused(focused);
            return panel.draw(pane, buf, ctx);
        }
        let row = Rect {
            height: pane.height.min(1),
            ..pane
        };
        let role = if focused { Role::Focus } else { Role::Title };
        let mark = if focused { "▌" } else { " " };
        let mark = if ctx.options.ascii && focused { "|" } else { mark };
        let line = Styled::words(mark, ctx.style(Role::Focus)).then(title.text, ctx.style(role));
        let room = row.width.saturating_sub(line.draw(row, buf));
        if title.aside.width() + 2 <= usize::from(room) {
            title.aside.draw_right(row, buf);
        }
        Rect {
            y: pane.y + row.height,
            height: pane.height - row.height,
            ..pane
        }
    }
}

/// An area without its first column, so that text does not touch the border.
pub(super) fn indented(area: Rect) -> Rect {
    let by = u16::from(area.width > 2);
    Rect {
        x: area.x + by,
        width: area.width - by,
        ..area
    }
}

/// What stands above a pane.
#[derive(Clone, Debug, Default)]
pub(super) struct Title {
    /// Its name.
    pub(super) text: SafeText,
    /// Words at the right end.
    pub(super) aside: Styled,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_panes_share_the_area(width in 0u16..200, height in 0u16..60, share in 0u16..=100) {
            let area = Rect::new(3, 2, width, height);
            let split = Split::of(area, share);
            prop_assert_eq!(split.list.area() + split.detail.area(), area.area());
            prop_assert_eq!(split.list.union(split.detail), area);
            let above = Split::above(area, share);
            prop_assert_eq!(above.list.area() + above.detail.area(), area.area());
        }
    }
}
