//! Forks: what screens want of the one that goes on, and its news.

use super::State;
use super::driving::errand;
use crate::tui::action::Action;
use crate::tui::compositor::Wanted;
use crate::tui::ctx::SessionList;
use crate::tui::effect::{ForkAct, Token};
use crate::tui::live::{Errand, ForkOrder, ForkRequest, ForkTold, Forking};
use crate::tui::notice::Notice;
use crate::tui::screens::Route;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A fork that took longer than this calls back a person who looks elsewhere.
const LONG: Duration = Duration::from_secs(10);

impl State {
    /// What a screen wants of forks.
    pub(super) fn fork(&mut self, act: ForkAct) -> Vec<Wanted> {
        match act {
            ForkAct::Begin(request) => self.begin_fork(request),
            ForkAct::Cancel => self.cancel_fork().unwrap_or_default(),
            ForkAct::Seen => {
                self.world.lab.fork.take_if(|fork| !fork.is_running());
                Vec::new()
            }
        }
    }

    fn begin_fork(&mut self, request: ForkRequest) -> Vec<Wanted> {
        if self.fork_runs() {
            self.say(Notice::trouble("a fork goes on: one at a time"));
            return Vec::new();
        }
        let (Some(dir), Some(drive)) = (self.drives.dir().map(Path::to_owned), self.drives.current()) else {
            return Vec::new();
        };
        let order = ForkOrder {
            token: self.fork_token.next(),
            request,
            settings: drive.prompt.settings().clone(),
        };
        let paths = [dir.clone(), drive.opened().to_owned()];
        self.world.lab.fork = Some(Forking::new(order.clone(), paths, self.world.now));
        self.note_running();
        self.tick();
        vec![errand(Errand::Fork { dir, order })]
    }

    /// Stops the fork that goes on; `None` when there is none.
    pub(super) fn cancel_fork(&mut self) -> Option<Vec<Wanted>> {
        let fork = self.world.lab.fork.as_mut().filter(|fork| fork.is_running())?;
        let stops = fork.cancel();
        let token = fork.token();
        self.frames.dirty();
        Some(stops.then(|| errand(Errand::CancelFork(token))).into_iter().collect())
    }

    /// News of the fork.
    pub(super) fn forked(&mut self, token: Token, told: ForkTold) -> Vec<Wanted> {
        let now = self.world.now;
        let Some(fork) = self.world.lab.fork.as_mut().filter(|fork| fork.token() == token) else {
            return Vec::new();
        };
        let ran = fork.is_running();
        let is_news = matches!(told, ForkTold::Made { .. } | ForkTold::Ended(_));
        fork.take(token, told, now);
        let ended = ran && !fork.is_running();
        let of_this = fork.is_of(self.drives.dir());
        self.frames.dirty();
        self.note_running();
        let mut wanted: Vec<Wanted> = (is_news && of_this)
            .then(|| errand(Errand::Family))
            .into_iter()
            .collect();
        if ended {
            wanted.extend(self.fork_ended(now));
        }
        wanted
    }

    /// Says how the fork ended, to who does not look at it.
    fn fork_ended(&mut self, now: Duration) -> Vec<Wanted> {
        let Some((fork, (well, words))) = self
            .world
            .lab
            .fork
            .as_ref()
            .and_then(|fork| Some((fork, fork.ended()?)))
        else {
            return Vec::new();
        };
        let long = fork.since(now) >= LONG;
        let mut wanted = Vec::new();
        if long && self.unfocused {
            wanted.push(errand(Errand::Alert(words.clone())));
        }
        let here = fork.is_of(self.drives.dir());
        if !here || !matches!(self.stack.top_route(), Some(Route::Fork { .. })) {
            let key = self.world.ctx().key(Action::Fork);
            let words = match here {
                true => format!("{words}; {key} in a run shows it"),
                false => format!("{}: {words}", fork.origin_name()),
            };
            self.say(if well {
                Notice::done(&words)
            } else {
                Notice::trouble(&words)
            });
        }
        if matches!(self.stack.base_route(), Some(Route::Picker)) {
            wanted.extend(self.update_sessions());
        }
        wanted
    }

    /// A session that has a family has a list to go to.
    pub(super) fn list_family(&mut self) {
        let lineage = &self.world.session.lineage;
        if self.world.sessions.is_none() && !lineage.is_empty() {
            self.world.sessions = Some(SessionList {
                dir: lineage.root.clone(),
                found: Arc::default(),
            });
            self.world.can.sessions = true;
        }
    }

    /// Whether a fork goes on.
    pub(super) fn fork_runs(&self) -> bool {
        self.world.lab.fork.as_ref().is_some_and(Forking::is_running)
    }

    /// The directory in which a fork goes on, or that it comes from.
    pub(super) fn forked_dir(&self) -> Option<PathBuf> {
        let fork = self.world.lab.fork.as_ref().filter(|fork| fork.is_running())?;
        Some(fork.as_listed())
    }

    /// Screens are told how things stand for forks.
    pub(super) fn note_lab(&mut self) {
        let options = self.drives.options().clone();
        let drive = self.drives.current();
        let lab = &mut self.world.lab;
        lab.dir = self.drives.dir().map(Path::to_owned);
        lab.closed = drive.and_then(|drive| drive.why_no_fork(&options, &self.world.session));
        let settings = drive.map(|drive| drive.prompt.settings());
        lab.limit = settings.map_or(0, |settings| settings.max_money_nano);
    }
}
