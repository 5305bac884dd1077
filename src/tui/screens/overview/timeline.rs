//! The list of cards: selection, scrolling by rows, following the end. Only cards in sight are ever made.

use super::plan::Plan;
use crate::tui::action::Action;
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::widgets::Scrollbar;
use ratatui::layout::Rect;

/// Where one is in the list.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    len: usize,
    selected: usize,
    /// The first row in sight.
    top: usize,
    /// At the end, and staying there while it grows.
    pinned: bool,
    /// The selection moved or the size changed: it must come into sight.
    reveal: bool,
    /// Where it was drawn last, and how.
    area: Rect,
    plan: Option<Plan>,
}

/// What came of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    /// The view or the selection moved.
    Moved,
    /// The selected card is to be opened.
    Opened,
}

impl Timeline {
    /// Cards there are now, and the one that is selected. While pinned it is the last one.
    pub(super) fn set(&mut self, len: usize, selected: usize) {
        self.len = len;
        self.plan = None;
        let last = len.saturating_sub(1);
        let selected = if self.pinned { last } else { selected.min(last) };
        // Reading elsewhere goes on undisturbed while the list grows.
        self.reveal |= selected != self.selected || self.pinned;
        self.selected = selected;
    }

    /// The selected card; `None` when there is none.
    pub(super) fn selected(&self) -> Option<usize> {
        (self.selected < self.len).then_some(self.selected)
    }

    /// Selects a card, and follows the end when it is the last one.
    pub(super) fn select(&mut self, index: usize) {
        let last = self.len.saturating_sub(1);
        self.selected = index.min(last);
        self.pinned = self.len > 0 && self.selected == last;
        self.reveal = true;
    }

    /// Moves the selection; `false` for actions that do not.
    pub(super) fn act(&mut self, action: Action) -> bool {
        let page = self.page();
        let to = match action {
            Action::MoveUp => self.selected.saturating_sub(1),
            Action::MoveDown => self.selected.saturating_add(1),
            Action::PageUp => self.selected.saturating_sub(page),
            Action::PageDown => self.selected.saturating_add(page),
            Action::First => 0,
            Action::Last => usize::MAX,
            _ => return false,
        };
        self.select(to);
        true
    }

    /// Cards that fit into sight, one less for a line that stays.
    fn page(&self) -> usize {
        let height = self.plan.as_ref().map_or(1, |plan| plan.height(self.selected)).max(1);
        usize::from(self.area.height / height).saturating_sub(1).max(1)
    }

    /// The wheel scrolls, a press selects, a double one opens; the scrollbar can be dragged.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> Option<Touched> {
        if !mouse.is_in(self.area) {
            return None;
        }
        let bar = self.bar_area();
        match mouse.kind {
            MouseKind::Wheel(rows) => self.scroll(rows),
            MouseKind::Press | MouseKind::DoublePress | MouseKind::Drag if mouse.is_in(bar) => {
                let top = self.scrollbar()?.unit_at(mouse.at.y, bar);
                self.scroll_to(top);
            }
            MouseKind::Press | MouseKind::DoublePress => {
                let card = self.card_at(mouse.at.y)?;
                self.select(card);
                if mouse.kind == MouseKind::DoublePress {
                    return Some(Touched::Opened);
                }
            }
            MouseKind::Drag | MouseKind::Release => return None,
        }
        Some(Touched::Moved)
    }

    fn card_at(&self, y: u16) -> Option<usize> {
        let plan = self.plan.as_ref()?;
        let row = self.top + usize::from(y.saturating_sub(self.area.y));
        (row < plan.total()).then(|| plan.card_at(row))
    }

    fn scroll(&mut self, rows: i32) {
        let rows = isize::try_from(rows).unwrap_or(0);
        self.scroll_to(self.top.saturating_add_signed(rows));
    }

    fn scroll_to(&mut self, top: usize) {
        let before = self.top;
        self.top = top.min(self.last_top());
        if self.top < before {
            self.pinned = false;
        }
        self.reveal = false;
    }

    fn last_top(&self) -> usize {
        let total = self.plan.as_ref().map_or(0, Plan::total);
        total.saturating_sub(usize::from(self.area.height))
    }

    fn bar_area(&self) -> Rect {
        let width = self.area.width.min(1);
        Rect {
            x: self.area.right() - width,
            width,
            ..self.area
        }
    }

    /// How much of all rows is in sight; `None` before it was drawn.
    pub(super) fn scrollbar(&self) -> Option<Scrollbar> {
        Some(Scrollbar {
            start: self.top,
            visible: self.area.height.into(),
            total: self.plan.as_ref()?.total(),
        })
    }

    /// Takes its place on screen with a plan for it; returns the cards in sight, each with the row of the area where
    /// it begins (negative for one that begins above).
    pub(super) fn place(&mut self, area: Rect, plan: impl FnOnce() -> Plan) -> Vec<(usize, i32)> {
        if area != self.area || self.plan.is_none() {
            self.reveal |= area != self.area;
            self.area = area;
            self.plan = Some(plan());
        }
        let Some(plan) = &self.plan else { return Vec::new() };
        if std::mem::take(&mut self.reveal) {
            let start = plan.row_of(self.selected);
            let lowest = (start + usize::from(plan.height(self.selected))).saturating_sub(area.height.into());
            self.top = self.top.clamp(lowest.min(start), start.max(lowest.min(start)));
        }
        self.top = self.top.min(self.last_top());
        self.in_sight()
    }

    fn in_sight(&self) -> Vec<(usize, i32)> {
        let Some(plan) = self.plan.as_ref().filter(|_| self.len > 0 && self.area.height > 0) else {
            return Vec::new();
        };
        let first = plan.card_at(self.top);
        let mut row = i32::try_from(plan.row_of(first) as i128 - self.top as i128).unwrap_or(0);
        let mut cards = Vec::new();
        for card in first..self.len {
            if row >= i32::from(self.area.height) {
                break;
            }
            cards.push((card, row));
            row += i32::from(plan.height(card));
        }
        cards
    }

    /// How the cards are laid out; `None` before the list was drawn.
    pub(super) fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }
}
