//! The part of the time axis that is on screen: zooming and panning, in milliseconds from the axis' start.

use std::ops::Range;

/// Nothing is told apart below this.
const LEAST_SPAN: u64 = 20;

/// What is visible of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Viewport {
    total: u64,
    start: u64,
    span: u64,
}

impl Viewport {
    /// All of an axis.
    pub(super) fn new(total: u64) -> Self {
        let total = total.max(1);
        Self {
            total,
            start: 0,
            span: total,
        }
    }

    /// The axis has grown or changed: a view of everything stays one, another keeps its place.
    pub(super) fn set_total(&mut self, total: u64) {
        let whole = self.is_whole();
        self.total = total.max(1);
        if whole {
            (self.start, self.span) = (0, self.total);
        }
        self.clamp();
    }

    /// Everything is visible.
    pub(super) fn is_whole(&self) -> bool {
        self.span >= self.total
    }

    pub(super) fn range(&self) -> Range<u64> {
        self.start..self.start + self.span
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Halves what is visible, around a moment; the moment keeps its place on the screen.
    pub(super) fn zoom_in(&mut self, around: u64) {
        self.zoom(around, (self.span / 2).max(LEAST_SPAN.min(self.total)));
    }

    /// Doubles what is visible.
    pub(super) fn zoom_out(&mut self, around: u64) {
        self.zoom(around, self.span.saturating_mul(2).min(self.total));
    }

    pub(super) fn reset(&mut self) {
        *self = Self::new(self.total);
    }

    fn zoom(&mut self, around: u64, span: u64) {
        let inside = around.clamp(self.start, self.start + self.span) - self.start;
        let left = u128::from(inside) * u128::from(span) / u128::from(self.span.max(1));
        let anchor = self.start + inside;
        self.span = span;
        self.start = anchor.saturating_sub(u64::try_from(left).unwrap_or(u64::MAX));
        self.clamp();
    }

    /// Moves by a quarter of what is visible; `false` when it is at the end already.
    pub(super) fn pan(&mut self, right: bool) -> bool {
        let before = self.start;
        let step = (self.span / 4).max(1);
        self.start = if right {
            self.start.saturating_add(step)
        } else {
            self.start.saturating_sub(step)
        };
        self.clamp();
        self.start != before
    }

    /// Moves just as far as needed to show a range, or its start where it is too long.
    pub(super) fn show(&mut self, range: Range<u64>) {
        if range.end <= self.start || range.start >= self.start + self.span {
            self.start = range.start.saturating_sub(self.span / 8);
            self.clamp();
        }
    }

    fn clamp(&mut self) {
        self.span = self.span.clamp(LEAST_SPAN.min(self.total), self.total);
        self.start = self.start.min(self.total - self.span);
    }

    /// The moments that a cell of a row of `width` cells stands for; never empty.
    pub(super) fn cell(&self, cell: u16, width: u16) -> Range<u64> {
        let at = |cell: u64| {
            let offset = u128::from(self.span) * u128::from(cell) / u128::from(width.max(1));
            self.start + u64::try_from(offset).unwrap_or(u64::MAX)
        };
        let start = at(u64::from(cell));
        start..at(u64::from(cell) + 1).max(start + 1)
    }

    /// The cell of a moment in a row of `width` cells; `None` outside of it.
    pub(super) fn cell_of(&self, moment: u64, width: u16) -> Option<u16> {
        let inside = moment.checked_sub(self.start).filter(|inside| *inside < self.span)?;
        let cell = u128::from(inside) * u128::from(width) / u128::from(self.span.max(1));
        u16::try_from(cell).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn zooming_keeps_the_moment_in_its_place() {
        let mut view = Viewport::new(1_000);
        let before = view.cell_of(250, 100);
        view.zoom_in(250);
        assert_eq!(view.range(), 125..625);
        assert_eq!(view.cell_of(250, 100), before);
        view.zoom_out(250);
        assert!(view.is_whole());
    }

    #[test]
    fn panning_stops_at_the_ends() {
        let mut view = Viewport::new(1_000);
        assert!(!view.pan(true));
        view.zoom_in(0);
        assert!(view.pan(true));
        while view.pan(true) {}
        assert_eq!(view.range(), 500..1_000);
    }

    #[test]
    fn showing_moves_only_when_it_must() {
        let mut view = Viewport::new(1_000);
        view.zoom_in(0);
        view.show(100..900);
        assert_eq!(view.range(), 0..500);
        view.show(800..900);
        assert!(view.range().contains(&800));
    }

    #[test]
    fn a_view_of_everything_grows_with_the_axis() {
        let mut view = Viewport::new(100);
        view.set_total(500);
        assert_eq!(view.range(), 0..500);
        view.zoom_in(0);
        view.set_total(900);
        assert_eq!(view.range(), 0..250);
    }

    proptest! {
        #[test]
        fn the_view_stays_on_the_axis(total: u64, steps in prop::collection::vec((0u8..5, any::<u64>()), 0..20), width in 0u16..200) {
            let mut view = Viewport::new(total / 4);
            for (step, moment) in steps {
                match step {
                    0 => view.zoom_in(moment),
                    1 => view.zoom_out(moment),
                    2 => view.show(moment / 2..moment / 2 + 5),
                    3 => view.set_total(moment / 4),
                    _ => { view.pan(moment % 2 == 0); }
                }
                let range = view.range();
                prop_assert!(range.end <= view.total() && !range.is_empty());
                for cell in 0..width {
                    prop_assert!(!view.cell(cell, width).is_empty());
                }
            }
        }
    }
}
