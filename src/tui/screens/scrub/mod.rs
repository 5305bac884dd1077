//! A run as it went: step by step, with the names of its REPL as they were after each, and what the step did to them.
//! It can be run again from its record here, and ticks through.

mod draw;
mod names;
mod replay;

use super::{QueryKey, Route, Screen, here};
use crate::model::{NamesAfter, Query, Step, StepKind};
use crate::text::{SafeText, cut};
use crate::tui::action::{Action, Context, Here};
use crate::tui::body::{Body, Text};
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Focused, Language, Outcome, Token};
use crate::tui::input::{Answer, Input, Mouse, Reply};
use crate::tui::live::Replaying;
use crate::tui::widgets::{ListEvent, ListPane, TextPane};
use names::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Cells of an output that are shown below the code.
const OUTPUT: usize = 20_000;

/// The part that has the focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Names,
    Code,
    Detail,
}

/// The screen.
#[derive(Debug)]
pub(super) struct ScrubScreen {
    key: QueryKey,
    /// The step shown: 0 is what the run began with.
    step: u64,
    token: Token,
    asked_names: Token,
    asked_body: Token,
    asked_colours: Token,
    asked_replay: Token,
    replay: Option<Replaying>,
    recorded: Option<Result<Arc<Vec<NamesAfter>>, SafeText>>,
    rows: Vec<Row>,
    list: ListPane,
    code: TextPane,
    detail: TextPane,
    body: Option<Arc<Body>>,
    focus: Part,
    /// Where the steps were drawn, each with its number.
    strip: Vec<(Rect, u64)>,
}

impl ScrubScreen {
    /// The run of `query`, after one of its steps; its first if not said.
    pub(super) fn new(key: QueryKey, step: Option<u64>) -> Self {
        Self {
            key,
            step: step.unwrap_or(1),
            token: Token::default(),
            asked_names: Token::default(),
            asked_body: Token::default(),
            asked_colours: Token::default(),
            asked_replay: Token::default(),
            replay: None,
            recorded: None,
            rows: Vec::new(),
            list: ListPane::default(),
            code: TextPane::default(),
            detail: TextPane::default(),
            body: None,
            focus: Part::default(),
            strip: Vec::new(),
        }
    }

