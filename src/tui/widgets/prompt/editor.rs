//! Editing a draft: a caret in a content, motion by whole characters and words, deleting, killing, yanking, undoing.
//! Rows and cells are the view's business.
//!
//! `ratatui-textarea` was tried for this and falls short: it moves and deletes by code point (half an emoji family
//! goes at a time), knows no unit like a folded paste, and counts its scroll offset in 16 bits.

use super::chip::Chip;
use super::content::Content;
use super::undo::{Kind, Step, Undo};
use std::ops::Range;

/// A paste of more bytes or lines is folded to a chip.
const FOLD_BYTES: usize = 2_000;
const FOLD_LINES: usize = 10;
/// Bytes that are shown as text: what would be more is folded, or not taken. A larger text belongs into an editor.
const MOST: usize = 64 << 10;

/// A content with a caret, and everything that was done to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Editor {
    content: Content,
    caret: usize,
    undo: Undo,
    killed: Content,
    revision: u64,
}

/// Whether text is folded when it is pasted.
pub(super) fn is_long(text: &str) -> bool {
    text.len() > FOLD_BYTES || memchr::memchr_iter(b'\n', text.as_bytes()).count() >= FOLD_LINES
}

impl Editor {
    /// What stands there.
    pub(super) fn content(&self) -> &Content {
        &self.content
    }

    /// Where the caret is, in bytes.
    pub(super) fn caret(&self) -> usize {
        self.caret
    }

    /// Changes with every edit.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Replaces a range, which is on boundaries; the caret goes behind what was inserted. False when that does not fit:
    /// nothing is changed then.
    pub(super) fn edit(&mut self, range: Range<usize>, with: Content, kind: Kind) -> bool {
        if range.is_empty() && with.is_empty() {
            return true;
        }
        let Some(with) = self.fitting(&range, with) else {
            return false;
        };
        let (at, caret) = (range.start, self.caret);
        let removed = self.content.splice(range, &with);
        self.caret = self.content.settled(at + with.len());
        self.revision += 1;
        self.undo.push(Step {
            at,
            removed,
            inserted: with,
            caret,
            kind,
        });
        true
    }

    /// What is inserted: text is folded if it would make the whole too long. `None` when even that does not fit; chips
    /// are never folded again, which would double them.
    fn fitting(&self, range: &Range<usize>, with: Content) -> Option<Content> {
        let rest = self.content.len() - range.len();
        if rest + with.len() <= MOST {
            return Some(with);
        }
        let text_only = with.chips().next().is_none();
        let folded = text_only.then(|| Content::from(Chip::pasted(with.text())))?;
        (rest + folded.len() <= MOST).then_some(folded)
    }

    /// Types; false when it is full.
    pub(super) fn type_char(&mut self, c: char, in_burst: bool) -> bool {
        let with = Content::from(c.encode_utf8(&mut [0; 4]) as &str);
        let at = self.caret;
        if !in_burst {
            return self.edit(at..at, with, Kind::Typing);
        }
        self.undo.begin_burst();
        let fits = self.edit(at..at, with, Kind::Burst);
        self.fold_burst();
        fits
    }

