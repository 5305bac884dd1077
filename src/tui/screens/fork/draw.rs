//! How the dialog of a fork looks.

use super::ForkScreen;
use super::facts::Facts;
use super::form::{Form as Choices, Stage, Way};
use crate::text::{SafeText, cell_width, fit, money, plural};
use crate::tui::action::Action;
use crate::tui::content::detect::{Form, form_of};
use crate::tui::content::{Document, Rendered, markdown};
use crate::tui::ctx::Ctx;
use crate::tui::live::{Divergence, ForkEnding, ForkState, Forking};
use crate::tui::theme::Role;
use crate::tui::widgets::{Panel, Styled, popup_area};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Cells of the dialog.
const WIDTH: u16 = 78;
/// Rows of the dialog: it does not jump from stage to stage.
const HEIGHT: u16 = 15;
/// Values that are read before they are used.
const VALUES: usize = 5;

impl ForkScreen {
    pub(super) fn paint(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        self.cursor = None;
        let place = popup_area(area, WIDTH, HEIGHT, buf, ctx);
        let facts = self.facts(ctx);
        let fork = ctx.lab.fork_here();
        let chooses = matches!((&self.point, &self.form.stage), (Some(Ok(())), stage) if *stage != Stage::Choosing);
        self.closes = fork.is_some() || !chooses;
        let (label, step) = match fork {
            Some(fork) => (fork.order().request.label.as_str(), fork.order().request.step),
            None => (facts.label.as_str(), self.step),
        };
        let title = SafeText::line(&format!("Fork {label} before step {step}"));
        let inner = Panel::new(title, ctx).focused(true).draw(place, buf, ctx);
        let inner = margins(inner);
        let (body, keys) = match inner.height {
            0..=3 => (inner, None),
            height => (
                Rect {
                    height: height - 1,
                    ..inner
                },
                Some(Rect {
                    y: inner.bottom() - 1,
                    height: 1,
                    ..inner
                }),
            ),
        };
        let rest = match fork {
            Some(fork) => self.paint_fork(fork, body, buf, ctx),
            None => self.paint_form(&facts, body, buf, ctx),
        };
        self.words.draw(rest, buf, ctx);
        if let Some(row) = keys {
            self.keys(usize::from(row.width), ctx).draw(row, buf);
        }
    }

    fn say(&mut self, rendered: Rendered) {
        self.words.update(rendered.text);
        let generation = self.words.generation();
        self.words.set_highlights(generation, Arc::new(rendered.highlights));
    }

    /// What is chosen or typed; what is read goes into the rest.
    fn paint_form(&mut self, facts: &Facts, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        let mut document = Document::default();
        let rest = match &self.point {
            None => {
                document.line(&[("reading the record…", Role::Dim)]);
                area
            }
            Some(Err(why)) => {
                document.line(&[("It cannot be forked here.", Role::Failure)]);
                document.line(&[]);
                document.line(&[(why.as_str(), Role::Text)]);
                area
            }
            Some(Ok(())) => match &self.form.stage {
                Stage::Choosing | Stage::Checking => self.paint_ways(area, buf, ctx),
                Stage::Values => self.paint_fields(area, buf, ctx),
                Stage::Asking => self.paint_prompt(area, buf, ctx),
                Stage::Ready(_) => area,
            },
        };
        if let Some(Ok(())) = self.point {
            match &self.form.stage {
                Stage::Ready(divergence) => ready(divergence, &self.form, facts, self.step, &mut document, ctx),
                Stage::Checking => document.line(&[("checking the code…", Role::Running)]),
                stage => hint(stage, self.form.way, self.step, &mut document),
            }
        }
        if let Some(trouble) = &self.form.trouble {
            document.line(&[]);
            document.line(&[(trouble, Role::Failure)]);
        }
        self.say(document.finish());
        rest
    }

    fn paint_ways(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        let (rows, rest) = below(area, Way::ALL.len());
        self.choices = rows;
        for (way, y) in Way::ALL.into_iter().zip(rows.y..rows.bottom()) {
            let chosen = way == self.form.way;
            let lacks = self.form.lacks(way);
            let (name, words) = self.named(way);
            let role = match (chosen, lacks) {
                (_, Some(_)) => Role::Dim,
                (true, None) => Role::Accent,
                (false, None) => Role::Text,
            };
            let pointer = if chosen { ctx.glyphs().pointer } else { " " };
            let words = lacks.map_or(words, str::to_owned);
            Styled::words(pointer, ctx.style(Role::Accent))
                .then(SafeText::literal(" "), ctx.style(Role::Text))
                .then(SafeText::line(&fit(name, 17)), ctx.style(role))
                .then(SafeText::line(&words), ctx.style(Role::Dim))
                .draw(Rect { y, height: 1, ..rows }, buf);
        }
        rest
    }

