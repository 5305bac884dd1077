//! Painting the run screen: the header, and its parts where the layout puts them.

use super::contents::Shown;
use super::info::info;
use super::layout::lay_out;
use super::{PATIENCE, Part, RunScreen};
use crate::model::Query;
use crate::text::{Glyphs, SafeText, clock_time, plural};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::screens::overview::ending::{Mark, state_word};
use crate::tui::screens::overview::head::rows;
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Styled};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

impl RunScreen {
    /// Paints everything.
    pub(super) fn paint(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(query) = self.query(ctx) else {
            Styled::words("this run is gone", ctx.style(Role::Dim)).draw_centred(area, buf);
            return;
        };
        // How many lines the info needs depends on the width that it gets, and the other way round only for heights.
        let width = lay_out(area, u16::MAX / 2, self.focus, self.zoomed)
            .info
            .map_or(0, |info| info.width);
        let rows = info(
            query,
            ctx.session.live_of(query),
            self.tree.place(),
            usize::from(width.saturating_sub(4)),
            self.info.exact,
        )
        .rows();
        self.areas = lay_out(area, rows, self.focus, self.zoomed);
        draw_header(query, self.position(ctx), self.areas.header, buf, ctx);
        self.draw_tree(query, buf, ctx);
        self.draw_info(query, buf, ctx);
        self.draw_texts(query, buf, ctx);
        let title = self.shown(query).title();
        if let Some(over) = &mut self.over {
            over.draw(&title, area, buf, ctx);
        }
    }

    fn position(&self, ctx: &Ctx<'_>) -> String {
        let index = self.key.index(ctx.session).map_or(0, |index| index + 1);
        format!("{index}/{}", ctx.session.queries.len())
    }

    fn draw_tree(&mut self, query: &Query, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(area) = self.areas.tree else { return };
        let focused = self.focus == Part::Tree;
        let inner = if self.areas.bordered {
            let agents = plural(query.run.agents.len() as u128, "agent", "agents");
            let aside = Styled::of(SafeText::line(&agents), ctx.style(Role::Dim));
            let panel = Panel::new(SafeText::literal("run"), ctx).aside(aside);
            panel.focused(focused && self.over.is_none()).draw(area, buf, ctx)
        } else {
            area
        };
        if self.tree.rows().is_empty() {
            let words = if query.run.complete {
                "no steps are known"
            } else {
                "reading…"
            };
            Styled::words(words, ctx.style(Role::Dim)).draw(inner, buf);
        }
        self.tree
            .draw(&query.run, &query.label.to_string(), inner, buf, ctx, focused);
    }

    fn draw_info(&mut self, query: &Query, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let Some(area) = self.areas.info else { return };
        let inner = self.frame(Part::Info, query, area, buf, ctx);
        let width = usize::from(inner.width.saturating_sub(1));
        let (text, highlights) = info(
            query,
            ctx.session.live_of(query),
            self.tree.place(),
            width,
            self.info.exact,
        )
        .finish();
        let pane = &mut self.info.text;
        pane.update(text);
        pane.set_highlights(pane.generation(), Arc::new(highlights));
        pane.draw(inner, buf, ctx);
    }

    fn draw_texts(&mut self, query: &Query, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let late = self.waiting.is_some_and(|since| ctx.now >= since + PATIENCE);
        for part in [Part::Code, Part::Output] {
            let Some(area) = self.areas.of(part) else { continue };
            let inner = self.frame(part, query, area, buf, ctx);
            let pane = if part == Part::Code {
                &mut self.code
            } else {
                &mut self.output
            };
            pane.draw(inner, buf, ctx);
            if late {
                Styled::words("reading…", ctx.style(Role::Dim)).draw(inner, buf);
            }
        }
    }

    /// Paints a part's border, or the line of names above it, and returns the area inside.
    fn frame(&self, part: Part, query: &Query, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        let shown = self.shown(query);
        if !self.areas.bordered {
            self.draw_tabs(&shown, part, area, buf, ctx);
            let taken = area.height.min(1);
            return Rect {
                y: area.y + taken,
                height: area.height - taken,
                ..area
            };
        }
        let focused = self.focus == part && self.over.is_none();
        let title = SafeText::line(&part_title(&shown, part));
        let panel = Panel::new(title, ctx)
            .aside(self.aside(&shown, part, ctx))
            .focused(focused);
        let inner = panel.draw(area, buf, ctx);
        // Text keeps away from the border at its left; at its right lies the scrollbar's column.
        let margin = u16::from(inner.width > 8);
        Rect {
            x: inner.x + margin,
            width: inner.width - margin,
            ..inner
        }
    }

