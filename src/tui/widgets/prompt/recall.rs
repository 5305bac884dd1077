//! Ctrl-R: searching the history by a part of the text, the latest first.

use super::content::{Content, Piece};
use super::history::History;
use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use crate::tui::input::Mouse;
use crate::tui::theme::Role;
use crate::tui::widgets::{LineEdit, ListEvent, ListPane, Styled};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Bytes of an entry that are searched.
const SEARCHED: usize = 16 << 10;

/// The search through the history.
#[derive(Clone, Debug)]
pub(super) struct Recall {
    edit: LineEdit,
    list: ListPane,
    /// Latest first, with what is searched and shown of each.
    entries: Vec<(Content, String)>,
    found: Vec<usize>,
}

impl Recall {
    /// A search through all entries.
    pub(super) fn new(history: &History) -> Self {
        let entries = history.entries().into_iter().rev();
        let mut recall = Self {
            edit: LineEdit::default(),
            list: ListPane::default(),
            entries: entries.map(|entry| (entry.clone(), searched(&entry))).collect(),
            found: Vec::new(),
        };
        recall.refresh();
        recall
    }

    fn refresh(&mut self) {
        let wanted = self.edit.text();
        // As in most searches: small letters mean both.
        let exact = wanted.chars().any(char::is_uppercase);
        let holds = |text: &str| match exact {
            true => text.contains(wanted),
            false => text.to_lowercase().contains(wanted),
        };
        let entries = self.entries.iter().enumerate();
        self.found = entries
            .filter(|(_, (_, text))| holds(text))
            .map(|(index, _)| index)
            .collect();
        self.list.set_len(self.found.len());
        self.list.select(0);
    }

    /// Types into the search.
    pub(super) fn key(&mut self, key: KeyEvent) {
        if self.edit.key(key) {
            self.refresh();
        }
    }

    /// Pastes into the search.
    pub(super) fn paste(&mut self, text: &str) {
        self.edit.insert(text);
        self.refresh();
    }

    /// To an older or a newer match.
    pub(super) fn go(&mut self, older: bool) {
        let at = self.list.selected().unwrap_or(0);
        self.list.select(if older { at + 1 } else { at.saturating_sub(1) });
    }

    /// What the mouse did to the list.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> Option<ListEvent> {
        self.list.mouse(mouse)
    }

    /// The entry to put into the box.
    pub(super) fn chosen(&self) -> Option<&Content> {
        let index = self.found.get(self.list.selected()?)?;
        self.entries.get(*index).map(|(entry, _)| entry)
    }

    /// Rows it would like.
    pub(super) fn height(&self) -> usize {
        self.found.len().max(1) + 1
    }

    /// Paints it; returns the caret's cell.
    pub(super) fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Option<Position> {
        let line = Rect {
            height: area.height.min(1),
            ..area
        };
        let prompt = Styled::words("search: ", ctx.style(Role::Key));
        let cursor = self.edit.draw_after(&prompt, line, buf, ctx);
        let rest = Rect {
            y: area.y + line.height,
            height: area.height - line.height,
            ..area
        };
        if self.found.is_empty() {
            Styled::words("nothing like that was asked here", ctx.style(Role::Dim)).draw(rest, buf);
            return cursor;
        }
        let (found, entries) = (&self.found, &self.entries);
        let item = |index: usize, _| {
            let entry = found.get(index).and_then(|index| entries.get(*index));
            let text = entry.map_or("", |(_, text)| text.as_str());
            Styled::of(SafeText::line(text), ctx.style(Role::Text))
        };
        self.list.draw(rest, buf, ctx, true, item);
        cursor
    }
}

/// The beginning of an entry, with its chips by their labels.
fn searched(entry: &Content) -> String {
    let mut out = String::new();
    for piece in entry.pieces(0..entry.len()) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Chip(chip) => out.push_str(&chip.label()),
        }
        if out.len() > SEARCHED {
            out.truncate(out.floor_char_boundary(SEARCHED));
            break;
        }
    }
    out
}
