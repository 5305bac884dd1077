//! What was done to a draft, so that it can be taken back and done again. Typing is taken back word by word, a paste
//! at once.

use super::content::Content;
use std::collections::VecDeque;

/// Steps that are kept.
const MOST: usize = 1_000;

/// What an edit was; those of one kind that follow each other become one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A character was typed.
    Typing,
    /// A character was deleted.
    Erasing,
    /// Keys that came too fast to be typed.
    Burst,
    /// Anything else: a step of its own.
    Whole,
}

/// A replacement that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) at: usize,
    pub(super) removed: Content,
    pub(super) inserted: Content,
    /// The caret before it.
    pub(super) caret: usize,
    pub(super) kind: Kind,
}

/// Done and undone steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    done: VecDeque<Step>,
    undone: Vec<Step>,
    /// The caret moved, or something was undone: the next edit is a step of its own.
    closed: bool,
}

impl Undo {
    /// Notes an edit.
    pub(super) fn push(&mut self, step: Step) {
        self.undone.clear();
        let open = !std::mem::take(&mut self.closed);
        let merged = open && self.done.back_mut().is_some_and(|last| last.merge(&step));
        if !merged {
            self.done.push_back(step);
        }
        if self.done.len() > MOST {
            self.done.pop_front();
        }
    }

    /// What is done next is another step.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Takes the last step, to be undone.
    pub(super) fn undo(&mut self) -> Option<Step> {
        self.close();
        let step = self.done.pop_back()?;
        self.undone.push(step.clone());
        Some(step)
    }

    /// Takes the last undone step, to be done again.
    pub(super) fn redo(&mut self) -> Option<Step> {
        self.close();
        let step = self.undone.pop()?;
        self.done.push_back(step.clone());
        Some(step)
    }

    /// The burst that is going on.
    pub(super) fn burst(&mut self) -> Option<&mut Step> {
        self.done
            .back_mut()
            .filter(|step| step.kind == Kind::Burst && !self.closed)
    }

    /// The last character that was typed begins a burst: it is split from the word before it. Directly behind another
    /// burst it continues that one: a paste may come in pieces.
    pub(super) fn begin_burst(&mut self) {
        if self.closed {
            return;
        }
        let Some(mut typed) = self.done.pop_back_if(|step| step.kind == Kind::Typing) else {
            return;
        };
        let start = typed.inserted.before(typed.inserted.len());
        let mut burst = Step {
            at: typed.at + start,
            removed: Content::default(),
            inserted: typed.inserted.slice(start..typed.inserted.len()),
            caret: typed.at + start,
            kind: Kind::Burst,
        };
        if start > 0 {
            typed.inserted.splice(start..typed.inserted.len(), &Content::default());
            self.done.push_back(typed);
        } else {
            burst.caret = typed.caret;
            if self.done.back_mut().is_some_and(|last| last.merge(&burst)) {
                return;
            }
        }
        self.done.push_back(burst);
    }
}

impl Step {
    /// Takes the following edit in, if both are one to a person.
    fn merge(&mut self, next: &Step) -> bool {
        let follows = self.at + self.inserted.len() == next.at && next.removed.is_empty();
        match (self.kind, next.kind) {
            (Kind::Typing, Kind::Typing) if follows && !self.begins_word(next) => self.inserted.append(&next.inserted),
            (Kind::Burst, Kind::Burst) if follows => self.inserted.append(&next.inserted),
            (Kind::Erasing, Kind::Erasing) if next.at + next.removed.len() == self.at => {
                self.at = next.at;
                let end = next.removed.len();
                let later = std::mem::replace(&mut self.removed, next.removed.clone());
                self.removed.splice(end..end, &later);
            }
            (Kind::Erasing, Kind::Erasing) if next.at == self.at => self.removed.append(&next.removed),
            _ => return false,
        }
        true
    }

    fn begins_word(&self, next: &Step) -> bool {
        self.inserted.text().ends_with(char::is_whitespace) && !next.inserted.text().starts_with(char::is_whitespace)
    }
}
