//! The transcript of a run: the tree of its agents and steps, what a step cost, its code and its output; and panes
//! over it for input, reasoning and final output.
//!
//! Bodies are read when looked at: [`show`](RunScreen::show) asks for what the selected place needs, and is called again
//! when it arrives. Drawing never waits.

mod bodies;
mod contents;
mod info;
mod keys;
mod layout;
mod over;
mod paint;
mod pane;
mod render;
mod seek;
mod touch;
mod tree;

use self::bodies::{Bodies, Reading};
use self::contents::Shown;
use self::layout::Areas;
use self::over::Over;
use self::pane::ContentPane;
use self::tree::Tree;
use super::{Matches, Place, QueryKey, Screen, here};
use crate::model::Query;
use crate::text::SafeText;
use crate::tui::action::{Action, Context, Here};
use crate::tui::body::Text;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Focused, Outcome, Token};
use crate::tui::input::{Answer, Input, Reply};
use crate::tui::pattern::Pattern;
use crate::tui::widgets::TextPane;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// A body that takes longer than this is said to be on its way.
const PATIENCE: Duration = Duration::from_millis(150);

/// The parts that can have the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Tree,
    Info,
    Code,
    Output,
}

/// The info part: a text that is made anew whenever it is drawn.
#[derive(Debug, Default)]
struct InfoPane {
    text: TextPane,
    /// Costs to the last digit.
    exact: bool,
}

/// The text of a query that its ledger has only the beginning of.
#[derive(Debug, Default)]
struct WholeQuery {
    asked: Option<Token>,
    text: Option<Text>,
}

/// The screen of one run.
#[derive(Debug)]
pub(super) struct RunScreen {
    key: QueryKey,
    at: Option<Place>,
    tree: Tree,
    info: InfoPane,
    code: ContentPane,
    output: ContentPane,
    over: Option<Over>,
    bodies: Bodies,
    whole: WholeQuery,
    token: Token,
    focus: Part,
    zoomed: bool,
    areas: Areas,
    pattern: Option<Pattern>,
    /// A text that is not in sight and has what is searched for.
    elsewhere: Option<(&'static str, Action)>,
    /// Since when what is selected is waited for.
    waiting: Option<Duration>,
    /// The panes show a step in flight.
    was_alive: bool,
}

impl RunScreen {
    /// The transcript of a query's run, at a place of it if one is given.
    pub(super) fn new(key: QueryKey, at: Option<Place>) -> Self {
        Self {
            key,
            at,
            tree: Tree::default(),
            info: InfoPane::default(),
            code: ContentPane::default(),
            output: ContentPane::default(),
            over: None,
            bodies: Bodies::default(),
            whole: WholeQuery::default(),
            token: Token::default(),
            focus: Part::Code,
            zoomed: false,
            areas: Areas::default(),
            pattern: None,
            elsewhere: None,
            waiting: None,
            was_alive: false,
        }
    }

    fn query<'a>(&self, ctx: &Ctx<'a>) -> Option<&'a Query> {
        self.key.find(ctx.session)
    }

    fn shown<'a>(&'a self, query: &'a Query) -> Shown<'a> {
        Shown {
            query,
            place: self.tree.place(),
            bodies: &self.bodies,
            whole: self.whole.text.as_ref(),
            live: None,
        }
    }

    /// Goes to a run, from its beginning or to a place of it.
    fn open(&mut self, key: QueryKey, at: Option<Place>, ctx: &Ctx<'_>) -> Vec<Effect> {
        self.key = key;
        self.bodies = Bodies::default();
        self.whole = WholeQuery::default();
        let Some(query) = self.query(ctx) else {
            return Vec::new();
        };
        self.tree = Tree::of(query, at);
        self.tree.search(self.pattern.as_ref(), &query.run);
        self.show(false, ctx)
    }

    /// The model has changed: what is selected stays so, and shows what is new of it.
    fn take_model(&mut self, ctx: &Ctx<'_>) -> Vec<Effect> {
        let Some(query) = self.query(ctx) else {
            return Vec::new();
        };
        self.key = QueryKey::of(query);
        let before = self.tree.place();
        let nothing_before = self.tree.rows().is_empty();
        if nothing_before {
            self.tree = Tree::of(query, self.at);
        } else {
            self.tree.take_run(&query.run);
        }
        self.show(before == self.tree.place(), ctx)
    }

    /// Puts what belongs to the selected place into the panes, as far as it was read, and asks for the rest. `same`
    /// says that the place is the one shown before: views stay where they are.
    fn show(&mut self, same: bool, ctx: &Ctx<'_>) -> Vec<Effect> {
        let Some(query) = self.query(ctx) else {
            return Vec::new();
        };
        let mut effects = self.ask(query, ctx);
        let shown = Shown {
            query,
            place: self.tree.place(),
            bodies: &self.bodies,
            whole: self.whole.text.as_ref(),
            live: ctx.session.live_of(query),
        };
        let alive = shown.in_flight().is_some();
        // What a step showed while it ran stays until its body was read.
        let wait = same && self.was_alive && !alive && shown.is_on_its_way();
        if !wait {
            effects.extend(self.code.show(shown.code(), same, &mut self.token));
            effects.extend(self.output.show(shown.output(), same, &mut self.token));
            self.was_alive = alive;
        }
        if alive && !same {
            self.code.follow();
            self.output.follow();
        }
        if let Some(over) = &mut self.over {
            effects.extend(over.show(&shown, same, &mut self.token));
        }
        self.note_elsewhere(ctx);
        effects
    }

    /// Asks for the bodies of the selected place, and for those beside it.
    fn ask(&mut self, query: &Query, ctx: &Ctx<'_>) -> Vec<Effect> {
        let input_shown = self.over.is_some();
        let needed = self.shown(query).needed(input_shown);
        let mut effects = Vec::new();
        if let (Some(log), None) = (self.shown(query).cut_in(input_shown), self.whole.asked) {
            let token = self.token.next();
            self.whole.asked = Some(token);
            effects.push(Effect::LoadQuery { token, log });
        }
        for (at, twin) in &needed {
            effects.extend(self.bodies.ask(*at, *twin, &mut self.token));
        }
        let waits = needed
            .iter()
            .any(|(at, _)| matches!(self.bodies.get(*at), Some(Reading::Asked)));
        if !effects.is_empty() {
            self.waiting = Some(ctx.now);
            effects.push(Effect::FrameAt(ctx.now + PATIENCE));
        } else if !waits {
            self.waiting = None;
        }
        for step in self.tree.neighbours(&query.run) {
            effects.extend(self.bodies.ask_ahead(step, &mut self.token));
        }
        let keep: Vec<_> = needed.iter().map(|(at, _)| *at).collect();
        self.bodies.trim(&keep);
        effects
    }

    fn answer(&mut self, answer: &Answer, ctx: &Ctx<'_>) -> Vec<Effect> {
        let token = answer.token;
        match &answer.result {
            Ok(Reply::Body(body)) => {
                if self.bodies.take(token, Ok(body.clone())) {
                    return self.show(true, ctx);
                }
            }
            Ok(Reply::Highlights(highlights)) => {
                let _ = self.panes().any(|pane| pane.highlighted(token, highlights));
            }
            Ok(Reply::Worked(result)) => {
                let _ = self.panes().any(|pane| pane.worked(token, result.as_ref()));
            }
            Ok(Reply::Query(text)) if self.whole.asked == Some(token) => {
                self.whole.text = text.clone();
                return self.show(true, ctx);
            }
            Ok(_) => (),
            Err(why) => {
                if self.bodies.take(token, Err(why.clone())) {
                    return self.show(true, ctx);
                }
            }
        }
        Vec::new()
    }

    fn panes(&mut self) -> impl Iterator<Item = &mut ContentPane> {
        let over = self.over.as_mut().map(|over| &mut over.pane);
        [&mut self.code, &mut self.output].into_iter().chain(over)
    }
}

