//! Where a popup goes, and the ground it stands on.

use super::clear;
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Takes the middle of `area`, at most `width`×`height` and with a margin where there is room; clears it and returns
/// it. Draw a [`Panel`](super::Panel) into it.
pub fn popup_area(area: Rect, width: u16, height: u16, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
    let width = popup_width(area, width);
    let height = height.min(if area.height > 14 { area.height - 2 } else { area.height });
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    clear(place, buf, ctx.style(Role::Text));
    place
}

/// The width that a popup gets in `area`, of the one it would like: what is wrapped for it must know.
pub fn popup_width(area: Rect, width: u16) -> u16 {
    // On a narrow screen words need the cells more than the popup its margin.
    width.min(if area.width > 48 { area.width - 4 } else { area.width })
}
