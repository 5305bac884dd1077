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
    /// Nano-dollars that a fork may spend.
    pub limit: i64,
    /// The fork that goes on, or whose end nobody has seen yet.
    pub fork: Option<Forking>,
    /// The session that is shown, by the one path that names it.
    pub dir: Option<PathBuf>,
}

impl LabDesk {
    /// The fork, where it is one of the session that is shown.
    pub fn fork_here(&self) -> Option<&Forking> {
        self.fork.as_ref().filter(|fork| fork.is_of(self.dir.as_deref()))
    }

    /// The fork that goes on in another session than the one that is shown.
    pub fn fork_elsewhere(&self) -> Option<&Forking> {
        let fork = self.fork.as_ref().filter(|fork| fork.is_running())?;
        (!fork.is_of(self.dir.as_deref())).then_some(fork)
    }
}

/// A fork of a session.
#[derive(Clone, Debug)]
pub struct Forking {
    order: ForkOrder,
    /// The directory of the session that it branched off: by the one path that names it, and as it was opened.
    origin: [PathBuf; 2],
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
    /// A fork of the session in `origin`, by the one path that names it and as it was opened; ordered now.
    pub fn new(order: ForkOrder, origin: [PathBuf; 2], now: Duration) -> Self {
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
        let [origin, _] = &self.origin;
        origin
    }

    /// Whether it branched off the session in this directory.
    pub fn is_of(&self, dir: Option<&Path>) -> bool {
        dir == Some(self.origin())
    }

    /// The name of the session that it branched off. Raw.
    pub fn origin_name(&self) -> String {
        let name = self.origin().file_name().unwrap_or(self.origin().as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Its directory, or before it is made that of the session that it branched off, as lists of sessions have it.
    pub fn as_listed(&self) -> PathBuf {
        let [origin, opened] = &self.origin;
        let Some((id, dir)) = &self.made else {
            return opened.clone();
        };
        match dir.parent() {
            Some(parent) if parent == origin => opened.join(id),
            Some(parent) if Some(parent) == origin.parent() => opened.with_file_name(id),
            _ => dir.clone(),
        }
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
            0 if self.current.step == step && !self.current.running => format!("step {step}, {}", self.current.call),
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
        let took = if self.took.is_some() {
            took
        } else {
            Duration::from_secs(took.as_secs())
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Cost, CostSum};
    use crate::tui::live::fork::{Divergence, ForkRequest};
    use crate::tui::widgets::prompt::Settings;

    fn forking() -> Forking {
        let request = ForkRequest {
            run_id: "root".into(),
            label: "Q2".into(),
            step: 3,
            divergence: Divergence::Replan("otherwise".into()),
        };
        let order = ForkOrder {
            token: Token(7),
            request,
            settings: Settings::default(),
        };
        Forking::new(order, ["/runs/s".into(), "runs/s".into()], Duration::ZERO)
    }

    fn made(id: &str, dir: &str) -> ForkTold {
        ForkTold::Made {
            id: id.into(),
            dir: dir.into(),
        }
    }

    fn live(run_id: &str, parent: Option<&str>, news: LiveNews) -> ForkTold {
        let event = LiveEvent::Agent {
            run_id: run_id.into(),
            parent: parent.map(str::to_owned),
            time: 0,
            news,
        };
        ForkTold::Run(Told::Live(vec![event]))
    }

    fn take(forking: &mut Forking, told: ForkTold) {
        forking.take(Token(7), told, Duration::from_millis(2_500));
    }

    #[test]
    fn it_says_what_it_does() {
        let mut fork = forking();
        assert_eq!(fork.doing(), "starting");
        take(
            &mut fork,
            ForkTold::Run(Told::Preparing("preparing Python, once".into())),
        );
        assert_eq!(fork.doing(), "preparing Python, once");
        take(&mut fork, made("s_2", "/runs/s_2"));
        assert_eq!(fork.doing(), "step 3, its code runs", "recorded steps ask no model");
        take(&mut fork, live("root", None, LiveNews::Kept(3)));
        take(&mut fork, live("child", Some("root"), LiveNews::Started("look".into())));
        take(
            &mut fork,
            live("root", None, LiveNews::Output("one\n\ntwo\n  \n".into())),
        );
        assert_eq!((fork.doing().as_str(), fork.printed()), ("step 4, 1 sub-agent", "two"));
        take(&mut fork, live("child", Some("root"), LiveNews::Ended));
        take(&mut fork, live("root", None, LiveNews::Kept(4)));
        take(&mut fork, live("root", None, LiveNews::Calling(5)));
        assert_eq!(fork.doing(), "step 5, waits for the model");
        take(&mut fork, live("root", None, LiveNews::Reasoning("hm".into())));
        assert_eq!(fork.doing(), "step 5, the model thinks");
        take(&mut fork, live("child", Some("root"), LiveNews::Text("other".into())));
        take(&mut fork, live("root", None, LiveNews::Text("x".into())));
        assert_eq!(fork.doing(), "step 5, the model writes");
        assert_eq!(fork.took(Duration::from_millis(1_900)), "1.0 s");
        assert!(fork.cancel() && !fork.cancel() && fork.is_running());
        assert_eq!(fork.doing(), "it winds up");
    }

    #[test]
    fn how_it_ended_is_told_with_what_it_cost() {
        let answered = ForkEnding::Answered {
            text: "42".into(),
            cost: CostSum {
                nano: 20_000_000,
                known: 1,
                unknown: 0,
            },
        };
        let parked = ForkEnding::Parked("which one?".into());
        for (ending, well, words) in [
            (answered, true, "fork s_2 is answered: it cost $0.02"),
            (parked, true, "fork s_2 waits for an answer: open it to give one"),
            (
                ForkEnding::Cancelled,
                false,
                "fork s_2 is cancelled and kept: $0.001 spent, tokens unknown",
            ),
            (
                ForkEnding::Halted("it halted: KeyError".into()),
                false,
                "fork s_2 is kept, but it halted: KeyError",
            ),
            (ForkEnding::Refused("no model".into()), false, "no model"),
        ] {
            let mut fork = forking();
            take(&mut fork, made("s_2", "/runs/s_2"));
            let replied = LiveNews::Replied {
                code: None,
                usage: None,
                cost: Cost::Known(1_000_000),
            };
            take(&mut fork, live("root", None, replied));
            take(&mut fork, ForkTold::Ended(ending));
            assert_eq!(fork.ended(), Some((well, words.to_owned())));
            // What comes late changes nothing.
            take(&mut fork, ForkTold::Ended(ForkEnding::Cancelled));
            assert_eq!(fork.ended(), Some((well, words.to_owned())));
        }
    }

    #[test]
    fn news_of_another_fork_are_none_of_it() {
        let mut fork = forking();
        fork.take(Token(6), made("s_9", "/runs/s_9"), Duration::ZERO);
        assert_eq!(fork.id(), None);
    }

    #[test]
    fn lists_find_it_under_the_path_that_they_were_opened_by() {
        let mut fork = forking();
        assert_eq!(fork.as_listed(), Path::new("runs/s"));
        take(&mut fork, made("s_2", "/runs/s_2"));
        assert_eq!(fork.as_listed(), Path::new("runs/s_2"));
        let mut inside = forking();
        take(&mut inside, made("s_2", "/runs/s/s_2"));
        assert_eq!(inside.as_listed(), Path::new("runs/s/s_2"));
    }
}
