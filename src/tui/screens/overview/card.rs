//! One card of the timeline: a run's name, figures, query, FINAL and bar beside its node of the spine.

use super::ending::{Ending, Mark, state_word};
use super::figures::Figures;
use super::head::rows;
use super::live;
use super::plan::{Lines, Look, SPINE};
use super::scale::CardBar;
use crate::model::Query;
use crate::text::Glyphs;
use crate::text::{SafeText, date_time, duration};
use crate::tui::ctx::Ctx;
use crate::tui::pattern::Pattern;
use crate::tui::theme::Role;
use crate::tui::widgets::{Bar, Panel, Share, Styled, clear};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// What a card is drawn from.
#[derive(Clone, Copy)]
pub(super) struct Card<'a> {
    pub(super) query: &'a Query,
    pub(super) lines: Lines,
    pub(super) look: Look,
    /// Its bar, where there is a line for it.
    pub(super) bar: Option<CardBar>,
    pub(super) selected: bool,
    /// The spine goes on below it.
    pub(super) joined: bool,
    /// How far it has entered, from 0 to 1.
    pub(super) progress: f32,
    pub(super) pattern: Option<&'a Pattern>,
}

impl Card<'_> {
    /// Paints it over all of `area`.
    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        clear(area, buf, ctx.style(Role::Text));
        self.draw_spine(area, buf, ctx);
        match self.look {
            Look::Boxed => self.draw_boxed(area, buf, ctx),
            Look::Compact => self.draw_compact(area, buf, ctx),
        }
    }

    fn draw_spine(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let glyphs = Glyphs::of(ctx.options.ascii);
        let x = area.x + u16::from(self.look == Look::Boxed);
        let line = ctx.style(Role::Border);
        let below = if self.joined { area.bottom() } else { area.y };
        for y in area.y + 1..below {
            Styled::words(glyphs.spine, line).draw(Rect::new(x, y, 1, 1), buf);
        }
        let mark = Mark::of(self.query);
        let entered = self.progress > 0.0;
        let glyph = if self.selected {
            glyphs.selected
        } else {
            mark.glyph(glyphs)
        };
        let style = if entered { ctx.theme.bold(mark.role()) } else { line };
        let mut node = Styled::words(glyph, style);
        if self.look == Look::Boxed {
            node.push(SafeText::literal(glyphs.horizontal), line);
            node.push(SafeText::literal(glyphs.horizontal), line);
        }
        node.draw(
            Rect {
                x,
                width: area.right().saturating_sub(x).min(3),
                height: 1,
                ..area
            },
            buf,
        );
    }

    fn draw_boxed(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let border = indented(area, SPINE);
        let entered = self.progress > 0.0;
        let (name, room) = if entered {
            self.name(border.width, ctx)
        } else {
            Default::default()
        };
        let figures = if entered {
            self.figures(room, ctx)
        } else {
            Styled::new()
        };
        let focused = self.selected && entered;
        let inner = Panel::titled(name)
            .aside(figures)
            .focused(focused)
            .draw(border, buf, ctx);
        let texts = indented(inner, 1);
        let width = texts.width.saturating_sub(1);
        self.draw_texts(Rect { width, ..texts }, buf, ctx);
        self.uncover(inner, buf, ctx);
    }

    fn draw_compact(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let inner = indented(area, 2);
        let (name, _) = self.name(inner.width, ctx);
        let top = Rect { height: 1, ..inner };
        let taken = name.draw(top, buf);
        let rest = indented(top, taken + 1);
        self.figures(usize::from(rest.width), ctx).draw_right(rest, buf);
        let below = Rect {
            y: inner.y + 1,
            height: inner.height.saturating_sub(1),
            ..inner
        };
        self.draw_texts(below, buf, ctx);
        self.uncover(inner, buf, ctx);
    }

    /// Its name with a word about its state, and the cells that are left beside it in a border of some width.
    fn name(&self, width: u16, ctx: &Ctx<'_>) -> (Styled, usize) {
        let style = if self.selected {
            ctx.theme.bold(Role::Title)
        } else {
            ctx.theme.bold(Role::Accent)
        };
        let mut name = Styled::of(SafeText::line(&self.query.label.to_string()), style);
        let word = state_word(self.query);
        if !word.is_empty() && width >= 50 {
            name.push(SafeText::literal(" "), style);
            name.push(SafeText::literal(word), ctx.style(Mark::of(self.query).role()));
        }
        let room = usize::from(width).saturating_sub(name.width() + 9);
        (name, room)
    }

    fn figures(&self, cells: usize, ctx: &Ctx<'_>) -> Styled {
        let figures = Figures::of(self.query).fitting(cells);
        Styled::of(SafeText::line(&figures), ctx.style(Role::Dim))
    }

    fn draw_texts(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (query, rest) = split(area, self.lines.query);
        let (answer, bar) = split(rest, self.lines.answer);
        let text = ctx.style(Role::Text);
        if self.query.text.is_empty() {
            Styled::words("its query is not known", ctx.style(Role::Dim)).draw(query, buf);
        } else {
            self.draw_rows("", &self.query.text, text, query, buf, ctx);
        }
        self.draw_answer(answer, buf, ctx);
        self.draw_bar(bar, buf, ctx);
    }

    fn draw_answer(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let most = usize::from(area.height);
        let cells = usize::from(area.width.saturating_sub(2));
        if let Some(lines) = live::lines(ctx.session, self.query, ctx.wall, cells, most) {
            return draw_live(&lines, area, buf, ctx);
        }
        let ending = Ending::of(self.query);
        let style = match ending.role {
            Role::Text => ctx.style(Role::Success),
            role => ctx.style(role),
        };
        let arrow = Glyphs::of(ctx.options.ascii).right;
        Styled::words(arrow, style).draw(
            Rect {
                height: area.height.min(1),
                ..area
            },
            buf,
        );
        self.draw_rows(
            ending.words,
            ending.text,
            ctx.style(ending.role),
            indented(area, 2),
            buf,
            ctx,
        );
    }

    /// Paints as many rows of a text as there are, behind the program's own words.
    fn draw_rows(&self, words: &str, raw: &str, style: Style, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let mut shown = rows(raw, usize::from(area.width), usize::from(area.height));
        match shown.first_mut() {
            Some(first) => first.insert_str(0, words),
            None => shown.push(words.to_owned()),
        }
        for (row, y) in shown.iter().zip(area.y..area.bottom()) {
            marked(row, style, self.pattern, ctx).draw(Rect { y, height: 1, ..area }, buf);
        }
    }

    fn draw_bar(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(bar) = self.bar.filter(|_| area.height > 0) else {
            return;
        };
        let mut area = Rect { height: 1, ..area };
        let when = self.when(ctx);
        if area.width >= 60 && when.width() > 0 {
            area.width -= when.draw_right(area, buf) + 2;
        }
        draw_bar(bar, self.progress, area, buf, ctx);
    }

    /// When it began, and for how long it was worked on.
    fn when(&self, ctx: &Ctx<'_>) -> Styled {
        let Some((start, _)) = self.query.run.span else {
            return Styled::new();
        };
        let took = self.query.run.worked;
        let when = format!("{} · {}", date_time(start, ctx.options.utc), duration(took));
        Styled::of(SafeText::line(&when), ctx.style(Role::Dim))
    }

    /// While it enters, what lies right of the uncovered part stays empty.
    fn uncover(&self, inner: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        if self.progress < 1.0 {
            let shown = (f32::from(inner.width) * self.progress) as u16;
            clear(indented(inner, shown), buf, ctx.style(Role::Text));
        }
    }
}

