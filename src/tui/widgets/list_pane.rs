//! A list with a selection: any length, only the visible items are made.

use super::{Pen, Scrollbar, Styled};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Scroll position and selection of a list. The items stay with the screen: it gives their number, and makes the
/// visible ones when they are drawn.
#[derive(Clone, Debug, Default)]
pub struct ListPane {
    len: usize,
    selected: usize,
    top: usize,
    /// Where it was drawn last, for the mouse and for page keys.
    area: Rect,
    /// The selection moved or the size changed: it must become visible.
    reveal: bool,
}

impl ListPane {
    /// A list of `len` items.
    pub fn new(len: usize) -> Self {
        let mut list = Self::default();
        list.set_len(len);
        list
    }

    /// Says how many items there are now; the selection stays where it is, or goes to the last one.
    pub fn set_len(&mut self, len: usize) {
        self.len = len;
        self.selected = self.selected.min(len.saturating_sub(1));
        self.reveal = true;
    }

    /// Items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The selected item; `None` in an empty list.
    pub fn selected(&self) -> Option<usize> {
        (self.len > 0).then_some(self.selected)
    }

    /// Selects an item, or the nearest there is, and makes it visible.
    pub fn select(&mut self, index: usize) {
        self.selected = index.min(self.len.saturating_sub(1));
        self.reveal = true;
    }

    /// The first item in sight.
    pub fn top(&self) -> usize {
        self.top
    }

    fn page(&self) -> usize {
        usize::from(self.area.height.max(1))
    }

    /// Moves the selection; `false` for actions that do not.
    pub fn act(&mut self, action: Action) -> bool {
        use Action as A;
        let to = match action {
            A::MoveUp | A::SelectPrevious | A::EntryPrevious => self.selected.saturating_sub(1),
            A::MoveDown | A::SelectNext | A::EntryNext => self.selected.saturating_add(1),
            A::PageUp => self.selected.saturating_sub(self.page().saturating_sub(1).max(1)),
            A::PageDown => self.selected.saturating_add(self.page().saturating_sub(1).max(1)),
            A::First => 0,
            A::Last => usize::MAX,
            _ => return false,
        };
        self.select(to);
        true
    }

    /// What the mouse did to it: a press selects and says so, the wheel scrolls without selecting.
    pub fn mouse(&mut self, mouse: Mouse) -> Option<ListEvent> {
        if !mouse.is_in(self.area) {
            return None;
        }
        match mouse.kind {
            MouseKind::Wheel(rows) => {
                self.top = self.top.saturating_add_signed(rows as isize).min(self.last_top());
                Some(ListEvent::Scrolled)
            }
            MouseKind::Press | MouseKind::DoublePress => {
                let index = self.top + usize::from(mouse.at.y - self.area.y);
                (index < self.len).then(|| {
                    self.select(index);
                    match mouse.kind {
                        MouseKind::DoublePress => ListEvent::Opened(index),
                        _ => ListEvent::Selected(index),
                    }
                })
            }
            MouseKind::Drag | MouseKind::Release => None,
        }
    }

    fn last_top(&self) -> usize {
        self.len.saturating_sub(self.page())
    }

    /// Paints the visible items, one a row; `item` makes the one with an index for a width.
    pub fn draw(
        &mut self,
        area: Rect,
        buf: &mut Buffer,
        ctx: &Ctx<'_>,
        focused: bool,
        mut item: impl FnMut(usize, usize) -> Styled,
    ) {
        self.place(area);
        let bar = Scrollbar {
            start: self.top,
            visible: self.page(),
            total: self.len,
        };
        let room = Rect {
            width: area.width.saturating_sub(u16::from(!bar.is_idle() && area.width > 1)),
            ..area
        };
        for (index, y) in (self.top..self.len).zip(area.top()..area.bottom()) {
            let row = Rect { y, height: 1, ..room };
            item(index, usize::from(row.width)).draw(row, buf);
            if index == self.selected {
                highlight(row, buf, ctx, focused);
            }
        }
        if room.width < area.width {
            bar.draw(
                Rect {
                    x: room.right(),
                    width: 1,
                    ..area
                },
                buf,
                ctx,
            );
        }
    }

    fn place(&mut self, area: Rect) {
        self.reveal |= area.height != self.area.height;
        self.area = area;
        if std::mem::take(&mut self.reveal) {
            let lowest = (self.selected + 1).saturating_sub(self.page());
            self.top = self.top.clamp(lowest, self.selected.max(lowest));
        }
        self.top = self.top.min(self.last_top());
    }
}

/// What the mouse did to a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListEvent {
    /// The view moved.
    Scrolled,
    /// An item was selected.
    Selected(usize),
    /// An item is to be opened.
    Opened(usize),
}

/// The selected row: its ground across the whole width; without the focus it is only bold.
fn highlight(row: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, focused: bool) {
    let selection = ctx.style(Role::Selection);
    let style = if focused {
        selection
    } else {
        ratatui::style::Style { fg: None, ..selection }
    };
    Pen::new(buf, row).fill(style);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::World;
    use proptest::prelude::*;
    use ratatui::layout::Position;

    fn draw(list: &mut ListPane, height: u16) -> Vec<usize> {
        let world = World::new();
        let area = Rect::new(0, 0, 10, height);
        let mut seen = Vec::new();
        list.draw(area, &mut Buffer::empty(area), &world.ctx(), true, |index, _| {
            seen.push(index);
            Styled::new()
        });
        seen
    }

    #[test]
    fn only_visible_items_are_made_and_the_selection_is_among_them() {
        let mut list = ListPane::new(1_000_000);
        assert!(list.act(Action::Last));
        assert_eq!(draw(&mut list, 3), [999_997, 999_998, 999_999]);
        list.select(500);
        assert!(draw(&mut list, 3).contains(&500));
    }

    #[test]
    fn a_smaller_window_keeps_the_selection_in_sight() {
        let mut list = ListPane::new(100);
        draw(&mut list, 20);
        list.select(19);
        assert!(draw(&mut list, 20).contains(&19));
        assert!(draw(&mut list, 4).contains(&19));
    }

    #[test]
    fn the_wheel_scrolls_without_selecting_and_a_press_selects() {
        let mut list = ListPane::new(100);
        draw(&mut list, 5);
        let mouse = |kind, y| Mouse {
            kind,
            at: Position { x: 2, y },
        };
        assert_eq!(list.mouse(mouse(MouseKind::Wheel(3), 0)), Some(ListEvent::Scrolled));
        assert_eq!((list.selected(), draw(&mut list, 5)), (Some(0), vec![3, 4, 5, 6, 7]));
        assert_eq!(list.mouse(mouse(MouseKind::Press, 2)), Some(ListEvent::Selected(5)));
        assert_eq!(list.mouse(mouse(MouseKind::DoublePress, 2)), Some(ListEvent::Opened(5)));
        assert_eq!(list.mouse(mouse(MouseKind::Press, 7)), None);
    }

    proptest! {
        #[test]
        fn any_size_and_length_draws(len in 0usize..30, selected in 0usize..40, width in 0u16..30, height in 0u16..12) {
            let world = World::new();
            let mut list = ListPane::new(len);
            list.select(selected);
            let area = Rect::new(0, 0, width, height);
            list.draw(area, &mut Buffer::empty(area), &world.ctx(), false, |_, _| Styled::new());
            prop_assert!(list.selected().is_none_or(|selected| selected < len));
        }
    }
}