    fn named(&self, way: Way) -> (&'static str, String) {
        match way {
            Way::Inject => {
                let names: Vec<_> = self.form.fields.iter().map(|field| field.name.as_str()).collect();
                ("inject a value", format!("for {}", names.join(", ")))
            }
            Way::Edit => ("edit the code", "of the step, in $EDITOR".into()),
            Way::Replan => ("ask differently", "the model goes on, told more".into()),
        }
    }

    /// A fork that goes on, or has ended.
    fn paint_fork(&mut self, fork: &Forking, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        let mut document = Document::default();
        let (mark, words, role) = match (fork.ended(), fork.state()) {
            (Some((true, words)), _) => (ctx.glyphs().check, words, Role::Success),
            (Some((false, words)), _) => (ctx.glyphs().cross, words, Role::Failure),
            (None, _) => (ctx.glyphs().running, fork.doing(), Role::Running),
        };
        let took = Styled::of(SafeText::line(&fork.took(ctx.now)), ctx.style(Role::Dim));
        let (row, rest) = below(area, 1);
        let head = Styled::words(mark, ctx.style(role)).then(SafeText::literal(" "), ctx.style(role));
        let room = usize::from(row.width).saturating_sub(took.width() + 4);
        // What does not fit beside the time is read below it.
        let fits = cell_width(SafeText::line(&words).as_str()) <= room;
        let short = if fits {
            words.clone()
        } else {
            format!("fork {}", fork.id().unwrap_or_default())
        };
        head.then(SafeText::line(&short), ctx.style(role)).draw(row, buf);
        took.draw_right(row, buf);
        if !fits {
            document.line(&[(&words, role)]);
            document.line(&[]);
        }
        match fork.state() {
            ForkState::Ended(ForkEnding::Answered { text, .. }) => {
                document.line(&[("FINAL", Role::Dim)]);
                document.append(&in_its_form(text, usize::from(area.width)));
            }
            ForkState::Ended(ForkEnding::Parked(question)) => document.line(&[(question, Role::Text)]),
            ForkState::Ended(_) => {}
            ForkState::Running | ForkState::Cancelling => {
                let id = fork.id().map_or_else(String::new, |id| format!("fork {id}"));
                document.facts(&[(&id, Role::Text), (&fork.spent(), Role::Text)]);
                document.line(&[]);
                document.line(&[(fork.printed(), Role::Dim)]);
            }
        }
        self.say(document.finish());
        rest
    }

    /// What keys do here, as many as fit: the most needed first.
    fn keys(&self, width: usize, ctx: &Ctx<'_>) -> Styled {
        use Action as A;
        let pairs: Vec<(Action, &str)> = match ctx.lab.fork_here() {
            Some(fork) if fork.is_running() => vec![(A::Interrupt, "cancels it"), (A::Back, "lets it run")],
            Some(fork) if fork.dir().is_some() => vec![
                (A::Open, "opens the fork"),
                (A::Diff, "compares it"),
                (A::Back, "closes"),
            ],
            Some(_) => vec![(A::Back, "closes")],
            None => match (&self.point, &self.form.stage) {
                (Some(Ok(())), Stage::Choosing) => vec![(A::Open, "goes on"), (A::Back, "closes")],
                (Some(Ok(())), Stage::Values | Stage::Asking) => vec![
                    (A::Send, "goes on"),
                    (A::LeaveBox, "back"),
                    (A::NewLine, "new line"),
                    (A::Editor, "in $EDITOR"),
                ],
                (Some(Ok(())), Stage::Checking) => vec![(A::Back, "does not wait for it, and goes back")],
                (Some(Ok(())), Stage::Ready(_)) => vec![(A::Open, "forks"), (A::Back, "back")],
                _ => vec![(A::Back, "closes")],
            },
        };
        let mut line = Styled::new();
        for (at, (action, words)) in pairs.into_iter().enumerate() {
            let gap = if at == 0 { "" } else { "   " };
            let key = SafeText::line(&ctx.key(action));
            let words = SafeText::line(&format!(" {words}"));
            let needs = gap.len() + cell_width(key.as_str()) + cell_width(words.as_str());
            if line.width() + needs > width {
                break;
            }
            line.push(SafeText::literal(gap), ctx.style(Role::Text));
            line.push(key, ctx.style(Role::Key));
            line.push(words, ctx.style(Role::Dim));
        }
        line
    }
}