/// What a live run does, and under it the end of what is said.
fn draw_live(lines: &[String], area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let running = ctx.style(Role::Running);
    let glyph = Glyphs::of(ctx.options.ascii).running;
    for ((place, line), y) in lines.iter().enumerate().zip(area.y..area.bottom()) {
        let (mark, style) = if place == 0 {
            (glyph, running)
        } else {
            (" ", ctx.style(Role::Dim))
        };
        Styled::words(mark, running)
            .then(SafeText::literal(" "), style)
            .then(SafeText::line(line), style)
            .draw(Rect { y, height: 1, ..area }, buf);
    }
}

/// A bar whose cost is unknown is a pattern as long as its tokens; where even those are unknown, a short one.
fn draw_bar(bar: CardBar, progress: f32, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let grown = Rect {
        width: (f32::from(area.width) * progress).round() as u16,
        ..area
    };
    match bar.share {
        Share::Unknown => Bar {
            share: Share::Unknown,
            role: bar.role,
        }
        .draw(narrowed(grown, 6), buf, ctx),
        Share::Of { part, whole } if bar.patterned => {
            let cells = u128::from(grown.width) * u128::from(part.min(whole)) / u128::from(whole.max(1));
            let least = u16::from(part > 0);
            let cells = u16::try_from(cells).unwrap_or(0).max(least);
            Bar {
                share: Share::Unknown,
                role: bar.role,
            }
            .draw(narrowed(grown, cells), buf, ctx);
        }
        share => Bar { share, role: bar.role }.draw(grown, buf, ctx),
    }
}

/// A text with the matches of a search marked.
fn marked(text: &str, style: Style, pattern: Option<&Pattern>, ctx: &Ctx<'_>) -> Styled {
    let mut line = Styled::new();
    let mut at = 0;
    for found in pattern.into_iter().flat_map(|pattern| pattern.find_iter(text)) {
        line.push(SafeText::line(text.get(at..found.start).unwrap_or_default()), style);
        line.push(
            SafeText::line(text.get(found.clone()).unwrap_or_default()),
            ctx.style(Role::Match),
        );
        at = found.end;
    }
    line.then(SafeText::line(text.get(at..).unwrap_or_default()), style)
}

fn indented(area: Rect, cells: u16) -> Rect {
    let cells = cells.min(area.width);
    Rect {
        x: area.x + cells,
        width: area.width - cells,
        ..area
    }
}

fn narrowed(area: Rect, width: u16) -> Rect {
    Rect {
        width: area.width.min(width),
        ..area
    }
}

/// The first rows of an area, and the rest.
fn split(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let rest = Rect {
        y: area.y + rows,
        height: area.height - rows,
        ..area
    };
    (Rect { height: rows, ..area }, rest)
}
