//! How the width is shared: names, lanes, figures; figures go where it is narrow.

/// Cells of the columns; 0 for one that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) label: usize,
    pub(super) lane: usize,
    pub(super) steps: usize,
    pub(super) duration: usize,
}

/// `12,345`
const STEPS: usize = 7;
/// `12m 07s`
const DURATION: usize = 9;

impl Columns {
    /// For rows of `width` cells, the scrollbar's column not counted.
    pub(super) fn of(width: usize) -> Self {
        let steps = if width >= 64 { STEPS } else { 0 };
        let duration = if width >= 34 { DURATION } else { 0 };
        let label = (width * 3 / 10).clamp(8, 36).min(width / 2);
        // A cell of air between the name and the lane.
        let lane = width.saturating_sub(1 + label + 1 + steps + duration);
        Self {
            label,
            lane,
            steps,
            duration,
        }
    }

    /// Cells before the lane.
    pub(super) fn lane_start(&self) -> usize {
        1 + self.label + 1
    }

    /// The lane's cells, as screens count them.
    pub(super) fn lane_width(&self) -> u16 {
        u16::try_from(self.lane).unwrap_or(u16::MAX)
    }
}
