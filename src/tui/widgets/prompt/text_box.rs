//! A text of several rows that is typed or pasted in a dialog: the box's editor with its folded pastes and its undoing,
//! without a draft's history, files and settings.

use super::content::Content;
use super::field::{Field, Keyed};
use crate::text::SafeText;
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::input::Mouse;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// Bytes that a text may have: pastes can be pasted over and over.
const LONGEST: usize = 16 << 20;

/// What is said where there is no room for more.
const FULL: &str = "there is no room for it: a text has 16 MB at most, of which 64 KB can be typed";

/// A text with a caret. Its keys are those of [`Context::Box`](crate::tui::action::Context).
#[derive(Clone, Debug, Default)]
pub struct TextBox {
    field: Field,
}

impl TextBox {
    /// What was written: pastes whole, newlines as `\n`.
    pub fn text(&mut self) -> String {
        self.field.flush();
        self.field.content().plain()
    }

    /// Nothing was written.
    pub fn is_empty(&self) -> bool {
        self.field.content().is_empty()
    }

    /// Puts another text in the place of everything, to be undone.
    ///
    /// # Errors
    /// It is too long: nothing is changed.
    pub fn set(&mut self, text: &str) -> Result<(), &'static str> {
        if text.len() > LONGEST {
            return Err(FULL);
        }
        self.field.editor().replace_all(Content::from(text));
        Ok(())
    }

    /// Does an action; `None` when it means nothing here, as sending does unless a paste without brackets goes on.
    pub fn act(&mut self, action: Action, now: Duration) -> Option<Result<(), &'static str>> {
        match action {
            Action::Send if !self.field.is_pasting(now) => return None,
            Action::Send | Action::NewLine => return Some(self.type_char('\n', now)),
            Action::Complete if self.field.is_pasting(now) => return Some(self.type_char('\t', now)),
            // Where there is nothing to unfold, to undo or to do again, nothing happens.
            Action::Complete => drop(self.field.editor().unfold()),
            Action::Undo => drop(self.field.editor().undo()),
            Action::Redo => drop(self.field.editor().redo()),
            Action::PageUp | Action::PageDown if self.field.page(action == Action::PageDown) => {}
            _ => return None,
        }
        Some(Ok(()))
    }

    fn type_char(&mut self, c: char, now: Duration) -> Result<(), &'static str> {
        self.field.type_char(c, now).then_some(()).ok_or(FULL)
    }

    /// Takes a key that is bound to nothing; the caret may stand in the first or last row already.
    ///
    /// # Errors
    /// There is no room for what it types.
    pub fn key(&mut self, key: KeyEvent, now: Duration) -> Result<Keyed, &'static str> {
        match self.field.key(key, now) {
            Keyed::Full => Err(FULL),
            keyed => Ok(keyed),
        }
    }

    /// Inserts a paste, every line of it.
    ///
    /// # Errors
    /// There is no room for it: nothing of it is inserted.
    pub fn paste(&mut self, text: &str, now: Duration) -> Result<(), &'static str> {
        let fits = self.field.content().plain_len().saturating_add(text.len()) <= LONGEST;
        (fits && self.field.paste(text, now)).then_some(()).ok_or(FULL)
    }

    /// When what is held back of a paste without brackets is due.
    pub fn due(&self) -> Option<Duration> {
        self.field.burst_over_at()
    }

    /// A moment has come.
    pub fn frame(&mut self, now: Duration) {
        if self.due().is_some_and(|at| at <= now) {
            self.field.flush();
        }
    }

    /// What the mouse did; `false` when it happened elsewhere.
    pub fn mouse(&mut self, mouse: Mouse) -> bool {
        self.field.mouse(mouse)
    }

    /// Its first line, for where there is only one.
    pub fn first_line(&self) -> SafeText {
        self.field.first_line()
    }

    /// Lines after the first one, as they are written: a folded paste is part of its line.
    pub fn more_lines(&self) -> usize {
        let text = self.field.content().text();
        memchr::memchr_iter(b'\n', text.as_bytes()).count()
    }

    /// Rows that it takes in an area of `width` cells.
    pub fn height(&mut self, width: u16) -> usize {
        self.field.height(width)
    }

    /// Paints it, scrolled to the caret; returns the caret's cell.
    pub fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        self.field.draw(area, buf, ctx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyCode;

    const LATER: Duration = Duration::from_secs(9);

    #[test]
    fn pastes_keep_every_line_and_what_is_too_long_is_told() {
        let mut text = TextBox::default();
        assert_eq!(text.paste("{\n  \"a\": 1\r\n}\n", LATER), Ok(()));
        assert_eq!((text.text().as_str(), text.more_lines()), ("{\n  \"a\": 1\n}\n", 3));
        let long = "[1,\n".repeat(20_000);
        assert_eq!(text.paste(&long, LATER), Ok(()));
        assert_eq!(text.text(), format!("{{\n  \"a\": 1\n}}\n{long}"));
        let before = text.text();
        for refused in [
            text.paste(&"x".repeat(LONGEST), LATER),
            text.set(&"x".repeat(LONGEST + 1)),
        ] {
            assert_eq!(refused, Err(FULL));
        }
        assert_eq!(text.text(), before);
    }

    #[test]
    fn what_is_typed_beyond_its_room_is_told() {
        let mut text = TextBox::default();
        text.set(&"x".repeat(64 << 10)).unwrap();
        assert_eq!(text.key(KeyEvent::from(KeyCode::Char('y')), LATER), Err(FULL));
        assert_eq!(text.text().len(), 64 << 10);
    }

    #[test]
    fn enter_is_a_newline_only_within_a_paste_without_brackets() {
        let mut text = TextBox::default();
        for c in "abc".chars() {
            text.key(KeyEvent::from(KeyCode::Char(c)), LATER).unwrap();
        }
        assert_eq!(text.act(Action::Send, LATER), Some(Ok(())));
        assert_eq!(text.act(Action::Send, LATER + LATER), None);
        assert_eq!(text.act(Action::NewLine, LATER + LATER), Some(Ok(())));
        assert_eq!(text.text(), "abc\n\n");
        assert_eq!(
            text.key(KeyEvent::from(KeyCode::Down), LATER + LATER),
            Ok(Keyed::AtBottom)
        );
        text.act(Action::Undo, LATER);
        assert_eq!(text.text(), "abc\n");
    }
}