impl Screen for RunScreen {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        let effects = match input {
            Input::Opened => self.open(self.key, self.at, ctx),
            Input::ModelChanged => self.take_model(ctx),
            Input::Answer(answer) => self.answer(answer, ctx),
            Input::Action(action) => return self.act(*action, ctx),
            Input::Mouse(mouse) => return self.touch(*mouse, ctx),
            Input::Search(pattern) => {
                self.search(*pattern, ctx);
                Vec::new()
            }
            Input::FoundIn(part) => self.found_in(*part, ctx),
            Input::Frame | Input::Resized | Input::Shown => Vec::new(),
            Input::Key(_) | Input::Paste(_) => return Outcome::ignored(),
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
        match self.query(ctx) {
            Some(query) => SafeText::line(&self.shown(query).title()),
            None => SafeText::literal("a run that is gone"),
        }
    }

    fn here(&self) -> Here {
        match self.over {
            Some(_) => here::PANE,
            None => here::RUN,
        }
    }

    fn run(&self) -> Option<QueryKey> {
        Some(self.key)
    }

    fn hints(&self, ctx: &Ctx<'_>) -> Vec<Action> {
        use Action as A;
        // An earlier one stays interrupted.
        let cut = ctx.session.cut().is_some_and(|query| QueryKey::of(query) == self.key);
        if self.over.is_some() {
            return vec![
                A::Back,
                A::Raw,
                A::Fold,
                A::Search,
                A::Copy,
                A::OpenExternally,
                A::Input,
                A::Reasoning,
                A::Final,
            ];
        }
        let resume = cut.then_some(A::Resume);
        let usual = [
            A::StepPrevious,
            A::StepNext,
            A::Input,
            A::Reasoning,
            A::Final,
            A::CodeUp,
            A::CodeDown,
            A::OutputUp,
            A::OutputDown,
            A::NextPane,
            A::Replay,
            A::Fork,
            A::Diff,
            A::RunPrevious,
            A::RunNext,
            A::Timeline,
            A::Fold,
            A::Raw,
            A::Help,
            A::Back,
        ];
        resume.into_iter().chain(usual).collect()
    }

    fn focused(&self, ctx: &Ctx<'_>) -> Option<Focused> {
        let query = self.query(ctx)?;
        let place = self.shown(query).title();
        let of = |name: &str, texts: Vec<Text>, raw_shown: bool, extension: &'static str| Focused {
            texts,
            raw_shown,
            title: SafeText::line(&format!("{name} of {place}")),
            extension,
        };
        if let Some(over) = &self.over {
            return Some(of(over.kind.name(), over.pane.recorded(), over.pane.is_raw(), "txt"));
        }
        Some(match self.focus {
            Part::Tree => of("tree", vec![Text::new(self.tree.text(&query.run))], false, "txt"),
            Part::Info => of("figures", vec![Text::new(self.info.text.text().as_str())], false, "txt"),
            Part::Code => of(
                self.shown(query).code_title(),
                self.code.recorded(),
                self.code.is_raw(),
                "py",
            ),
            Part::Output => of(
                self.shown(query).output_title(),
                self.output.recorded(),
                self.output.is_raw(),
                "txt",
            ),
        })
    }

    fn matches(&self) -> Option<Matches> {
        if let Some(over) = &self.over {
            return over.pane.matches();
        }
        let elsewhere = self.elsewhere;
        self.matches_in(self.focus)
            .map(|matches| Matches { elsewhere, ..matches })
    }
}

#[cfg(test)]
mod tests;
