//! How the search screen looks: the line, then headings of runs with their hits.

use super::results::Row;
use super::{Hit, SearchScreen, State};
use crate::text::{SafeText, count, fit, plural};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Styled};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

/// Cells of the columns that say which step and which text.
const WHO: usize = 17;
const PART: usize = 10;

impl SearchScreen {
    pub(super) fn paint(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let panel = Panel::new(SafeText::literal("Search the whole session"), ctx);
        let inner = panel.aside(self.standing(ctx)).focused(true).draw(area, buf, ctx);
        let [line, rest] = [
            Rect {
                height: inner.height.min(1),
                ..inner
            },
            Rect {
                y: inner.y + inner.height.min(1),
                height: inner.height.saturating_sub(1),
                ..inner
            },
        ];
        self.line_area = line;
        let prompt = Styled::words(if ctx.options.ascii { "> " } else { "› " }, ctx.style(Role::Accent));
        self.caret = self.line.draw_after(&prompt, line, buf, ctx);
        if self.results.rows().is_empty() {
            self.say(rest, buf, ctx);
            return;
        }
        let results = &self.results;
        let selected = self.list.selected();
        let row = |index, width| {
            let row = results.row(index);
            row.map_or_else(Styled::new, |row| {
                styled(results, row, selected == Some(index), width, ctx)
            })
        };
        self.list.draw(rest, buf, ctx, !self.typing, row);
    }

    /// Counts and progress, for the border.
    fn standing(&self, ctx: &Ctx<'_>) -> Styled {
        let mut words = match (self.state, self.results.len()) {
            (State::Idle, _) => return Styled::new(),
            (State::Due(_), 0) => String::new(),
            _ => {
                let runs = plural(self.results.runs() as u128, "run", "runs");
                format!("{} in {runs}", matches(self.results.matches()))
            }
        };
        match self.state {
            State::Running => words.push_str(" · searching…"),
            State::Stopped => words.push_str(" · stopped"),
            _ if self.results.is_full() => words.push_str(" · the first ones"),
            _ => {}
        }
        let role = if self.state == State::Running {
            Role::Running
        } else {
            Role::Dim
        };
        Styled::of(SafeText::line(&words), ctx.style(role))
    }

    /// What stands in place of a list.
    fn say(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let words = match self.state {
            State::Idle => "Type what to look for: in queries, code, output, reasoning, FINALs and memory",
            State::Due(_) | State::Running => "Searching…",
            State::Done => "Nothing has it",
            State::Stopped => "Stopped",
        };
        let top = area.y + area.height.min(3).saturating_sub(1);
        let lines = Styled::wrapped(words, 0, usize::from(area.width), ctx.style(Role::Dim));
        for (line, y) in lines.into_iter().zip(top..area.bottom()) {
            line.draw_centred(Rect { y, height: 1, ..area }, buf);
        }
    }
}

fn styled(results: &super::Results, row: Row, selected: bool, width: usize, ctx: &Ctx<'_>) -> Styled {
    match row {
        Row::Hit(index) => results
            .hit(index)
            .map_or_else(Styled::new, |hit| hit_row(hit, selected, width, ctx)),
        Row::Memory(found) => heading("Memory".to_owned(), "", found, width, ctx),
        Row::Run(index, found) => {
            let query = results.hit(index).and_then(|hit| match &hit.spot {
                super::Spot::Run { query, .. } => Some(*query),
                super::Spot::Memory { .. } => None,
            });
            let label = query.map_or_else(String::new, |query| query.label.to_string());
            let text = query
                .and_then(|query| query.find(ctx.session))
                .map_or("", |query| query.text.as_str());
            // Only what a row can show is sanitised: queries may be long.
            let end = text.char_indices().nth(width).map_or(text.len(), |(at, _)| at);
            heading(label, text.get(..end).unwrap_or_default(), found, width, ctx)
        }
    }
}

fn matches(found: usize) -> String {
    plural(found as u128, "match", "matches")
}

/// A run's name, its query, its number of matches.
fn heading(label: String, query: &str, found: usize, width: usize, ctx: &Ctx<'_>) -> Styled {
    let hits = format!(" {}", matches(found));
    let label = format!("{label} ");
    let room = width.saturating_sub(label.len() + hits.len());
    let query = fit(SafeText::line(query).as_str(), room);
    Styled::of(SafeText::line(&label), ctx.style(Role::Title))
        .then(SafeText::line(&query), ctx.style(Role::Text))
        .then(SafeText::line(&hits), ctx.style(Role::Dim))
}

/// Which step, which text, and the line with its match marked: by its ground, or by a line under it where the
/// selection has a ground of its own.
fn hit_row(hit: &Hit, selected: bool, width: usize, ctx: &Ctx<'_>) -> Styled {
    let mark = if selected {
        ctx.style(Role::Accent).add_modifier(Modifier::UNDERLINED)
    } else {
        ctx.style(Role::Match)
    };
    let many = if hit.count > 1 {
        format!(" ×{}", count(hit.count as u128))
    } else {
        String::new()
    };
    let mut row = Styled::words("  ", ctx.style(Role::Text));
    if width >= 50 {
        row.push(SafeText::line(&fit(hit.title.as_str(), WHO)), ctx.style(Role::Accent));
        row.push(
            SafeText::line(&format!(" {}", fit(hit.part.name(), PART))),
            ctx.style(Role::Dim),
        );
    }
    let room = width.saturating_sub(row.width() + many.len());
    let head = fit_left(hit.before.as_str(), room / 3);
    let found = hit.found.as_str();
    let tail = room.saturating_sub(crate::text::cell_width(&head) + crate::text::cell_width(found));
    row.then(SafeText::line(&head), ctx.style(Role::Text))
        .then(hit.found.clone(), mark)
        .then(SafeText::line(&fit(hit.after.as_str(), tail)), ctx.style(Role::Text))
        .then(SafeText::line(&many), ctx.style(Role::Dim))
}

/// The end of `text` that fits `cells`, marked where something is missing before it.
fn fit_left(text: &str, cells: usize) -> String {
    if crate::text::cell_width(text) <= cells {
        return text.to_owned();
    }
    let starts = text.char_indices().map(|(at, _)| at);
    let fits = |at: &usize| {
        text.get(*at..)
            .is_some_and(|rest| crate::text::cell_width(rest) < cells)
    };
    let start = starts.into_iter().find(fits).unwrap_or(text.len());
    format!("…{}", text.get(start..).unwrap_or_default())
}
