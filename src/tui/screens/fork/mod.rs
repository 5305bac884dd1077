//! The dialog of a fork: how it goes on, what that costs, how far it is, and what came of it.

mod draw;
mod facts;
mod form;
mod typing;

use super::{QueryKey, Route, Screen, Sides, here};
use crate::model::{ForkPoint, Query};
use crate::text::SafeText;
use crate::tui::action::{Action, Context, Here};
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, ForkAct, Outcome, Token};
use crate::tui::input::{Answer, Input, Mouse, MouseKind, Reply};
use crate::tui::live::{ForkRequest, Forking};
use crate::tui::widgets::TextPane;
use crate::tui::widgets::prompt::Keyed;
use crossterm::event::KeyEvent;
use facts::Facts;
use form::{Act, Do, Form};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The dialog.
#[derive(Debug)]
pub(super) struct ForkScreen {
    query: QueryKey,
    step: u64,
    token: Token,
    /// What the fork begins with, or why there can be none.
    point: Option<Result<(), SafeText>>,
    form: Form,
    /// What is read rather than chosen or typed.
    words: TextPane,
    /// The key that goes back closes the dialog, as of the last frame.
    closes: bool,
    /// Where the choices were drawn.
    choices: Rect,
    cursor: Option<Position>,
}

impl ForkScreen {
    /// A fork of the run of `query` before one of its steps; the fork that goes on, while there is one.
    pub(super) fn new(query: QueryKey, step: u64) -> Self {
        Self {
            query,
            step,
            token: Token::default(),
            point: None,
            form: Form::default(),
            words: TextPane::default(),
            closes: false,
            choices: Rect::default(),
            cursor: None,
        }
    }

    fn facts(&self, ctx: &Ctx<'_>) -> Facts {
        let query = self.query.find(ctx.session);
        query.map_or_else(Facts::default, |query| Facts::of(query, self.step))
    }

    /// Asks what a fork begins with, unless it is known that there can be none.
    fn ask(&mut self, ctx: &Ctx<'_>) -> Outcome {
        let facts = self.facts(ctx);
        let refusal = facts.refusal(self.step).map(str::to_owned);
        let why = refusal.or_else(|| ctx.lab.closed.clone());
        if let Some(why) = why.or_else(|| ctx.lab.fork_elsewhere().map(elsewhere)) {
            self.point = Some(Err(SafeText::line(&why)));
            return Outcome::consumed();
        }
        let token = self.token.next();
        Outcome::with(Effect::LoadForkPoint {
            token,
            run_id: facts.run_id.unwrap_or_default(),
            step: self.step,
        })
    }

    fn answer(&mut self, answer: &Answer, ctx: &Ctx<'_>) -> Outcome {
        if answer.token != self.token {
            return Outcome::consumed();
        }
        let failed = |why: &SafeText| why.as_str().to_owned();
        let act = match (&self.point, &answer.result) {
            (None, Ok(Reply::ForkPoint(point))) => {
                self.open(point);
                return Outcome::consumed();
            }
            (None, Err(why)) => {
                self.point = Some(Err(why.clone()));
                return Outcome::consumed();
            }
            (Some(_), Ok(Reply::Edited(text))) => Act::Edited(Ok(text.clone())),
            (Some(_), Ok(Reply::Checked)) => Act::Checked(Ok(())),
            (Some(_), Err(why)) if self.form.stage == form::Stage::Checking => Act::Checked(Err(failed(why))),
            (Some(_), Err(why)) => Act::Edited(Err(failed(why))),
            _ => return Outcome::consumed(),
        };
        self.fill(act, ctx)
    }

    fn open(&mut self, point: &ForkPoint) {
        self.form = Form::of(point);
        self.point = Some(Ok(()));
    }