    fn query<'a>(&self, ctx: &Ctx<'a>) -> Option<&'a Query> {
        self.key.find(ctx.session)
    }

    /// The root's steps, without its probe.
    fn steps<'a>(&self, ctx: &Ctx<'a>) -> Vec<&'a Step> {
        let root = self.query(ctx).and_then(|query| query.run.root());
        let steps = root.into_iter().flat_map(|root| &root.steps);
        steps.filter(|step| step.kind == StepKind::Reply).collect()
    }

    fn shown<'a>(&self, ctx: &Ctx<'a>) -> Option<&'a Step> {
        self.steps(ctx).into_iter().find(|step| step.number == self.step)
    }

    /// Asks for the names of all steps, and for the code of the one that is shown.
    fn ask(&mut self, ctx: &Ctx<'_>) -> Vec<Effect> {
        let mut effects = self.ask_body(ctx);
        let run_id = self.query(ctx).and_then(|query| Some(query.run.root()?.run_id.clone()));
        match run_id {
            Some(run_id) => {
                self.asked_names = self.token.next();
                let token = self.asked_names;
                effects.push(Effect::LoadNames { token, run_id });
            }
            None => self.recorded = Some(Err(SafeText::literal("this run has no transcript"))),
        }
        effects
    }

    fn ask_body(&mut self, ctx: &Ctx<'_>) -> Vec<Effect> {
        self.body = None;
        self.code.open(SafeText::default());
        let Some(step) = self.shown(ctx) else {
            return Vec::new();
        };
        match (step.body, &step.code) {
            (Some(at), _) => {
                self.asked_body = self.token.next();
                let (token, twin) = (self.asked_body, step.twin);
                vec![Effect::LoadBody { token, at, twin }]
            }
            (None, Some(code)) => self.take_body(Arc::new(Body {
                code: Text::new(code.as_str()),
                ..Body::default()
            })),
            (None, None) => Vec::new(),
        }
    }

    fn take_body(&mut self, body: Arc<Body>) -> Vec<Effect> {
        self.code.open(code_and_output(&body));
        self.asked_colours = self.token.next();
        let (token, text) = (self.asked_colours, body.code.safe.clone());
        self.body = Some(body);
        vec![Effect::Highlight {
            token,
            language: Language::Python,
            text,
        }]
    }

    fn answer(&mut self, answer: &Answer, ctx: &Ctx<'_>) -> Vec<Effect> {
        if answer.token == self.asked_replay {
            return self.replayed(&answer.result, ctx);
        }
        match &answer.result {
            Ok(Reply::Names(names)) if answer.token == self.asked_names => self.recorded = Some(Ok(names.clone())),
            Ok(Reply::Body(body)) if answer.token == self.asked_body => return self.take_body(body.clone()),
            Ok(Reply::Highlights(colours)) if answer.token == self.asked_colours => {
                self.code.set_highlights(self.code.generation(), colours.clone());
                return Vec::new();
            }
            Err(why) if answer.token == self.asked_names => self.recorded = Some(Err(why.clone())),
            Err(why) if answer.token == self.asked_body => self.code.open(why.clone()),
            _ => return Vec::new(),
        }
        self.refresh();
        Vec::new()
    }

    /// The names after the step that is shown: the selection stays on its name.
    fn refresh(&mut self) {
        let selected = self
            .list
            .selected()
            .and_then(|index| self.rows.get(index))
            .map(|row| row.name.clone());
        self.rows = match &self.recorded {
            Some(Ok(points)) => names::rows(points, self.step),
            _ => Vec::new(),
        };
        if let Some(mismatch) = self.mismatch_here() {
            self.rows.insert(0, Row::mismatch(&mismatch.what, mismatch.explained()));
        }
        self.list.set_len(self.rows.len());
        let again = selected.and_then(|name| self.rows.iter().position(|row| row.name == name));
        self.list.select(again.unwrap_or(0));
        self.follow();
    }

    fn follow(&mut self) {
        let row = self.list.selected().and_then(|index| self.rows.get(index));
        self.detail.open(row.map(Row::in_full).unwrap_or_default());
    }

    fn go(&mut self, step: u64, ctx: &Ctx<'_>) -> Outcome {
        let last = self.steps(ctx).last().map_or(0, |step| step.number);
        let step = step.min(last);
        if step == self.step {
            return Outcome::consumed();
        }
        self.step = step;
        let effects = self.ask_body(ctx);
        // What the step touched stands first.
        self.rows.clear();
        self.refresh();
        Outcome {
            consumed: true,
            effects,
        }
    }

    fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        use Action as A;
        match action {
            A::Parent | A::MoveLeft => return self.go(self.step.saturating_sub(1), ctx),
            A::FirstChild | A::MoveRight => return self.go(self.step.saturating_add(1), ctx),
            A::CodeUp => self.scroll(Part::Code, -1),
            A::CodeDown => self.scroll(Part::Code, 1),
            A::OutputUp => self.scroll(Part::Detail, -1),
            A::OutputDown => self.scroll(Part::Detail, 1),
            A::NextPane => {
                self.focus = match self.focus {
                    Part::Names => Part::Code,
                    Part::Code => Part::Detail,
                    Part::Detail => Part::Names,
                };
            }
            A::Diff => return Outcome::with(Effect::Push(Route::DiffWith { query: self.key })),
            A::Open => return self.open_step(ctx),
            A::Fork => {
                let (query, step) = (self.key, self.step);
                return Outcome::with(Effect::Push(Route::Fork { query, step }));
            }
            A::Replay => return self.run_again(ctx),
            A::Back | A::Interrupt if self.replays() => return self.stop_replay(),
            action => {
                let done = match (self.focus, action) {
                    (Part::Names, A::StepPrevious) => self.list.act(A::MoveUp),
                    (Part::Names, A::StepNext) => self.list.act(A::MoveDown),
                    (Part::Names, action) => self.list.act(action),
                    (Part::Code, action) => self.code.act(vertical(action)),
                    (Part::Detail, action) => self.detail.act(vertical(action)),
                };
                if self.focus == Part::Names && done {
                    self.follow();
                }
                return Outcome::taken(done);
            }
        }
        Outcome::consumed()
    }

    /// The step in its transcript.
    fn open_step(&self, ctx: &Ctx<'_>) -> Outcome {
        let Some(run) = self.query(ctx).map(|query| &query.run) else {
            return Outcome::consumed();
        };
        let place = run.roots.first().map(|agent| super::Place {
            agent: *agent,
            step: run
                .root()
                .and_then(|root| root.steps.iter().position(|step| step.number == self.step)),
        });
        Outcome::with(Effect::Replace(Route::Run {
            query: self.key,
            at: place,
        }))
    }

    fn scroll(&mut self, part: Part, rows: isize) {
        self.focus = part;
        match part {
            Part::Detail => self.detail.scroll(rows),
            Part::Names | Part::Code => self.code.scroll(rows),
        }
    }

    fn mouse(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Outcome {
        use crate::tui::input::MouseKind as K;
        let pressed = matches!(mouse.kind, K::Press | K::DoublePress);
        if let (true, Some((_, step))) = (pressed, self.strip.iter().find(|(area, _)| mouse.is_in(*area))) {
            return self.go(*step, ctx);
        }
        if self
            .list
            .mouse(mouse)
            .is_some_and(|event| !matches!(event, ListEvent::Scrolled))
        {
            self.focus = Part::Names;
            self.follow();
            return Outcome::consumed();
        }
        Outcome::taken(self.code.mouse(mouse) || self.detail.mouse(mouse))
    }
}

