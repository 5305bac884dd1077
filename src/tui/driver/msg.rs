//! What can happen to the program.

use crate::model::Event;
use crate::text::SafeText;
use crate::tui::action::Abilities;
use crate::tui::compositor::LayerId;
use crate::tui::ctx::SessionList;
use crate::tui::effect::Token;
use crate::tui::input::Answer;
use crate::tui::live::{Desk, ForkTold, Found, Told};
use crate::tui::notice::Notice;
use crate::tui::screens::{Naming, Route};
use crate::tui::theme::Theme;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Size;
use std::path::PathBuf;

/// Something that happened outside.
#[derive(Debug)]
pub enum Msg {
    /// A key went down (or repeats).
    Key(KeyEvent),
    /// The mouse.
    Mouse(MouseEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has another size.
    Resize(Size),
    /// An effect was answered.
    Answer(LayerId, Answer),
    /// News of the session; applied now, settled before the next frame.
    Events(Vec<Event>),
    /// Another session, or none yet, is shown from now on.
    Opened(Opening),
    /// The theme fits the terminal's ground better than the first guess.
    Theme(Theme),
    /// Something is to be said.
    Notice(Notice),
    /// A name is to be asked for.
    AskName(Naming),
    /// A session could not get its name: it is asked for again.
    NameRefused {
        /// What it was for.
        naming: Naming,
        /// The name.
        name: String,
        /// Why not.
        why: Notice,
    },
    /// News of the run of a session, which need not be the one that is shown.
    Told {
        /// The session's directory.
        dir: PathBuf,
        /// The run's.
        token: Token,
        /// What.
        told: Told,
    },
    /// News of the fork that goes on.
    Forked {
        /// The fork's.
        token: Token,
        /// What.
        told: ForkTold,
    },
    /// What was found in a session that was opened.
    Found {
        /// The session's directory.
        dir: PathBuf,
        /// What.
        found: Found,
    },
    /// What was written in a person's own editor.
    Edited(Result<String, SafeText>),
    /// The terminal has the person's attention, or not any more.
    Focus(bool),
    /// Directories of sessions have changed.
    SessionsChanged,
    /// Time has passed: a wanted frame may be due.
    Time,
}

/// What is shown from now on.
#[derive(Debug)]
pub struct Opening {
    /// The first screen.
    pub route: Route,
    /// What can be done there.
    pub can: Abilities,
    /// Sessions to go back to; `None` keeps those that are known.
    pub sessions: Option<SessionList>,
    /// What is known of the session at once.
    pub events: Vec<Event>,
    /// Where its questions go.
    pub desk: Option<Desk>,
}
