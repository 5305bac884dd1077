//! The rows above the lanes: labels of ticks, and the line they stand on.

use super::axis::{Tick, elapsed, step_for, ticks};
use super::chart::Chart;
use super::viewport::Viewport;
use crate::model::timeline::length;
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

/// A text at a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    cell: u16,
    text: String,
    role: Role,
}

/// What stands on the axis of a width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    labels: Vec<Mark>,
    /// How long each folded gap was.
    gaps: Vec<Mark>,
    /// Cells at which the axis is broken.
    pub(super) breaks: Vec<u16>,
    ticks: Vec<u16>,
    width: u16,
}

impl Scale {
    pub(super) fn new(chart: &Chart, view: &Viewport, width: u16, naming: Naming, ctx: &Ctx<'_>) -> Self {
        let step = step_for(view, width, APART);
        let gaps = gaps(chart, view, width, ctx);
        let (labels, ticks) = match naming {
            Naming::Elapsed => elapsed_labels(view, width, step),
            Naming::Clock => clock_labels(chart, view, width, step, ctx),
        };
        Self {
            labels: apart(labels),
            breaks: gaps.iter().map(|gap| gap.cell).collect(),
            gaps: apart(gaps),
            ticks,
            width,
        }
    }

    /// The labels.
    pub(super) fn labels(&self, ctx: &Ctx<'_>) -> Styled {
        self.row(&self.labels, " ", ctx)
    }

    /// The line below them, with the length of each folded gap behind its break.
    pub(super) fn line(&self, ctx: &Ctx<'_>) -> Styled {
        let glyphs = ctx.glyphs();
        let mut marks = self.gaps.clone();
        let tick = |cell: &u16| Mark {
            cell: *cell,
            text: glyphs.tee_down.into(),
            role: Role::Border,
        };
        marks.extend(self.ticks.iter().map(tick));
        let touching = |marks: &[Mark], mark: &Mark| marks.iter().any(|other| covers(other, mark.cell));
        let mut kept: Vec<Mark> = Vec::new();
        for mark in marks {
            if !touching(&kept, &mark) {
                kept.push(mark);
            }
        }
        kept.sort_by_key(|mark| mark.cell);
        self.row(&kept, glyphs.horizontal, ctx)
    }

    /// Marks in a row of `width` cells, the space between them filled.
    fn row(&self, marks: &[Mark], fill: &str, ctx: &Ctx<'_>) -> Styled {
        let width = usize::from(self.width);
        let mut line = Styled::new();
        for mark in marks {
            let gap = usize::from(mark.cell).saturating_sub(line.width());
            line.push(SafeText::line(&fill.repeat(gap)), ctx.style(Role::Border));
            if line.width() + cell_width(&mark.text) <= width {
                line.push(SafeText::line(&mark.text), ctx.style(mark.role));
            }
        }
        let rest = width.saturating_sub(line.width());
        line.then(SafeText::line(&fill.repeat(rest)), ctx.style(Role::Border))
    }
}

fn covers(mark: &Mark, cell: u16) -> bool {
    (usize::from(mark.cell)..usize::from(mark.cell) + cell_width(&mark.text)).contains(&usize::from(cell))
}

fn gaps(chart: &Chart, view: &Viewport, width: u16, ctx: &Ctx<'_>) -> Vec<Mark> {
    let mark = |gap: crate::model::timeline::Break| {
        Some(Mark {
            cell: view.cell_of(gap.at, width)?,
            text: format!("{}{} ", ctx.glyphs().axis_break, duration(length(gap.from, gap.to))),
            role: Role::Warning,
        })
    };
    chart.axis.breaks().filter_map(mark).collect()
}

fn elapsed_labels(view: &Viewport, width: u16, step: u64) -> (Vec<Mark>, Vec<u16>) {
    let ticks = ticks(view, width, step, 0);
    let mark = |tick: &Tick| Mark {
        cell: tick.cell,
        text: elapsed(tick.at, step),
        role: Role::Dim,
    };
    (
        ticks.iter().map(mark).collect(),
        ticks.iter().map(|tick| tick.cell).collect(),
    )
}

/// Round times of the clock, stretch by stretch (a folded gap moves the clock), after the start of each stretch.
fn clock_labels(chart: &Chart, view: &Viewport, width: u16, step: u64, ctx: &Ctx<'_>) -> (Vec<Mark>, Vec<u16>) {
    let starts = std::iter::once(0).chain(chart.axis.breaks().map(|gap| gap.at));
    let ends = chart.axis.breaks().map(|gap| gap.at).chain(std::iter::once(u64::MAX));
    let visible = view.range();
    let stretches = starts
        .zip(ends)
        .filter(|(start, end)| *start < visible.end && *end > visible.start);
    let (mut first, mut labels, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    let mut day = String::new();
    for (start, end) in stretches.take(usize::from(width)) {
        let from = start.max(visible.start);
        let Some((cell, time)) = view.cell_of(from, width).zip(chart.axis.time_at(from)) else {
            continue;
        };
        let text = start_label(time, step, &mut day, ctx);
        first.push(Mark {
            cell,
            text,
            role: Role::Text,
        });
        let origin = u64::try_from(time).unwrap_or(0).wrapping_sub(from);
        for tick in ticks(view, width, step, origin)
            .into_iter()
            .filter(|tick| (from..end).contains(&tick.at))
        {
            cells.push(tick.cell);
            let text = chart
                .axis
                .time_at(tick.at)
                .map(|time| clock(time, step, ctx))
                .unwrap_or_default();
            labels.push(Mark {
                cell: tick.cell,
                text,
                role: Role::Dim,
            });
        }
    }
    first.append(&mut labels);
    (first, cells)
}

/// The label of a stretch's start: with its date where that is another one than before.
fn start_label(time: i64, step: u64, day: &mut String, ctx: &Ctx<'_>) -> String {
    let whole = date_time(time, ctx.options.utc);
    let date: String = whole.chars().take(10).collect();
    if step >= DAY || date == *day {
        return clock(time, step, ctx);
    }
    let label = format!(
        "{} {}",
        date.chars().skip(5).collect::<String>(),
        clock(time, step, ctx)
    );
    *day = date;
    label
}

/// A time of the clock, as fine as the step.
fn clock(time: i64, step: u64, ctx: &Ctx<'_>) -> String {
    let utc = ctx.options.utc;
    match step {
        _ if step >= DAY => date_time(time, utc).chars().take(10).collect(),
        _ if step >= 60_000 => clock_time(time, utc).chars().take(5).collect(),
        _ if step >= 1_000 => clock_time(time, utc),
        _ => format!("{}.{:03}", clock_time(time, utc), time.rem_euclid(1_000)),
    }
}

/// Of marks that would touch the ones that came first stay.
fn apart(marks: Vec<Mark>) -> Vec<Mark> {
    let end = |mark: &Mark| usize::from(mark.cell) + cell_width(&mark.text) + 1;
    let mut kept: Vec<Mark> = Vec::new();
    for mark in marks {
        let fits = |other: &Mark| end(&mark) <= usize::from(other.cell) || usize::from(mark.cell) >= end(other);
        if kept.iter().all(fits) {
            kept.push(mark);
        }
    }
    kept.sort_by_key(|mark| mark.cell);
    kept
}
