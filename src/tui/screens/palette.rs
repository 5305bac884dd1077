//! The command palette: actions by name, for those whose key one does not know.

use super::Screen;
use crate::text::SafeText;
use crate::tui::action::{ACTIONS, Action, Context, Entry};
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome};
use crate::tui::input::Input;
use crate::tui::theme::Role;
use crate::tui::widgets::{LineEdit, ListEvent, ListPane, Panel, Styled, popup_area};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Movement is for keys: it would only be in the way here.
const LEFT_OUT: [Action; 10] = [
    Action::MoveUp,
    Action::MoveDown,
    Action::MoveLeft,
    Action::MoveRight,
    Action::PageUp,
    Action::PageDown,
    Action::Open,
    Action::Back,
    Action::Palette,
    Action::Interrupt,
];

/// The palette.
#[derive(Debug, Default)]
pub(super) struct Palette {
    edit: LineEdit,
    list: ListPane,
    found: Vec<&'static Entry>,
    cursor: Option<Position>,
}

impl Palette {
    /// A palette of what can be done now.
    pub(super) fn new(ctx: &Ctx<'_>) -> Self {
        let mut palette = Self::default();
        palette.refresh(ctx);
        palette
    }

    fn refresh(&mut self, ctx: &Ctx<'_>) {
        self.found = ranked(self.edit.text(), ctx);
        self.list.set_len(self.found.len());
        self.list.select(0);
    }

    fn accept(&self, index: Option<usize>) -> Outcome {
        let chosen = index.and_then(|index| self.found.get(index));
        let outcome = Outcome::with(Effect::Pop);
        match chosen {
            Some(entry) => outcome.and(Effect::Act(entry.action)),
            None => outcome,
        }
    }

    fn act(&mut self, action: Action) -> Outcome {
        match action {
            Action::Accept => self.accept(self.list.selected()),
            Action::Cancel | Action::Interrupt | Action::Palette => Outcome::with(Effect::Pop),
            Action::Suspend => Outcome::ignored(),
            action => {
                self.list.act(action);
                Outcome::consumed()
            }
        }
    }
}

impl Screen for Palette {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Action(action) => return self.act(*action),
            Input::Key(key) if self.edit.key(*key) => self.refresh(ctx),
            Input::Paste(text) => {
                self.edit.insert(text);
                self.refresh(ctx);
            }
            Input::Mouse(mouse) => match self.list.mouse(*mouse) {
                Some(ListEvent::Selected(index) | ListEvent::Opened(index)) => return self.accept(Some(index)),
                Some(ListEvent::Scrolled) => {}
                None => return Outcome::ignored(),
            },
            Input::Key(_) => {}
            _ => return Outcome::ignored(),
        }
        Outcome::consumed()
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let place = popup_area(area, 76, 18, buf, ctx);
        let title = SafeText::literal("What do you want to do?");
        let inside = Panel::new(title, ctx).focused(true).draw(place, buf, ctx);
        let line = Rect {
            height: inside.height.min(1),
            ..inside
        };
        self.cursor = self
            .edit
            .draw_after(&Styled::words("› ", ctx.style(Role::Key)), line, buf, ctx);
        let rest = Rect {
            y: inside.y + line.height,
            height: inside.height - line.height,
            ..inside
        };
        if self.found.is_empty() {
            Styled::words("nothing is called that", ctx.style(Role::Dim)).draw(rest, buf);
            return;
        }
        let found = &self.found;
        let item = |index: usize, width| {
            found
                .get(index)
                .map_or_else(Styled::new, |entry| row(entry, width, ctx))
        };
        self.list.draw(rest, buf, ctx, true, item);
    }

    fn context(&self) -> Context {
        Context::Prompt
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::literal("palette")
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        vec![
            Action::Accept,
            Action::SelectPrevious,
            Action::SelectNext,
            Action::Cancel,
        ]
    }

    fn cursor(&self) -> Option<Position> {
        self.cursor
    }

    fn is_popup(&self) -> bool {
        true
    }
}

