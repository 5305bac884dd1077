//! One line that is being typed: search, filter, palette.

use super::{Pen, Styled};
use crate::text::{SafeText, cell_width};
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use unicode_segmentation::UnicodeSegmentation;

/// Bytes that are kept at most: a paste of megabytes is no search.
const LONGEST: usize = 4096;

/// A line of text with a caret between two characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEdit {
    text: String,
    /// Byte offset, on a cluster boundary.
    caret: usize,
    /// All of it is selected: what is typed next replaces it.
    selected: bool,
}

impl LineEdit {
    /// A line with text in it and the caret at its end.
    pub fn with_text(text: &str) -> Self {
        let mut edit = Self::default();
        edit.insert(text);
        edit
    }

    /// A line with text in it that the next typed character, or a paste, replaces; moving the caret keeps it.
    pub fn selected(text: &str) -> Self {
        let mut edit = Self::with_text(text);
        edit.selected = !edit.text.is_empty();
        edit
    }

    /// What was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Takes a key that edits; `false` when it does not.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let was_selected = self.selected;
        let taken = self.edit(key);
        // A key that is none of the line's leaves it as it was; a first one that erases, erases what is selected.
        self.selected = was_selected && !taken;
        if was_selected && matches!(key.code, KeyCode::Backspace | KeyCode::Delete) {
            self.clear();
        }
        taken
    }

    fn edit(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('a') if control => self.caret = 0,
            KeyCode::Char('e') if control => self.caret = self.text.len(),
            KeyCode::Char('u') if control => self.remove(0..self.caret),
            KeyCode::Char('k') if control => self.remove(self.caret..self.text.len()),
            KeyCode::Char('w') if control => self.remove(self.word_start()..self.caret),
            KeyCode::Char('h') if control => self.remove(self.before()..self.caret),
            KeyCode::Char(c) if !control => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.remove(self.before()..self.caret),
            KeyCode::Delete => self.remove(self.caret..self.after()),
            KeyCode::Left => self.caret = self.before(),
            KeyCode::Right => self.caret = self.after(),
            KeyCode::Home => self.caret = 0,
            KeyCode::End => self.caret = self.text.len(),
            _ => return false,
        }
        true
    }

    /// Inserts typed or pasted text, of which only the first line counts, as it may be shown.
    pub fn insert(&mut self, text: &str) {
        if std::mem::take(&mut self.selected) {
            self.clear();
        }
        let line = text.lines().next().unwrap_or_default();
        let clean: String = line.chars().filter(|c| !c.is_control()).collect();
        if self.text.len() + clean.len() <= LONGEST {
            self.text.insert_str(self.caret, &clean);
            self.caret += clean.len();
            self.settle();
        }
    }

    /// Empties it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn remove(&mut self, bytes: std::ops::Range<usize>) {
        self.caret = bytes.start;
        self.text.replace_range(bytes, "");
        self.settle();
    }

    /// Characters that met may have become one cluster: the caret goes to its end.
    fn settle(&mut self) {
        let ends = self.text.grapheme_indices(true).map(|(at, cluster)| at + cluster.len());
        self.caret = std::iter::once(0)
            .chain(ends)
            .find(|end| *end >= self.caret)
            .unwrap_or(self.text.len());
    }

    fn before(&self) -> usize {
        let starts = self.text.grapheme_indices(true).map(|(at, _)| at);
        starts.take_while(|at| *at < self.caret).last().unwrap_or(0)
    }

    fn after(&self) -> usize {
        let mut starts = self.text.grapheme_indices(true).map(|(at, _)| at);
        starts.find(|at| *at > self.caret).unwrap_or(self.text.len())
    }

    fn word_start(&self) -> usize {
        let words = self.text.unicode_word_indices().map(|(at, _)| at);
        words.take_while(|at| *at < self.caret).last().unwrap_or(0)
    }

    /// Paints it into the first row of `area`, scrolled so that the caret is visible; returns the caret's cell.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        let room = usize::from(area.width) - 1;
        let (head, tail) = self.text.split_at_checked(self.caret).unwrap_or((&self.text, ""));
        let head = SafeText::line(head);
        let shown = last_cells(head.as_str(), room);
        let row = Rect { height: 1, ..area };
        let mut pen = Pen::new(buf, row);
        let style = match self.selected {
            // Without colours the selection is told by the line under it.
            true => ctx.style(Role::Selection).add_modifier(Modifier::UNDERLINED),
            false => ctx.style(Role::Prompt),
        };
        pen.write(shown, style);
        pen.write(SafeText::line(tail).as_str(), style);
        let x = area.x + u16::try_from(cell_width(shown)).unwrap_or(0);
        Some(Position { x, y: area.y })
    }

    /// A prompt before it, then the line; returns the caret's cell.
    pub fn draw_after(&self, prompt: &Styled, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let taken = prompt.draw(area, buf).min(area.width);
        let rest = Rect {
            x: area.x + taken,
            width: area.width - taken,
            ..area
        };
        self.draw(rest, buf, ctx)
    }
}

