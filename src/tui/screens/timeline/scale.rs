//! The rows above the lanes: labels of ticks, and the line they stand on.

use super::axis::{elapsed, step_for, ticks};
use super::chart::Chart;
use super::viewport::Viewport;
use crate::model::timeline::{Break, length};
use crate::text::{SafeText, cell_width, clock_time, date_time, duration};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;

/// Cells between ticks, at least.
const APART: u16 = 12;
const DAY: u64 = 86_400_000;

/// How moments are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// By the time since the start.
    Elapsed,
    /// By the clock on the wall.
    Clock,
}

/// A mark on the axis.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    cell: u16,
    text: String,
    role: Role,
}

/// What stands on the axis of a width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    marks: Vec<Mark>,
    /// Cells at which the axis is broken.
    pub(super) breaks: Vec<u16>,
    ticks: Vec<u16>,
    width: u16,
}

impl Scale {
    pub(super) fn new(chart: &Chart, view: &Viewport, width: u16, naming: Naming, ctx: &Ctx<'_>) -> Self {
        let breaks: Vec<(u16, Break)> = chart
            .axis
            .breaks()
            .filter_map(|gap| Some((view.cell_of(gap.at, width)?, gap)))
            .collect();
        let mut marks: Vec<Mark> = breaks
            .iter()
            .map(|(cell, gap)| Mark {
                cell: *cell,
                text: format!("{}{}", ctx.glyphs().axis_break, duration(length(gap.from, gap.to))),
                role: Role::Warning,
            })
            .collect();
        let step = step_for(view, width, APART);
        let moments = match naming {
            Naming::Elapsed => ticks(view, width, step, 0),
            Naming::Clock => clock_ticks(chart, view, width, step),
        };
        let labels = moments.iter().map(|tick| Mark {
            cell: tick.cell,
            text: match naming {
                Naming::Elapsed => elapsed(tick.at, step),
                Naming::Clock => chart
                    .axis
                    .time_at(tick.at)
                    .map_or_else(String::new, |time| clock(time, step, ctx)),
            },
            role: Role::Dim,
        });
        marks.extend(labels);
        Self {
            marks: apart(marks),
            breaks: breaks.into_iter().map(|(cell, _)| cell).collect(),
            ticks: moments.into_iter().map(|tick| tick.cell).collect(),
            width,
        }
    }

    /// The labels.
    pub(super) fn labels(&self, ctx: &Ctx<'_>) -> Styled {
        let mut line = Styled::new();
        for mark in &self.marks {
            let gap = usize::from(mark.cell).saturating_sub(line.width());
            line.push(SafeText::line(&" ".repeat(gap)), ctx.style(Role::Text));
            let room = usize::from(self.width).saturating_sub(line.width());
            if cell_width(&mark.text) <= room {
                line.push(SafeText::line(&mark.text), ctx.style(mark.role));
            }
        }
        let rest = usize::from(self.width).saturating_sub(line.width());
        line.then(SafeText::line(&" ".repeat(rest)), ctx.style(Role::Text))
    }

    /// The line below them.
    pub(super) fn line(&self, ctx: &Ctx<'_>) -> Styled {
        let glyphs = ctx.glyphs();
        let mut line = Styled::new();
        for cell in 0..self.width {
            let (glyph, role) = match cell {
                _ if self.breaks.contains(&cell) => (glyphs.axis_break, Role::Warning),
                _ if self.ticks.contains(&cell) => (glyphs.tee_down, Role::Border),
                _ => (glyphs.horizontal, Role::Border),
            };
            line.push(SafeText::literal(glyph), ctx.style(role));
        }
        line
    }
}

/// Ticks at round times of the clock, stretch by stretch: a folded gap moves the clock.
fn clock_ticks(chart: &Chart, view: &Viewport, width: u16, step: u64) -> Vec<super::axis::Tick> {
    let starts = std::iter::once(0).chain(chart.axis.breaks().map(|gap| gap.at));
    let ends = chart.axis.breaks().map(|gap| gap.at).chain(std::iter::once(u64::MAX));
    let visible = view.range();
    let stretches = starts
        .zip(ends)
        .filter(|(start, end)| *start < visible.end && *end > visible.start);
    let mut all = Vec::new();
    for (start, end) in stretches.take(usize::from(width)) {
        let time = chart
            .axis
            .time_at(start)
            .and_then(|time| u64::try_from(time).ok())
            .unwrap_or(0);
        let origin = time.wrapping_sub(start);
        all.extend(
            ticks(view, width, step, origin)
                .into_iter()
                .filter(|tick| (start..end).contains(&tick.at)),
        );
    }
    all
}

/// A time of the clock, as fine as the step.
fn clock(time: i64, step: u64, ctx: &Ctx<'_>) -> String {
    let chars = |text: String, from: usize, len: usize| text.chars().skip(from).take(len).collect();
    match step {
        _ if step >= DAY => chars(date_time(time, ctx.options.utc), 0, 10),
        _ if step >= 60_000 => chars(clock_time(time, ctx.options.utc), 0, 5),
        _ if step >= 1_000 => clock_time(time, ctx.options.utc),
        _ => format!("{}.{:03}", clock_time(time, ctx.options.utc), time.rem_euclid(1_000)),
    }
}

/// Of marks that would touch, the ones that came first (breaks) stay.
fn apart(marks: Vec<Mark>) -> Vec<Mark> {
    let mut kept: Vec<Mark> = Vec::new();
    for mark in marks {
        let end = |mark: &Mark| usize::from(mark.cell) + cell_width(&mark.text) + 1;
        let fits = |other: &Mark| end(&mark) <= usize::from(other.cell) || usize::from(mark.cell) >= end(other);
        if kept.iter().all(fits) {
            kept.push(mark);
        }
    }
    kept.sort_by_key(|mark| mark.cell);
    kept
}
