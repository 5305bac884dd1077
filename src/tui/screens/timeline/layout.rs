//! Where the parts of the chart go, and the parts that are no rows.

use super::columns::Columns;
use super::scale::Scale;
use crate::text::{SafeText, fit_right};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Where the parts go, from the top: what there is no room for gets no rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) summary: Rect,
    pub(super) labels: Rect,
    pub(super) line: Rect,
    pub(super) lanes: Rect,
    pub(super) selected: Rect,
    pub(super) legend: Rect,
}

impl Rows {
    pub(super) fn of(area: Rect) -> Self {
        let part = |from: u16| u16::from(area.height >= from);
        let [summary, labels, line, selected, legend] = [part(4), part(3), part(12), part(8), part(12)];
        let lanes = area.height - summary - labels - line - selected - legend;
        let mut y = area.y;
        let mut next = |height: u16| {
            let rows = Rect { y, height, ..area };
            y += height;
            rows
        };
        Self {
            summary: next(summary),
            labels: next(labels),
            line: next(line),
            lanes: next(lanes),
            selected: next(selected),
            legend: next(legend),
        }
    }
}

/// The axis above the lanes, and the names of the figures' columns.
pub(super) fn draw_scale(rows: &Rows, columns: Columns, scale: &Scale, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let x = u16::try_from(columns.lane_start()).unwrap_or(u16::MAX);
    for (row, content) in [(rows.labels, scale.labels(ctx)), (rows.line, scale.line(ctx))] {
        let x = x.min(row.width);
        let lane = Rect {
            x: row.x + x,
            width: columns.lane_width().min(row.width - x),
            ..row
        };
        content.draw(lane, buf);
    }
    let steps = fit_right("steps", columns.steps);
    let took = fit_right("time", columns.duration);
    let names = Styled::of(SafeText::line(&format!("{steps}{took} ")), ctx.style(Role::Dim));
    names.draw_right(rows.labels, buf);
    let agent = Rect {
        width: rows.labels.width.min(x),
        ..rows.labels
    };
    Styled::words(" agent", ctx.style(Role::Dim)).draw(agent, buf);
}

pub(super) fn draw_empty(area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let words = if ctx.session.complete {
        "No times were recorded."
    } else {
        "No times were read yet."
    };
    let y = area.y + area.height / 2;
    Styled::words(words, ctx.style(Role::Dim)).draw_centred(
        Rect {
            y,
            height: area.height.min(1),
            ..area
        },
        buf,
    );
}
