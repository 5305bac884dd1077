//! The info part: what came of an agent, and the tokens and cost of a step, its agent, and all below it, in columns.

use crate::model::{Agent, CostSum, Label, Link, LiveRun, Query, Step, StepKind, Totals, Usage};
use crate::text::{SafeText, cell_width, compact_count, count, duration, fit, fit_right};
use crate::tui::screens::Place;
use crate::tui::screens::overview::ending::Ending;
use crate::tui::screens::overview::head::head;
use crate::tui::screens::overview::live::phase_words;
use crate::tui::theme::Role;
use crate::tui::widgets::{Highlights, StyleSpan};

const HEADINGS: [&str; 6] = ["tokens", "prompt", "completion", "cached", "thinking", "cost"];
const SHORT_HEADINGS: [&str; 6] = ["tokens", "prompt", "compl.", "cached", "think.", "cost"];
/// Between columns.
const GAP: &str = "  ";

/// Lines of the info part, in pieces with roles.
#[derive(Debug, Default)]
pub(super) struct Info {
    text: String,
    spans: Vec<StyleSpan>,
}

impl Info {
    fn push(&mut self, piece: &str, role: Role) {
        let start = self.text.len();
        self.text.push_str(piece);
        if role != Role::Text {
            self.spans.push(StyleSpan {
                bytes: start..self.text.len(),
                role,
            });
        }
    }

