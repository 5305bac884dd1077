//! Actions that no screen took: going to other screens, back, quitting, copying.

use super::State;
use super::driving::errand;
use super::search_bar::SearchBar;
use crate::tui::action::{Action, Context, Entry, Here};
use crate::tui::compositor::Wanted;
use crate::tui::effect::{Effect, Focused};
use crate::tui::input::Input;
use crate::tui::keymap::Chord;
use crate::tui::live::Errand;
use crate::tui::notice::Notice;
use crate::tui::screens::{Naming, Route};
use crossterm::event::KeyEvent;
use std::path::Path;
use std::time::Duration;

/// A second `Ctrl-C` within this time quits without asking.
const TWICE: Duration = Duration::from_secs(2);

/// Where an action works that does nothing here.
fn elsewhere(entry: &Entry, here: &Here) -> String {
    match entry.context.place() {
        Some(place) if !here.has(entry.action) => format!("\"{}\" works {place}", entry.doc),
        _ => format!("\"{}\": there is nothing to do that with here", entry.doc),
    }
}

impl State {
    /// Does an action of the program's own, after what the layers wanted.
    pub(super) fn own(&mut self, action: Action, mut wanted: Vec<Wanted>) -> Vec<Wanted> {
        let more = match action {
            Action::Help => self.go_to(Route::Help),
            Action::Palette => self.go_to(Route::Palette),
            Action::Memory => self.go_to(Route::Memory { name: None }),
            Action::Problems => self.go_to(Route::Problems),
            Action::Sessions => self.go_to(Route::Picker),
            Action::Timeline => self.go_to(Route::SessionTimeline),
            Action::Export => {
                let query = self.stack.base().and_then(|screen| screen.run());
                self.go_to(Route::Export { query })
            }
            Action::SearchSession => self.search_session(),
            Action::Search => self.open_search(),
            Action::SearchNext | Action::SearchPrevious => self.nothing_found(),
            Action::Copy => self.copy(),
            Action::OpenExternally => self.open_externally(),
            Action::Suspend => self.outside(Effect::Suspend),
            Action::Back => self.pop(),
            Action::NewSession | Action::Rename => self.name_session(action == Action::NewSession),
            Action::Ask => self.ask(),
            Action::Budget => self.raise(),
            Action::Resume => self.resume(),
            Action::Interrupt => self.interrupt(),
            Action::Quit => self.quit(),
            action => self.not_here(action),
        };
        wanted.extend(more);
        wanted
    }

    /// Goes to a screen: back to it where it is open already, so that going in circles piles nothing up.
    pub(super) fn go_to(&mut self, route: Route) -> Vec<Wanted> {
        let back = self.stack.return_to(&route, &self.world.ctx());
        back.unwrap_or_else(|| self.push(route))
    }

    pub(super) fn outside(&self, effect: Effect) -> Vec<Wanted> {
        vec![(self.stack.top_id().unwrap_or_default(), effect)]
    }

    fn pop(&mut self) -> Vec<Wanted> {
        let ctx = self.world.ctx();
        if self.stack.depth() < 2 && self.world.can.sessions && self.world.can.session {
            return self.go_to(Route::Picker);
        }
        let top = self.stack.top_id();
        top.map_or_else(Vec::new, |top| self.stack.remove(top, &ctx))
    }

    pub(super) fn top_is_popup(&self) -> bool {
        self.stack.top().is_some_and(|screen| screen.is_popup())
    }

    /// Asks for the name of a new session beside this one, or for another name of this one.
    fn name_session(&mut self, new: bool) -> Vec<Wanted> {
        if self.world.options.read_only {
            self.say(Notice::trouble("opened with --read-only: nothing is written"));
            return Vec::new();
        }
        let here = self.drives.dir().map(Path::to_owned);
        let running = self.drives.current().is_some_and(|drive| drive.machine.is_running());
        let listed = self.world.sessions.as_ref().map(|sessions| sessions.dir.clone());
        let beside = listed.or_else(|| here.as_deref().and_then(Path::parent).map(Path::to_owned));
        let naming = match (new, here, beside) {
            (true, _, Some(dir)) => Naming::New(dir),
            (false, Some(_), _) if running => {
                self.say(Notice::trouble("a run goes on: rename the session afterwards"));
                return Vec::new();
            }
            (false, Some(dir), _) => return vec![errand(Errand::AskName { dir })],
            _ => return Vec::new(),
        };
        self.push(Route::Naming { naming, typed: None })
    }

