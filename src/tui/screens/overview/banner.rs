//! The banner: the session's name, both totals, what is saved, what is pending; in as many rows as there are.

use super::ending::{Ending, state_word};
use super::family;
use super::head::head;
use crate::model::{Label, MemoryKind, Outcome, Query, Session, TargetKind, Totals};
use crate::text::Glyphs;
use crate::text::{SafeText, compact_count, count, fit, fit_right, plural};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Narrower ones get totals without columns.
const COLUMNS_FROM: u16 = 60;

/// Rows of the banner of a session in an area, and how many there are.
pub(super) fn rows(session: &Session, area: Rect, ctx: &Ctx<'_>) -> Vec<Styled> {
    let most = match area.height {
        0..=5 => 0,
        6..=14 => 2,
        15..=22 => 6,
        _ => 8,
    };
    let mut rows = if area.width < COLUMNS_FROM {
        narrow(session, ctx)
    } else {
        wide(session, ctx)
    };
    rows.truncate(most);
    rows
}

/// Paints rows, one under another.
pub(super) fn draw(rows: Vec<Styled>, area: Rect, buf: &mut Buffer) {
    for (row, y) in rows.into_iter().zip(area.y..area.bottom()) {
        row.draw(Rect { y, height: 1, ..area }, buf);
    }
}

fn wide(session: &Session, ctx: &Ctx<'_>) -> Vec<Styled> {
    let mut rows = vec![name_row(session, ctx)];
    rows.extend(total_rows(session, ctx));
    rows.extend(family::rows(session, ctx));
    rows.extend(memory_row(session, ctx));
    rows.extend(pending_row(session, ctx));
    rows
}

fn name_row(session: &Session, ctx: &Ctx<'_>) -> Styled {
    let mut row = Styled::of(SafeText::line(&session.facts.name), ctx.theme.bold(Role::Title));
    let mut note = |text: String, role: Role| {
        row.push(SafeText::line(&format!("  {text}")), ctx.style(role));
    };
    if session.facts.target == TargetKind::Transcript {
        note("one transcript".into(), Role::Dim);
    }
    if let Some(version) = session.facts.version.filter(|_| session.facts.newer) {
        note(
            format!("version {version}: written by a newer program, shown read-only"),
            Role::Warning,
        );
    }
    if let Some(holder) = &session.facts.held_by {
        note(format!("in use by {holder}"), Role::Running);
    }
    if !session.complete {
        note("reading transcripts…".into(), Role::Dim);
    }
    row
}

/// One figure row: a heading and its columns.
struct Figures {
    heading: &'static str,
    columns: [String; 4],
}

impl Figures {
    fn new(heading: &'static str, runs: String, totals: &Totals) -> Self {
        let tokens = totals.tokens();
        let steps = plural(totals.steps.into(), "step", "steps");
        Self {
            heading,
            columns: [runs, steps, tokens, totals.cost.named()],
        }
    }
}

fn total_rows(session: &Session, ctx: &Ctx<'_>) -> Vec<Styled> {
    let completed = session.completed_count();
    let lost = session.queries.len() - completed.min(session.queries.len());
    let mut figures = vec![Figures::new(
        "completed",
        plural(completed as u128, "query", "queries"),
        &session.completed,
    )];
    if lost > 0 {
        figures.push(Figures::new(
            "without FINAL",
            plural(lost as u128, "run", "runs"),
            &session.lost,
        ));
    }
    let width = |column: usize| {
        let cells = figures
            .iter()
            .filter_map(|row| row.columns.get(column))
            .map(String::len);
        cells.max().unwrap_or(0)
    };
    let widths = [0, 1, 2].map(width);
    let row = |row: &Figures| {
        let [runs, steps, tokens, cost] = &row.columns;
        let [a, b, c] = widths;
        let figures = format!(
            "{}   {}   {}   {cost}",
            fit_right(runs, a),
            fit_right(steps, b),
            fit_right(tokens, c)
        );
        heading(row.heading, ctx).then(SafeText::line(&figures), ctx.style(Role::Text))
    };
    figures.iter().map(row).collect()
}

