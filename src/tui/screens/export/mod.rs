//! The export popup: what, in which form, sanitised or raw; then progress; then what was written and masked.
//!
//! Writing itself is [`export`](crate::tui::export)'s, off the screen's thread.

mod draw;

use super::{QueryKey, Screen, here};
use crate::text::SafeText;
use crate::tui::action::{Action, Here};
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome, Token};
use crate::tui::export::{ExportError, Format, Job, Masked, News, Progress, Saved, Scope, default_name};
use crate::tui::input::{Answer, Input, Mouse, MouseKind, Reply};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A choice to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Field {
    /// This run, or the session.
    What,
    /// The format.
    #[default]
    Form,
    /// Sanitised or raw.
    Text,
}

const FIELDS: [Field; 3] = [Field::What, Field::Form, Field::Text];

/// How far it is.
#[derive(Debug, Default)]
enum State {
    /// One chooses.
    #[default]
    Choosing,
    /// It is being written.
    Writing(Progress),
    /// It is there.
    Written {
        path: SafeText,
        steps: u64,
        unreadable: u64,
        masked: Vec<Masked>,
    },
    /// It is not.
    Failed(SafeText),
}

/// The popup.
#[derive(Debug)]
pub struct ExportScreen {
    /// The run on screen, if there is one.
    query: Option<QueryKey>,
    whole: bool,
    format: Format,
    raw: bool,
    field: Field,
    state: State,
    token: Token,
    /// Where the fields were drawn.
    rows: Rect,
}

impl ExportScreen {
    /// Offers the run on screen first, where there is one.
    pub fn new(query: Option<QueryKey>) -> Self {
        Self {
            query,
            whole: query.is_none(),
            format: Format::Markdown,
            raw: false,
            field: Field::default(),
            state: State::default(),
            token: Token::default(),
            rows: Rect::default(),
        }
    }

    /// The file that will be written where nothing of that name is.
    fn file_name(&self, ctx: &Ctx<'_>) -> String {
        let run = self
            .query
            .filter(|_| !self.whole)
            .and_then(|query| query.index(ctx.session));
        default_name(ctx.session, run.map_or(Scope::Session, Scope::Run), self.format)
    }

    fn fields(&self) -> &'static [Field] {
        if self.query.is_some() {
            &FIELDS
        } else {
            FIELDS.split_first().map_or(&[], |(_, rest)| rest)
        }
    }

    fn act(&mut self, action: Action) -> Outcome {
        match (&self.state, action) {
            (State::Choosing, action) => self.choose(action),
            (State::Writing(_), Action::Back | Action::Quit | Action::Interrupt) => {
                self.state = State::Choosing;
                Outcome::with(Effect::Cancel(self.token))
            }
            (State::Writing(_), _) => Outcome::consumed(),
            (State::Failed(_), Action::Open) => {
                self.state = State::Choosing;
                Outcome::consumed()
            }
            (_, Action::Open | Action::Export) => Outcome::with(Effect::Pop),
            _ => Outcome::ignored(),
        }
    }

    fn choose(&mut self, action: Action) -> Outcome {
        use Action as A;
        match action {
            A::MoveUp => self.move_by(-1),
            A::MoveDown | A::NextPane => self.move_by(1),
            A::MoveLeft => self.change(-1),
            A::MoveRight => self.change(1),
            A::Raw => self.raw = !self.raw,
            A::Open | A::Export => {
                let token = self.token.next();
                self.state = State::Writing(Progress { done: 0, all: 0 });
                let job = Job {
                    query: self.query.filter(|_| !self.whole),
                    format: self.format,
                    raw: self.raw,
                };
                return Outcome::with(Effect::Export { token, job });
            }
            _ => return Outcome::ignored(),
        }
        Outcome::consumed()
    }

    fn move_by(&mut self, rows: isize) {
        let fields = self.fields();
        let at = fields.iter().position(|field| *field == self.field).unwrap_or(0);
        let to = at.saturating_add_signed(rows).min(fields.len().saturating_sub(1));
        self.field = fields.get(to).copied().unwrap_or_default();
    }

    fn change(&mut self, by: isize) {
        match self.field {
            Field::What => self.whole = !self.whole,
            Field::Text => self.raw = !self.raw,
            Field::Form => {
                let forms = Format::ALL;
                let at = forms.iter().position(|form| *form == self.format).unwrap_or(0);
                let to = (at + forms.len()).saturating_add_signed(by) % forms.len();
                self.format = forms.get(to).copied().unwrap_or(self.format);
            }
        }
    }

    fn mouse(&mut self, mouse: Mouse) -> Outcome {
        let row = usize::from(mouse.at.y.saturating_sub(self.rows.y));
        match self.fields().get(row) {
            Some(field) if mouse.kind == MouseKind::Press && mouse.is_in(self.rows) => {
                if *field == self.field {
                    self.change(1);
                }
                self.field = *field;
                Outcome::consumed()
            }
            _ => Outcome::ignored(),
        }
    }

    fn answer(&mut self, answer: &Answer) -> Outcome {
        if answer.token != self.token || !matches!(self.state, State::Writing(_)) {
            return Outcome::ignored();
        }
        self.state = match &answer.result {
            Err(why) => State::Failed(why.clone()),
            Ok(Reply::Export(News::Progress(progress))) => State::Writing(*progress),
            Ok(Reply::Export(News::Done(done))) => ended(done),
            Ok(_) => return Outcome::ignored(),
        };
        Outcome::consumed()
    }
}

fn ended(done: &Result<Saved, ExportError>) -> State {
    match done {
        Ok(saved) => State::Written {
            path: SafeText::line(&saved.path.to_string_lossy()),
            steps: saved.report.steps,
            unreadable: saved.report.unreadable,
            masked: saved.report.masked.clone(),
        },
        Err(error) => State::Failed(SafeText::line(&error.to_string())),
    }
}

impl Screen for ExportScreen {
    fn update(&mut self, input: &Input<'_>, _ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Action(action) => self.act(*action),
            Input::Mouse(mouse) => self.mouse(*mouse),
            Input::Answer(answer) => self.answer(answer),
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        self.paint(area, buf, ctx);
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::literal("export")
    }

    fn here(&self) -> Here {
        match self.state {
            State::Choosing => here::EXPORT,
            State::Writing(_) => here::EXPORTING,
            State::Written { .. } => here::EXPORTED,
            State::Failed(_) => here::NOT_EXPORTED,
        }
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        use Action as A;
        match self.state {
            State::Choosing => vec![
                A::Open,
                A::MoveUp,
                A::MoveDown,
                A::MoveLeft,
                A::MoveRight,
                A::Raw,
                A::Back,
            ],
            State::Writing(_) => vec![A::Back],
            State::Written { .. } | State::Failed(_) => vec![A::Open, A::Back],
        }
    }

    fn is_popup(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