    fn newline(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Lines.
    pub(super) fn rows(&self) -> u16 {
        u16::try_from(self.text.split('\n').count()).unwrap_or(u16::MAX)
    }

    /// The text, and what its parts mean.
    pub(super) fn finish(self) -> (SafeText, Highlights) {
        (SafeText::block(&self.text), Highlights::new(self.spans))
    }
}

/// A row of figures.
struct Row {
    name: &'static str,
    /// `None`: no usage was reported.
    usage: Option<Usage>,
    cost: String,
}

impl Row {
    fn cell(&self, column: usize, exact: bool) -> String {
        let Some(usage) = &self.usage else {
            return if column == 5 { self.cost.clone() } else { "?".into() };
        };
        let number = |n: u64| {
            if exact {
                count(n.into())
            } else {
                compact_count(n.into())
            }
        };
        match column {
            0 => number(usage.total),
            1 => number(usage.prompt),
            2 => number(usage.completion),
            3 => number(usage.cached),
            4 => number(usage.reasoning),
            _ => self.cost.clone(),
        }
    }
}

/// What is known of a place, for a part of `width` cells; `exact` shows costs to the last digit.
pub(super) fn info(query: &Query, live: Option<&LiveRun>, place: Option<Place>, width: usize, exact: bool) -> Info {
    let mut out = Info::default();
    let agent = place.and_then(|place| query.run.agent(place.agent));
    if let (Some(place), Some(agent)) = (place, agent) {
        let step = place.step.and_then(|step| agent.steps.get(step));
        result_line(&mut out, query, live, place, width);
        if let Some(words) = live.and_then(|live| doing(live, agent)) {
            out.newline();
            out.push(&fit("now", 8), Role::Dim);
            out.push(&words, Role::Running);
        }
        let took = step.and_then(times);
        table(
            &mut out,
            &figures(step, &agent.own(), &agent.subtree, exact),
            took.as_deref(),
            width,
        );
    } else {
        result_of_query(&mut out, query, width);
    }
    if live.is_none() {
        link_lines(&mut out, query);
    }
    out
}

/// What an agent that works right now is doing.
fn doing(live: &LiveRun, agent: &Agent) -> Option<String> {
    let alive = live.phase(&agent.run_id)?.is_alive();
    alive.then(|| phase_words(live, &agent.run_id))
}

fn figures(step: Option<&Step>, own: &Totals, all: &Totals, exact: bool) -> Vec<Row> {
    let money = |cost: &CostSum| if exact { cost.exact() } else { cost.to_string() };
    let of = |name, totals: &Totals| Row {
        name,
        usage: totals.tokens_known().then_some(totals.usage),
        cost: money(&totals.cost),
    };
    let mut rows = Vec::new();
    if let Some(step) = step.filter(|step| step.kind == StepKind::Reply) {
        rows.push(Row {
            name: "step",
            usage: step.usage_known.then_some(step.usage),
            cost: if exact {
                step.cost.exact()
            } else {
                step.cost.to_string()
            },
        });
    }
    if own.steps != all.steps || own.agents != all.agents {
        rows.push(of("agent", own));
    }
    rows.push(of("total", all));
    rows
}

fn result_line(out: &mut Info, query: &Query, live: Option<&LiveRun>, place: Place, width: usize) {
    let is_query = query.run.roots.first() == Some(&place.agent);
    match query.run.agent(place.agent) {
        Some(agent) if !is_query && live.is_some_and(|live| doing(live, agent).is_some()) => {
            ending_line(out, &Ending::NOT_YET, width);
        }
        Some(agent) if !is_query => ending_line(out, &Ending::of_final(&agent.result), width),
        _ => result_of_query(out, query, width),
    }
}

fn result_of_query(out: &mut Info, query: &Query, width: usize) {
    ending_line(out, &Ending::of(query), width);
}

fn ending_line(out: &mut Info, ending: &Ending<'_>, width: usize) {
    out.push(&fit("result", 8), Role::Dim);
    let room = width.saturating_sub(8);
    let text = format!("{}{}", ending.words, head(ending.text, room));
    let role = if ending.role == Role::Text {
        Role::Success
    } else {
        ending.role
    };
    out.push(fit(&text, room).trim_end(), role);
}

/// The widest form that fits: whole numbers, compact ones, costs in a line of their own, columns turned into rows.
/// What is left out of a narrow part's columns stands before them: a low part has its first lines in sight.
fn table(out: &mut Info, rows: &[Row], took: Option<&str>, width: usize) {
    let forms = [
        (HEADINGS, true, 6),
        (HEADINGS, false, 6),
        (SHORT_HEADINGS, false, 6),
        (SHORT_HEADINGS, false, 5),
    ];
    for (headings, exact, columns) in forms {
        let widths = widths(rows, &headings, exact);
        let total: usize = widths.iter().take(columns).map(|cells| cells + GAP.len()).sum();
        if 6 + total <= width {
            let columns: Vec<_> = headings.iter().zip(widths).take(columns).collect();
            if columns.len() < 6 {
                cost_line(out, rows);
                took_line(out, took);
                figure_rows(out, rows, columns, exact);
            } else {
                figure_rows(out, rows, columns, exact);
                took_line(out, took);
            }
            return;
        }
    }
    cost_line(out, rows);
    took_line(out, took);
    turned(out, rows);
}

fn took_line(out: &mut Info, took: Option<&str>) {
    if let Some(took) = took {
        out.newline();
        out.push(&fit("took", 8), Role::Dim);
        out.push(took, Role::Text);
    }
}

fn widths(rows: &[Row], headings: &[&str; 6], exact: bool) -> [usize; 6] {
    let mut widths = headings.map(cell_width);
    for (column, width) in widths.iter_mut().enumerate() {
        let cells = rows.iter().map(|row| cell_width(&row.cell(column, exact)));
        *width = cells.max().unwrap_or(0).max(*width);
    }
    widths
}

fn figure_rows(out: &mut Info, rows: &[Row], columns: Vec<(&&str, usize)>, exact: bool) {
    out.newline();
    out.push(&" ".repeat(6), Role::Dim);
    for (heading, width) in &columns {
        out.push(GAP, Role::Dim);
        out.push(&fit_right(heading, *width), Role::Dim);
    }
    for row in rows {
        out.newline();
        out.push(&fit(row.name, 6), Role::Dim);
        for (column, (_, width)) in columns.iter().enumerate() {
            let cell = row.cell(column, exact);
            let role = if cell == "?" || cell == "unknown" {
                Role::Unknown
            } else {
                Role::Text
            };
            out.push(GAP, Role::Text);
            out.push(&fit_right(&cell, *width), role);
        }
    }
}

/// Costs of the first and the last row: of what is selected, and of everything below it.
fn cost_line(out: &mut Info, rows: &[Row]) {
    let ends = rows.first().into_iter().chain(rows.last().filter(|_| rows.len() > 1));
    out.newline();
    out.push(&fit("cost", 8), Role::Dim);
    for (place, row) in ends.enumerate() {
        if place > 0 {
            out.push(", ", Role::Dim);
        }
        out.push(row.name, Role::Dim);
        out.push(" ", Role::Dim);
        out.push(&row.cost, Role::Text);
    }
}

/// A line a figure, for narrow parts: of what is selected, and of everything below it.
fn turned(out: &mut Info, rows: &[Row]) {
    let ends: Vec<&Row> = rows
        .first()
        .into_iter()
        .chain(rows.last().filter(|_| rows.len() > 1))
        .collect();
    out.newline();
    out.push(&" ".repeat(10), Role::Dim);
    for row in &ends {
        out.push(&fit_right(row.name, 9), Role::Dim);
    }
    for (column, heading) in HEADINGS.iter().enumerate().take(5) {
        out.newline();
        out.push(&fit(heading, 10), Role::Dim);
        for row in &ends {
            out.push(&fit_right(&row.cell(column, false), 9), Role::Text);
        }
    }
}

/// How long the model call and the execution took, as far as both ends are known.
fn times(step: &Step) -> Option<String> {
    let times = &step.timings;
    let span = |from: Option<i64>, to: Option<i64>| Some(u64::try_from(to?.saturating_sub(from?)).unwrap_or(0));
    let call = span(times.call_start, times.call_end).map(|ms| format!("model call {}", duration(ms)));
    let execution = span(times.exec_start, times.exec_end).map(|ms| format!("execution {}", duration(ms)));
    let parts: Vec<String> = call.into_iter().chain(execution).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// What is to be said about the transcript: only when it is not where it should be.
fn link_lines(out: &mut Info, query: &Query) {
    let taken;
    let (words, tried): (&str, &[String]) = match &query.link {
        Link::Linked(_) | Link::Unknown => return,
        // Nothing links a query before it has ended.
        Link::Attached(_) if query.label == Label::Pending => return,
        Link::Taken(_, owner) => {
            taken = format!("that of {owner}: what this query took is not known");
            (&taken, &[])
        }
        Link::Moved(_) => ("found elsewhere than recorded", &[]),
        Link::Attached(_) => ("linked by no query: attached by time and content", &[]),
        Link::Unlinked => ("the query names none; steps are from code_log", &[]),
        Link::Missing(tried) => ("missing; steps are from code_log. Tried:", tried),
    };
    out.newline();
    out.push(&fit("log", 8), Role::Dim);
    out.push(words, Role::Warning);
    for path in tried.iter().take(20) {
        out.newline();
        out.push("        ", Role::Text);
        out.push(SafeText::line(path).as_str(), Role::Dim);
    }
}

#[cfg(test)]
mod tests;
