//! The `?` overlay: every key that works now, grouped by where it works, those of the present screen first.

use super::{Matches, Screen};
use crate::text::{SafeText, cell_width};
use crate::tui::action::{ACTIONS, Action, Context, Entry};
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome};
use crate::tui::input::{Input, MouseKind};
use crate::tui::pattern::Pattern;
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Scrollbar, Styled, popup_area};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Cells for the keys of a row.
const KEYS: usize = 17;

/// Two columns need this width.
const TWO: u16 = 100;

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
    fn lines(&mut self, ctx: &Ctx<'_>) -> Vec<Styled> {
        let mut lines = Vec::new();
        self.shown = 0;
        for context in order(ctx.base) {
            let entries = entries(context, ctx).filter(|entry| self.fits(entry, ctx));
            let rows: Vec<_> = entries.map(|entry| row(entry, ctx)).collect();
            if rows.is_empty() {
                continue;
            }
            if !lines.is_empty() {
                lines.push(Styled::new());
            }
            self.shown += rows.len();
            lines.push(Styled::words(heading(context), ctx.style(Role::Title)));
            lines.extend(rows);
        }
        lines
    }

    fn fits(&self, entry: &Entry, ctx: &Ctx<'_>) -> bool {
        let Some(pattern) = &self.pattern else {
            return true;
        };
        let words = format!("{} {} {}", keys(entry.action, ctx), entry.name, entry.doc);
        pattern.is_in(&words)
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
        let lines = self.lines(ctx);
        let columns = if area.width >= TWO { 2 } else { 1 };
        self.rows = lines.len().div_ceil(columns);
        let height = u16::try_from(self.rows + 2).unwrap_or(u16::MAX);
        let place = popup_area(area, if columns == 2 { 130 } else { 72 }, height, buf, ctx);
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
        })
    }

    fn is_popup(&self) -> bool {
        true
    }
}

/// Contexts in the order of the overlay: the present screen's first.
fn order(base: Context) -> impl Iterator<Item = Context> {
    let others = Context::ALL.into_iter().filter(move |context| *context != base);
    std::iter::once(base).chain(others)
}

/// The rows of a context that can be done now.
fn entries(context: Context, ctx: &Ctx<'_>) -> impl Iterator<Item = &'static Entry> {
    let can = ctx.can;
    let here = ACTIONS.iter().filter(move |entry| entry.context == context);
    here.filter(move |entry| entry.action.unavailable(&can).is_none())
}

fn heading(context: Context) -> &'static str {
    match context {
        Context::Everywhere => "Everywhere",
        Context::Run => "In a run",
        Context::Memory => "In memory",
        Context::Picker => "In the list of sessions",
        Context::Prompt => "While typing in a line",
        Context::Box => "In the box",
    }
}

/// The keys of an action, or for one that has none the way to it through the palette.
fn keys(action: Action, ctx: &Ctx<'_>) -> String {
    let chords = ctx.keymap.keys(action).iter();
    let labels: Vec<_> = chords.map(|chord| chord.label(ctx.options.ascii)).collect();
    if labels.is_empty() {
        return format!("{} {}", ctx.key(Action::Palette), action.name());
    }
    labels.join("  ")
}

fn row(entry: &Entry, ctx: &Ctx<'_>) -> Styled {
    let keys = keys(entry.action, ctx);
    let gap = " ".repeat(KEYS.saturating_sub(cell_width(&keys)).max(1));
    Styled::of(SafeText::line(&format!(" {keys}{gap}")), ctx.style(Role::Key))
        .then(SafeText::literal(entry.doc), ctx.style(Role::Text))
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
    fn the_present_screens_keys_come_first() {
        let mut world = World::new();
        world.base = Context::Memory;
        let text = frame(&mut Help::default(), &world, 90, 90);
        assert!(text.find("In memory").unwrap() < text.find("Everywhere").unwrap());
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