    /// Something for the form.
    fn fill(&mut self, act: Act, ctx: &Ctx<'_>) -> Outcome {
        match self.form.take(act) {
            Do::Nothing => Outcome::consumed(),
            Do::Close => Outcome::with(Effect::Pop),
            Do::Edit(text, extension) => Outcome::with(Effect::Edit {
                token: self.token.next(),
                text,
                extension,
            }),
            Do::StopCheck => {
                let stopped = Outcome::with(Effect::Cancel(self.token));
                // What it still tells is late.
                self.token.next();
                stopped
            }
            Do::Check(code) => Outcome::with(Effect::CheckCode {
                token: self.token.next(),
                code,
            }),
            Do::Fork(divergence) => {
                let facts = self.facts(ctx);
                Outcome::with(Effect::Fork(ForkAct::Begin(ForkRequest {
                    run_id: facts.run_id.unwrap_or_default(),
                    label: facts.label,
                    step: self.step,
                    divergence,
                })))
            }
        }
    }

    fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        use Action as A;
        if action == A::Suspend {
            return Outcome::ignored();
        }
        if let Some(fork) = ctx.lab.fork_here() {
            return self.act_on_fork(action, fork, ctx);
        }
        if !matches!(self.point, Some(Ok(()))) {
            let closes = matches!(action, A::Back | A::Quit | A::Interrupt | A::Open | A::Fork);
            return if closes {
                Outcome::with(Effect::Pop)
            } else {
                self.scroll(action)
            };
        }
        if let Some(written) = self.form.text().and_then(|text| text.act(action, ctx.now)) {
            return self.written(written);
        }
        match action {
            A::MoveUp | A::StepPrevious => self.fill(Act::Up, ctx),
            A::MoveDown | A::StepNext => self.fill(Act::Down, ctx),
            A::Open | A::Send => self.fill(Act::Accept, ctx),
            A::Back | A::LeaveBox => self.fill(Act::Back, ctx),
            A::Editor => self.fill(Act::Editor, ctx),
            A::Quit | A::Interrupt => Outcome::with(Effect::Pop),
            action => self.scroll(action),
        }
    }

    /// Something was typed or pasted, or there was no room for it.
    fn written(&mut self, written: Result<(), &'static str>) -> Outcome {
        self.form.trouble = written.err().map(str::to_owned);
        let due = self.form.text().and_then(|text| text.due());
        due.map_or_else(Outcome::consumed, |due| Outcome::with(Effect::FrameAt(due)))
    }

    /// A key that types, or leads from one value to the next.
    fn key(&mut self, key: KeyEvent, ctx: &Ctx<'_>) -> Outcome {
        let Some(text) = self.form.text() else {
            return Outcome::ignored();
        };
        match text.key(key, ctx.now) {
            Ok(Keyed::AtTop) => self.fill(Act::Up, ctx),
            Ok(Keyed::AtBottom) => self.fill(Act::Down, ctx),
            Ok(Keyed::Ignored) => Outcome::ignored(),
            Ok(_) => self.written(Ok(())),
            Err(why) => self.written(Err(why)),
        }
    }

    fn paste(&mut self, text: &str, ctx: &Ctx<'_>) -> Outcome {
        let written = self.form.text().map(|into| into.paste(text, ctx.now));
        written.map_or_else(Outcome::consumed, |written| self.written(written))
    }

    fn scroll(&mut self, action: Action) -> Outcome {
        let action = match action {
            Action::StepPrevious => Action::MoveUp,
            Action::StepNext => Action::MoveDown,
            other => other,
        };
        self.words.act(action);
        Outcome::consumed()
    }

    /// While it goes on it can be stopped, or left alone; afterwards it can be opened and compared.
    fn act_on_fork(&mut self, action: Action, fork: &Forking, ctx: &Ctx<'_>) -> Outcome {
        use Action as A;
        let closes = matches!(action, A::Back | A::Quit | A::Fork);
        if fork.is_running() {
            return match action {
                A::Interrupt => Outcome::with(Effect::Fork(ForkAct::Cancel)),
                _ if closes => Outcome::with(Effect::Pop),
                action => self.scroll(action),
            };
        }
        let seen = Effect::Fork(ForkAct::Seen);
        match (action, fork.dir()) {
            (A::Open, Some(dir)) => Outcome::with(seen).and(Effect::OpenTarget(dir.to_owned())),
            (A::Diff, Some(dir)) => match forked_run(fork, ctx) {
                Some(query) => Outcome::with(Effect::Push(Route::Diff(Sides::Branch(query, dir.to_owned())))),
                None => Outcome::consumed(),
            },
            (A::Interrupt, _) | (A::Open, None) => self.leave_fork(fork, seen),
            _ if closes => self.leave_fork(fork, seen),
            (action, _) => self.scroll(action),
        }
    }

    /// Closes the dialog; where nothing was made, what was typed is not lost.
    fn leave_fork(&mut self, fork: &Forking, seen: Effect) -> Outcome {
        let refused = fork.dir().is_none() && matches!(self.form.stage, form::Stage::Ready(_));
        if !refused {
            return Outcome::with(seen).and(Effect::Pop);
        }
        self.form.take(Act::Back);
        Outcome::with(seen)
    }

    fn mouse(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Outcome {
        let types = self.form.text().is_some_and(|text| text.mouse(mouse));
        if types || self.words.mouse(mouse) {
            return Outcome::consumed();
        }
        let chooses = ctx.lab.fork_here().is_none() && self.form.stage == form::Stage::Choosing;
        match mouse.kind {
            MouseKind::Press | MouseKind::DoublePress if chooses && mouse.is_in(self.choices) => {
                let row = usize::from(mouse.at.y - self.choices.y);
                if let Some(way) = form::Way::ALL.get(row) {
                    self.form.way = *way;
                    return self.fill(Act::Accept, ctx);
                }
                Outcome::consumed()
            }
            kind => Outcome::taken(!matches!(kind, MouseKind::Wheel(_))),
        }
    }
}

