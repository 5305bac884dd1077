//! With what a run is compared: another run of its session, or the session with another one.

use crate::source::{SessionSummary, list_sessions, list_stored};
use crate::text::{SafeText, fit, plural};
use crate::tui::action::{Action, Context};
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome, Token, Work};
use crate::tui::input::{Answer, Input, Reply};
use crate::tui::screens::{QueryKey, Route, Screen, Sides};
use crate::tui::theme::Role;
use crate::tui::widgets::{ListEvent, ListPane, Panel, Styled, popup_area};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::{Path, PathBuf};

/// Something to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    sides: Sides,
    name: String,
    words: String,
}

/// The popup.
#[derive(Debug)]
pub(in crate::tui::screens) struct ChooseScreen {
    query: QueryKey,
    choices: Vec<Choice>,
    list: ListPane,
    token: Token,
    /// Other sessions are still looked for.
    looking: bool,
}

impl ChooseScreen {
    /// What the run of `query` can be compared with.
    pub(in crate::tui::screens) fn new(query: QueryKey, ctx: &Ctx<'_>) -> Self {
        let mut screen = Self {
            query,
            choices: runs(query, ctx),
            list: ListPane::default(),
            token: Token::default(),
            looking: true,
        };
        screen.list.set_len(screen.choices.len());
        // Most often one asks what a second attempt did otherwise: the run before this one.
        let before = query.index(ctx.session).unwrap_or(0);
        screen.list.select(before.saturating_sub(1));
        screen
    }

    /// Looks for sessions beside this one.
    fn look(&mut self, ctx: &Ctx<'_>) -> Outcome {
        let own = PathBuf::from(&ctx.session.facts.dir);
        let token = self.token.next();
        let run = Box::new(move |stop: &_| Box::new(beside(&own, stop)) as Box<dyn std::any::Any + Send>);
        let name = "list sessions to compare with";
        Outcome::with(Effect::Work {
            token,
            work: Work { name, run },
        })
    }

    fn answer(&mut self, answer: &Answer) {
        if let (true, Ok(Reply::Worked(found))) = (answer.token == self.token, &answer.result)
            && let Some(sessions) = found.downcast_ref::<Vec<SessionSummary>>()
        {
            self.looking = false;
            self.choices.extend(sessions.iter().map(session));
            let selected = self.list.selected();
            self.list.set_len(self.choices.len());
            self.list.select(selected.unwrap_or(0));
        }
    }

    fn accept(&self, index: Option<usize>) -> Outcome {
        let Some(choice) = index.and_then(|index| self.choices.get(index)) else {
            return Outcome::consumed();
        };
        Outcome::with(Effect::Replace(Route::Diff(choice.sides.clone())))
    }
}

/// The other runs of the session.
fn runs(query: QueryKey, ctx: &Ctx<'_>) -> Vec<Choice> {
    let own = query.index(ctx.session);
    let others = ctx
        .session
        .queries
        .iter()
        .enumerate()
        .filter(|(index, _)| Some(*index) != own);
    others
        .map(|(_, other)| Choice {
            sides: Sides::Runs(query, QueryKey::of(other)),
            name: other.label.to_string(),
            words: other.text.clone(),
        })
        .collect()
}

fn session(summary: &SessionSummary) -> Choice {
    let queries = plural(u128::from(summary.queries), "query", "queries");
    let words = match &summary.parent {
        Some(parent) => format!("whole session, {queries}, forked from {parent}"),
        None => format!("whole session, {queries}"),
    };
    Choice {
        sides: Sides::Session(summary.path.clone()),
        name: summary.name.clone(),
        words,
    }
}

/// The sessions beside this one, and those that lie in it: forks of one that keeps its files in the storage directory
/// itself.
fn beside(own: &Path, stop: &crate::source::Stop) -> Vec<SessionSummary> {
    let Ok(own) = own.canonicalize() else {
        return Vec::new();
    };
    let mut found = list_sessions(&own, stop);
    if let Some(parent) = own.parent() {
        found.extend(list_stored(parent, stop));
    }
    found.retain(|summary| summary.health.is_session());
    found.retain(|summary| summary.path.canonicalize().is_ok_and(|path| path != own));
    found
}

impl Screen for ChooseScreen {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Opened => return self.look(ctx),
            Input::Answer(answer) => self.answer(answer),
            Input::Action(Action::Accept | Action::Open) => return self.accept(self.list.selected()),
            Input::Action(Action::Cancel | Action::Back | Action::Quit | Action::Interrupt) => {
                return Outcome::with(Effect::Pop);
            }
            Input::Action(Action::Suspend) => return Outcome::ignored(),
            Input::Action(action) => {
                self.list.act(*action);
            }
            Input::Mouse(mouse) => match self.list.mouse(*mouse) {
                Some(ListEvent::Opened(index) | ListEvent::Selected(index)) => return self.accept(Some(index)),
                Some(ListEvent::Scrolled) => {}
                None => return Outcome::ignored(),
            },
            _ => return Outcome::ignored(),
        }
        Outcome::consumed()
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let rows = u16::try_from(self.choices.len()).unwrap_or(u16::MAX).clamp(1, 16) + 2;
        let place = popup_area(area, 84, rows, buf, ctx);
        let own = self
            .query
            .find(ctx.session)
            .map_or_else(String::new, |query| query.label.to_string());
        let looking = if self.looking { "looking for sessions…" } else { "" };
        let inside = Panel::new(SafeText::line(&format!("Compare {own} with")), ctx)
            .aside(Styled::words(looking, ctx.style(Role::Dim)))
            .focused(true)
            .draw(place, buf, ctx);
        if self.choices.is_empty() && !self.looking {
            let words = "there is no other run here, and no other session beside this one";
            Styled::words(words, ctx.style(Role::Dim)).draw(inside, buf);
            return;
        }
        let choices = &self.choices;
        self.list.draw(inside, buf, ctx, true, |index, width| {
            choices
                .get(index)
                .map_or_else(Styled::new, |choice| row(choice, width, ctx))
        });
    }

    fn context(&self) -> Context {
        Context::Prompt
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::literal("compare with")
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        vec![
            Action::Accept,
            Action::SelectPrevious,
            Action::SelectNext,
            Action::Cancel,
        ]
    }

    fn is_popup(&self) -> bool {
        true
    }
}

fn row(choice: &Choice, width: usize, ctx: &Ctx<'_>) -> Styled {
    let name = SafeText::line(&choice.name);
    let words = SafeText::line(&choice.words);
    let column = 16.min(width / 3);
    Styled::words(" ", ctx.style(Role::Text))
        .then(SafeText::line(&fit(name.as_str(), column)), ctx.style(Role::Accent))
        .then(SafeText::literal("  "), ctx.style(Role::Text))
        .then(
            SafeText::line(&fit(words.as_str(), width.saturating_sub(column + 3))),
            ctx.style(Role::Text),
        )
}
