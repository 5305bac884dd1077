//! The program as one pure function: a message in, effects out. It does no input or output, so that everything the
//! program does can be tried in tests without a terminal.

mod actions;
mod ask_box;
mod draw;
mod driving;
mod forking;
mod keys;
mod mouse;
mod msg;
mod search_bar;

pub use msg::{Msg, Opening};

use super::action::{Abilities, Action, Context};
use super::compositor::{Compositor, LayerId, Wanted};
use super::ctx::{ViewOptions, World};
use super::effect::{Effect, Token};
use super::frames::Frames;
use super::input::Input;
use super::live::{DriveOptions, Drives};
use super::notice::Notice;
use super::screens::{self, Route};
use crate::model::{Event, Session};
use mouse::Presses;
use ratatui::layout::Size;
use search_bar::SearchBar;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Everything the program holds while it runs.
pub struct State {
    world: World,
    stack: Compositor,
    frames: Frames,
    search: Option<SearchBar>,
    notice: Option<(Notice, Duration)>,
    /// No key was pressed yet: the footer shows where to begin.
    untouched: bool,
    /// Events were applied since the last settling.
    unsettled: bool,
    last_interrupt: Option<Duration>,
    /// When a key was pressed last.
    last_key: Option<Duration>,
    presses: Presses,
    /// Sessions that can be driven.
    drives: Drives,
    /// Of the last fork.
    fork_token: Token,
    /// When the clocks of runs move next.
    next_tick: Option<Duration>,
    /// The terminal said that a person looks elsewhere.
    unfocused: bool,
}

impl State {
    /// A program that shows nothing yet.
    pub fn new(world: World, options: Arc<DriveOptions>) -> Self {
        let mut frames = Frames::default();
        frames.dirty();
        let raise_key = world.ctx().key(Action::Budget);
        Self {
            world,
            stack: Compositor::default(),
            frames,
            search: None,
            notice: None,
            untouched: true,
            unsettled: false,
            last_interrupt: None,
            last_key: None,
            presses: Presses::default(),
            drives: Drives::new(options, raise_key),
            fork_token: Token::default(),
            next_tick: None,
            unfocused: false,
        }
    }

    /// The same, with something to tell first.
    #[must_use]
    pub fn telling(mut self, note: Option<&str>) -> Self {
        if let Some(note) = note {
            self.say(Notice::trouble(note));
        }
        self
    }

    /// Tells the time, since the program's start and by the wall clock.
    pub fn set_time(&mut self, now: Duration, wall: crate::model::Time) {
        (self.world.now, self.world.wall) = (now, wall);
    }

    /// When to draw.
    pub fn frames(&mut self) -> &mut Frames {
        &mut self.frames
    }

    /// The terminal's size, as last told.
    pub fn size(&self) -> Size {
        self.world.size
    }

    /// How the user wants things shown.
    pub fn options(&self) -> ViewOptions {
        self.world.options
    }

    /// The directory that exports are written to.
    pub fn exports_dir(&self) -> &Path {
        &self.world.exports
    }

    /// Whether a layer is still there.
    pub fn has_layer(&self, layer: LayerId) -> bool {
        // The program's own tasks, and those of the box, are never left.
        layer == LayerId::default() || self.stack.has(layer)
    }

    /// Whether a run goes on, in this session or another one.
    pub fn any_running(&self) -> bool {
        self.drives.any_running() || self.fork_runs()
    }

    /// What queries and forks are run with.
    pub fn drive_options(&self) -> &Arc<DriveOptions> {
        self.drives.options()
    }

    /// The model as it is.
    pub fn session(&self) -> &Session {
        &self.world.session
    }

    /// Takes a message; returns what is to be done outside, each with the layer that wants it.
    pub fn update(&mut self, msg: Msg) -> Vec<Wanted> {
        let is_key = matches!(msg, Msg::Key(_));
        let mut outside = Vec::new();
        let wanted = self.take(msg);
        self.carry_out(wanted, &mut outside);
        let wanted = self.restand();
        self.carry_out(wanted, &mut outside);
        if is_key {
            self.frames.hurry();
        }
        outside
    }

    /// Takes what was read of the session; it is shown when it is settled and drawn.
    pub fn read(&mut self, events: Vec<Event>) {
        events.into_iter().for_each(|event| self.world.session.apply(event));
        self.unsettled = true;
    }

    fn take(&mut self, msg: Msg) -> Vec<Wanted> {
        match msg {
            Msg::Key(key) => self.key(key),
            Msg::Mouse(event) => self.mouse(event),
            Msg::Paste(text) => self.paste(&text),
            Msg::Resize(size) => self.resize(size),
            Msg::Answer(layer, answer) => {
                self.frames.dirty();
                if layer == LayerId::default() {
                    return self.tell_box(&Input::Answer(&answer));
                }
                self.stack.answer(layer, &answer, &self.world.ctx())
            }
            Msg::Events(events) => {
                self.read(events);
                self.frames.dirty();
                Vec::new()
            }
            Msg::Opened(opening) => self.opened(opening),
            Msg::Theme(theme) => {
                self.world.theme = theme;
                self.frames.dirty();
                Vec::new()
            }
            Msg::Notice(notice) => {
                self.say(notice);
                Vec::new()
            }
            Msg::AskName(naming) => self.go_to(Route::Naming { naming, typed: None }),
            Msg::NameRefused { naming, name, why } => {
                let typed = Some(name);
                let wanted = self.go_to(Route::Naming { naming, typed });
                self.say(why);
                wanted
            }
            Msg::Told { dir, token, told } => self.told(&dir, token, told),
            Msg::Forked { token, told } => self.forked(token, told),
            Msg::Found { dir, found } => self.found(&dir, found),
            Msg::Edited(text) => self.edited(text),
            Msg::Focus(on) => {
                self.unfocused = !on;
                Vec::new()
            }
            Msg::SessionsChanged => self.update_sessions(),
            Msg::Time => self.time(),
        }
    }