/// Why there can be no other fork while one of another session goes on.
fn elsewhere(fork: &Forking) -> String {
    format!("a fork of {} goes on: there is one at a time", fork.origin_name())
}

/// The run that was forked, if it is one of the session that is shown.
fn forked_run(fork: &Forking, ctx: &Ctx<'_>) -> Option<QueryKey> {
    let is_root = |query: &&Query| {
        let root = query.run.root();
        root.is_some_and(|root| root.run_id == fork.order().request.run_id)
    };
    ctx.session.queries.iter().find(is_root).map(QueryKey::of)
}

impl Screen for ForkScreen {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Opened => self.ask(ctx),
            Input::Answer(answer) => self.answer(answer, ctx),
            Input::Action(action) => self.act(*action, ctx),
            Input::Key(key) => self.key(*key, ctx),
            Input::Paste(text) => self.paste(text, ctx),
            Input::Frame => {
                if let Some(text) = self.form.text() {
                    text.frame(ctx.now);
                }
                Outcome::ignored()
            }
            Input::Mouse(mouse) => self.mouse(*mouse, ctx),
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        self.paint(area, buf, ctx);
    }

    fn context(&self) -> Context {
        match self.form.types() {
            true => Context::Box,
            false => Context::Run,
        }
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::literal("fork")
    }

    fn hints(&self, ctx: &Ctx<'_>) -> Vec<Action> {
        // Its own last row says what keys do here, in words of its own.
        let types = ctx.lab.fork_here().is_none() && self.form.types();
        types
            .then_some([Action::Undo, Action::Redo])
            .into_iter()
            .flatten()
            .collect()
    }

    fn here(&self) -> Here {
        match self.closes {
            true => here::FORK_CLOSES,
            false => Here::default(),
        }
    }

    fn cursor(&self) -> Option<Position> {
        self.cursor
    }

    fn is_popup(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
