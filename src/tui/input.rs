//! What reaches a screen: actions, typed keys, the mouse, answers to its effects, and news of the model.

use super::action::Action;
use super::body::{Body, Text};
use super::effect::Token;
use super::export::News;
use super::live::ReplayNews;
use super::pattern::Pattern;
use super::screens::TextPart;
use super::widgets::Highlights;
use crate::model::{ForkPoint, NamesAfter};
use crate::source::{Comparison, Hit};
use crate::text::SafeText;
use crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};
use std::any::Any;
use std::sync::Arc;

/// One thing that happened, as a layer sees it.
#[derive(Debug)]
pub enum Input<'a> {
    /// Sent once, when the layer was put on the stack: the place to ask for what it shows.
    Opened,
    /// The layer is on top again, after another one went away.
    Shown,
    /// An action, by its key or from the palette.
    Action(Action),
    /// A key that is bound to nothing in a context where keys type.
    Key(KeyEvent),
    /// Pasted text, raw.
    Paste(&'a str),
    /// The mouse.
    Mouse(Mouse),
    /// What is searched for on this screen has changed; `None` ends the search.
    Search(Option<&'a Pattern>),
    /// What is searched for was found in this text of the place that is shown: look there.
    FoundIn(TextPart),
    /// The answer to an effect of this layer.
    Answer(&'a Answer),
    /// The model changed: more was read, or the session grew. Selections survive by identity, not by index.
    ModelChanged,
    /// The terminal's size changed ([`Ctx::size`](super::ctx::Ctx) has the new one).
    Resized,
    /// A moment asked for by [`Effect::FrameAt`](super::effect::Effect) has come.
    Frame,
}

/// What the mouse did, and where. Cells count from the top left of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// What.
    pub kind: MouseKind,
    /// Where.
    pub at: Position,
}

/// What a mouse can do here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// The left button went down.
    Press,
    /// The same spot was pressed again within 400 ms: open it.
    DoublePress,
    /// The mouse moved with the left button down (a scrollbar's thumb).
    Drag,
    /// The left button came up.
    Release,
    /// The wheel, in rows; negative is up.
    Wheel(i32),
}

impl Mouse {
    /// Whether it happened in `area`.
    pub fn is_in(&self, area: Rect) -> bool {
        area.contains(self.at)
    }
}

/// The answer to an effect. `token` is that of the effect: a screen drops answers it no longer waits for.
#[derive(Debug)]
pub struct Answer {
    /// Of the effect.
    pub token: Token,
    /// What came of it.
    pub result: Result<Reply, SafeText>,
}

impl Answer {
    /// No more answers come for its effect.
    pub fn is_last(&self) -> bool {
        !matches!(
            self.result,
            Ok(Reply::Hits { done: false, .. } | Reply::Export(News::Progress(_)) | Reply::Replay(_))
        )
    }
}

/// What an effect brought.
#[derive(Debug)]
pub enum Reply {
    /// A step's body.
    Body(Arc<Body>),
    /// The whole text of a query; `None` when only its beginning was kept.
    Query(Option<Text>),
    /// Syntax colours.
    Highlights(Arc<Highlights>),
    /// Matches of a search through all transcripts: some, or the last ones, in no order.
    Hits {
        /// A batch.
        hits: Vec<Hit>,
        /// No more will come.
        done: bool,
    },
    /// How an export stands: its progress, or its end.
    Export(News),
    /// Two sides, compared.
    Compared(Arc<Comparison>),
    /// The names of a run's REPL after each step.
    Names(Arc<Vec<NamesAfter>>),
    /// News of a replay.
    Replay(ReplayNews),
    /// A replay has ended, with or without a verdict.
    Replayed,
    /// What a fork before a step begins with.
    ForkPoint(Arc<ForkPoint>),
    /// It is Python.
    Checked,
    /// What was written in an editor.
    Edited(String),
    /// What a piece of work computed: the type its effect promised.
    Worked(Box<dyn Any + Send>),
}
