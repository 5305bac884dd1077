//! An `@path` that was typed and never completed: before a question is sent, it is looked up, so that nobody believes
//! a file was attached that was not. One that names a file becomes its chip; any other word with an `@` stays text, and
//! is told once where it may have been meant as a file.

use super::at_path::{mentions, path_of};
use super::chip::Chip;
use super::content::Content;
use super::undo::Kind;
use super::{InputBox, Reaction};
use crate::source::paths::file_size;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Token, Work};
use std::any::Any;
use std::ops::Range;
use std::path::PathBuf;

/// Words that are looked up; more of them are no paths.
const MOST: usize = 64;

/// What a draft speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mentioned {
    files: Vec<(Range<usize>, PathBuf, u64)>,
    /// Words that name none, as they were written.
    missing: Vec<String>,
}

/// A word, the path that it names, and how it was written.
type Word = (Range<usize>, PathBuf, String);

impl Mentioned {
    fn of(words: Vec<Word>) -> Self {
        let mut mentioned = Self::default();
        for (range, path, written) in words {
            match file_size(&path) {
                Some(size) => mentioned.files.push((range, path, size)),
                None => mentioned.missing.push(written),
            }
        }
        mentioned
    }

    /// A word that may have been meant as a file: one that looks like a path, or any where the query has no file.
    fn doubtful(&self, has_file: bool) -> Option<&str> {
        let has_file = has_file || !self.files.is_empty();
        let doubtful = |written: &&String| !has_file || written.contains(['/', '.', '~', '\\']);
        self.missing.iter().find(doubtful).map(String::as_str)
    }
}

/// A draft that is sent once its words are looked up.
#[derive(Clone, Debug)]
pub(super) struct Resolving {
    token: Token,
    /// The draft as it was: when it has changed since, nothing is sent.
    content: Content,
    /// It was told that a word of it names no file.
    told: bool,
}

impl InputBox {
    /// Looks up what the draft speaks of; `None` when there is nothing to look up.
    pub(super) fn resolve(&mut self) -> Option<Reaction> {
        let content = self.draft.content().clone();
        let user = self.home.user.clone();
        let words: Vec<_> = mentions(&content)
            .into_iter()
            .take(MOST)
            .map(|(range, written)| (range, path_of(&written, user.as_deref()), written))
            .collect();
        if words.is_empty() {
            return None;
        }
        let token = self.next_token();
        let told = |before: Resolving| before.told && before.content == content;
        let told = self.resolving.take().is_some_and(told);
        self.resolving = Some(Resolving { token, content, told });
        let work = Work {
            name: "look up files",
            run: Box::new(move |_| Box::new(Mentioned::of(words))),
        };
        Some(Reaction::taken().effect([Effect::Work { token, work }]))
    }

    /// The look-up is there: files become chips, and the question is sent; `None` when it is none of that.
    pub(super) fn resolved(&mut self, token: Token, worked: &dyn Any, ctx: &Ctx<'_>) -> Option<Reaction> {
        let mentioned: &Mentioned = worked.downcast_ref()?;
        let waiting = self.resolving.take_if(|resolving| resolving.token == token)?;
        if *self.draft.content() != waiting.content || self.asked.is_some() {
            return Some(Reaction::taken());
        }
        let has_file = waiting.content.chips().any(|chip| matches!(chip, Chip::File { .. }));
        if let Some(written) = mentioned.doubtful(has_file).filter(|_| !waiting.told) {
            let words = format!("@{written} names no file: Enter again asks without it");
            self.resolving = Some(Resolving { told: true, ..waiting });
            return Some(Reaction::trouble(&words));
        }
        // From the end: what is before stays where it is.
        for (range, path, size) in mentioned.files.iter().rev() {
            let chip = Chip::File {
                path: path.clone(),
                size: Some(*size),
            };
            self.draft.editor().edit(range.clone(), chip.into(), Kind::Whole);
        }
        Some(self.send_resolved(ctx))
    }
}
