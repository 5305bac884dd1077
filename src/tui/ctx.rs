//! What every screen may look at while it updates or draws. Nothing in it can be changed from a screen.

use super::action::{Abilities, Action, Context, Here};
use super::keymap::Keymap;
use super::live::LabDesk;
use super::screens::Sort;
use super::theme::{Role, Theme};
use crate::model::{Session, Time};
use crate::source::SessionSummary;
use crate::text::Glyphs;
use ratatui::layout::Size;
use ratatui::style::Style;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How the user wants things shown; fixed for the life of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewOptions {
    /// Times in UTC instead of the local zone.
    pub utc: bool,
    /// ASCII forms of every glyph.
    pub ascii: bool,
    /// Movement is welcome; `false` shows every end state at once.
    pub animation: bool,
    /// The mouse is used.
    pub mouse: bool,
    /// Nothing may be written into the session.
    pub read_only: bool,
    /// Results of earlier scans may be used and kept.
    pub cache: bool,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            utc: false,
            ascii: false,
            animation: true,
            mouse: true,
            read_only: false,
            cache: true,
        }
    }
}

/// Sessions that lie in one directory.
#[derive(Clone, Debug)]
pub struct SessionList {
    /// The directory.
    pub dir: PathBuf,
    /// Those found so far; empty when nobody has looked yet.
    pub found: Arc<[SessionSummary]>,
}

/// The world of a screen.
#[derive(Clone, Copy, Debug)]
pub struct Ctx<'a> {
    /// The model. Its text is raw: make it [`SafeText`](crate::text::SafeText) on its way to the screen.
    pub session: &'a Session,
    /// Styles by meaning.
    pub theme: &'a Theme,
    /// Which key does what, for hints.
    pub keymap: &'a Keymap,
    /// How the user wants things shown.
    pub options: ViewOptions,
    /// What can be done now.
    pub can: Abilities,
    /// The context of the topmost full screen: what a popup over it speaks of.
    pub base: Context,
    /// What works on that screen.
    pub here: Here,
    /// The directory that exports are written to.
    pub exports: &'a Path,
    /// What that list is sorted by.
    pub sort: Sort,
    /// The directory whose sessions the picker lists, if there is one.
    pub sessions: Option<&'a SessionList>,
    /// Directories of sessions in which a run of this program goes on.
    pub running: &'a [PathBuf],
    /// What is known of forks.
    pub lab: &'a LabDesk,
    /// The whole terminal.
    pub size: Size,
    /// Time since the program started; the only clock of animations.
    pub now: Duration,
    /// The wall clock, for "running for 12 s".
    pub wall: Time,
}

/// Owns what a [`Ctx`] shows: the program's state, but for its screens.
#[derive(Clone, Debug)]
pub struct World {
    /// The model.
    pub session: Session,
    /// The theme.
    pub theme: Theme,
    /// The keymap.
    pub keymap: Keymap,
    /// How the user wants things shown.
    pub options: ViewOptions,
    /// What can be done now.
    pub can: Abilities,
    /// The context of the topmost full screen.
    pub base: Context,
    /// What works on that screen.
    pub here: Here,
    /// The directory that exports are written to.
    pub exports: PathBuf,
    /// What that list is sorted by.
    pub sort: Sort,
    /// The directory whose sessions the picker lists.
    pub sessions: Option<SessionList>,
    /// Directories of sessions in which a run of this program goes on.
    pub running: Arc<[PathBuf]>,
    /// What is known of forks.
    pub lab: LabDesk,
    /// The whole terminal.
    pub size: Size,
    /// Time since the program started.
    pub now: Duration,
    /// The wall clock.
    pub wall: Time,
}

impl World {
    /// What screens may look at.
    pub fn ctx(&self) -> Ctx<'_> {
        Ctx {
            session: &self.session,
            theme: &self.theme,
            keymap: &self.keymap,
            options: self.options,
            can: self.can,
            base: self.base,
            here: self.here,
            exports: &self.exports,
            sort: self.sort,
            sessions: self.sessions.as_ref(),
            running: &self.running,
            lab: &self.lab,
            size: self.size,
            now: self.now,
            wall: self.wall,
        }
    }
}

impl Ctx<'_> {
    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// The glyphs to draw with.
    pub fn glyphs(&self) -> &'static Glyphs {
        Glyphs::of(self.options.ascii)
    }

    /// The preferred key of an action as people read it; `?` for one that has none.
    pub fn key(&self, action: Action) -> String {
        self.keymap
            .label(action, self.options.ascii)
            .unwrap_or_else(|| "?".into())
    }
}
