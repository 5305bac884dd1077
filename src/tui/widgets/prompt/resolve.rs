//! An `@path` that was typed and never completed: before a question is sent, it is looked up, so that nobody believes
//! a file was attached that was not. One that names a file becomes its chip; any other word with an `@` stays text.

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

/// Files that a draft speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mentioned(Vec<(Range<usize>, PathBuf, u64)>);

/// A draft that is sent once its words are looked up.
#[derive(Clone, Debug)]
pub(super) struct Resolving {
    token: Token,
    /// The draft as it was: when it has changed since, nothing is sent.
    content: Content,
}

impl InputBox {
    /// Looks up what the draft speaks of; `None` when there is nothing to look up.
    pub(super) fn resolve(&mut self) -> Option<Reaction> {
        let content = self.draft.content().clone();
        let user = self.home.user.clone();
        let words: Vec<_> = mentions(&content)
            .into_iter()
            .take(MOST)
            .map(|(range, written)| (range, path_of(&written, user.as_deref())))
            .collect();
        if words.is_empty() {
            return None;
        }
        let token = self.next_token();
        self.resolving = Some(Resolving { token, content });
        let size = |(range, path): (Range<usize>, PathBuf)| file_size(&path).map(|size| (range, path, size));
        let work = Work {
            name: "look up files",
            run: Box::new(move |_| Box::new(Mentioned(words.into_iter().filter_map(size).collect()))),
        };
        Some(Reaction::taken().effect([Effect::Work { token, work }]))
    }

    /// The look-up is there: files become chips, and the question is sent; `None` when it is none of that.
    pub(super) fn resolved(&mut self, token: Token, worked: &dyn Any, ctx: &Ctx<'_>) -> Option<Reaction> {
        let Mentioned(files) = worked.downcast_ref()?;
        let waiting = self.resolving.take_if(|resolving| resolving.token == token)?;
        if *self.draft.content() != waiting.content || self.asked.is_some() {
            return Some(Reaction::taken());
        }
        // From the end: what is before stays where it is.
        for (range, path, size) in files.iter().rev() {
            let chip = Chip::File {
                path: path.clone(),
                size: Some(*size),
            };
            self.draft.editor().edit(range.clone(), chip.into(), Kind::Whole);
        }
        Some(self.send_resolved(ctx))
    }
}
