//! The table of problems: columns as wide as they need to be, the less telling ones left out where it is narrow.

use crate::model::{Outcome, Problem, ProblemKind, Query, Session};
use crate::text::{Glyphs, SafeText, cell_width, count, fit, fit_right, middle_cut};
use crate::tui::ctx::Ctx;
use crate::tui::pattern::Pattern;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// The widest name of a kind.
const KIND: usize = 13;
/// A file's name takes this at most.
const FILE: usize = 28;
/// What is wrong gets this at least, before other columns go.
const WHAT: usize = 30;

/// What the columns need, whatever the width.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    file: usize,
    line: usize,
    byte: usize,
    files: Vec<SafeText>,
}

impl Columns {
    pub(super) fn of(session: &Session) -> Self {
        let files: Vec<SafeText> = session
            .logs
            .iter()
            .map(|log| SafeText::line(base_name(&log.path)))
            .collect();
        let width = |number: Option<u64>| number.map_or(0, |number| count(u128::from(number)).len());
        let widest = |of: &dyn Fn(&Problem) -> usize| session.problems.iter().map(of).max().unwrap_or(0);
        Self {
            file: widest(&|problem| cell_width(file_of(problem, &files))).clamp(4, FILE),
            line: widest(&|problem| width(problem.line)).max(4),
            byte: widest(&|problem| width(problem.byte)).max(4),
            files,
        }
    }

    /// The columns for `width` cells: byte, file and line go, in this order, so that what is wrong has room.
    pub(super) fn layout(&self, width: usize) -> Layout<'_> {
        let mut layout = Layout {
            columns: self,
            file: self.file,
            line: self.line,
            byte: self.byte,
            what: 0,
        };
        for drop in 0..4 {
            match drop {
                1 => layout.byte = 0,
                2 => layout.file = 0,
                3 => layout.line = 0,
                _ => {}
            }
            layout.what = width.saturating_sub(layout.others());
            if layout.what >= WHAT {
                break;
            }
        }
        layout
    }
}

/// Widths of the columns; 0 for one that is left out.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    columns: &'a Columns,
    file: usize,
    line: usize,
    byte: usize,
    what: usize,
}

impl Layout<'_> {
    fn others(&self) -> usize {
        let gaps = [self.file, self.line, self.byte]
            .into_iter()
            .filter(|width| *width > 0)
            .count();
        1 + KIND + 2 + self.file + self.line + self.byte + gaps * 2
    }

    pub(super) fn head(&self, ctx: &Ctx<'_>) -> Styled {
        let style = ctx.style(Role::Dim);
        let cells = [
            fit("kind", KIND),
            fit("file", self.file),
            fit_right("line", self.line),
            fit_right("byte", self.byte),
            fit("what, and what was done about it", self.what),
        ];
        let mut line = Styled::words(" ", style);
        for (cell, width) in cells.iter().zip([KIND, self.file, self.line, self.byte, self.what]) {
            push_cell(&mut line, cell, width, style);
        }
        line
    }

    pub(super) fn row(&self, problem: &Problem, ctx: &Ctx<'_>) -> Styled {
        let number = |number: Option<u64>| number.map(|number| count(u128::from(number))).unwrap_or_default();
        let (kind, role) = kind_of(problem.kind);
        let file = middle_cut(file_of(problem, &self.columns.files), self.file);
        let what = SafeText::line(&problem.what);
        let dim = ctx.style(Role::Dim);
        let mut line = Styled::words(" ", dim);
        push_cell(&mut line, &fit(kind, KIND), KIND, ctx.style(role));
        push_cell(&mut line, &fit(&file, self.file), self.file, ctx.style(Role::Text));
        push_cell(
            &mut line,
            &fit_right(&number(problem.line), self.line),
            self.line,
            ctx.style(Role::LineNumber),
        );
        push_cell(&mut line, &fit_right(&number(problem.byte), self.byte), self.byte, dim);
        push_cell(
            &mut line,
            &fit(what.as_str(), self.what),
            self.what,
            ctx.style(Role::Text),
        );
        line
    }
}

/// A cell, and the gap before it; nothing for a column that is left out.
fn push_cell(line: &mut Styled, cell: &str, width: usize, style: Style) {
    if width > 0 {
        let gap = if line.width() > 1 { "  " } else { "" };
        line.push(SafeText::literal(gap), style);
        line.push(SafeText::line(cell), style);
    }
}