pub(super) fn heading(words: &str, ctx: &Ctx<'_>) -> Styled {
    Styled::of(SafeText::line(&fit(words, 15)), ctx.style(Role::Dim))
}

/// What a session remembers, counted.
#[derive(Default)]
struct Saved {
    variables: u128,
    committed: u128,
    functions: u128,
    dropped: u128,
}

impl Saved {
    fn of(session: &Session) -> Self {
        let mut saved = Self::default();
        for entry in &session.memory.entries {
            match entry.kind {
                MemoryKind::Variable => saved.variables += 1,
                MemoryKind::Function => saved.functions += 1,
                MemoryKind::Dropped => saved.dropped += 1,
            }
            saved.committed += u128::from(entry.committed);
        }
        saved
    }
}

fn memory_row(session: &Session, ctx: &Ctx<'_>) -> Option<Styled> {
    if session.facts.target == TargetKind::Transcript {
        return None;
    }
    let saved = Saved::of(session);
    let separator = format!(" {} ", Glyphs::of(ctx.options.ascii).separator);
    let mut parts = vec![plural(saved.variables, "variable", "variables")];
    if saved.committed > 0 {
        parts.push(format!("{} committed", count(saved.committed)));
    }
    parts.push(plural(saved.functions, "function", "functions"));
    if saved.dropped > 0 {
        parts.push(format!("{} dropped", count(saved.dropped)));
    }
    let text = SafeText::line(&parts.join(&separator));
    Some(heading("memory", ctx).then(text, ctx.style(Role::Text)))
}

fn pending(session: &Session) -> Option<&Query> {
    session.queries.iter().rev().find(|query| query.label == Label::Pending)
}

fn pending_row(session: &Session, ctx: &Ctx<'_>) -> Option<Styled> {
    let query = pending(session)?;
    let word = format!("{}: ", state_word(query));
    // What is asked says more than what it is asked for, which its card below has.
    let text = match &query.outcome {
        Outcome::Parked(question) if !question.is_empty() => question,
        _ => &query.text,
    };
    let row = heading("pending", ctx).then(SafeText::line(&word), ctx.style(Ending::of(query).role));
    Some(row.then(head(text, 200), ctx.style(Role::Text)))
}

/// Short forms, the most telling first.
fn narrow(session: &Session, ctx: &Ctx<'_>) -> Vec<Styled> {
    let completed = session.completed_count() as u128;
    let lost = session.queries.len() as u128 - completed.min(session.queries.len() as u128);
    let text = ctx.style(Role::Text);
    let totals = |words: String, totals: &Totals| {
        let figures = match (totals.tokens_known(), totals.cost.is_unknown()) {
            (false, true) => "tokens and cost unknown".into(),
            (false, false) => format!("tokens unknown · {}", totals.cost),
            (true, _) => format!("{} · {}", compact_count(totals.usage.total.into()), totals.cost.named()),
        };
        Styled::of(SafeText::line(&format!("{words} · {figures}")), text)
    };
    let mut rows = vec![totals(plural(completed, "query", "queries"), &session.completed)];
    if lost > 0 {
        rows.push(totals(format!("+ {} without FINAL", count(lost)), &session.lost));
    }
    if session.facts.target == TargetKind::Session {
        let saved = Saved::of(session);
        let words = format!(
            "{} ({} committed) · {} · {} dropped",
            plural(saved.variables, "variable", "variables"),
            count(saved.committed),
            plural(saved.functions, "function", "functions"),
            count(saved.dropped)
        );
        rows.push(Styled::of(SafeText::line(&words), ctx.style(Role::Dim)));
    }
    rows.extend(family::short_rows(session, ctx));
    rows
}