/// Actions that can be done on the present screen, the best matches first; all of them in table order for no text.
fn ranked(text: &str, ctx: &Ctx<'_>) -> Vec<&'static Entry> {
    let here = |entry: &&Entry| entry.context == Context::Everywhere || entry.context == ctx.base;
    let can = |entry: &&Entry| entry.action.unavailable(&ctx.can).is_none() && !LEFT_OUT.contains(&entry.action);
    let entries = ACTIONS.iter().filter(here).filter(can);
    let pattern = Pattern::new(text, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut chars = Vec::new();
    let mut scored: Vec<(u32, &Entry)> = entries
        .filter_map(|entry| {
            let words = format!("{} {}", entry.doc, entry.name);
            let score = pattern.score(Utf32Str::new(&words, &mut chars), &mut matcher)?;
            Some((score, entry))
        })
        .collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, entry)| entry).collect()
}

fn row(entry: &Entry, width: usize, ctx: &Ctx<'_>) -> Styled {
    let key = ctx.keymap.label(entry.action, ctx.options.ascii).unwrap_or_default();
    // No more than the key needs is kept from the words.
    let cells = crate::text::cell_width(&key) + 1;
    let room = width.saturating_sub(cells + 1);
    let doc = crate::text::fit(&format!("  {}", entry.doc), room);
    Styled::of(SafeText::line(&doc), ctx.style(Role::Text)).then(
        SafeText::line(&crate::text::fit_right(&key, cells)),
        ctx.style(Role::Key),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{World, text_of};
    use crossterm::event::{KeyCode, KeyEvent};
    use proptest::prelude::*;

    fn type_in(palette: &mut Palette, world: &World, text: &str) {
        for c in text.chars() {
            palette.update(&Input::Key(KeyEvent::from(KeyCode::Char(c))), &world.ctx());
        }
    }

    #[test]
    fn typing_finds_an_action_and_enter_does_it_after_closing() {
        let world = World::new();
        let mut palette = Palette::new(&world.ctx());
        type_in(&mut palette, &world, "wrap");
        let outcome = palette.update(&Input::Action(Action::Accept), &world.ctx());
        assert!(
            matches!(outcome.effects[..], [Effect::Pop, Effect::Act(Action::Wrap)]),
            "{outcome:?}"
        );
    }

    #[test]
    fn only_what_the_present_screen_can_do_is_offered() {
        let mut world = World::new();
        let offers = |world: &World, action| ranked("", &world.ctx()).iter().any(|entry| entry.action == action);
        assert!(!offers(&world, Action::Reasoning) && !offers(&world, Action::Ask));
        world.base = Context::Run;
        world.can.ask = true;
        assert!(offers(&world, Action::Reasoning) && offers(&world, Action::Ask));
    }

    #[test]
    fn words_have_the_room_that_their_key_leaves() {
        let world = World::new();
        let mut palette = Palette::new(&world.ctx());
        type_in(&mut palette, &world, "last row");
        let area = Rect::new(0, 0, 42, 15);
        let mut buf = Buffer::empty(area);
        palette.draw(area, &mut buf, &world.ctx());
        assert!(
            text_of(&buf).contains("To the last row, and stay there"),
            "{}",
            text_of(&buf)
        );
    }

    #[test]
    fn nonsense_finds_nothing_and_closes_without_doing_anything() {
        let world = World::new();
        let mut palette = Palette::new(&world.ctx());
        type_in(&mut palette, &world, "qqqqqq");
        let area = Rect::new(0, 0, 60, 12);
        let mut buf = Buffer::empty(area);
        palette.draw(area, &mut buf, &world.ctx());
        assert!(text_of(&buf).contains("nothing is called that"));
        let outcome = palette.update(&Input::Action(Action::Accept), &world.ctx());
        assert!(matches!(outcome.effects[..], [Effect::Pop]), "{outcome:?}");
    }

    proptest! {
        #[test]
        fn any_size_draws(width in 0u16..60, height in 0u16..20) {
            let world = World::new();
            let area = Rect::new(0, 0, width, height);
            Palette::new(&world.ctx()).draw(area, &mut Buffer::empty(area), &world.ctx());
        }
    }
}