    fn quit(&mut self) -> Vec<Wanted> {
        if self.top_is_popup() {
            self.pop()
        } else if self.any_running() {
            self.go_to(Route::Leaving)
        } else {
            self.outside(Effect::Quit)
        }
    }

    /// Closes what is on top, else cancels the run or the fork of the session that is shown, else quits.
    fn interrupt(&mut self) -> Vec<Wanted> {
        if self.top_is_popup() {
            return self.pop();
        }
        let forks = self.world.lab.fork_here().is_some();
        let cancelled = self
            .cancel_run()
            .or_else(|| forks.then(|| self.cancel_fork()).flatten());
        cancelled.unwrap_or_else(|| self.quit())
    }

    /// Notes a `Ctrl-C`; whether it is the second one within two seconds, which quits whatever is open.
    pub(super) fn is_second_interrupt(&mut self) -> bool {
        let now = self.world.now;
        let last = self.last_interrupt.replace(now);
        last.is_some_and(|last| now < last + TWICE)
    }

    /// Nobody took it: where it works is said, but for moving, which comes to its end on every screen.
    fn not_here(&mut self, action: Action) -> Vec<Wanted> {
        use Action as A;
        let moves = [
            A::MoveUp,
            A::MoveDown,
            A::MoveLeft,
            A::MoveRight,
            A::PageUp,
            A::PageDown,
            A::First,
            A::Last,
            A::NextPane,
            A::StepPrevious,
            A::StepNext,
            A::EntryPrevious,
            A::EntryNext,
        ];
        let entry = action.entry().filter(|_| !moves.contains(&action));
        if let Some(entry) = entry {
            self.say(Notice::info(&elsewhere(entry, &self.world.here)));
        }
        Vec::new()
    }

    /// A key that means nothing here, and something on another screen: where that is.
    pub(super) fn means_elsewhere(&mut self, key: KeyEvent) -> Vec<Wanted> {
        let keymap = &self.world.keymap;
        let mut contexts = Context::ALL.into_iter().filter(|context| !context.types_text());
        let entry = contexts.find_map(|context| keymap.lookup(context, Chord::of(key))?.entry());
        if let Some(entry) = entry {
            self.say(Notice::info(&elsewhere(entry, &self.world.here)));
        }
        Vec::new()
    }

    fn search_session(&mut self) -> Vec<Wanted> {
        let pattern = self
            .stack
            .pattern()
            .map_or_else(String::new, |pattern| pattern.text().to_owned());
        let mut wanted = self.go_to(Route::SearchResults { pattern });
        // One that was open below shows its hits: opened by its key it takes text at once all the same.
        let line = self
            .stack
            .offer(&self.world.ctx(), |_| Some(Input::Action(Action::SearchSession)));
        wanted.extend(line.1);
        wanted
    }

    fn open_search(&mut self) -> Vec<Wanted> {
        let before = self.stack.pattern().cloned();
        self.search = Some(SearchBar::new(before));
        Vec::new()
    }

    fn nothing_found(&mut self) -> Vec<Wanted> {
        let text = match self.stack.pattern() {
            Some(pattern) => format!("no match for \"{}\" here", pattern.text()),
            None => format!(
                "nothing is searched for: {} searches here",
                self.world.ctx().key(Action::Search)
            ),
        };
        self.say(Notice::info(&text));
        Vec::new()
    }

    fn focused(&self) -> Option<Focused> {
        let focused = self.stack.top().and_then(|screen| screen.focused(&self.world.ctx()));
        focused.filter(|focused| !focused.is_empty())
    }

    fn copy(&mut self) -> Vec<Wanted> {
        match self.focused() {
            Some(focused) => self.outside(Effect::Copy(focused.raw())),
            None => self.nothing("copy"),
        }
    }

    fn open_externally(&mut self) -> Vec<Wanted> {
        match self.focused() {
            Some(focused) => self.outside(Effect::OpenExternally(focused)),
            None => self.nothing("open"),
        }
    }

    fn nothing(&mut self, what: &str) -> Vec<Wanted> {
        self.say(Notice::info(&format!("there is nothing to {what} in this pane")));
        Vec::new()
    }
}
