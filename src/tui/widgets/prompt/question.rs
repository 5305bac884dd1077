//! A question of a run, and how it is answered: by an option (arrows, its number, its first letters), or, where that
//! is allowed, by a text of one's own. With a text of one's own all letters and digits type.

use super::field::{Field, Keyed};
use super::letters::Letters;
use super::wording::Wording;
use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use crate::tui::input::Mouse;
use crate::tui::theme::Role;
use crate::tui::widgets::{ListEvent, ListPane, Styled};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// `Enter` counts only this long after a question came up: it may have been meant for the draft.
const CONSIDER: Duration = Duration::from_millis(600);

/// Something that a run wants to know. All texts are raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The caller's own; comes back with the answer.
    pub id: u64,
    /// Who asks: `Q3 asks`.
    pub label: String,
    /// The question.
    pub text: String,
    /// Answers to choose from; may be empty.
    pub options: Vec<String>,
    /// Other answers are taken, too; always so where there are no options.
    pub free: bool,
}

/// A question that is being answered.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    question: Question,
    list: ListPane,
    /// An option is chosen, and not the text. At first nothing is: a key that was meant for something else must not
    /// answer.
    chosen: bool,
    field: Field,
    wording: Wording,
    /// What was typed to choose an option.
    letters: Letters,
    since: Duration,
}

impl Asked {
    pub(super) fn new(question: Question, now: Duration) -> Self {
        Self {
            list: ListPane::new(question.options.len()),
            wording: Wording::of(&question.text),
            question,
            chosen: false,
            field: Field::default(),
            letters: Letters::default(),
            since: now,
        }
    }

    pub(super) fn question(&self) -> &Question {
        &self.question
    }

    /// Whether an answer may be typed.
    pub(super) fn is_free(&self) -> bool {
        self.question.free || self.question.options.is_empty()
    }

    /// The text that is typed, where it can be.
    pub(super) fn field(&mut self) -> Option<&mut Field> {
        self.is_free().then_some(&mut self.field)
    }

    /// Types a character into the text, where there is one; false when it is full.
    pub(super) fn type_char(&mut self, c: char, now: Duration) -> bool {
        if !self.is_free() {
            return true;
        }
        self.chosen = false;
        self.field.type_char(c, now)
    }

    /// Types a line break, as [`Field::break_line`] does.
    pub(super) fn break_line(&mut self, returned: bool, now: Duration) -> bool {
        if !self.is_free() {
            return true;
        }
        self.chosen = false;
        self.field.break_line(returned, now)
    }

    /// Empties the text, to be undone; `false` when it is empty.
    pub(super) fn clear(&mut self) -> bool {
        let written = !self.field.content().is_empty();
        self.field.editor().replace_all(super::content::Content::default());
        written
    }

