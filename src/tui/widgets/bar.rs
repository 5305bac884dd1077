//! A horizontal bar for a share of something, fine to an eighth of a cell.

use super::Pen;
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// How much of the bar is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// `part` of `whole`.
    Of {
        /// The part.
        part: u64,
        /// The whole.
        whole: u64,
    },
    /// Not known: a pattern.
    Unknown,
}

/// A bar in one colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// How much of it is filled.
    pub share: Share,
    /// Its colour.
    pub role: Role,
}

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

impl Bar {
    /// Filled eighths of a cell on `width` cells: all of them at most, a whole cell at least when there is anything.
    fn eighths(part: u64, whole: u64, width: u16) -> usize {
        let all = u128::from(width) * 8;
        let filled = (u128::from(part.min(whole)) * all)
            .checked_div(u128::from(whole))
            .unwrap_or(0);
        let least = if part > 0 { 8.min(all) } else { 0 };
        usize::try_from(filled.max(least)).unwrap_or(0)
    }

    /// Paints it into the first row of `area`.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut pen = Pen::new(
            buf,
            Rect {
                height: area.height.min(1),
                ..area
            },
        );
        let (full, pattern) = if ctx.options.ascii { ("#", "?") } else { ("█", "░") };
        match self.share {
            Share::Unknown => {
                let style = ctx.style(Role::Unknown);
                while pen.room() > 0 && pen.write(pattern, style) {}
            }
            Share::Of { part, whole } => {
                let style = ctx.style(self.role);
                let eighths = Self::eighths(part, whole, area.width);
                for _ in 0..eighths / 8 {
                    pen.write(full, style);
                }
                let rest = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
                if !ctx.options.ascii {
                    pen.write(rest, style);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn something_is_at_least_a_cell_and_nothing_is_none() {
        assert_eq!(Bar::eighths(1, 1_000_000_000, 20), 8);
        assert_eq!(Bar::eighths(0, 10, 20), 0);
        assert_eq!(Bar::eighths(0, 0, 20), 0);
        assert_eq!(Bar::eighths(5, 10, 3), 12);
    }

    proptest! {
        #[test]
        fn a_bar_never_leaves_its_cells(part: u64, whole: u64, width in 0u16..300) {
            prop_assert!(Bar::eighths(part, whole, width) <= usize::from(width) * 8);
        }
    }
}
