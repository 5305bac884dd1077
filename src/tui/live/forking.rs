//! A fork that goes on, or has ended: what is known of it, in words. No clock, no thread, no engine.

use super::current::Current;
use super::fork::{ForkEnding, ForkOrder, ForkTold};
use super::order::Told;
use crate::model::{LiveEvent, LiveNews};
use crate::text::{duration, plural};
use crate::tui::effect::Token;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a fork stands.
#[derive(Clone, Debug, PartialEq)]
pub enum ForkState {
    /// It goes on.
    Running,
    /// A person stopped it, and it winds up.
    Cancelling,
    /// It ended.
    Ended(ForkEnding),
}

/// What screens are told of forks.
#[derive(Clone, Debug, Default)]
pub struct LabDesk {
    /// Why the session that is shown cannot be forked, and what helps.
    pub closed: Option<String>,
    /// The model that a fork goes on with.
    pub model: Option<String>,
    /// Nano-dollars that a fork may spend.
    pub limit: i64,
    /// The fork that goes on, or whose end nobody has seen yet.
    pub fork: Option<Forking>,
}

/// A fork of a session.
#[derive(Clone, Debug)]
pub struct Forking {
    order: ForkOrder,
    /// The directory of the session that it branched off.
    origin: PathBuf,
    since: Duration,
    took: Option<Duration>,
    state: ForkState,
    /// Its session: name and directory.
    made: Option<(String, PathBuf)>,
    current: Current,
    /// Its root's last finished step.
    kept: u64,
    /// The last line that was printed.
    printed: String,
}

impl Forking {
    /// A fork of the session in `origin`, ordered now.
    pub fn new(order: ForkOrder, origin: PathBuf, now: Duration) -> Self {
        Self {
            order,
            origin,
            since: now,
            took: None,
            state: ForkState::Running,
            made: None,
            current: Current::default(),
            kept: 0,
            printed: String::new(),
        }
    }

    /// What was ordered.
    pub fn order(&self) -> &ForkOrder {
        &self.order
    }

    /// The directory of the session that it branched off.
    pub fn origin(&self) -> &Path {
        &self.origin
    }

    /// Its token.
    pub fn token(&self) -> Token {
        self.order.token
    }

    /// How it stands.
    pub fn state(&self) -> &ForkState {
        &self.state
    }

    /// It has not ended.
    pub fn is_running(&self) -> bool {
        !matches!(self.state, ForkState::Ended(_))
    }

    /// Its session's name, once it is made.
    pub fn id(&self) -> Option<&str> {
        self.made.as_ref().map(|(id, _)| id.as_str())
    }

    /// Its session's directory, once it is made.
    pub fn dir(&self) -> Option<&Path> {
        self.made.as_ref().map(|(_, dir)| dir.as_path())
    }

    /// The last line that it printed. Raw.
    pub fn printed(&self) -> &str {
        &self.printed
    }

    /// A person stops it; whether there was something to be stopped.
    pub fn cancel(&mut self) -> bool {
        let running = self.state == ForkState::Running;
        if running {
            self.state = ForkState::Cancelling;
        }
        running
    }

    /// Takes news. Those of another fork, or after the end, change nothing.
    pub fn take(&mut self, token: Token, told: ForkTold, now: Duration) {
        if token != self.order.token || !self.is_running() {
            return;
        }
        match told {
            ForkTold::Made { id, dir } => self.made = Some((id, dir)),
            ForkTold::Run(Told::Preparing(line)) => self.current.preparing = Some(line),
            ForkTold::Run(Told::Live(events)) => events.iter().for_each(|event| self.note(event)),
            ForkTold::Run(_) => {}
            ForkTold::Ended(ending) => {
                self.took = Some(now.saturating_sub(self.since));
                self.state = ForkState::Ended(ending);
            }
        }
    }

    fn note(&mut self, event: &LiveEvent) {
        let LiveEvent::Agent {
            run_id, parent, news, ..
        } = event
        else {
            return;
        };
        self.current.note(run_id, parent.is_none(), news);
        match news {
            LiveNews::Kept(step) if parent.is_none() => self.kept = self.kept.max(*step),
            LiveNews::Output(text) if parent.is_none() => {
                let line = text.lines().rev().find(|line| !line.trim().is_empty());
                self.printed = line.map_or_else(|| self.printed.clone(), str::to_owned);
            }
            _ => {}
        }
    }

    /// What it does just now: `step 4, 2 sub-agents`.
    pub fn doing(&self) -> String {
        if self.state == ForkState::Cancelling {
            return "it winds up".into();
        }
        let Some(_) = self.made else {
            return self.current.preparing.clone().unwrap_or_else(|| "starting".into());
        };
        let step = self.kept.max(self.order.request.step.saturating_sub(1)) + 1;
        let step = step.max(self.current.step);
        match self.current.helpers.len() {
            0 if self.current.step == step && !self.current.running => format!("step {step}, the model writes"),
            0 => format!("step {step}, its code runs"),
            helpers => format!("step {step}, {}", plural(helpers as u128, "sub-agent", "sub-agents")),
        }
    }

    /// Time since it was ordered.
    pub fn since(&self, now: Duration) -> Duration {
        now.saturating_sub(self.since)
    }

    /// How long it has taken so far, or did.
    pub fn took(&self, now: Duration) -> String {
        let took = self.took.unwrap_or_else(|| now.saturating_sub(self.since));
        // Whole seconds while they run on.
        let took = if self.took.is_some() { took } else { Duration::from_secs(took.as_secs()) };
        duration(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
    }

    /// What it has used so far: `$0.02 spent, 3k tokens`.
    pub fn spent(&self) -> String {
        self.current.spent.words()
    }

    /// How it ended, in a line: whether well, and the words.
    pub fn ended(&self) -> Option<(bool, String)> {
        let ForkState::Ended(ending) = &self.state else {
            return None;
        };
        let id = self.id().unwrap_or("the fork");
        Some(match ending {
            ForkEnding::Answered { cost, .. } => (true, format!("fork {id} is answered: it cost {cost}")),
            ForkEnding::Parked(_) => (true, format!("fork {id} waits for an answer: open it to give one")),
            ForkEnding::Cancelled if self.made.is_none() => (false, "cancelled before anything was made".into()),
            ForkEnding::Cancelled => (false, format!("fork {id} is cancelled and kept: {}", self.spent())),
            ForkEnding::Halted(why) => (false, format!("fork {id} is kept, but {why}")),
            ForkEnding::Refused(why) => (false, why.clone()),
        })
    }
}
