//! What is said in words: the chart as a whole, the selected agent, the meaning of the shades.

use super::chart::{Chart, ChartRow};
use super::lane::names;
use super::viewport::Viewport;
use crate::model::Session;
use crate::model::timeline::length;
use crate::text::{SafeText, cell_width, count, duration, fit, plural};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;

/// Facts with dots between them; as many as fit `cells`, the first ones first.
fn joined(facts: Vec<(String, Role)>, cells: usize, ctx: &Ctx<'_>) -> Styled {
    let mut line = Styled::words(" ", ctx.style(Role::Text));
    for (index, (text, role)) in facts.into_iter().enumerate() {
        let mut next = Styled::new();
        if index > 0 {
            let dot = format!(" {} ", ctx.glyphs().separator);
            next.push(SafeText::line(&dot), ctx.style(Role::Dim));
        }
        next.push(SafeText::line(&text), ctx.style(role));
        if index > 0 && line.width() + next.width() > cells {
            break;
        }
        line.append(next);
    }
    line
}

/// Agents, time, parallel groups, what is not shown.
pub(super) fn summary(chart: &Chart, session_wide: bool, cells: usize, ctx: &Ctx<'_>) -> Styled {
    let mut facts = Vec::new();
    if session_wide {
        facts.push((plural(chart.runs as u128, "run", "runs"), Role::Text));
    }
    facts.push((plural(chart.rows.len() as u128, "agent", "agents"), Role::Text));
    facts.push((duration(chart.worked), Role::Title));
    facts.push((groups(chart), Role::Text));
    let gaps = chart.axis.breaks().count();
    if gaps > 0 {
        let whole = chart
            .axis
            .breaks()
            .map(|gap| length(gap.from, gap.to))
            .fold(0, u64::saturating_add);
        facts.push((folded(gaps, &duration(whole)), Role::Warning));
    }
    if chart.timeless > 0 {
        facts.push((
            format!("{} without times", plural(chart.timeless as u128, "run", "runs")),
            Role::Warning,
        ));
    }
    joined(facts, cells, ctx)
}

/// How many gaps are marked, and how long all of them are.
fn folded(gaps: usize, whole: &str) -> String {
    match gaps {
        1 => format!("1 gap of {whole} folded"),
        gaps => format!("{} gaps folded, {whole} in all", count(gaps as u128)),
    }
}

fn groups(chart: &Chart) -> String {
    match chart.groups {
        0 => "nothing in parallel".into(),
        1 => format!("1 parallel group of {}", chart.largest_group),
        groups => format!(
            "{} parallel groups, up to {}",
            count(groups as u128),
            chart.largest_group
        ),
    }
}

/// How far the view is zoomed in; nothing when it shows everything.
pub(super) fn zoom(view: &Viewport, ctx: &Ctx<'_>) -> Styled {
    if view.is_whole() {
        return Styled::new();
    }
    let range = view.range();
    let words = format!("{} of {} ", duration(range.end - range.start), duration(view.total()));
    Styled::of(SafeText::line(&words), ctx.style(Role::Accent))
}

/// The selected agent: its name, and where its time went.
pub(super) fn selected(row: &ChartRow, cells: usize, ctx: &Ctx<'_>) -> Styled {
    let Some((name, rest)) = names(row, ctx.session) else {
        return Styled::new();
    };
    let mut figures = vec![
        (plural(u128::from(row.steps), "step", "steps"), Role::Text),
        (format!("model {}", duration(row.calls.total())), Role::call(row.depth)),
        (
            format!("code {}", duration(row.executions.total())),
            Role::execution(row.depth),
        ),
    ];
    if row.skewed {
        figures.push(("its clock contradicts itself".into(), Role::Warning));
    }
    let figures = joined(figures, cells, ctx);
    let name = SafeText::line(&format!("{name}{}", rest.unwrap_or_default()));
    let room = cells.saturating_sub(figures.width() + 3);
    let mut line = Styled::words(" ", ctx.style(Role::Text));
    if room >= 8 {
        let dot = format!(" {}", ctx.glyphs().separator);
        line.push(
            SafeText::line(&fit(name.as_str(), room.min(cell_width(name.as_str())))),
            ctx.style(Role::Accent),
        );
        line.push(SafeText::line(&dot), ctx.style(Role::Dim));
    }
    line.append(figures);
    line
}

/// What the shades mean, and the marks where there are any.
pub(super) fn legend(depth: u32, folds: bool, ctx: &Ctx<'_>) -> Styled {
    let dim = ctx.style(Role::Dim);
    let legend = shades(depth, ctx);
    if !folds {
        return legend;
    }
    legend
        .then(SafeText::literal("  "), dim)
        .then(SafeText::literal(ctx.glyphs().axis_break), ctx.style(Role::Warning))
        .then(SafeText::literal(" a gap: nothing happened for so long"), dim)
}

fn shades(depth: u32, ctx: &Ctx<'_>) -> Styled {
    let dim = ctx.style(Role::Dim);
    Styled::words(" ", dim)
        .then(SafeText::literal(ctx.glyphs().full), ctx.style(Role::call(depth)))
        .then(SafeText::literal(" model  "), dim)
        .then(
            SafeText::literal(ctx.glyphs().medium),
            ctx.style(Role::execution(depth)),
        )
        .then(SafeText::literal(" code  blank: idle"), dim)
}

/// The chart as text, a line an agent, for copying.
pub(super) fn as_text(chart: &Chart, session: &Session) -> String {
    let mut text = String::from("run\tagent\tsteps\tstarts after\tduration\tmodel\tcode\n");
    for row in &chart.rows {
        let Some(((query, _), (name, _))) = row.of(session).zip(names(row, session)) else {
            continue;
        };
        let start = row
            .span
            .as_ref()
            .map_or_else(|| "?".to_owned(), |span| duration(span.start));
        let took = row.duration.map_or_else(|| "?".to_owned(), duration);
        let (model, code) = (duration(row.calls.total()), duration(row.executions.total()));
        let line = format!(
            "{}\t{}\t{}\t{start}\t{took}\t{model}\t{code}\n",
            query.label,
            name.trim(),
            row.steps
        );
        text.push_str(&line);
    }
    text
}