    /// Inserts a paste: as text, or folded when it is long. False when there is no room for it.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        let content = Content::from(text);
        let content = match is_long(content.text()) {
            true => Chip::pasted(content.text()).into(),
            false => content,
        };
        let at = self.caret;
        self.undo.close();
        self.edit(at..at, content, Kind::Burst)
    }

    /// A burst that has become long is folded, too; and what came after that is added to its chip.
    fn fold_burst(&mut self) {
        let Some(step) = self.undo.burst().filter(|step| is_long(step.inserted.text())) else {
            return;
        };
        let chip = Content::from(Chip::pasted(&step.inserted.plain()));
        let range = step.at..step.at + step.inserted.len();
        step.inserted = chip.clone();
        self.content.splice(range.clone(), &chip);
        self.caret = range.start + chip.len();
        self.revision += 1;
    }

    /// Whether the burst that is going on is folded already: more of it goes to [`Editor::add_to_burst`], all at once.
    pub(super) fn burst_is_folded(&mut self) -> bool {
        let burst = self.undo.burst();
        burst.is_some_and(|step| matches!(step.inserted.chip_at(0), Some(Chip::Pasted { .. })))
    }

    /// Adds to the chip of the burst that is going on.
    pub(super) fn add_to_burst(&mut self, more: &str) {
        let Some(step) = self.undo.burst() else {
            return;
        };
        let chip = Content::from(Chip::pasted(&(step.inserted.plain() + more)));
        let range = step.at..step.at + step.inserted.len();
        step.inserted = chip.clone();
        self.content.splice(range.clone(), &chip);
        self.caret = range.start + chip.len();
        self.revision += 1;
    }

    /// What comes next is an edit of its own.
    pub(super) fn end_burst(&mut self) {
        self.undo.close();
    }

    /// Shows the text of the paste before the caret, if there is one that is short enough.
    pub(super) fn unfold(&mut self) -> bool {
        let start = self.content.before(self.caret);
        match self.content.chip_at(start) {
            Some(Chip::Pasted { text, .. }) if self.content.len() + text.len() <= MOST => {
                let text = Content::from(&**text);
                self.edit(start..self.caret, text, Kind::Whole);
                true
            }
            _ => false,
        }
    }

    /// Puts something else in the place of everything.
    pub(super) fn replace_all(&mut self, with: Content) {
        if with != self.content {
            self.edit(0..self.content.len(), with, Kind::Whole);
        }
    }

    /// Forgets everything, also what could be undone.
    pub(super) fn reset(&mut self, content: Content) {
        let content = self.fitting(&(0..self.content.len()), content).unwrap_or_default();
        let (killed, revision) = (std::mem::take(&mut self.killed), self.revision + 1);
        *self = Self {
            caret: content.len(),
            content,
            killed,
            revision,
            ..Self::default()
        };
    }

    pub(super) fn undo(&mut self) -> bool {
        let Some(step) = self.undo.undo() else {
            return false;
        };
        self.content
            .splice(step.at..step.at + step.inserted.len(), &step.removed);
        self.caret = step.caret;
        self.revision += 1;
        true
    }

    pub(super) fn redo(&mut self) -> bool {
        let Some(step) = self.undo.redo() else {
            return false;
        };
        self.content
            .splice(step.at..step.at + step.removed.len(), &step.inserted);
        self.caret = self.content.settled(step.at + step.inserted.len());
        self.revision += 1;
        true
    }
}

/// Where an edit or a motion reaches to from the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Before,
    After,
    WordBefore,
    WordAfter,
    LineStart,
    LineEnd,
    Start,
    End,
}

/// Motion and deleting.
impl Editor {
    /// The place that is `reach` away from the caret.
    fn place(&self, reach: Reach) -> usize {
        match reach {
            Reach::Before => self.content.before(self.caret),
            Reach::After => self.content.after(self.caret),
            Reach::WordBefore => self.word_before(),
            Reach::WordAfter => self.word_after(),
            Reach::LineStart => self.content.line(self.caret).start,
            Reach::LineEnd => self.content.line(self.caret).end,
            Reach::Start => 0,
            Reach::End => self.content.len(),
        }
    }

    /// Moves the caret.
    pub(super) fn go(&mut self, reach: Reach) {
        self.go_to(self.place(reach));
    }

    /// Moves the caret to a place, or the next boundary behind it.
    pub(super) fn go_to(&mut self, at: usize) {
        self.caret = self.content.settled(at);
        self.undo.close();
    }

    /// Deletes what is `reach` away.
    pub(super) fn erase(&mut self, reach: Reach) {
        let range = self.range(reach);
        self.edit(range, Content::default(), Kind::Erasing);
    }

    /// Deletes it, to be yanked. At the end of a line that is its newline.
    pub(super) fn kill(&mut self, reach: Reach) {
        let mut range = self.range(reach);
        if range.is_empty() && reach == Reach::LineEnd {
            range = self.range(Reach::After);
        }
        if !range.is_empty() {
            self.killed = self.content.slice(range.clone());
            self.edit(range, Content::default(), Kind::Whole);
        }
    }

    /// Inserts what was killed last.
    pub(super) fn yank(&mut self) {
        let at = self.caret;
        self.edit(at..at, self.killed.clone(), Kind::Whole);
    }

    fn range(&self, reach: Reach) -> Range<usize> {
        let to = self.place(reach);
        self.caret.min(to)..self.caret.max(to)
    }

    fn word_before(&self) -> usize {
        let mut at = self.caret;
        let mut inside = false;
        while at > 0 {
            let before = self.content.before(at);
            let word = self.is_word(before..at);
            if inside && !word {
                break;
            }
            if self.content.chip_at(before).is_some() {
                return if inside { at } else { before };
            }
            inside |= word;
            at = before;
        }
        at
    }

    fn word_after(&self) -> usize {
        let mut at = self.caret;
        let mut inside = false;
        while at < self.content.len() {
            let after = self.content.after(at);
            let word = self.is_word(at..after);
            if inside && !word {
                break;
            }
            if self.content.chip_at(at).is_some() {
                return if inside { at } else { after };
            }
            inside |= word;
            at = after;
        }
        at
    }

    fn is_word(&self, cluster: Range<usize>) -> bool {
        let first = self.content.get(cluster).chars().next();
        first.is_some_and(|c| c.is_alphanumeric() || c == '_')
    }
}

#[cfg(test)]
#[path = "editor_tests.rs"]
mod tests;
