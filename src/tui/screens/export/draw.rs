//! How the export popup looks.

use super::{ExportScreen, Field, State};
use crate::text::{SafeText, count, fit, middle_cut, plural};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::export::{Format, Masked, Progress};
use crate::tui::theme::Role;
use crate::tui::widgets::{Bar, Panel, Share, Styled, popup_area};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Cells of the column of names.
const NAMES: usize = 8;
/// The same where it is narrow: options are not cut.
const NARROW_NAMES: usize = 5;

fn names(width: usize) -> usize {
    if width < 40 { NARROW_NAMES } else { NAMES }
}

impl ExportScreen {
    pub(super) fn paint(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let place = popup_area(area, 64, 12, buf, ctx);
        let inner = Panel::new(SafeText::line(&self.heading()), ctx)
            .focused(true)
            .draw(place, buf, ctx);
        let margin = u16::from(inner.width > 20);
        let inner = Rect {
            x: inner.x + margin,
            width: inner.width - 2 * margin,
            ..inner
        };
        // Without a run the first row is no choice.
        let above = u16::from(self.query.is_none()).min(inner.height);
        self.rows = Rect {
            y: inner.y + above,
            height: u16::try_from(self.fields().len())
                .unwrap_or(0)
                .min(inner.height - above),
            ..inner
        };
        let lines = match &self.state {
            State::Choosing => self.choices(usize::from(inner.width), ctx),
            State::Writing(progress) => {
                self.bar(*progress, inner, buf, ctx);
                writing(*progress, ctx)
            }
            State::Written {
                path,
                steps,
                unreadable,
                masked,
            } => written(path, (*steps, *unreadable), masked, usize::from(inner.height), ctx),
            State::Failed(why) => failed(why, ctx),
        };
        for (line, y) in lines.iter().zip(inner.top()..inner.bottom()) {
            line.draw(Rect { y, height: 1, ..inner }, buf);
        }
    }

    /// What is exported: `Export run Q3`.
    fn heading(&self) -> String {
        match self.query.filter(|_| !self.whole) {
            Some(query) => format!("Export run {}", query.label),
            None => "Export the whole session".into(),
        }
    }

    fn choices(&self, width: usize, ctx: &Ctx<'_>) -> Vec<Styled> {
        let run = self
            .query
            .map_or_else(String::new, |query| format!("run {}", query.label));
        let mut lines = Vec::new();
        if self.query.is_none() {
            // No run is on screen: there is nothing to choose, but it is said all the same.
            let (dim, text) = (ctx.style(Role::Dim), ctx.style(Role::Text));
            lines.push(Styled::words("  what     ", dim).then(SafeText::literal("the whole session"), text));
        }
        for field in self.fields() {
            lines.push(match field {
                Field::What => {
                    let options = [(run.as_str(), !self.whole), ("the whole session", self.whole)];
                    self.choice(*field, "what", &options, width, ctx)
                }
                Field::Form => {
                    let options = Format::ALL.map(|form| (form_name(form), form == self.format));
                    self.choice(*field, "as", &options, width, ctx)
                }
                Field::Text => {
                    let options = [("as on screen", !self.raw), ("as recorded", self.raw)];
                    self.choice(*field, "text", &options, width, ctx)
                }
            });
        }
        let dim = ctx.style(Role::Dim);
        let name = SafeText::line(&self.file_name(ctx));
        lines.push(Styled::new());
        lines.push(Styled::words("  file    ", dim).then(name, ctx.style(Role::Text)));
        // The end of a path says more than its begin.
        let dir = SafeText::line(&ctx.exports.to_string_lossy());
        let dir = SafeText::line(&middle_cut(dir.as_str(), width.saturating_sub(NAMES + 2)));
        lines.push(Styled::words("  in      ", dim).then(dir, ctx.style(Role::Text)));
        lines.extend(Styled::wrapped(
            "Keys, tokens and passwords are masked either way.",
            2,
            width,
            dim,
        ));
        if self.raw {
            lines.extend(Styled::wrapped(
                "As recorded: escape sequences of the data stay in it.",
                2,
                width,
                ctx.style(Role::Warning),
            ));
        }
        lines
    }

