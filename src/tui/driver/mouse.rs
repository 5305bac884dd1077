//! The mouse: what a terminal reports, as presses, drags and wheel steps for the layer under it.

use super::State;
use crate::tui::compositor::Wanted;
use crate::tui::input::{Input, Mouse, MouseKind};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;
use std::time::Duration;

/// Two presses on one cell within this time open what is there.
const DOUBLE: Duration = Duration::from_millis(400);

/// Rows that one notch of the wheel scrolls.
const NOTCH: i32 = 3;

/// The last press, to tell double ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Presses {
    last: Option<(Position, Duration)>,
}

impl Presses {
    fn press(&mut self, at: Position, now: Duration) -> MouseKind {
        let double = self
            .last
            .is_some_and(|(place, when)| place == at && now < when + DOUBLE);
        // A third press begins anew.
        self.last = (!double).then_some((at, now));
        if double {
            MouseKind::DoublePress
        } else {
            MouseKind::Press
        }
    }
}

impl State {
    pub(super) fn mouse(&mut self, event: MouseEvent) -> Vec<Wanted> {
        let at = Position {
            x: event.column,
            y: event.row,
        };
        let kind = match event.kind {
            MouseEventKind::Down(MouseButton::Left) => self.presses.press(at, self.world.now),
            MouseEventKind::Drag(MouseButton::Left) => MouseKind::Drag,
            MouseEventKind::Up(MouseButton::Left) => MouseKind::Release,
            MouseEventKind::ScrollDown => MouseKind::Wheel(NOTCH),
            MouseEventKind::ScrollUp => MouseKind::Wheel(-NOTCH),
            _ => return Vec::new(),
        };
        let mouse = Mouse { kind, at };
        if !self.top_is_popup() && self.box_is_shown() {
            let (taken, wanted) = self.offer_box(&Input::Mouse(mouse));
            if taken {
                return wanted;
            }
        }
        let (taken, wanted) = self.stack.offer(&self.world.ctx(), |_| Some(Input::Mouse(mouse)));
        if taken {
            self.frames.dirty();
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_quick_presses_on_one_cell_are_a_double_one() {
        let mut presses = Presses::default();
        let (here, there) = (Position::new(1, 1), Position::new(2, 1));
        let mut press = |at, ms| presses.press(at, Duration::from_millis(ms));
        assert_eq!(press(here, 0), MouseKind::Press);
        assert_eq!(press(here, 300), MouseKind::DoublePress);
        assert_eq!(press(here, 500), MouseKind::Press);
        assert_eq!(press(there, 600), MouseKind::Press);
        assert_eq!(press(there, 1500), MouseKind::Press);
    }
}
