//! The `?` overlay: what works on the screen that it was opened from, in the words that hold there; what works
//! everywhere; then the rest, with where it works.

mod rows;

use super::{Matches, Screen};
use crate::text::{SafeText, wrap_line};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome};
use crate::tui::input::{Input, MouseKind};
use crate::tui::pattern::Pattern;
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Scrollbar, Styled, popup_area, popup_width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use rows::{Row, groups};

/// Two columns need this width.
const TWO: u16 = 100;

/// Cells of the box with one column, and with two.
const WIDTH: u16 = 84;
const WIDTH_OF_TWO: u16 = 130;

/// The overlay.
#[derive(Debug, Default)]
pub(super) struct Help {
    top: usize,
    /// Rows that fit, and rows that there are, as of the last frame.
    page: usize,
    rows: usize,
    pattern: Option<Pattern>,
    shown: usize,
}

impl Help {
    fn scroll(&mut self, action: Action) -> bool {
        let page = self.page.saturating_sub(1).max(1);
        let to = match action {
            Action::MoveUp => self.top.saturating_sub(1),
            Action::MoveDown => self.top + 1,
            Action::PageUp => self.top.saturating_sub(page),
            Action::PageDown => self.top + page,
            Action::First => 0,
            Action::Last => self.rows,
            _ => return false,
        };
        self.top = to.min(self.rows.saturating_sub(self.page));
        true
    }

    /// Rows of all groups: headings, and the keys that match what is searched for.
    fn lines(&mut self, width: usize, ctx: &Ctx<'_>) -> Vec<Styled> {
        let mut lines = Vec::new();
        self.shown = 0;
        for group in groups(ctx) {
            let rows: Vec<_> = group.rows.into_iter().filter(|row| self.fits(row)).collect();
            if rows.is_empty() {
                continue;
            }
            if !lines.is_empty() {
                lines.push(Styled::new());
            }
            self.shown += rows.len();
            let heading = format!("{}{}", group.heading, group.place);
            let pieces = wrap_line(&heading, width).into_iter();
            let pieces = pieces.filter_map(|row| heading.get(row.bytes));
            lines.extend(pieces.map(|words| Styled::of(SafeText::line(words.trim_end()), ctx.style(Role::Title))));
            lines.extend(rows.iter().flat_map(|row| row.draw(group.role, width, ctx)));
        }
        lines
    }

    fn fits(&self, row: &Row) -> bool {
        let pattern = self.pattern.as_ref();
        pattern.is_none_or(|pattern| pattern.is_in(&row.text()))
    }

    /// The lines in as many columns as are needed and fit: one, at the full width, for what a search left.
    fn laid_out(&mut self, area: Rect, ctx: &Ctx<'_>) -> (Vec<Styled>, usize) {
        let inner =
            |width, columns| usize::from(popup_width(area, width).saturating_sub(2) / columns).saturating_sub(2);
        let one = self.lines(inner(WIDTH, 1), ctx);
        if area.width < TWO || one.len() + 2 <= usize::from(area.height) {
            return (one, 1);
        }
        (self.lines(inner(WIDTH_OF_TWO, 2), ctx), 2)
    }
}

impl Screen for Help {
    fn update(&mut self, input: &Input<'_>, _ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Action(Action::Help | Action::Back | Action::Quit | Action::Interrupt) => Outcome::with(Effect::Pop),
            Input::Action(action @ (Action::Search | Action::Palette | Action::Suspend)) => {
                Outcome::taken(self.scroll(*action))
            }
            Input::Action(action) => {
                self.scroll(*action);
                Outcome::consumed()
            }
            Input::Search(pattern) => {
                self.pattern = pattern.cloned();
                self.top = 0;
                Outcome::consumed()
            }
            Input::Mouse(mouse) => {
                if let MouseKind::Wheel(rows) = mouse.kind {
                    self.scroll(if rows < 0 { Action::MoveUp } else { Action::MoveDown });
                }
                Outcome::consumed()
            }
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (lines, columns) = self.laid_out(area, ctx);
        self.rows = lines.len().div_ceil(columns);
        let height = u16::try_from(self.rows + 2).unwrap_or(u16::MAX);
        let width = if columns == 2 { WIDTH_OF_TWO } else { WIDTH };
        let place = popup_area(area, width, height, buf, ctx);
        let aside = Styled::words("/ searches, Esc closes", ctx.style(Role::Dim));
        let panel = Panel::new(SafeText::literal("Keys"), ctx).aside(aside).focused(true);
        let inside = panel.draw(place, buf, ctx);
        self.page = usize::from(inside.height);
        self.top = self.top.min(self.rows.saturating_sub(self.page));
        draw_columns(&lines, self.top, columns, inside, buf);
        let bar = Scrollbar {
            start: self.top,
            visible: self.page,
            total: self.rows,
        };
        let edge = Rect {
            x: place.right().saturating_sub(1),
            width: 1,
            ..inside
        };
        bar.draw(edge, buf, ctx);
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::literal("keys")
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        vec![Action::Back, Action::Search, Action::PageDown, Action::Palette]
    }

    fn matches(&self) -> Option<Matches> {
        self.pattern.as_ref().map(|_| Matches {
            current: self.shown.min(1),
            total: self.shown,
            more: false,
            elsewhere: None,
        })
    }

    fn is_popup(&self) -> bool {
        true
    }
}

