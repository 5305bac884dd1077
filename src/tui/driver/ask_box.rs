//! The box under the screens: where it is shown, who has the keys, how it is drawn. What is said in it is `driving`'s.

use super::State;
use crate::tui::action::{Action, Context};
use crate::tui::compositor::Wanted;
use crate::tui::input::Input;
use crate::tui::live::Drive;
use crate::tui::screens::Route;
use crate::tui::theme::Role;
use crate::tui::widgets::clear;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

impl State {
    /// The box gets its first input when its screen is there.
    pub(super) fn open_box(&mut self) -> Vec<Wanted> {
        self.tell_box(&Input::Opened)
    }

    /// The box of the screen on which it is shown.
    pub(super) fn shown_box(&self) -> Option<&Drive> {
        let shown = matches!(self.stack.base_route(), Some(Route::Overview | Route::Run { .. }));
        self.drives.current().filter(|_| shown)
    }

    /// The box has a place on the screen.
    pub(super) fn box_is_shown(&self) -> bool {
        self.shown_box().is_some()
    }

    /// Keys type into the box: it has the focus, and nothing lies over it.
    pub(super) fn box_types(&self) -> bool {
        !self.top_is_popup() && self.search.is_none() && self.shown_box().is_some_and(|drive| drive.prompt.is_focused())
    }

    /// Gives the box an input that is not only its own: the model changed, a moment has come.
    pub(super) fn tell_box(&mut self, input: &Input<'_>) -> Vec<Wanted> {
        self.offer_box(input).1
    }

    /// Gives the box an input; whether it took it.
    pub(super) fn offer_box(&mut self, input: &Input<'_>) -> (bool, Vec<Wanted>) {
        let ctx = self.world.ctx();
        let Some(drive) = self.drives.current_mut() else {
            return (false, Vec::new());
        };
        let reaction = drive.prompt.update(input, &ctx);
        let taken = reaction.outcome.consumed;
        (taken, self.react(reaction))
    }

    /// Rows of the box under the screen.
    pub(super) fn box_rows(&mut self, body: Rect) -> u16 {
        if !self.box_is_shown() {
            return 0;
        }
        let ctx = self.world.ctx();
        let drive = self.drives.current_mut();
        drive.map_or(0, |drive| {
            drive.prompt.height(body.width, body.height, &ctx).min(body.height)
        })
    }

    /// Paints the box at the bottom of the body.
    pub(super) fn draw_box(&mut self, body: Rect, rows: u16, buf: &mut Buffer) {
        let ctx = self.world.ctx();
        let area = Rect {
            y: body.bottom() - rows,
            height: rows,
            ..body
        };
        clear(area, buf, ctx.style(Role::Text));
        if let Some(drive) = self.drives.current_mut() {
            drive.prompt.draw(area, body, buf, &ctx);
        }
    }

    /// What the footer says while the box has the focus.
    pub(super) fn box_hints(&self) -> Option<Vec<Action>> {
        let drive = self.shown_box().filter(|_| self.box_types())?;
        Some(drive.prompt.hints(&self.world.ctx()))
    }

    /// The cell of the box's caret, while it has the focus.
    pub(super) fn box_cursor(&self) -> Option<ratatui::layout::Position> {
        self.shown_box().filter(|_| self.box_types())?.prompt.cursor()
    }

    /// The context of the box, while keys type into it.
    pub(super) fn box_context(&self) -> Option<Context> {
        self.box_types().then_some(Context::Box)
    }
}
