//! The problems screen: everything damaged or odd that was found, with its place and what was done about it.

mod place;
mod table;

use super::list_search::ListSearch;
use super::split::{Split, Title, indented};
use super::{Matches, Screen, here};
use crate::model::Problem;
use crate::text::{SafeText, plural};
use crate::tui::action::{Action, Here};
use crate::tui::body::Text;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Focused, Outcome};
use crate::tui::input::{Input, Mouse};
use crate::tui::notice::Notice;
use crate::tui::theme::Role;
use crate::tui::widgets::{ListEvent, ListPane, Styled, TextPane};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Rows of the pane that shows the selected problem in full.
const DETAIL_ROWS: u16 = 4;

/// The problems of the session.
#[derive(Debug, Default)]
pub(super) struct ProblemsScreen {
    list: ListPane,
    detail: TextPane,
    selected: Option<Problem>,
    search: ListSearch,
    columns: table::Columns,
}

impl ProblemsScreen {
    /// The screen, with the first problem selected.
    pub(super) fn new(ctx: &Ctx<'_>) -> Self {
        let mut screen = Self::default();
        screen.refresh(ctx);
        screen
    }

    fn problem<'a>(&self, ctx: &Ctx<'a>) -> Option<&'a Problem> {
        ctx.session.problems.get(self.list.selected()?)
    }

    /// The problems changed: the selection follows its own.
    fn refresh(&mut self, ctx: &Ctx<'_>) {
        let problems = &ctx.session.problems;
        self.list.set_len(problems.len());
        self.columns = table::Columns::of(ctx.session);
        self.search
            .refresh(problems.len(), |pattern, row| table::matches(ctx.session, pattern, row));
        if let Some(index) = problems
            .iter()
            .position(|problem| Some(problem) == self.selected.as_ref())
        {
            self.list.select(index);
        }
        self.follow(ctx);
    }

    fn follow(&mut self, ctx: &Ctx<'_>) {
        let problem = self.problem(ctx);
        if problem != self.selected.as_ref() || self.detail.text().as_str().is_empty() {
            self.detail.open(
                problem
                    .map(|problem| table::in_full(problem, ctx.session))
                    .unwrap_or_default(),
            );
            self.selected = problem.cloned();
        }
    }

    fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        let searched = match action {
            Action::Open => return self.open(ctx),
            Action::SearchNext => self.search.advance(true, self.list.selected()),
            Action::SearchPrevious => self.search.advance(false, self.list.selected()),
            _ if self.list.act(action) => self.list.selected(),
            _ => return Outcome::ignored(),
        };
        if let Some(index) = searched {
            self.list.select(index);
        }
        self.follow(ctx);
        Outcome::consumed()
    }

    /// Goes to the step whose line is meant.
    fn open(&self, ctx: &Ctx<'_>) -> Outcome {
        let Some(problem) = self.problem(ctx) else {
            return Outcome::consumed();
        };
        match place::route_to(problem, ctx.session) {
            Some(route) => Outcome::with(Effect::Push(route)),
            None => Outcome::with(Effect::Notice(Notice::info("this problem belongs to no run"))),
        }
    }

    fn mouse(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Outcome {
        match self.list.mouse(mouse) {
            Some(ListEvent::Opened(_)) => return self.open(ctx),
            Some(ListEvent::Selected(_)) => self.follow(ctx),
            Some(ListEvent::Scrolled) => {}
            None => return Outcome::taken(self.detail.mouse(mouse)),
        }
        Outcome::consumed()
    }
}

impl Screen for ProblemsScreen {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Action(action) => self.act(*action, ctx),
            Input::Mouse(mouse) => self.mouse(*mouse, ctx),
            Input::ModelChanged => {
                self.refresh(ctx);
                Outcome::consumed()
            }
            Input::Search(pattern) => {
                let len = ctx.session.problems.len();
                let matching = |pattern: &_, row| table::matches(ctx.session, pattern, row);
                if let Some(index) = self.search.set(*pattern, len, self.list.selected(), matching) {
                    self.list.select(index);
                }
                self.detail.search(*pattern);
                self.follow(ctx);
                Outcome::consumed()
            }
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        if self.list.is_empty() {
            return table::draw_empty(area, buf, ctx);
        }
        let split = Split::above(area, DETAIL_ROWS);
        let title = Title {
            text: SafeText::literal("Problems"),
            aside: Styled::of(SafeText::line(&self.count()), ctx.style(Role::Dim)),
        };
        let inside = split.frame(split.list, title, true, buf, ctx);
        let head = Rect {
            height: inside.height.min(1),
            ..inside
        };
        let rows = Rect {
            y: inside.y + head.height,
            height: inside.height - head.height,
            ..inside
        };
        let layout = self.columns.layout(usize::from(inside.width.saturating_sub(1)));
        layout.head(ctx).draw(head, buf);
        self.list.draw(rows, buf, ctx, true, |index, _| {
            let problem = ctx.session.problems.get(index);
            problem.map_or_else(Styled::new, |problem| layout.row(problem, ctx))
        });
        let title = Title {
            text: SafeText::literal("In full"),
            aside: Styled::new(),
        };
        let inside = split.frame(split.detail, title, false, buf, ctx);
        self.detail.draw(indented(inside), buf, ctx);
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::line(&self.count())
    }

    fn here(&self) -> Here {
        here::PROBLEMS
    }

    fn hints(&self, ctx: &Ctx<'_>) -> Vec<Action> {
        let opens = self
            .problem(ctx)
            .is_some_and(|problem| place::route_to(problem, ctx.session).is_some());
        let open = opens.then_some(Action::Open);
        open.into_iter()
            .chain([Action::MoveDown, Action::Search, Action::Copy, Action::Back])
            .collect()
    }

    fn focused(&self, ctx: &Ctx<'_>) -> Option<Focused> {
        let problem = self.problem(ctx)?;
        Some(Focused {
            texts: vec![Text::new(table::in_full(problem, ctx.session).as_str())],
            raw_shown: false,
            title: SafeText::literal("problem"),
            extension: "txt",
        })
    }

    fn matches(&self) -> Option<Matches> {
        self.search.matches(self.list.selected())
    }
}

impl ProblemsScreen {
    fn count(&self) -> String {
        match self.list.len() {
            0 => "no problems in files".into(),
            len => plural(len as u128, "problem", "problems"),
        }
    }
}

#[cfg(test)]
mod tests;