fn file_of<'a>(problem: &Problem, files: &'a [SafeText]) -> &'a str {
    match problem.log {
        Some(log) => files.get(log.0 as usize).map_or("?", SafeText::as_str),
        None => "state.json",
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn kind_of(kind: ProblemKind) -> (&'static str, Role) {
    match kind {
        ProblemKind::Unreadable => ("unreadable", Role::Failure),
        ProblemKind::Incomplete => ("incomplete", Role::Warning),
        ProblemKind::Repaired => ("repaired", Role::Warning),
        ProblemKind::Number => ("number", Role::Warning),
        ProblemKind::MovedLog => ("moved log", Role::Accent),
        ProblemKind::MissingLog => ("missing log", Role::Failure),
        ProblemKind::UnknownEvent => ("unknown event", Role::Warning),
        ProblemKind::Clock => ("clock", Role::Warning),
        ProblemKind::Structure => ("structure", Role::Warning),
        ProblemKind::State => ("state", Role::Failure),
        ProblemKind::Notice => ("notice", Role::Dim),
    }
}

/// Whether a row of the table has a match.
pub(super) fn matches(session: &Session, pattern: &Pattern, row: usize) -> bool {
    session.problems.get(row).is_some_and(|problem| {
        let path = problem
            .log
            .and_then(|log| session.logs.get(log.0 as usize))
            .map_or("", |log| &log.path);
        pattern.is_in(&problem.what) || pattern.is_in(path) || pattern.is_in(kind_of(problem.kind).0)
    })
}

/// A problem with its whole path and words.
pub(super) fn in_full(problem: &Problem, session: &Session) -> SafeText {
    let log = problem.log.and_then(|log| session.logs.get(log.0 as usize));
    let path = log.map_or_else(|| format!("{}/state.json", session.facts.dir), |log| log.path.clone());
    let part = |name: &str, number: Option<u64>| {
        number
            .map(|number| format!(", {name} {}", count(u128::from(number))))
            .unwrap_or_default()
    };
    let place = format!(
        "{}{}{}",
        SafeText::line(&path),
        part("line", problem.line),
        part("byte", problem.byte)
    );
    SafeText::raw(&format!("{}: {}\n{place}", kind_of(problem.kind).0, problem.what))
}

/// Runs that ended badly: these are no problems of files, and their errors stand in them.
fn failed_runs(session: &Session) -> Option<String> {
    let failed = |query: &&Query| matches!(query.outcome, Outcome::Error(_) | Outcome::Limit(_));
    let labels: Vec<String> = session
        .queries
        .iter()
        .filter(failed)
        .map(|query| query.label.to_string())
        .collect();
    let first = labels.first()?;
    let (runs, them) = match labels.len() {
        1 => ("1 run ended in an error or at a limit".to_owned(), "it"),
        many => (
            format!("{} runs ended in errors or at limits", count(many as u128)),
            "them",
        ),
    };
    Some(format!(
        "{runs}: open {them} in the overview ({first}{}) to see why.",
        if labels.len() > 1 { ", …" } else { "" }
    ))
}

/// Nothing is wrong with the files.
pub(super) fn draw_empty(area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let check = Glyphs::of(ctx.options.ascii).check;
    let head = Styled::words(check, ctx.style(Role::Success)).then(
        SafeText::literal(" Nothing is wrong with the files"),
        ctx.style(Role::Title),
    );
    let reading = if ctx.session.complete {
        "Every line was read, every transcript was found."
    } else {
        "Still reading."
    };
    let mut lines = vec![head];
    lines.extend(Styled::wrapped(
        reading,
        0,
        usize::from(area.width),
        ctx.style(Role::Dim),
    ));
    if let Some(failed) = failed_runs(ctx.session) {
        let style = ctx.style(Role::Warning);
        let rows = crate::text::wrap_line(&failed, usize::from(area.width));
        let words = rows.into_iter().filter_map(|row| failed.get(row.bytes));
        lines.extend(words.map(|words| Styled::of(SafeText::line(words.trim_end()), style)));
    }
    let top = area.y + area.height.saturating_sub(2) / 2;
    for (line, y) in lines.into_iter().zip(top..area.bottom()) {
        line.draw_centred(Rect { y, height: 1, ..area }, buf);
    }
}
