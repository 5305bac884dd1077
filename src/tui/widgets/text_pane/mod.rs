//! A pane of long text: any number of lines, of any length, wrapped or scrolled sideways, of which only the visible
//! rows are ever made.
//!
//! Highlighting and pretty-printing happen elsewhere; their results are laid over or put in here when they arrive.

mod draw;
mod find;
mod rows;
mod scroll;

use self::find::Found;
use self::rows::{Lines, RowCache};
use self::scroll::Anchor;
use super::Highlights;
use crate::text::SafeText;
use crate::tui::action::Action;
use crate::tui::input::{Mouse, MouseKind};
use ratatui::layout::Rect;
use std::sync::Arc;

/// A text and the view on it.
#[derive(Clone, Debug)]
pub struct TextPane {
    text: SafeText,
    generation: u64,
    lines: Lines,
    cache: RowCache,
    highlights: Option<Arc<Highlights>>,
    found: Found,
    top: Anchor,
    left: usize,
    wrap: bool,
    numbers: bool,
    pinned: bool,
    /// Where the text, and where its scrollbar, was drawn last.
    area: Rect,
    bar: Rect,
}

impl Default for TextPane {
    fn default() -> Self {
        Self::new(SafeText::default())
    }
}

impl TextPane {
    /// A pane that shows the start of a text, wrapped.
    pub fn new(text: SafeText) -> Self {
        Self {
            lines: Lines::of(&text),
            text,
            generation: 0,
            cache: RowCache::default(),
            highlights: None,
            found: Found::default(),
            top: Anchor::default(),
            left: 0,
            wrap: true,
            numbers: false,
            pinned: false,
            area: Rect::default(),
            bar: Rect::default(),
        }
    }

    /// Shows another text, from its start; wrapping and line numbers stay as they are.
    pub fn open(&mut self, text: SafeText) {
        let awaited = self.is_awaited();
        self.replace(text);
        (self.top, self.left, self.pinned) = (Anchor::default(), 0, false);
        self.found.forget_current();
        if awaited {
            self.go_to_match(true);
        }
    }

    /// The same text has grown or changed: the view stays where it is, or at the end while it is pinned there.
    pub fn update(&mut self, text: SafeText) {
        if text != self.text {
            self.replace(text);
            self.go_to_awaited();
        }
    }

    fn replace(&mut self, text: SafeText) {
        self.lines = Lines::of(&text);
        self.text = text;
        self.generation += 1;
        self.highlights = None;
        self.cache.clear();
        self.found.refresh(self.text.as_str());
    }

    /// Counts the texts shown so far; highlights for an older one are late.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Lays styles over the text, if it still is the one of that generation.
    pub fn set_highlights(&mut self, generation: u64, highlights: Arc<Highlights>) {
        if generation == self.generation {
            self.highlights = Some(highlights);
        }
    }

    /// The text.
    pub fn text(&self) -> &SafeText {
        &self.text
    }

    /// Lines of the text.
    pub fn line_count(&self) -> usize {
        self.lines.count()
    }

    /// Wraps long lines, or not.
    pub fn set_wrap(&mut self, wrap: bool) {
        self.wrap = wrap;
        self.left = 0;
    }

    /// Shows line numbers, or not.
    pub fn set_line_numbers(&mut self, numbers: bool) {
        self.numbers = numbers;
    }

    /// Starts at the end, and stays there while the text grows.
    pub fn pin(&mut self) {
        self.pinned = true;
    }

    /// The view stays at the end while the text grows.
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// The area it was drawn into last, without its scrollbar.
    pub fn area(&self) -> Rect {
        self.area
    }

    /// Scrolls, toggles, or goes to a match; `false` for actions that mean nothing here.
    pub fn act(&mut self, action: Action) -> bool {
        use Action as A;
        let page = isize::from(i16::try_from(self.area.height).unwrap_or(i16::MAX)).max(2) - 1;
        let sideways = usize::from(self.area.width / 4).max(1);
        match action {
            A::MoveUp => self.scroll(-1),
            A::MoveDown => self.scroll(1),
            A::PageUp => self.scroll(-page),
            A::PageDown => self.scroll(page),
            A::First => self.to_line(0),
            A::Last => self.pin(),
            A::MoveLeft if !self.wrap => self.left = self.left.saturating_sub(sideways),
            A::MoveRight if !self.wrap => self.left = self.left.saturating_add(sideways).min(self.text.as_str().len()),
            A::Wrap => self.set_wrap(!self.wrap),
            A::LineNumbers => self.numbers = !self.numbers,
            A::SearchNext => return self.go_to_match(true),
            A::SearchPrevious => return self.go_to_match(false),
            _ => return false,
        }
        true
    }

    /// The wheel scrolls, the scrollbar can be pressed and dragged; `false` outside of the pane.
    pub fn mouse(&mut self, mouse: Mouse) -> bool {
        match mouse.kind {
            MouseKind::Wheel(rows) if mouse.is_in(self.area) || mouse.is_in(self.bar) => {
                self.scroll(isize::try_from(rows).unwrap_or(0));
            }
            MouseKind::Press | MouseKind::DoublePress | MouseKind::Drag if mouse.is_in(self.bar) => {
                let byte = self.scrollbar().unit_at(mouse.at.y, self.bar);
                self.go_to_byte(byte);
            }
            MouseKind::Press | MouseKind::DoublePress => return mouse.is_in(self.area),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests;