/// The code with what it printed below it, or the traceback that it ended with: colours of code stay where they are.
fn code_and_output(body: &Body) -> SafeText {
    let output = body.output.safe.as_str();
    match (body.code.is_empty(), output.trim().is_empty()) {
        (true, true) => return SafeText::literal("the model wrote no code"),
        (false, true) => return body.code.safe.clone(),
        (_, false) => {}
    }
    let (shown, _) = cut(output, OUTPUT);
    let more = if shown.len() < output.len() {
        "\n… Enter shows it all"
    } else {
        ""
    };
    SafeText::block(&format!("{}\n\n── output ──\n{shown}{more}", body.code.safe))
}

/// In a text, the keys of steps scroll.
fn vertical(action: Action) -> Action {
    match action {
        Action::StepPrevious => Action::MoveUp,
        Action::StepNext => Action::MoveDown,
        other => other,
    }
}

impl Screen for ScrubScreen {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        let effects = match input {
            Input::Opened => self.ask(ctx),
            Input::Answer(answer) => self.answer(answer, ctx),
            Input::Action(action) => return self.act(*action, ctx),
            Input::Mouse(mouse) => return self.mouse(*mouse, ctx),
            Input::Search(pattern) => {
                self.code.search(*pattern);
                self.detail.search(*pattern);
                Vec::new()
            }
            _ => return Outcome::ignored(),
        };
        Outcome {
            consumed: true,
            effects,
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        self.paint(area, buf, ctx);
    }

    fn context(&self) -> Context {
        Context::Run
    }

    fn title(&self, ctx: &Ctx<'_>) -> SafeText {
        let label = self
            .query(ctx)
            .map_or_else(String::new, |query| query.label.to_string());
        match self.step {
            0 => SafeText::line(&format!("{label} › before step 1")),
            step => SafeText::line(&format!("{label} › after step {step}")),
        }
    }

    fn here(&self) -> Here {
        here::SCRUB
    }

    fn run(&self) -> Option<QueryKey> {
        Some(self.key)
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        use Action as A;
        match self.replays() {
            true => vec![A::Interrupt, A::Open, A::NextPane],
            false => vec![
                A::Replay,
                A::Fork,
                A::Diff,
                A::Open,
                A::NextPane,
                A::Search,
                A::Copy,
                A::Back,
            ],
        }
    }

    fn focused(&self, _ctx: &Ctx<'_>) -> Option<Focused> {
        let row = self.list.selected().and_then(|index| self.rows.get(index));
        match self.focus {
            Part::Code => Some(Focused {
                texts: vec![self.body.as_ref()?.code.clone()],
                raw_shown: false,
                title: SafeText::line(&format!("code of step {}", self.step)),
                extension: "py",
            }),
            Part::Names | Part::Detail => Some(Focused {
                texts: vec![Text::new(row?.text.as_str())],
                raw_shown: false,
                title: SafeText::line(&row?.name),
                extension: "txt",
            }),
        }
    }
}

#[cfg(test)]
mod tests;
