//! The box as its screen sees it: inputs in, reactions and frames out.

mod attaching;
mod frames;
mod keeping;
mod questions;
mod sending;

use super::*;
use crate::tui::action::Context;
use crate::tui::keymap::Chord;
use crate::tui::testing::World;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::Duration;

/// A box and its world; keys go the way they go in the program.
struct Bench {
    world: World,
    input: InputBox,
    effects: Vec<Effect>,
    said: Vec<Said>,
}

impl Bench {
    /// A focused box with a model.
    fn new() -> Self {
        let mut input = InputBox::new(Home::default());
        input.set_settings(Settings {
            model: Some("z-ai/glm-5".into()),
            ..Settings::default()
        });
        input.focus(true);
        Self {
            world: World::new(),
            input,
            effects: Vec::new(),
            said: Vec::new(),
        }
    }

    fn give(&mut self, input: &Input<'_>) -> bool {
        let reaction = self.input.update(input, &self.world.ctx());
        self.effects.extend(reaction.outcome.effects);
        self.said.extend(reaction.said);
        reaction.outcome.consumed
    }

    /// Presses a key after a while.
    fn press(&mut self, key: &str) -> bool {
        self.later(200);
        self.press_at_once(key_event(key))
    }

    fn press_at_once(&mut self, key: KeyEvent) -> bool {
        match self.world.keymap.lookup(Context::Box, Chord::of(key)) {
            Some(action) => self.give(&Input::Action(action)),
            None => self.give(&Input::Key(key)),
        }
    }

    fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            self.press(key);
        }
    }

    fn type_in(&mut self, text: &str) {
        for c in text.chars() {
            self.later(50);
            self.press_at_once(KeyEvent::from(KeyCode::Char(c)));
        }
    }

    /// Keys as a terminal without bracketed paste sends them.
    fn burst(&mut self, text: &str) {
        for c in text.chars() {
            let key = match c {
                '\n' => KeyEvent::from(KeyCode::Enter),
                '\t' => KeyEvent::from(KeyCode::Tab),
                c => KeyEvent::from(KeyCode::Char(c)),
            };
            self.press_at_once(key);
        }
    }

    fn later(&mut self, ms: u64) {
        self.world.now += Duration::from_millis(ms);
    }

    fn text(&mut self) -> String {
        self.input.draft.flush();
        self.input.draft.content().plain()
    }

    fn sent(&self) -> Vec<&str> {
        self.said
            .iter()
            .filter_map(|said| match said {
                Said::Send(request) => Some(request.text.as_str()),
                _ => None,
            })
            .collect()
    }

    fn queries(&mut self, texts: &[&str]) {
        self.input.history.set_queries(texts.iter().copied());
    }

    /// Does the work that was asked for, and answers it.
    fn work(&mut self) {
        let stop = crate::tui::effect::Stop::default();
        for effect in std::mem::take(&mut self.effects) {
            if let Effect::Work { token, work } = effect {
                let result = Ok(Reply::Worked((work.run)(&stop)));
                self.give(&Input::Answer(&Answer { token, result }));
            }
        }
    }

    fn notices(&self) -> String {
        let notice = |effect: &Effect| match effect {
            Effect::Notice(notice) => Some(notice.text.as_str().to_owned()),
            _ => None,
        };
        self.effects.iter().filter_map(notice).collect::<Vec<_>>().join("\n")
    }
}

/// A key in the notation of keymaps.
fn key_event(key: &str) -> KeyEvent {
    let (rest, modifiers) = match key.rsplit_once('-') {
        Some((prefix, rest)) if !rest.is_empty() => (rest, modifiers(prefix)),
        _ => (key, KeyModifiers::NONE),
    };
    let code = match rest {
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "space" => KeyCode::Char(' '),
        other => KeyCode::Char(other.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

fn modifiers(prefix: &str) -> KeyModifiers {
    let modifier = |name| match name {
        "ctrl" => KeyModifiers::CONTROL,
        "alt" => KeyModifiers::ALT,
        other => panic!("{other}"),
    };
    prefix
        .split('-')
        .map(modifier)
        .fold(KeyModifiers::NONE, |all, one| all | one)
}
