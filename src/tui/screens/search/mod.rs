//! The session-wide search: a line to type in, and every text of the session that has it, grouped by run.
//!
//! Hits in what the model holds are there at once, those in transcripts come in batches while one reads. Enter opens the place; the search goes on behind it.

mod draw;
mod held;
mod hit;
mod places;
mod results;

pub use hit::Part as TextPart;
use hit::{Hit, Part, Spot};
use places::Places;

use super::{Route, Screen, here};
use crate::source::{self, Field};
use crate::text::SafeText;
use crate::tui::action::{Action, Context, Here};
use crate::tui::body::Text;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Focused, Outcome, Token};
use crate::tui::input::{Answer, Input, Mouse, MouseKind, Reply};
use crate::tui::pattern::Pattern;
use crate::tui::widgets::{LineEdit, ListEvent, ListPane};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use results::{Results, Row};
use std::time::Duration;

/// How long typing must rest before the search begins.
const REST: Duration = Duration::from_millis(50);

/// How the search stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing was searched for yet.
    #[default]
    Idle,
    /// It begins when typing has rested until then.
    Due(Duration),
    /// It runs.
    Running,
    /// Everything was looked through.
    Done,
    /// A person stopped it.
    Stopped,
}

/// The screen.
#[derive(Debug, Default)]
pub struct SearchScreen {
    line: LineEdit,
    /// Keys type into the line; else they move in the list.
    typing: bool,
    state: State,
    token: Token,
    results: Results,
    places: Places,
    list: ListPane,
    /// The selection was moved by hand: it stays on its hit.
    moved: bool,
    line_area: Rect,
    caret: Option<Position>,
}

impl SearchScreen {
    /// Searches for `pattern`, if there is one, and takes another in its place: what is typed first replaces it.
    pub fn new(pattern: &str) -> Self {
        Self {
            line: LineEdit::selected(pattern),
            typing: true,
            ..Self::default()
        }
    }

    /// Begins anew with what stands in the line.
    fn start(&mut self, ctx: &Ctx<'_>) -> Outcome {
        let mut outcome = Outcome::consumed();
        if self.state == State::Running {
            outcome = outcome.and(Effect::Cancel(self.token));
        }
        let token = self.token.next();
        (self.results, self.list, self.moved) = (Results::default(), ListPane::default(), false);
        let Some(pattern) = Pattern::new(self.line.text()) else {
            self.state = State::Idle;
            return outcome;
        };
        self.state = State::Running;
        outcome = outcome.and(Effect::Search {
            token,
            pattern: pattern.text().to_owned(),
        });
        self.take(held::hits(ctx.session, &pattern))
            .into_iter()
            .fold(outcome, Outcome::and)
    }

    fn typed(&mut self, ctx: &Ctx<'_>) -> Outcome {
        let due = ctx.now + REST;
        let running = self.state == State::Running;
        self.state = State::Due(due);
        let outcome = Outcome::with(Effect::FrameAt(due));
        if running {
            outcome.and(Effect::Cancel(self.token))
        } else {
            outcome
        }
    }

    fn stop(&mut self) -> Outcome {
        self.state = State::Stopped;
        Outcome::with(Effect::Cancel(self.token))
    }

    fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        use Action as A;
        match action {
            A::Accept | A::SelectNext | A::SelectPrevious => self.leave_line(ctx),
            A::Open => self.open(),
            A::Cancel if self.results.len() > 0 => {
                self.typing = false;
                Outcome::consumed()
            }
            A::Cancel => Outcome::with(Effect::Pop),
            A::Search | A::SearchSession => {
                if !self.typing {
                    self.line = LineEdit::selected(self.line.text());
                }
                self.typing = true;
                Outcome::consumed()
            }
            A::Interrupt if self.state == State::Running => self.stop(),
            A::SearchNext => Outcome::taken(self.step(Action::MoveDown)),
            A::SearchPrevious => Outcome::taken(self.step(Action::MoveUp)),
            action => {
                let moved = self.list.act(action);
                self.moved |= moved;
                Outcome::taken(moved)
            }
        }
    }

    /// From the line to the hits, of a search that begins now if it was to begin soon.
    fn leave_line(&mut self, ctx: &Ctx<'_>) -> Outcome {
        self.typing = self.line.text().is_empty();
        match self.state {
            State::Due(_) | State::Idle => self.start(ctx),
            State::Running | State::Done | State::Stopped => Outcome::consumed(),
        }
    }

    /// Moves to the next hit in a direction, past headings.
    fn step(&mut self, action: Action) -> bool {
        self.moved = true;
        let start = self.list.selected();
        loop {
            let before = self.list.selected();
            self.list.act(action);
            let now = self.list.selected();
            if now == before {
                start.into_iter().for_each(|row| self.list.select(row));
                return true;
            }
            if matches!(now.and_then(|row| self.results.row(row)), Some(Row::Hit(_))) {
                return true;
            }
        }
    }

    fn open(&mut self) -> Outcome {
        self.typing = false;
        let Some(row) = self.list.selected() else {
            return Outcome::consumed();
        };
        let route = match (self.results.row(row), self.results.hit_of(row).map(|hit| &hit.spot)) {
            (Some(Row::Hit(_)), Some(Spot::Run { query, place, .. })) => Route::Run {
                query: *query,
                at: *place,
            },
            (Some(Row::Hit(_)), Some(Spot::Memory { name })) => Route::Memory {
                name: Some(name.clone()),
            },
            (Some(Row::Memory(_)), _) => Route::Memory { name: None },
            _ => match self.results.run_of(row) {
                Some(query) => Route::Run { query, at: None },
                None => return Outcome::consumed(),
            },
        };
        let hit = self.results.hit_of(row).map(|hit| hit.part);
        let part = hit.filter(|_| matches!(self.results.row(row), Some(Row::Hit(_))));
        let found = Pattern::new(self.line.text()).map(|pattern| Effect::SearchOn(pattern, part));
        found.into_iter().fold(Outcome::with(Effect::Push(route)), Outcome::and)
    }

    fn mouse(&mut self, mouse: Mouse) -> Outcome {
        if mouse.kind == MouseKind::Press && mouse.is_in(self.line_area) {
            self.typing = true;
            return Outcome::consumed();
        }
        match self.list.mouse(mouse) {
            Some(ListEvent::Opened(_)) => self.open(),
            Some(ListEvent::Selected(_)) => {
                (self.moved, self.typing) = (true, false);
                Outcome::consumed()
            }
            Some(ListEvent::Scrolled) => Outcome::consumed(),
            None => Outcome::ignored(),
        }
    }

    fn answer(&mut self, answer: &Answer, ctx: &Ctx<'_>) -> Outcome {
        if answer.token != self.token || self.state != State::Running {
            return Outcome::ignored();
        }
        match &answer.result {
            Ok(Reply::Hits { hits, done }) => {
                let hits = hits.iter().filter_map(|hit| self.hit(hit, ctx)).collect();
                if *done {
                    self.state = State::Done;
                }
                self.take(hits).into_iter().fold(Outcome::consumed(), Outcome::and)
            }
            Ok(_) => Outcome::ignored(),
            Err(_) => {
                self.state = State::Stopped;
                Outcome::consumed()
            }
        }
    }

    /// A transcript's hit with its place; `None` when the line is no step (its FINAL is in the model too).
    fn hit(&mut self, hit: &source::Hit, ctx: &Ctx<'_>) -> Option<Hit> {
        let part = match hit.field {
            Field::Code => Part::Code,
            Field::Output => Part::Output,
            Field::Reasoning => Part::Reasoning,
            Field::Result => return None,
        };
        let (spot, title) = self.places.at(ctx.session, hit.at)?;
        Some(Hit::at(
            spot.clone(),
            part,
            title,
            &hit.snippet,
            hit.matched.clone(),
            hit.count,
        ))
    }

    /// Takes more hits; the selection stays on its hit, or on the first one until it is moved. A full list ends the
    /// search.
    fn take(&mut self, hits: Vec<Hit>) -> Option<Effect> {
        let selected = self.list.selected().and_then(|row| self.results.hit_of(row)).cloned();
        self.results.add(hits);
        self.list.set_len(self.results.rows().len());
        let kept = selected
            .filter(|_| self.moved)
            .and_then(|hit| self.results.row_of(&hit));
        self.list.select(kept.unwrap_or(1));
        let full = self.results.is_full() && self.state == State::Running;
        full.then(|| {
            self.state = State::Done;
            Effect::Cancel(self.token)
        })
    }
}

impl Screen for SearchScreen {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Opened if !self.line.text().is_empty() => self.start(ctx),
            Input::Opened => Outcome::consumed(),
            Input::Action(action) => self.act(*action, ctx),
            Input::Key(key) if self.typing && self.line.key(*key) => self.typed(ctx),
            Input::Paste(text) if self.typing => {
                self.line.insert(text);
                self.typed(ctx)
            }
            Input::Frame => match self.state {
                State::Due(due) if ctx.now >= due => self.start(ctx),
                _ => Outcome::ignored(),
            },
            Input::Mouse(mouse) => self.mouse(*mouse),
            Input::Answer(answer) => self.answer(answer, ctx),
            Input::ModelChanged => {
                self.places = Places::default();
                Outcome::consumed()
            }
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        self.paint(area, buf, ctx);
    }

    fn context(&self) -> Context {
        if self.typing {
            Context::Prompt
        } else {
            Context::Everywhere
        }
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::literal("search")
    }

    fn here(&self) -> Here {
        match self.typing {
            true => here::SEARCH_LINE,
            false => here::HITS,
        }
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        use Action as A;
        if self.typing {
            return vec![A::Accept, A::SelectNext, A::Cancel];
        }
        vec![
            A::Open,
            A::SearchNext,
            A::SearchPrevious,
            A::SearchSession,
            A::Copy,
            A::Back,
        ]
    }

    fn focused(&self, _ctx: &Ctx<'_>) -> Option<Focused> {
        let hit = self.results.hit_of(self.list.selected()?)?;
        let line = format!("{}{}{}", hit.before, hit.found, hit.after);
        Some(Focused {
            texts: vec![Text::new(line)],
            raw_shown: false,
            title: SafeText::line(&format!("hit in {}", hit.title)),
            extension: "txt",
        })
    }

    fn cursor(&self) -> Option<Position> {
        self.caret.filter(|_| self.typing)
    }
}

#[cfg(test)]
mod tests;
