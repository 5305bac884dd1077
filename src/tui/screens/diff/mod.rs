//! Two runs or sessions side by side: the steps of both in one list, aligned by their code, and the texts of the
//! selected row face to face. What each differs in is said in words.

mod choose;
mod facing;
mod rows;

pub(super) use choose::ChooseScreen;

use self::facing::Facing;
use super::split::indented;
use super::{Screen, Sides, here};
use crate::model::DiffRow;
use crate::source::Comparison;
use crate::text::{SafeText, plural};
use crate::tui::action::{Action, Here};
use crate::tui::body::Text;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Focused, Outcome, Token};
use crate::tui::input::{Answer, Input, Mouse, Reply};
use crate::tui::theme::Role;
use crate::tui::widgets::{ListEvent, ListPane, Panel, Styled, TextPane};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// Rows of the list, at most, before the texts get the rest.
const LIST_ROWS: u16 = 14;

/// A width to wrap for before the panes were drawn.
const FIRST_WIDTH: usize = 80;

/// The part that has the focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// The list of rows.
    #[default]
    List,
    /// The left text.
    Left,
    /// The right text.
    Right,
}

/// The screen.
#[derive(Debug)]
pub(super) struct DiffScreen {
    sides: Sides,
    token: Token,
    found: Option<Result<Arc<Comparison>, SafeText>>,
    list: ListPane,
    shown: Option<usize>,
    /// The texts of the row that is shown, and the width that the panes have them for.
    facing: Facing,
    width: usize,
    one: TextPane,
    other: TextPane,
    focus: Part,
}

impl DiffScreen {
    /// The screen that compares them.
    pub(super) fn new(sides: Sides) -> Self {
        let pane = || {
            let mut pane = TextPane::default();
            // Lines come wrapped: rows face each other only where both sides of one take as many.
            pane.set_wrap(false);
            pane
        };
        Self {
            sides,
            token: Token::default(),
            found: None,
            list: ListPane::default(),
            shown: None,
            facing: Facing::default(),
            width: 0,
            one: pane(),
            other: pane(),
            focus: Part::default(),
        }
    }

    fn comparison(&self) -> Option<&Arc<Comparison>> {
        self.found.as_ref()?.as_ref().ok()
    }

    fn ask(&mut self) -> Outcome {
        let token = self.token.next();
        Outcome::with(Effect::Compare {
            token,
            sides: self.sides.clone(),
        })
    }

    fn answer(&mut self, answer: &Answer) {
        if answer.token != self.token {
            return;
        }
        self.found = match &answer.result {
            Ok(Reply::Compared(comparison)) => {
                self.list.set_len(comparison.diff.rows.len());
                self.list.select(comparison.diff.first_difference().unwrap_or(0));
                Some(Ok(comparison.clone()))
            }
            Ok(_) => return,
            Err(why) => Some(Err(why.clone())),
        };
        self.shown = None;
        self.follow();
    }

    /// Shows the texts of the selected row.
    fn follow(&mut self) {
        let selected = self.list.selected();
        if selected == self.shown {
            return;
        }
        let texts = self.comparison().zip(selected).and_then(|(comparison, index)| {
            let row = comparison.diff.rows.get(index)?;
            Some(rows::texts(comparison, row))
        });
        if let Some(facing) = texts {
            self.facing = facing;
            self.print(false);
        }
        self.shown = selected;
    }

    /// Puts the texts into the panes, from their start or, the `same` ones at another width, from where the view is.
    fn print(&mut self, same: bool) {
        let (left, right) = self
            .facing
            .ready(if self.width == 0 { FIRST_WIDTH } else { self.width });
        for (pane, (text, highlights)) in [(&mut self.one, left), (&mut self.other, right)] {
            match same {
                true => pane.update(text),
                false => pane.open(text),
            }
            pane.set_highlights(pane.generation(), highlights);
        }
    }

    /// Wraps the texts anew when the narrower of the panes has another width.
    fn fit(&mut self, half: u16) {
        let inside = indented(Rect::new(0, 0, half.saturating_sub(2), 1));
        let width = usize::from(self.one.text_width(inside).min(self.other.text_width(inside))).max(1);
        if std::mem::replace(&mut self.width, width) != width {
            self.print(true);
        }
    }

    fn act(&mut self, action: Action) -> Outcome {
        let done = match (action, self.focus) {
            // Lines are wrapped always: there is nothing beside them.
            (Action::Wrap | Action::MoveLeft | Action::MoveRight, _) => false,
            (Action::NextPane, _) => {
                self.focus = match self.focus {
                    Part::List => Part::Left,
                    Part::Left => Part::Right,
                    Part::Right => Part::List,
                };
                true
            }
            (Action::SearchNext, _) => self.go_to_difference(true),
            (Action::SearchPrevious, _) => self.go_to_difference(false),
            (Action::Open, Part::List) => {
                self.focus = Part::Left;
                true
            }
            (Action::Back, Part::Left | Part::Right) => {
                self.focus = Part::List;
                true
            }
            (action, Part::List) => self.list.act(action),
            // The texts face each other: they scroll together.
            (action, Part::Left | Part::Right) => {
                let (one, other) = (self.one.act(action), self.other.act(action));
                one || other
            }
        };
        self.follow();
        Outcome::taken(done)
    }

    /// Goes to the next row that differs, or the one before; past the end it begins again.
    fn go_to_difference(&mut self, forward: bool) -> bool {
        let Some(comparison) = self.comparison() else {
            return false;
        };
        let now = self.list.selected().unwrap_or(0);
        let rows = comparison.diff.rows.iter().enumerate();
        let mut found: Vec<usize> = rows
            .filter(|(_, row)| !matches!(row, DiffRow::Same { .. }))
            .map(|(index, _)| index)
            .collect();
        if !forward {
            found.reverse();
        }
        let ahead = |index: &&usize| if forward { **index > now } else { **index < now };
        let Some(next) = found.iter().find(ahead).or(found.first()).copied() else {
            return false;
        };
        self.list.select(next);
        true
    }

