//! Keeping drafts: when they are saved, and what is saved of them. Reading and writing happens in effects.

use super::chip::Chip;
use super::content::{Content, Piece};
use crate::source::drafts::{self, Draft, Kept, Piece as KeptPiece};
use crate::text::SafeText;
use crate::tui::effect::{Effect, Token, Work};
use std::path::PathBuf;
use std::time::Duration;

/// Drafts are saved this long after the last change.
const PAUSE: Duration = Duration::from_millis(400);
/// Bytes of a draft that is kept; a longer one lives as long as the program.
const LONGEST: usize = 32 << 20;

/// What a load brings.
pub(super) type Loaded = Result<Kept, SafeText>;
/// What a save brings: why it failed.
pub(super) type Saved = Result<(), SafeText>;

/// When drafts are loaded and saved. One save at a time: a later one must not be overtaken.
#[derive(Clone, Debug, Default)]
pub(super) struct Keeping {
    /// The session's directory; `None` keeps nothing.
    session: Option<PathBuf>,
    loading: Option<Token>,
    saving: Option<Token>,
    due: Option<Duration>,
}

impl Keeping {
    pub(super) fn new(session: Option<PathBuf>) -> Self {
        Self {
            session,
            ..Self::default()
        }
    }

    /// Asks for what was kept.
    pub(super) fn load(&mut self, token: Token) -> Option<Effect> {
        let session = self.session.clone()?;
        self.loading = Some(token);
        let run = move || drafts::load(&session).map_err(|error| SafeText::line(&error.to_string()));
        let work = Work {
            name: "load drafts",
            run: Box::new(move |_| Box::new(run())),
        };
        Some(Effect::Work { token, work })
    }

    /// Whether this answers the load.
    pub(super) fn is_loaded(&mut self, token: Token) -> bool {
        let loaded = self.loading == Some(token);
        if loaded {
            self.loading = None;
        }
        loaded
    }

    /// What was kept cannot be understood: it is not overwritten.
    pub(super) fn give_up(&mut self) {
        self.session = None;
    }

    /// Something changed; returns the moment to look again.
    pub(super) fn touch(&mut self, now: Duration) -> Option<Effect> {
        self.session.as_ref()?;
        let due = now + PAUSE;
        self.due = Some(due);
        Some(Effect::FrameAt(due))
    }

    /// It is to be saved at once.
    pub(super) fn hurry(&mut self, now: Duration) {
        if self.session.is_some() {
            self.due = Some(now);
        }
    }

    /// Saves, if it is time and nothing is being loaded or saved.
    pub(super) fn save(
        &mut self,
        now: Duration,
        draft: &Content,
        earlier: &[Content],
        token: impl FnOnce() -> Token,
    ) -> Option<Effect> {
        let idle = self.saving.is_none() && self.loading.is_none();
        if !idle || self.due.is_none_or(|due| now < due) {
            return None;
        }
        let session = self.session.clone()?;
        let token = token();
        (self.due, self.saving) = (None, Some(token));
        // Cheap copies: long pastes are shared, and taken apart where it is written.
        let (draft, earlier) = (draft.clone(), earlier.to_vec());
        let run = move || {
            let kept = Kept {
                draft: taken_apart(&draft),
                earlier: earlier.iter().map(taken_apart).collect(),
            };
            let kept = drafts::keep(&session, &kept);
            kept.map_err(|error| SafeText::line(&error.to_string()))
        };
        let work = Work {
            name: "keep drafts",
            run: Box::new(move |_| Box::new(run())),
        };
        Some(Effect::Work { token, work })
    }

    /// Whether this answers the save.
    pub(super) fn is_saved(&mut self, token: Token) -> bool {
        let saved = self.saving == Some(token);
        if saved {
            self.saving = None;
        }
        saved
    }
}

fn taken_apart(content: &Content) -> Draft {
    let kept = if content.plain_len() <= LONGEST {
        content.len()
    } else {
        0
    };
    let pieces = content.pieces(0..kept);
    let piece = |piece: Piece<'_>| match piece {
        Piece::Text(text) => KeptPiece::Text(text.to_owned()),
        Piece::Chip(Chip::Pasted { text, .. }) => KeptPiece::Pasted(text.to_string()),
        Piece::Chip(Chip::File { path, .. }) => KeptPiece::File(path.to_string_lossy().into_owned()),
    };
    pieces.into_iter().map(piece).collect()
}

/// A draft that was kept.
pub(super) fn put_together(draft: &Draft) -> Content {
    let mut content = Content::default();
    for piece in draft {
        content.append(&match piece {
            KeptPiece::Text(text) => Content::from(text.as_str()),
            KeptPiece::Pasted(text) => Chip::pasted(text).into(),
            KeptPiece::File(path) => Content::from(Chip::File {
                path: path.into(),
                size: None,
            }),
        });
    }
    content
}
