//! Writing a draft: sending it, clearing it, attaching files, giving it to an editor, and the history.

use super::chip::Chip;
use super::content::{Content, Piece};
use super::undo::Kind;
use super::{InputBox, Over, Reaction, Request, Said};
use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use std::path::{Path, PathBuf};

/// Bytes that a question may have: pastes can be yanked over and over.
const LONGEST: usize = 256 << 20;
/// Text that an editor gives back is folded only beyond this: it was written, not pasted.
const FOLD_EDITED: usize = 64 << 10;

impl InputBox {
    /// Sends the draft, if that is possible now.
    pub(super) fn send(&mut self, ctx: &Ctx<'_>) -> Reaction {
        self.draft.flush();
        if self.draft.content().text().trim().is_empty() {
            return Reaction::taken();
        }
        if std::mem::take(&mut self.overtaken) {
            return Reaction::trouble("the question is gone: Enter again asks this as a new query");
        }
        let no_model = self.settings.model.as_deref().unwrap_or_default().is_empty();
        if no_model && self.standing.may_be_set() {
            self.open_settings();
            return Reaction::trouble("no model is set: choose one here, or with --primary-agent");
        }
        if let Some(why) = self.standing.refusal() {
            return Reaction::trouble(&why);
        }
        self.resolve().unwrap_or_else(|| self.send_resolved(ctx))
    }

    /// Sends the draft, whose files are attached.
    pub(super) fn send_resolved(&mut self, ctx: &Ctx<'_>) -> Reaction {
        let content = self.draft.content().clone();
        match request(&content) {
            Err(why) => Reaction::trouble(why),
            Ok(request) => {
                self.history.remember(content.clone());
                self.sent = content;
                let waiting = self.history.end_walk();
                self.draft.editor().replace_all(waiting);
                self.keeping.hurry(ctx.now);
                Reaction::says(Said::Send(request)).effect(self.save(ctx))
            }
        }
    }

    /// Empties the draft; undoing brings it back, and so does the history. `false` when there is none.
    pub(super) fn clear(&mut self, ctx: &Ctx<'_>) -> bool {
        self.draft.flush();
        let content = self.draft.content().clone();
        if content.is_empty() {
            return false;
        }
        self.history.remember(content);
        let waiting = self.history.end_walk();
        self.draft.editor().replace_all(waiting);
        self.keeping.hurry(ctx.now);
        true
    }

    /// One entry back or forth in the history.
    pub(super) fn walk(&mut self, back: bool) {
        if let Some(entry) = self.history.walk(back, self.draft.content()) {
            self.draft.editor().replace_all(entry);
        }
    }

    /// The suggestion that Tab writes next: while nothing is written, or another one is.
    pub(super) fn suggestion(&self) -> Option<&str> {
        let (questions, next) = &self.suggestions;
        let draft = self.draft.content();
        let fits = draft.is_empty() || questions.iter().any(|question| question == draft.text());
        let index = next.checked_rem(questions.len())?;
        questions.get(index).filter(|_| fits).map(String::as_str)
    }

    /// Writes the next suggestion; `false` when there is none.
    pub(super) fn take_suggestion(&mut self) -> bool {
        let Some(question) = self.suggestion().map(Content::from) else {
            return false;
        };
        self.suggestions.1 += 1;
        self.draft.editor().replace_all(question);
        true
    }

    /// Attaches a file in the place of a range of the draft.
    pub(super) fn attach(&mut self, range: std::ops::Range<usize>, path: PathBuf, size: u64) -> Reaction {
        if let Some(other) = files(self.draft.content()).find(|other| **other != path) {
            let name = other.file_name().unwrap_or(other.as_os_str()).to_string_lossy();
            return Reaction::trouble(&format!("a query has one file: delete {name} first"));
        }
        let mut chip = Content::from(Chip::File { path, size: Some(size) });
        chip.append(&" ".into());
        self.draft.editor().edit(range, chip, Kind::Whole);
        self.over = Over::None;
        Reaction::taken()
    }

    /// Gives the draft to an editor.
    pub(super) fn give_to_editor(&mut self) -> Reaction {
        self.draft.flush();
        match self.draft.content().plain_len() > LONGEST {
            true => Reaction::trouble("this is too much for an editor"),
            false => Reaction::says(Said::Editor(self.for_editor())),
        }
    }

    /// The draft as an editor gets it: pastes unfolded, files as `@path`.
    fn for_editor(&self) -> String {
        let content = self.draft.content();
        let mut out = String::new();
        for piece in content.pieces(0..content.len()) {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Chip(Chip::File { path, .. }) => out.push_str(&written(path)),
                Piece::Chip(chip) => out.push_str(&chip.sent()),
            }
        }
        out
    }

    /// What an editor made of the draft, or why it could not be started. Files that are still spoken of stay attached.
    pub fn edited(&mut self, text: Result<String, SafeText>, ctx: &Ctx<'_>) -> Reaction {
        let text = match text {
            Ok(text) => text,
            Err(why) => return Reaction::trouble(why.as_str()),
        };
        // Editors end the last line.
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let content = match text.len() > FOLD_EDITED {
            true => Chip::pasted(Content::from(text).text()).into(),
            false => linked(Content::from(text), self.draft.content()),
        };
        self.draft.editor().replace_all(content);
        self.refusal = None;
        Reaction::taken().effect(self.keeping.touch(ctx.now))
    }
}

/// The request that a draft is, or what is wrong with it.
fn request(content: &Content) -> Result<Request, &'static str> {
    if content.plain_len() > LONGEST {
        return Err("this is more than 256 MB: attach it as a file");
    }
    let file = files(content).next().cloned();
    if files(content).any(|other| Some(other) != file.as_ref()) {
        return Err("a query has one file: delete one of them");
    }
    let is_text = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => !text.trim().is_empty(),
        Piece::Chip(chip) => matches!(chip, Chip::Pasted { .. }),
    };
    if !content.pieces(0..content.len()).iter().any(is_text) {
        return Err("say what is to be done with the file");
    }
    Ok(Request {
        text: content.plain(),
        file,
    })
}

fn files(content: &Content) -> impl Iterator<Item = &PathBuf> {
    content.chips().filter_map(|chip| match chip {
        Chip::File { path, .. } => Some(path),
        Chip::Pasted { .. } => None,
    })
}

fn written(path: &Path) -> String {
    format!("@{}", path.to_string_lossy())
}

/// Puts the chips of files that a text still speaks of into it.
fn linked(mut text: Content, before: &Content) -> Content {
    for chip in before.chips() {
        let Chip::File { path, .. } = chip else {
            continue;
        };
        let name = written(path);
        if let Some(at) = text.text().find(&name) {
            text.splice(at..at + name.len(), &chip.clone().into());
        }
    }
    text
}