    fn aside(&self, shown: &Shown<'_>, part: Part, ctx: &Ctx<'_>) -> Styled {
        let raw = match part {
            Part::Code => self.code.is_raw(),
            Part::Output => self.output.is_raw(),
            Part::Info => self.info.exact,
            Part::Tree => false,
        };
        let mut aside = Styled::new();
        let step = shown.step();
        if let (Part::Info, Some(time)) = (part, step.and_then(|step| step.time)) {
            aside.push(SafeText::line(&clock_time(time, ctx.options.utc)), ctx.style(Role::Dim));
        }
        if part == Part::Output && step.is_some_and(|step| step.failed) {
            aside.push(SafeText::literal("failed"), ctx.style(Role::Failure));
        }
        let mark = match part {
            Part::Code => shown.mark(|body| &body.code),
            Part::Output => shown.mark(|body| &body.output),
            Part::Tree | Part::Info => None,
        };
        if let Some(mark) = mark {
            aside.push(SafeText::line(&format!(" {mark}")), ctx.style(Role::Warning));
        }
        if part == Part::Output && shown.has_result_apart() {
            let words = format!(" FINAL: {}", ctx.key(Action::Final));
            aside.push(SafeText::line(&words), ctx.style(Role::Dim));
        }
        if raw {
            let words = if part == Part::Info { " exact" } else { " raw" };
            aside.push(SafeText::literal(words), ctx.style(Role::Warning));
        }
        aside
    }

    /// Where one part is shown at a time: all their names, the shown one standing out.
    fn draw_tabs(&self, shown: &Shown<'_>, part: Part, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let line = Glyphs::of(ctx.options.ascii).horizontal;
        let border = ctx.style(Role::Border);
        let row = Rect {
            height: area.height.min(1),
            ..area
        };
        for x in row.left()..row.right() {
            Styled::words(line, border).draw(Rect { x, width: 1, ..row }, buf);
        }
        let mut tabs = Styled::words(" ", border);
        for tab in [Part::Code, Part::Output, Part::Info] {
            let style = if tab == part {
                ctx.theme.bold(Role::Focus)
            } else {
                ctx.style(Role::Dim)
            };
            let (open, close) = if tab == part { ("[", "]") } else { (" ", " ") };
            tabs.push(
                SafeText::line(&format!("{open}{}{close}", part_name(shown, tab))),
                style,
            );
        }
        let taken = tabs.draw(row, buf);
        let aside = self.aside(shown, part, ctx);
        if usize::from(row.width - taken) > aside.width() {
            aside.draw_right(
                Rect {
                    x: row.x + taken,
                    width: row.width - taken,
                    ..row
                },
                buf,
            );
        }
    }
}

fn part_name(shown: &Shown<'_>, part: Part) -> &'static str {
    match part {
        Part::Tree => "run",
        Part::Info => "info",
        Part::Code => shown.code_title(),
        Part::Output => shown.output_title(),
    }
}

fn part_title(shown: &Shown<'_>, part: Part) -> String {
    match (part, shown.step()) {
        (Part::Info, Some(step)) => step.label(),
        (Part::Info, None) => "agent".into(),
        _ => part_name(shown, part).into(),
    }
}

/// The run's name, its state, and its query in as many rows as there are; at the right which run of all it is.
fn draw_header(query: &Query, position: String, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let glyphs = Glyphs::of(ctx.options.ascii);
    let mark = Mark::of(query);
    let mut name = Styled::words(" ", ctx.style(Role::Text));
    name.push(SafeText::literal(mark.glyph(glyphs)), ctx.style(mark.role()));
    name.push(
        SafeText::line(&format!(" {}", query.label)),
        ctx.theme.bold(Role::Accent),
    );
    let word = state_word(query);
    if !word.is_empty() && area.width >= 60 {
        name.push(SafeText::literal(" "), ctx.style(Role::Text));
        name.push(SafeText::literal(word), ctx.style(mark.role()));
    }
    name.push(SafeText::literal("  "), ctx.style(Role::Text));
    let taken = name.draw(area, buf);
    let mut room = Rect {
        x: area.x + taken,
        width: area.width - taken,
        ..area
    };
    if room.width > 30 {
        room.width -= Styled::of(SafeText::line(&format!("  {position} ")), ctx.style(Role::Dim)).draw_right(room, buf);
    }
    draw_query(query, room, buf, ctx);
}

fn draw_query(query: &Query, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let shown = rows(&query.text, usize::from(area.width), usize::from(area.height));
    for (row, y) in shown.iter().zip(area.y..area.bottom()) {
        Styled::of(SafeText::line(row), ctx.style(Role::Text)).draw(Rect { y, height: 1, ..area }, buf);
    }
}