fn draw_columns(lines: &[Styled], top: usize, columns: usize, area: Rect, buf: &mut Buffer) {
    let rows = lines.len().div_ceil(columns.max(1));
    let width = area.width / u16::try_from(columns).unwrap_or(1).max(1);
    for (column, x) in (0..columns).zip((area.x..area.right()).step_by(usize::from(width.max(1)))) {
        let of_column = lines.iter().skip(column * rows).take(rows).skip(top);
        for (line, y) in of_column.zip(area.top()..area.bottom()) {
            let row = Rect {
                x: x + 1,
                y,
                width: width.saturating_sub(2),
                height: 1,
            };
            line.draw(row.intersection(area), buf);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::action::Context;
    use crate::tui::screens::here;
    use crate::tui::testing::{World, text_of};
    use proptest::prelude::*;

    fn frame(help: &mut Help, world: &World, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        help.draw(area, &mut buf, &world.ctx());
        text_of(&buf)
    }

    #[test]
    fn what_cannot_be_done_is_not_listed() {
        let mut world = World::new();
        assert!(!frame(&mut Help::default(), &world, 140, 90).contains("Fork the session"));
        world.can.lab = true;
        assert!(frame(&mut Help::default(), &world, 140, 90).contains("Fork the session"));
    }

    #[test]
    fn the_present_screens_keys_come_first_with_their_meaning_there() {
        let mut world = World::new();
        world.base = Context::Run;
        world.here = here::SCRUB;
        let text = frame(&mut Help::default(), &world, 90, 140);
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}\n{text}"));
        assert!(at("On this screen") < at("To the step before"));
        assert!(at("To the step before") < at("Everywhere") && at("Everywhere") < at("Elsewhere: in a run"));
        assert!(at("What this agent was given") > at("Elsewhere: in a run"), "{text}");
        assert!(
            !text.contains("To the parent"),
            "another meaning of the same key\n{text}"
        );
    }

    #[test]
    fn marks_are_explained() {
        let mut world = World::new();
        world.here = here::MEMORY;
        let text = frame(&mut Help::default(), &world, 90, 140);
        for mark in ["★", "#", "ƒ", "✕"] {
            assert!(
                text.lines()
                    .any(|line| line.trim_start_matches(['┃', ' ']).starts_with(mark)),
                "{mark}\n{text}"
            );
        }
    }

    #[test]
    fn every_word_can_be_read_at_every_width() {
        let mut world = World::new();
        (world.here, world.can.ask, world.can.lab) = (here::RUN, true, true);
        let flat = |width| {
            let mut help = Help::default();
            let lines = help.lines(width, &world.ctx());
            let area = Rect::new(
                0,
                0,
                u16::try_from(width + 2).unwrap(),
                u16::try_from(lines.len()).unwrap(),
            );
            let mut buf = Buffer::empty(area);
            draw_columns(&lines, 0, 1, area, &mut buf);
            text_of(&buf).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        for width in [40, 56, 80] {
            assert!(flat(width).contains("the limit that stopped one"), "{width}");
            assert!(!flat(width).contains('…'), "{width}");
        }
    }

    /// All that can be scrolled into sight.
    fn all_words(help: &mut Help, world: &World, width: u16, height: u16) -> String {
        help.top = 0;
        let mut text = String::new();
        loop {
            let frame = frame(help, world, width, height);
            text.push_str(&frame);
            let before = help.top;
            help.scroll(Action::PageDown);
            if help.top == before {
                return text;
            }
        }
    }

    #[test]
    fn no_word_of_any_entry_is_lost_at_any_size() {
        let mut world = World::new();
        (world.here, world.can.ask, world.can.lab) = (here::RUN, true, true);
        for width in 40..=200 {
            for height in [24, 120] {
                let seen = all_words(&mut Help::default(), &world, width, height);
                assert!(!seen.contains('…'), "cut at {width}x{height}\n{seen}");
                let seen: std::collections::HashSet<&str> = seen.split([' ', '\n', '│', '┃']).collect();
                for row in groups(&world.ctx()).iter().flat_map(|group| &group.rows) {
                    for word in row.words() {
                        assert!(seen.contains(word), "{word:?} of {:?} at {width}x{height}", row.text());
                    }
                }
            }
        }
    }

    #[test]
    fn the_last_words_of_wrapped_entries_are_there() {
        let mut world = World::new();
        (world.here, world.can.ask, world.can.lab) = (here::RUN, true, true);
        let joined = |width, height| {
            let text = all_words(&mut Help::default(), &world, width, height);
            text.split([' ', '\n', '│', '┃'])
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let narrow = joined(80, 24);
        assert!(narrow.contains("give the focused part all the room"), "{narrow}");
    }

    #[test]
    fn a_search_leaves_what_matches_and_counts_it() {
        let world = World::new();
        let mut help = Help::default();
        help.update(&Input::Search(Pattern::new("zoom").as_ref()), &world.ctx());
        let text = frame(&mut help, &world, 90, 40);
        assert!(text.contains("Zoom in") && !text.contains("Next match"), "{text}");
        assert_eq!(help.matches().map(|matches| matches.total), Some(3));
    }

    proptest! {
        #[test]
        fn any_size_draws(width in 0u16..140, height in 0u16..40) {
            let mut help = Help::default();
            frame(&mut help, &World::new(), width, height);
            help.scroll(Action::Last);
            frame(&mut help, &World::new(), height, width);
        }
    }
}