    /// The answer as it stands, or why there is none yet.
    pub(super) fn answer(&mut self, now: Duration) -> Result<String, &'static str> {
        self.field.flush();
        if now < self.since + CONSIDER {
            return Err("a question has just come up: Enter answers it");
        }
        let option = self.list.selected().and_then(|index| self.question.options.get(index));
        match option.filter(|_| self.chosen) {
            Some(option) => Ok(option.clone()),
            None if !self.is_free() && !self.letters.as_str().is_empty() => {
                Err("that is none of the options: choose one of them")
            }
            None if !self.is_free() => Err("choose one of the options"),
            None if self.field.content().text().trim().is_empty() => Err("type an answer, or choose one"),
            None => Ok(self.field.content().plain()),
        }
    }

    /// Takes a key.
    pub(super) fn key(&mut self, key: KeyEvent, now: Duration) -> Keyed {
        match key.code {
            KeyCode::Up | KeyCode::Down if !self.question.options.is_empty() => self.go(key, now),
            KeyCode::Backspace if !self.is_free() => {
                self.letters.pop();
                self.choose_by_letters();
            }
            KeyCode::Char(c) if !self.is_free() && !key.modifiers.contains(KeyModifiers::CONTROL) => {
                self.letters.push(c);
                self.choose_by_letters();
            }
            _ if self.is_free() => {
                self.chosen = false;
                return self.field.key(key, now);
            }
            _ => return Keyed::Ignored,
        }
        Keyed::Taken
    }

    /// Through the options; the text is behind the last one.
    fn go(&mut self, key: KeyEvent, now: Duration) {
        let down = key.code == KeyCode::Down;
        let (at, last) = (self.list.selected().unwrap_or(0), self.list.len().saturating_sub(1));
        match (self.chosen, down) {
            (false, true) if !self.is_free() => self.choose(0),
            (false, false) if !self.is_free() => self.choose(last),
            (false, true) => drop(self.field.key(key, now)),
            (false, false) if self.field.key(key, now) == Keyed::AtTop => self.choose(last),
            (false, false) => {}
            (true, true) if at == last && self.is_free() => self.chosen = false,
            (true, true) => self.choose((at + 1).min(last)),
            (true, false) => self.choose(at.saturating_sub(1)),
        }
    }

    fn choose(&mut self, index: usize) {
        self.chosen = true;
        self.letters.clear();
        self.list.select(index);
    }

    fn choose_by_letters(&mut self) {
        let choice = self.letters.choice(&self.question.options);
        self.chosen = choice.is_some();
        if let Some(index) = choice {
            self.list.select(index);
        }
    }

    /// Pages through the question; `false` when all of it is in sight.
    pub(super) fn page(&mut self, down: bool) -> bool {
        self.wording.page(down)
    }

    /// What was typed and begins no option.
    fn stray(&self) -> Option<&str> {
        Some(self.letters.as_str()).filter(|typed| !self.chosen && !typed.is_empty())
    }

    /// What the mouse did.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> bool {
        match self.list.mouse(mouse) {
            Some(ListEvent::Selected(index) | ListEvent::Opened(index)) => self.choose(index),
            Some(ListEvent::Scrolled) => {}
            None if self.is_free() && self.field.mouse(mouse) => self.chosen = false,
            None => return false,
        }
        true
    }

    /// Rows it would like.
    pub(super) fn height(&mut self, width: u16) -> usize {
        let field = if self.is_free() { self.field.height(width) } else { 0 };
        self.wording.height(width) + self.question.options.len() + field + usize::from(self.stray().is_some())
    }

    /// Paints question, options and text; returns the caret's cell. The question and its options share the room that the
    /// text leaves, each at least half of it where both want more.
    pub(super) fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, focused: bool) -> Option<Position> {
        let below = match self.is_free() {
            true => rows(self.field.height(area.width)).clamp(1, (area.height / 2).max(1)),
            false => u16::from(self.stray().is_some()),
        };
        let room = area.height.saturating_sub(below);
        let (words, options) = (rows(self.wording.height(area.width)), rows(self.list.len()));
        let asked = words.min(room.saturating_sub(options.min(room.div_ceil(2))));
        let listed = options.min(room - asked);
        self.wording.draw(Rect { height: asked, ..area }, buf, ctx);
        let list = Rect {
            y: area.y + asked,
            height: listed,
            ..area
        };
        self.draw_options(list, buf, ctx, focused);
        let last = Rect {
            y: list.bottom(),
            height: area.bottom().saturating_sub(list.bottom()).min(below),
            ..area
        };
        if let Some(typed) = self.stray() {
            let words = format!("{typed}: none of the options");
            Styled::of(SafeText::line(&words), ctx.style(Role::Failure)).draw(last, buf);
        }
        let caret = self.field.draw(last, buf, ctx).filter(|_| self.is_free() && focused);
        caret.filter(|_| !self.chosen)
    }

    fn draw_options(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, focused: bool) {
        if area.is_empty() || self.list.is_empty() {
            return;
        }
        let (options, chosen) = (
            &self.question.options,
            self.chosen.then(|| self.list.selected()).flatten(),
        );
        let item = |index: usize, _| {
            let mark = if chosen == Some(index) {
                ctx.glyphs().pointer
            } else {
                " "
            };
            let number = format!("{mark} {} ", index + 1);
            let text = options.get(index).map_or("", String::as_str);
            Styled::of(SafeText::line(&number), ctx.style(Role::Key)).then(SafeText::line(text), ctx.style(Role::Text))
        };
        self.list.draw(area, buf, ctx, focused && self.chosen, item);
    }
}

fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Duration = Duration::from_secs(9);

    fn asked(options: &[&str], free: bool) -> Asked {
        let question = Question {
            id: 7,
            label: "Q3 asks".into(),
            text: "Which one?".into(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            free,
        };
        Asked::new(question, Duration::ZERO)
    }

    fn press(asked: &mut Asked, keys: &[KeyCode]) -> Result<String, &'static str> {
        for (n, key) in keys.iter().enumerate() {
            asked.key(KeyEvent::from(*key), Duration::from_millis(1000 + 200 * n as u64));
        }
        asked.answer(LATER)
    }

    #[test]
    fn options_are_chosen_by_arrows_numbers_and_first_letters() {
        use KeyCode::{Backspace, Char, Down, Up};
        let options = ["yes", "no", "not now", "42"];
        for (keys, chosen) in [
            (&[Down][..], "yes"),
            (&[Down, Down], "no"),
            (&[Up], "42"),
            (&[Char('3')], "not now"),
            (&[Char('4')], "42"),
            (&[Char('n')], "no"),
            (&[Char('N'), Char('O'), Char('T')], "not now"),
            (&[Char('y'), Char('x'), Backspace], "yes"),
        ] {
            assert_eq!(
                press(&mut asked(&options, false), keys).as_deref(),
                Ok(chosen),
                "{keys:?}"
            );
        }
    }

    #[test]
    fn nothing_is_chosen_at_first_and_only_options_count_where_nothing_is_free() {
        let mut strict = asked(&["yes", "no"], false);
        assert!(strict.answer(LATER).is_err());
        assert!(press(&mut strict, &[KeyCode::Char('x'), KeyCode::Char('9')]).is_err());
    }

    #[test]
    fn an_answer_that_is_none_of_the_options_answers_nothing() {
        for typed in ["no way", "not today", "nay", "maybe", "yn", "yes!"] {
            let mut strict = asked(&["yes", "no"], false);
            let keys: Vec<KeyCode> = typed.chars().map(KeyCode::Char).collect();
            assert!(press(&mut strict, &keys).is_err(), "{typed}");
            assert_eq!(strict.stray(), Some(typed));
            // An arrow chooses all the same.
            assert!(press(&mut strict, &[KeyCode::Down]).is_ok());
            assert_eq!(strict.stray(), None);
        }
    }

    #[test]
    fn a_text_of_ones_own_is_typed_and_options_are_above_it() {
        use KeyCode::{Char, Down, Up};
        let mut free = asked(&["yes", "no"], true);
        assert_eq!(press(&mut free, &[Char('1'), Char('n')]).as_deref(), Ok("1n"));
        assert_eq!(press(&mut free, &[Up]).as_deref(), Ok("no"));
        assert_eq!(press(&mut free, &[Down]).as_deref(), Ok("1n"));
        assert!(asked(&[], false).is_free());
    }

    #[test]
    fn a_key_that_was_meant_for_the_draft_answers_nothing() {
        let mut asked = asked(&["yes"], false);
        asked.key(KeyEvent::from(KeyCode::Down), Duration::from_millis(10));
        assert!(asked.answer(Duration::from_millis(20)).is_err());
        assert_eq!(asked.answer(LATER).as_deref(), Ok("yes"));
    }
}