/// The longest end of `text` that fits `cells`.
fn last_cells(text: &str, cells: usize) -> &str {
    let mut used = 0;
    let start = text
        .grapheme_indices(true)
        .rev()
        .take_while(|(_, cluster)| {
            used += cell_width(cluster);
            used <= cells
        })
        .last();
    start.map_or("", |(at, _)| text.get(at..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn press(edit: &mut LineEdit, code: KeyCode, modifiers: KeyModifiers) {
        edit.key(KeyEvent::new(code, modifiers));
    }

    #[test]
    fn edits_by_cluster() {
        let mut edit = LineEdit::with_text("a👨‍👩‍👧é");
        press(&mut edit, KeyCode::Left, KeyModifiers::NONE);
        press(&mut edit, KeyCode::Backspace, KeyModifiers::NONE);
        assert_eq!(edit.text(), "aé");
        press(&mut edit, KeyCode::Char('x'), KeyModifiers::NONE);
        assert_eq!(edit.text(), "axé");
    }

    #[test]
    fn words_and_lines_go_at_once() {
        let mut edit = LineEdit::with_text("one two");
        press(&mut edit, KeyCode::Char('w'), KeyModifiers::CONTROL);
        assert_eq!(edit.text(), "one ");
        press(&mut edit, KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert_eq!(edit.text(), "");
    }

    #[test]
    fn what_is_selected_gives_way_to_what_is_typed() {
        let none = KeyModifiers::NONE;
        let after = |code| {
            let mut edit = LineEdit::selected("goat");
            press(&mut edit, code, none);
            press(&mut edit, KeyCode::Char('f'), none);
            edit.text().to_owned()
        };
        assert_eq!(after(KeyCode::Char('u')), "uf");
        assert_eq!(after(KeyCode::Backspace), "f");
        assert_eq!(after(KeyCode::End), "goatf");
        assert_eq!(after(KeyCode::Home), "fgoat");
        let mut edit = LineEdit::selected("goat");
        edit.insert("sheep");
        assert_eq!(edit.text(), "sheep");
    }

    #[test]
    fn a_paste_is_one_clean_line() {
        assert_eq!(LineEdit::with_text("a\x1b[31mb\nsecond").text(), "a[31mb");
        assert_eq!(LineEdit::with_text(&"x".repeat(LONGEST + 1)).text(), "");
    }

    proptest! {
        #[test]
        fn no_sequence_of_keys_breaks_it(keys in proptest::collection::vec((0usize..9, any::<char>()), 0..40)) {
            let mut edit = LineEdit::default();
            for (kind, c) in keys {
                let codes = [
                    KeyCode::Char(c),
                    KeyCode::Backspace,
                    KeyCode::Delete,
                    KeyCode::Left,
                    KeyCode::Right,
                    KeyCode::Home,
                    KeyCode::End,
                    KeyCode::Char('w'),
                    KeyCode::Char('k'),
                ];
                let modifiers = if kind > 6 { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
                press(&mut edit, codes[kind], modifiers);
                prop_assert!(edit.text.is_char_boundary(edit.caret));
            }
        }
    }
}