    fn mouse(&mut self, mouse: Mouse) -> Outcome {
        match self.list.mouse(mouse) {
            Some(ListEvent::Opened(_)) => self.focus = Part::Left,
            Some(ListEvent::Selected(_) | ListEvent::Scrolled) => self.focus = Part::List,
            None => {
                let (one, other) = (mouse.is_in(self.one.area()), mouse.is_in(self.other.area()));
                if !one && !other {
                    return Outcome::ignored();
                }
                self.focus = if one { Part::Left } else { Part::Right };
                self.one.mouse(aimed(mouse, self.one.area()));
                self.other.mouse(aimed(mouse, self.other.area()));
            }
        }
        self.follow();
        Outcome::consumed()
    }

    fn draw_list(&mut self, area: Rect, comparison: &Comparison, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let focused = self.focus == Part::List;
        let title = SafeText::line(&comparison.verdict());
        let inside = Panel::new(title, ctx)
            .aside(Styled::of(SafeText::line(&self.count()), ctx.style(Role::Dim)))
            .focused(focused)
            .draw(area, buf, ctx);
        self.list.draw(inside, buf, ctx, focused, |index, width| {
            let row = comparison.diff.rows.get(index);
            row.map_or_else(Styled::new, |row| rows::row(comparison, row, width, ctx))
        });
    }

    fn draw_texts(&mut self, area: Rect, comparison: &Comparison, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let half = area.width / 2;
        let left = Rect { width: half, ..area };
        let right = Rect {
            x: area.x + half,
            width: area.width - half,
            ..area
        };
        self.fit(half);
        let row = self.shown.and_then(|index| comparison.diff.rows.get(index));
        let (one, other) = row.map_or((None, None), |row| rows::sides(comparison, row));
        let sides = [
            (left, &comparison.left.name, one, &mut self.one, Part::Left),
            (right, &comparison.right.name, other, &mut self.other, Part::Right),
        ];
        for (area, side, step, pane, part) in sides {
            let title = match step {
                Some(step) if step.name.starts_with(side.as_str()) => step.name.clone(),
                Some(step) => format!("{side} {}", step.name),
                None => format!("{side}: no such step"),
            };
            let inside = Panel::new(SafeText::line(&title), ctx)
                .focused(self.focus == part)
                .draw(area, buf, ctx);
            pane.draw(indented(inside), buf, ctx);
        }
    }

    fn count(&self) -> String {
        plural(self.list.len() as u128, "row", "rows")
    }
}

/// The same event, at the same place of another pane: texts that face each other scroll together.
fn aimed(mouse: Mouse, area: Rect) -> Mouse {
    if mouse.is_in(area) {
        return mouse;
    }
    Mouse {
        at: ratatui::layout::Position::new(area.x, area.y),
        ..mouse
    }
}

impl Screen for DiffScreen {
    fn update(&mut self, input: &Input<'_>, _ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Opened => self.ask(),
            Input::Answer(answer) => {
                self.answer(answer);
                Outcome::consumed()
            }
            Input::Action(action) => self.act(*action),
            Input::Mouse(mouse) => self.mouse(*mouse),
            Input::Search(pattern) => {
                self.one.search(*pattern);
                self.other.search(*pattern);
                Outcome::consumed()
            }
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let comparison = match &self.found {
            Some(Ok(comparison)) => comparison.clone(),
            Some(Err(why)) => return say(why, Role::Failure, area, buf, ctx),
            None => return say(&SafeText::literal("reading both runs…"), Role::Dim, area, buf, ctx),
        };
        let rows = u16::try_from(self.list.len()).unwrap_or(LIST_ROWS).clamp(1, LIST_ROWS) + 2;
        let height = rows.min(area.height / 2).max(area.height.min(3));
        let list = Rect { height, ..area };
        let texts = Rect {
            y: area.y + height,
            height: area.height - height,
            ..area
        };
        self.draw_list(list, &comparison, buf, ctx);
        self.draw_texts(texts, &comparison, buf, ctx);
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        match self.comparison() {
            Some(comparison) => SafeText::line(&format!("{} against {}", comparison.left.name, comparison.right.name)),
            None => SafeText::literal("compare"),
        }
    }

    fn here(&self) -> Here {
        here::DIFF
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        use Action as A;
        vec![
            A::MoveDown,
            A::SearchNext,
            A::SearchPrevious,
            A::NextPane,
            A::Search,
            A::Copy,
            A::Back,
        ]
    }

    fn focused(&self, _ctx: &Ctx<'_>) -> Option<Focused> {
        let comparison = self.comparison()?;
        let row = comparison.diff.rows.get(self.list.selected()?)?;
        let (left, right) = rows::sides(comparison, row);
        let (text, title) = match self.focus {
            Part::List => (comparison.verdict(), SafeText::literal("the verdict")),
            Part::Left => (left?.code.clone(), SafeText::line(&format!("code of {}", left?.name))),
            Part::Right => (right?.code.clone(), SafeText::line(&format!("code of {}", right?.name))),
        };
        Some(Focused {
            texts: vec![Text::new(text)],
            raw_shown: false,
            title,
            extension: if self.focus == Part::List { "txt" } else { "py" },
        })
    }
}

/// One line in the middle.
fn say(words: &SafeText, role: Role, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
    let row = Rect {
        y: area.y + area.height / 2,
        height: area.height.min(1),
        ..area
    };
    Styled::of(words.clone(), ctx.style(role)).draw_centred(row, buf);
}

#[cfg(test)]
mod tests;