/// A FINAL as the run screen shows it: Markdown laid out.
fn in_its_form(text: &str, width: usize) -> Rendered {
    let safe = SafeText::block(text);
    match form_of(text) {
        // The scrollbar's column is none of the text's.
        Form::Markdown => markdown::render(safe.as_str(), width.saturating_sub(1)),
        _ => Rendered::plain(safe),
    }
}

/// An area without its first and last column.
fn margins(area: Rect) -> Rect {
    let by = u16::from(area.width > 4);
    Rect {
        x: area.x + by,
        width: area.width - 2 * by,
        ..area
    }
}

/// The first rows of an area and, after a blank one, the rest.
pub(super) fn below(area: Rect, rows: usize) -> (Rect, Rect) {
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(area.height);
    let gap = u16::from(area.height > rows && rows > 0 && area.height > 3);
    let head = Rect { height: rows, ..area };
    let rest = Rect {
        y: area.y + rows + gap,
        height: area.height - rows - gap,
        ..area
    };
    (head, rest)
}

fn hint(stage: &Stage, way: Way, step: u64, document: &mut Document) {
    let text = match (stage, way) {
        (Stage::Values, _) => {
            "A JSON value: 41, \"text\", [\"a\", \"b\"], {\"k\": 1}, true or null. A name without one stays unbound: \
             the step is not run. The recorded steps after it are."
                .to_owned()
        }
        (Stage::Asking, _) => format!(
            "The model is told this before step {step}, besides everything that it had been told until then; \
             it writes other steps from there."
        ),
        (_, Way::Inject) => {
            "The step is not run: the values that you give take its place, and the recorded steps after it run again \
             with them."
                .to_owned()
        }
        (_, Way::Edit) => {
            "What you write is checked before anything is made. It runs instead of the step, and the recorded steps \
             after it run again."
                .to_owned()
        }
        (_, Way::Replan) => "From this step on the model goes another way: it writes other steps.".to_owned(),
    };
    document.line(&[(&text, Role::Dim)]);
}

/// What will be done, and what it costs.
fn ready(divergence: &Divergence, form: &Choices, facts: &Facts, step: u64, document: &mut Document, ctx: &Ctx<'_>) {
    match divergence {
        Divergence::Inject(_) => {
            for (name, value) in form.ready.iter().take(VALUES) {
                document.line(&[(name, Role::Accent), (" = ", Role::Dim), (value, Role::Text)]);
            }
            if let more @ 1.. = form.ready.len().saturating_sub(VALUES) as u128 {
                let more = format!("and {}", plural(more, "other value", "other values"));
                document.line(&[(&more, Role::Dim)]);
            }
        }
        Divergence::Edit(code) => {
            let lines = plural(code.lines().count() as u128, "line", "lines");
            document.line(&[
                ("the edited step, ", Role::Text),
                (&lines, Role::Text),
                (": it is Python", Role::Dim),
            ]);
        }
        Divergence::Replan(_) => {
            for (name, prompt) in &form.ready {
                document.line(&[(name, Role::Dim), (": ", Role::Dim), (prompt, Role::Text)]);
            }
        }
    }
    document.line(&[]);
    document.line(&[(&taken_over(step), Role::Text)]);
    document.line(&[
        ("What comes then runs live and costs money: ", Role::Warning),
        (&live(divergence, facts, step), Role::Text),
    ]);
    let mut money_words = format!("What it replaces cost {}.", facts.replaced);
    if ctx.lab.limit > 0 {
        money_words.push_str(&format!(" At most {} is spent.", money(i128::from(ctx.lab.limit))));
    }
    document.line(&[(&money_words, Role::Text)]);
    document.line(&[]);
    document.line(&[("The fork is a session of its own; this one is not changed.", Role::Dim)]);
}

fn taken_over(step: u64) -> String {
    match step {
        0 | 1 => "Nothing comes before it.".into(),
        2 => "Step 1 is taken over from the record, at no cost.".into(),
        step => format!("Steps 1 to {} are taken over from the record, at no cost.", step - 1),
    }
}

fn live(divergence: &Divergence, facts: &Facts, step: u64) -> String {
    match divergence {
        Divergence::Replan(_) => "the model writes other steps, and its sub-agents are asked.".into(),
        Divergence::Inject(_) if step >= facts.steps => "nothing is left to run after it.".into(),
        Divergence::Inject(_) | Divergence::Edit(_) => {
            "steps run as they are, but the sub-agents that they ask are asked again.".into()
        }
    }
}