    /// A field with its options: the chosen one in brackets, so that no colour is needed to tell.
    fn choice(&self, field: Field, name: &str, options: &[(&str, bool)], width: usize, ctx: &Ctx<'_>) -> Styled {
        let here = field == self.field;
        let mark = match (here, ctx.options.ascii) {
            (true, false) => "› ",
            (true, true) => "> ",
            (false, _) => "  ",
        };
        let role = if here { Role::Accent } else { Role::Dim };
        let mut line = Styled::words(mark, ctx.style(Role::Accent));
        line.push(SafeText::line(&fit(name, names(width))), ctx.style(role));
        let last = options.len().saturating_sub(1);
        for (at, (option, chosen)) in options.iter().enumerate() {
            let text = match (*chosen, at == last) {
                (true, true) => format!("[{option}]"),
                (true, false) => format!("[{option}] "),
                (false, true) => format!(" {option}"),
                (false, false) => format!(" {option}  "),
            };
            let role = if *chosen { Role::Title } else { Role::Text };
            line.push(SafeText::line(&text), ctx.style(role));
        }
        line
    }

    fn bar(&self, progress: Progress, inner: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let share = Share::Of {
            part: progress.done,
            whole: progress.all,
        };
        let row = Rect {
            y: inner.y + inner.height.min(3).saturating_sub(1),
            height: inner.height.min(1),
            ..inner
        };
        Bar {
            share,
            role: Role::Running,
        }
        .draw(row, buf, ctx);
    }
}

fn form_name(form: Format) -> &'static str {
    match form {
        Format::Markdown => "Markdown",
        Format::Html => "HTML",
        Format::Json => "JSON",
    }
}

fn writing(progress: Progress, ctx: &Ctx<'_>) -> Vec<Styled> {
    let steps = format!(
        "Writing: {} of {}",
        count(progress.done.into()),
        plural(progress.all.into(), "step", "steps")
    );
    vec![Styled::of(SafeText::line(&steps), ctx.style(Role::Running))]
}

/// Where it is, how much it holds, and what was masked where, as far as there is room.
fn written(
    path: &SafeText,
    (steps, unreadable): (u64, u64),
    masked: &[Masked],
    room: usize,
    ctx: &Ctx<'_>,
) -> Vec<Styled> {
    let (text, dim) = (ctx.style(Role::Text), ctx.style(Role::Dim));
    let mut lines = vec![Styled::words("Written: ", ctx.style(Role::Success)).then(path.clone(), text)];
    lines.push(Styled::of(SafeText::line(&plural(steps.into(), "step", "steps")), dim));
    if unreadable > 0 {
        let words = format!(
            "{} could not be read; the file says why",
            plural(unreadable.into(), "step", "steps")
        );
        lines.push(Styled::of(SafeText::line(&words), ctx.style(Role::Warning)));
    }
    let all: u64 = masked.iter().map(|m| m.count).sum();
    let words = match all {
        0 => "Nothing looked like a secret".to_owned(),
        n => format!("{} masked:", plural(n.into(), "secret was", "secrets were")),
    };
    let role = if all > 0 { Role::Warning } else { Role::Dim };
    lines.push(Styled::of(SafeText::line(&words), ctx.style(role)));
    let rows = room.saturating_sub(lines.len());
    let shown = if masked.len() > rows {
        rows.saturating_sub(1)
    } else {
        rows
    };
    for masked in masked.iter().take(shown) {
        let words = format!(
            "  {}: {} × {}",
            masked.place,
            count(masked.count.into()),
            masked.kind.name()
        );
        lines.push(Styled::of(SafeText::line(&words), text));
    }
    if masked.len() > shown {
        let words = format!(
            "  and in {} more places; the file lists them",
            count((masked.len() - shown) as u128)
        );
        lines.push(Styled::of(SafeText::line(&words), dim));
    }
    lines
}

fn failed(why: &SafeText, ctx: &Ctx<'_>) -> Vec<Styled> {
    let again = SafeText::line(&format!("{} goes back", ctx.key(Action::Open)));
    vec![
        Styled::words("Nothing was written", ctx.style(Role::Failure)),
        Styled::of(why.clone(), ctx.style(Role::Text)),
        Styled::new(),
        Styled::of(again, ctx.style(Role::Dim)),
    ]
}
