//! A row of the chart: name, lane, figures.

use super::chart::ChartRow;
use super::columns::Columns;
use super::viewport::Viewport;
use crate::model::Session;
use crate::model::timeline::Activity;
use crate::text::{SafeText, count, duration, fit, fit_right};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::style::Style;

/// Deeper agents are not indented further.
const MOST_INDENT: u32 = 6;

/// What a cell of a lane shows: what took most of its time; `None` is idle.
fn cell_activity(row: &ChartRow, view: &Viewport, cell: u16, width: u16) -> Option<Activity> {
    let range = view.cell(cell, width);
    let (call, exec) = (row.calls.within(&range), row.executions.within(&range));
    match (call, exec) {
        (0, 0) => None,
        _ if call >= exec => Some(Activity::Call),
        _ => Some(Activity::Exec),
    }
}

/// The lane: runs of equal cells, with marks where the axis is broken.
pub(super) fn lane(row: &ChartRow, view: &Viewport, width: u16, breaks: &[u16], ctx: &Ctx<'_>) -> Styled {
    let mut line = Styled::new();
    let cells = (0..width).map(|cell| match cell_activity(row, view, cell, width) {
        Some(Activity::Call) => (ctx.glyphs().full, ctx.style(Role::call(row.depth))),
        Some(Activity::Exec) => (ctx.glyphs().medium, ctx.style(Role::execution(row.depth))),
        None if breaks.contains(&cell) => (ctx.glyphs().axis_break, ctx.style(Role::Border)),
        None => (" ", ctx.style(Role::Text)),
    });
    let mut run: Option<(&'static str, Style, usize)> = None;
    for (glyph, style) in cells {
        match &mut run {
            Some((last, last_style, len)) if (*last, *last_style) == (glyph, style) => *len += 1,
            _ => push_run(&mut line, run.replace((glyph, style, 1))),
        }
    }
    push_run(&mut line, run);
    line
}

fn push_run(line: &mut Styled, run: Option<(&'static str, Style, usize)>) {
    if let Some((glyph, style, len)) = run {
        line.push(SafeText::line(&glyph.repeat(len)), style);
    }
}

/// The whole row.
pub(super) fn row(row: &ChartRow, view: &Viewport, columns: Columns, breaks: &[u16], ctx: &Ctx<'_>) -> Styled {
    let mut line = Styled::words(" ", ctx.style(Role::Text));
    line.append(label(row, columns.label, ctx));
    line.push(SafeText::literal(" "), ctx.style(Role::Text));
    line.append(lane(row, view, columns.lane_width(), breaks, ctx));
    let steps = fit_right(&count(u128::from(row.steps)), columns.steps);
    line.push(SafeText::line(&steps), ctx.style(Role::Dim));
    let took = row.duration.map_or_else(|| "?".to_owned(), duration);
    line.push(SafeText::line(&figure(&took, columns.duration)), ctx.style(Role::Text));
    line
}

/// The agent's name: the run for a root, its task for a sub-agent, indented by depth; `?` after one whose clock is off.
fn label(row: &ChartRow, cells: usize, ctx: &Ctx<'_>) -> Styled {
    let Some((name, rest)) = names(row, ctx.session) else {
        return Styled::new();
    };
    let indent = (row.depth.min(MOST_INDENT) as usize).min(cells / 4);
    let doubt = usize::from(row.skewed) * 2;
    let name = SafeText::line(&name);
    let room = cells.saturating_sub(indent + doubt);
    let mut line = Styled::of(SafeText::line(&" ".repeat(indent)), ctx.style(Role::Text));
    let name_cells = crate::text::cell_width(name.as_str()).min(room);
    let role = if rest.is_some() { Role::Accent } else { Role::Text };
    line.push(SafeText::line(&fit(name.as_str(), name_cells)), ctx.style(role));
    let rest = SafeText::line(rest.unwrap_or_default());
    line.push(
        SafeText::line(&fit(rest.as_str(), room - name_cells)),
        ctx.style(Role::Text),
    );
    if row.skewed {
        line.push(SafeText::literal(" ?"), ctx.style(Role::Warning));
    }
    line
}

/// What an agent is called: the query's own root by its run and query, any other by its task, or its id where that is
/// not known: a transcript can hold roots of other runs.
pub(super) fn names<'a>(row: &ChartRow, session: &'a Session) -> Option<(String, Option<&'a str>)> {
    let (query, agent) = row.of(session)?;
    if query.run.is_root(row.agent) {
        return Some((format!("{} ", query.label), Some(&query.text)));
    }
    let name = if agent.task.trim().is_empty() {
        &agent.run_id
    } else {
        &agent.task
    };
    Some((name.clone(), None))
}

/// At the right of its column, after a cell of air: two figures that touch would read as one.
fn figure(text: &str, cells: usize) -> String {
    match cells.checked_sub(1) {
        Some(room) => format!(" {}", fit_right(text, room)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_figure_does_not_touch_the_one_before() {
        assert_eq!(figure("739983d 00h", 9), " 739983d…");
        assert_eq!(
            (figure("12m 07s", 9), figure("1 ms", 0)),
            ("  12m 07s".into(), String::new())
        );
    }
}
