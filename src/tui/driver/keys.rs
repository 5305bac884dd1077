//! Keys and pastes: to the search bar while it is open, else to the layers, else to the program.

use super::State;
use crate::tui::action::{Action, Context};
use crate::tui::compositor::Wanted;
use crate::tui::effect::Effect;
use crate::tui::input::Input;
use crate::tui::keymap::{Chord, Keymap};
use crate::tui::live::is_of_box;
use crate::tui::notice::Notice;
use crossterm::event::{KeyEvent, KeyEventKind};

/// What a key is in a context.
fn input_of<'a>(keymap: &Keymap, context: Context, key: KeyEvent) -> Option<Input<'a>> {
    match keymap.lookup(context, Chord::of(key)) {
        Some(action) => Some(Input::Action(action)),
        None => context.types_text().then_some(Input::Key(key)),
    }
}

impl State {
    /// A key went down. Releases, which some terminals report, are none.
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Wanted> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        self.untouched = false;
        self.last_key = Some(self.world.now);
        self.notice = None;
        self.frames.dirty();
        let action = self.world.keymap.lookup(self.context(), Chord::of(key));
        if action == Some(Action::Interrupt) && self.is_second_interrupt() {
            return self.outside(Effect::Quit);
        }
        if self.search.is_some() {
            return self.search_key(key);
        }
        if let Some(why) = self.impossible(key) {
            self.say(Notice::trouble(why));
            return Vec::new();
        }
        let mut before = Vec::new();
        if self.box_types() {
            let input = input_of(&self.world.keymap, Context::Box, key);
            let (taken, wanted) = input.map_or_else(Default::default, |input| self.offer_box(&input));
            if taken {
                return wanted;
            }
            before = wanted;
        }
        let wanted = self.screen_key(key);
        before.extend(wanted);
        before
    }

    /// A key for the screens, then for the program.
    fn screen_key(&mut self, key: KeyEvent) -> Vec<Wanted> {
        let keymap = &self.world.keymap;
        let (taken, wanted) = self
            .stack
            .offer(&self.world.ctx(), |context| input_of(keymap, context, key));
        let context = self.screen_context();
        match keymap.lookup(context, Chord::of(key)) {
            Some(action) if !taken => self.own(action, wanted),
            None if !taken && !context.types_text() => wanted.into_iter().chain(self.means_elsewhere(key)).collect(),
            _ => wanted,
        }
    }

    /// The context of what keys are for: the box while it has the focus, else the layer on top.
    pub(super) fn context(&self) -> Context {
        self.box_context().unwrap_or_else(|| self.screen_context())
    }

    /// The context of the layer on top.
    fn screen_context(&self) -> Context {
        self.stack.top().map_or(Context::Everywhere, |screen| screen.context())
    }

    /// Why the key's action cannot be done, if it is one that cannot.
    fn impossible(&self, key: KeyEvent) -> Option<&'static str> {
        let action = self.world.keymap.lookup(self.context(), Chord::of(key))?;
        action.unavailable(&self.world.can)
    }

    /// Does an action as if its key had been pressed.
    pub(super) fn act(&mut self, action: Action) -> Vec<Wanted> {
        if let Some(why) = action.unavailable(&self.world.can) {
            self.say(Notice::trouble(why));
            return Vec::new();
        }
        if is_of_box(action) {
            let wanted = self.ask();
            let (_, more) = self.offer_box(&Input::Action(action));
            return wanted.into_iter().chain(more).collect();
        }
        let (taken, wanted) = self.stack.offer(&self.world.ctx(), |_| Some(Input::Action(action)));
        if taken { wanted } else { self.own(action, wanted) }
    }

    /// Text was pasted: it is typed where typing is possible, and nowhere else.
    pub(super) fn paste(&mut self, text: &str) -> Vec<Wanted> {
        self.untouched = false;
        self.frames.dirty();
        if let Some(bar) = &mut self.search {
            bar.edit.insert(text);
            return self.search_changed();
        }
        if self.box_types() {
            return self.offer_box(&Input::Paste(text)).1;
        }
        let (_, wanted) = self.stack.offer(&self.world.ctx(), |context| {
            context.types_text().then_some(Input::Paste(text))
        });
        wanted
    }
}
