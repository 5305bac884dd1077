//! The question before leaving while a run goes on.

use super::{Screen, here};
use crate::text::{SafeText, plural};
use crate::tui::action::{Action, Here};
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome};
use crate::tui::input::{Input, MouseKind};
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Styled, popup_area, popup_width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Cells of the dialog.
const WIDTH: u16 = 70;
/// What leaving loses, and what not.
const KEPT: &str = "Finished steps are kept; a question stays open, to be answered.";

/// The dialog. It goes by itself when the last run has ended.
#[derive(Debug, Default)]
pub(super) struct Leaving;

impl Screen for Leaving {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Action(Action::Open) => Outcome::with(Effect::Quit),
            Input::Action(Action::Back | Action::Quit | Action::Interrupt) => Outcome::with(Effect::Pop),
            Input::Action(Action::Suspend) => Outcome::ignored(),
            Input::ModelChanged | Input::Frame if ctx.running.is_empty() => Outcome::with(Effect::Pop),
            Input::Action(_) => Outcome::consumed(),
            Input::Mouse(mouse) => Outcome::taken(!matches!(mouse.kind, MouseKind::Wheel(_))),
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let wide = usize::from(popup_width(area, WIDTH).saturating_sub(2));
        let kept = Styled::wrapped(KEPT, 1, wide, ctx.style(Role::Dim));
        let height = u16::try_from(kept.len()).unwrap_or(1).saturating_add(5);
        let place = popup_area(area, WIDTH, height, buf, ctx);
        let inner = Panel::new(SafeText::literal("a run goes on"), ctx)
            .focused(true)
            .draw(place, buf, ctx);
        let text = ctx.style(Role::Text);
        let runs = plural(ctx.running.len() as u128, "run", "runs");
        let key = |action: Action, words: &'static str| {
            Styled::of(SafeText::line(&format!(" {} ", ctx.key(action))), ctx.style(Role::Key))
                .then(SafeText::literal(words), text)
        };
        let head = Styled::of(SafeText::line(&format!(" Leave, and cancel {runs}?")), text);
        let keys = [key(Action::Open, "cancels and leaves"), key(Action::Back, "stays here")];
        let rows = std::iter::once(head).chain(kept).chain(keys);
        for (row, y) in rows.zip(inner.y..inner.bottom()) {
            row.draw(Rect { y, height: 1, ..inner }, buf);
        }
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::default()
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        vec![Action::Open, Action::Back]
    }

    fn here(&self) -> Here {
        here::LEAVING
    }

    fn is_popup(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{World, text_of};

    #[test]
    fn enter_leaves_and_escape_stays() {
        let world = World::new();
        let act = |action| Leaving.update(&Input::Action(action), &world.ctx()).effects;
        assert!(matches!(act(Action::Open).as_slice(), [Effect::Quit]));
        assert!(matches!(act(Action::Back).as_slice(), [Effect::Pop]));
        let mut buf = Buffer::empty(Rect::new(0, 0, 80, 24));
        Leaving.draw(buf.area, &mut buf, &world.ctx());
        assert!(text_of(&buf).contains("cancels and leaves"));
        assert_eq!(Leaving.here().hint(Action::Open), "cancel and leave");
        assert_eq!(Leaving.here().hint(Action::Back), "stay");
    }

    #[test]
    fn no_word_of_it_is_lost_at_any_width() {
        let world = World::new();
        for width in 40..=120 {
            let mut buf = Buffer::empty(Rect::new(0, 0, width, 24));
            Leaving.draw(buf.area, &mut buf, &world.ctx());
            let text = text_of(&buf);
            let words: Vec<&str> = text.split([' ', '\n', '┃', '│']).collect();
            for word in KEPT.split(' ').chain(["stays", "here", "cancels", "leaves"]) {
                assert!(words.contains(&word), "{word} at {width}\n{text}");
            }
        }
    }
}
