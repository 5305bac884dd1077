//! A vertical scrollbar: where one is, and how much there is.

use super::Pen;
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What part of the whole is visible. Units are the caller's (rows, bytes); 64 bits of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrollbar {
    /// The first visible unit.
    pub start: usize,
    /// Visible units.
    pub visible: usize,
    /// All units.
    pub total: usize,
}

impl Scrollbar {
    /// Everything is visible: there is nothing to draw.
    pub fn is_idle(&self) -> bool {
        self.visible >= self.total
    }

    /// First cell and length of the thumb on a track of `track` cells.
    fn thumb(&self, track: u16) -> (u16, u16) {
        let scale = |units: usize| {
            let cells = units as u128 * u128::from(track) / (self.total.max(1) as u128);
            u16::try_from(cells).unwrap_or(track)
        };
        let len = scale(self.visible).clamp(1, track.max(1));
        let reach = track.saturating_sub(len);
        let hidden = self.total.saturating_sub(self.visible).max(1);
        let start = self.start.min(hidden) as u128 * u128::from(reach) / hidden as u128;
        (u16::try_from(start).unwrap_or(reach), len)
    }

    /// The unit that a press on row `y` of `track` asks for.
    pub fn unit_at(&self, y: u16, track: Rect) -> usize {
        let row = u128::from(y.saturating_sub(track.y));
        let reach = u128::from(track.height.saturating_sub(1).max(1));
        let hidden = self.total.saturating_sub(self.visible) as u128;
        usize::try_from(hidden * row.min(reach) / reach).unwrap_or(usize::MAX)
    }

    /// Paints it into the first column of `area`; nothing when everything is visible.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        if self.is_idle() || area.width == 0 {
            return;
        }
        let (start, len) = self.thumb(area.height);
        let (track, thumb) = if ctx.options.ascii { ("|", "#") } else { ("│", "┃") };
        for row in 0..area.height {
            let on = (start..start + len).contains(&row);
            let (symbol, role) = if on { (thumb, Role::Thumb) } else { (track, Role::Track) };
            let cell = Rect {
                y: area.y + row,
                width: 1,
                height: 1,
                ..area
            };
            Pen::new(buf, cell).write(symbol, ctx.style(role));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_thumb_stays_on_its_track(start: usize, visible: usize, total: usize, track: u16) {
            let (first, len) = Scrollbar { start, visible, total }.thumb(track);
            prop_assert!(len >= 1 || track == 0);
            prop_assert!(track == 0 || u32::from(first) + u32::from(len) <= u32::from(track));
        }

        #[test]
        fn the_ends_of_the_track_are_the_ends_of_the_text(visible in 1usize..50, total in 50usize..1_000_000) {
            let bar = Scrollbar { start: 0, visible, total };
            let track = Rect::new(0, 3, 1, 20);
            prop_assert_eq!(bar.unit_at(3, track), 0);
            prop_assert_eq!(bar.unit_at(22, track), total - visible);
        }
    }
}