    fn opened(&mut self, opening: Opening) -> Vec<Wanted> {
        let mut session = Session::default();
        opening.events.into_iter().for_each(|event| session.apply(event));
        let mut wanted = self.sit_down(opening.desk.as_ref(), &mut session);
        session.settle();
        self.world.session = session;
        self.world.sessions = opening.sessions.or(self.world.sessions.take());
        self.world.can = Abilities {
            sessions: self.world.sessions.is_some(),
            ..opening.can
        };
        self.stack.clear();
        (self.search, self.unsettled) = (None, false);
        self.frames.dirty();
        wanted.extend(self.push(opening.route));
        wanted.extend(self.open_box());
        wanted
    }

    /// Lists of sessions are read again.
    fn update_sessions(&mut self) -> Vec<Wanted> {
        self.frames.dirty();
        self.stack.tell_all(&Input::Shown, &self.world.ctx())
    }

    fn resize(&mut self, size: Size) -> Vec<Wanted> {
        self.world.size = size;
        self.frames.dirty();
        let mut wanted = self.stack.tell_all(&Input::Resized, &self.world.ctx());
        wanted.extend(self.tell_box(&Input::Resized));
        wanted
    }

    fn time(&mut self) -> Vec<Wanted> {
        if !self.frames.take_wanted(self.world.now) {
            return Vec::new();
        }
        if self.notice.as_ref().is_some_and(|(_, until)| *until <= self.world.now) {
            self.notice = None;
        }
        let mut wanted = self.stack.tell_all(&Input::Frame, &self.world.ctx());
        wanted.extend(self.ticked());
        wanted
    }

    /// Derives what screens show from the events so far: once a frame, however many there were.
    pub fn settle(&mut self) -> Vec<Wanted> {
        if !std::mem::take(&mut self.unsettled) {
            return Vec::new();
        }
        self.world.session.settle();
        self.list_family();
        let mut wanted = self.stack.tell_all(&Input::ModelChanged, &self.world.ctx());
        wanted.extend(self.tell_box(&Input::ModelChanged));
        wanted.extend(self.restand());
        let mut outside = Vec::new();
        self.carry_out(wanted, &mut outside);
        outside
    }

    /// Says something in the footer, for a while or until the next key.
    fn say(&mut self, notice: Notice) {
        let until = self.world.now + Notice::STAYS;
        self.notice = Some((notice, until));
        self.frames.want_at(until);
        self.frames.dirty();
    }

    /// Does what concerns the stack and the footer, and collects the rest. Screens that open answer with effects of
    /// their own; the queue ends, for each opening takes an effect away.
    fn carry_out(&mut self, wanted: Vec<Wanted>, outside: &mut Vec<Wanted>) {
        let mut queue = std::collections::VecDeque::from(wanted);
        while let Some((layer, effect)) = queue.pop_front() {
            let more = match effect {
                Effect::Push(route) => self.push(route),
                Effect::Replace(route) => self.replace(layer, route),
                Effect::Pop => self.stack.remove(layer, &self.world.ctx()),
                Effect::Act(action) => self.act(action),
                Effect::SortedBy(sort) => {
                    self.world.sort = sort;
                    Vec::new()
                }
                Effect::SearchOn(pattern, part) => {
                    let ctx = self.world.ctx();
                    let mut wanted = self.stack.search(Some(pattern), &ctx);
                    if let Some(part) = part {
                        wanted.extend(self.stack.offer(&ctx, |_| Some(Input::FoundIn(part))).1);
                    }
                    wanted
                }
                Effect::Fork(act) => self.fork(act),
                Effect::Notice(notice) => {
                    self.say(notice);
                    Vec::new()
                }
                Effect::FrameAt(at) => {
                    self.frames.want_at(at);
                    Vec::new()
                }
                other => {
                    outside.push((layer, other));
                    Vec::new()
                }
            };
            queue.extend(more);
            self.frames.dirty();
            self.note_base();
        }
        self.note_base();
    }

    /// The stack may have changed: popups are told which screen they stand on.
    fn note_base(&mut self) {
        let base = self.stack.base();
        self.world.base = base.map_or(Context::Everywhere, |screen| screen.context());
        self.world.here = base.map(|screen| screen.here()).unwrap_or_default();
    }

    fn push(&mut self, route: Route) -> Vec<Wanted> {
        let ctx = self.world.ctx();
        match screens::open(&route, &ctx) {
            Some(screen) => {
                let wanted = self.stack.push(route, screen, &ctx);
                self.stack.merge_top();
                wanted
            }
            None => {
                self.say(Notice::trouble("there is nothing to show there"));
                Vec::new()
            }
        }
    }

    fn replace(&mut self, layer: LayerId, route: Route) -> Vec<Wanted> {
        let mut wanted = self.push(route);
        wanted.extend(self.stack.remove(layer, &self.world.ctx()));
        self.stack.merge_top();
        wanted
    }
}

#[cfg(test)]
mod tests;
