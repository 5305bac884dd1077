//! Forks for the screen: branched off, gone on with live, watched like a query.

use super::replay::{told, turn_of};
use super::translate::live_event;
use super::watch::{News, Teller};
use super::{Engine, Tell};
use crate::client::{Config, Error, Fork, Output, Session};
use crate::lab::{LabError, LabEvent, Recording};
use crate::tui::effect::Token;
use crate::tui::live::fork::{Divergence, ForkEnding, ForkOrder, ForkTold};
use crate::tui::live::order::Told;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Takes what is told of a fork.
pub(in crate::tui) type TellFork = Arc<dyn Fn(Token, ForkTold) + Send + Sync>;

/// What stops a fork, from another thread.
#[derive(Clone, Default)]
pub(super) struct Brake {
    pulled: Arc<AtomicBool>,
    session: Arc<Mutex<Option<Session>>>,
}

impl Brake {
    fn is_pulled(&self) -> bool {
        self.pulled.load(Ordering::SeqCst)
    }

    /// Stops it, or keeps it from beginning.
    pub(super) fn pull(&self) {
        self.pulled.store(true, Ordering::SeqCst);
        if let Some(session) = &*self.session.lock().unwrap_or_else(PoisonError::into_inner) {
            session.cancel();
        }
    }

    fn holds(&self, session: Session) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }
}

impl Engine {
    /// Forks on a thread of its own.
    pub(super) fn fork(&mut self, dir: PathBuf, order: ForkOrder) {
        let (token, brake, tell) = (order.token, Brake::default(), self.tell_fork.clone());
        self.fork = Some((token, brake.clone()));
        let config = super::configured(&self.options.config, &order.settings, 1);
        let (alive, refused) = (self.alive.clone(), tell.clone());
        let work = move || {
            let ending = attend(&dir, &order, &config, &brake, &tell);
            alive.add(-1);
            tell(token, ForkTold::Ended(ending));
        };
        self.alive.add(1);
        if let Err(error) = std::thread::Builder::new().name("fork".into()).spawn(work) {
            self.alive.add(-1);
            refused(token, ForkTold::Ended(ForkEnding::Refused(error.to_string())));
        }
    }

    /// Stops the fork of this token.
    pub(super) fn cancel_fork(&self, token: Token) {
        if let Some((_, brake)) = self.fork.as_ref().filter(|(of, _)| *of == token) {
            brake.pull();
        }
    }
}

/// Forks, and goes on to the end.
fn attend(dir: &Path, order: &ForkOrder, config: &Config, brake: &Brake, tell: &TellFork) -> ForkEnding {
    let token = order.token;
    let mut progress = |line: &str| tell(token, ForkTold::Run(Told::Preparing(line.to_owned())));
    let original = match Session::open(dir, None) {
        Ok(session) => session.config(config.clone()),
        Err(error) => return ForkEnding::Refused(told(error)),
    };
    if let Err(error) = original.warm_up(&mut progress) {
        return ForkEnding::Refused(error.to_string());
    }
    let runtime = match super::runtime() {
        Ok(runtime) => runtime,
        Err(why) => return ForkEnding::Refused(why),
    };
    // Preparing Python takes seconds, in which it may have been cancelled.
    if brake.is_pulled() {
        return ForkEnding::Cancelled;
    }
    runtime.block_on(async {
        let (fork, way) = match branch(&original, order).await {
            Ok(made) => made,
            Err(why) => return ForkEnding::Refused(why),
        };
        let session = fork.session();
        brake.holds(session.clone());
        if brake.is_pulled() {
            return match fork.discard() {
                Ok(()) => ForkEnding::Cancelled,
                Err(error) => ForkEnding::Refused(format!("cancelled, and what was made stays: {error}")),
            };
        }
        tell(token, made(&fork));
        let news = Arc::new(News::default());
        let forwarded: Tell = {
            let tell = tell.clone();
            Arc::new(move |_, token, told| tell(token, ForkTold::Run(told)))
        };
        let teller = Teller::start(news.clone(), session.dir().to_owned(), token, forwarded);
        let ended = go(&fork, way, brake, &news).await;
        // What happened is told before how it ended.
        teller.finish();
        ending(fork, ended)
    })
}

fn made(fork: &Fork) -> ForkTold {
    ForkTold::Made {
        id: fork.id().to_owned(),
        dir: fork.session().dir().to_owned(),
    }
}

/// How a branch goes on.
enum Way {
    /// These values are bound in place of the step.
    Inject(Vec<(String, serde_json::Value)>),
    /// With these steps: the edited one, and the recorded ones after it.
    Edit(Vec<String>),
    /// The model goes on, told this.
    Replan(String),
}

/// The branch, and how it goes on.
async fn branch(session: &Session, order: &ForkOrder) -> Result<(Fork, Way), String> {
    let turn = turn_of(session, &order.request.run_id)?;
    let at = order.request.step.checked_sub(1).and_then(|at| u32::try_from(at).ok());
    let at = at.ok_or("there is no such step")?;
    let way = match order.request.divergence.clone() {
        Divergence::Inject(values) => Way::Inject(values),
        Divergence::Replan(prompt) => Way::Replan(prompt),
        Divergence::Edit(code) => {
            let source = session.log_for_reading().map_err(told)?;
            let recording = source.recording().map_err(|error| error.to_string())?;
            Way::Edit(edited(&recording, turn, at, code))
        }
    };
    let fork = session.fork_at(turn, at).await.map_err(told)?;
    Ok((fork, way))
}

fn edited(recording: &Recording, turn: u32, at: u32, code: String) -> Vec<String> {
    let turn = recording.turns.get(turn as usize);
    let following = turn
        .into_iter()
        .flat_map(|turn| turn.steps.iter().skip(at as usize + 1));
    let recorded = following
        .filter_map(|step| step.code.clone())
        .filter(|code| !code.is_empty());
    std::iter::once(code).chain(recorded).collect()
}

async fn go(fork: &Fork, way: Way, brake: &Brake, news: &News) -> Result<Output, Error> {
    let session = fork.session();
    let mut sink = |event| {
        if brake.is_pulled() {
            // It was stopped before it could hear so.
            session.cancel();
        }
        if let LabEvent::Live(event) = event
            && let Some(event) = live_event(event)
        {
            news.live(event);
        }
    };
    match way {
        Way::Inject(values) => fork.inject_named(&values, &mut sink).await,
        Way::Edit(steps) => fork.edit(&steps, &mut sink).await,
        Way::Replan(prompt) => fork.replan(prompt, &mut sink).await,
    }
}

fn ending(fork: Fork, ended: Result<Output, Error>) -> ForkEnding {
    match ended {
        Ok(output) => match &output.suspended {
            Some(question) => ForkEnding::Parked(question.to_string()),
            None => ForkEnding::Answered {
                text: output.text().into_owned(),
                cost: output.cost(),
            },
        },
        Err(error) if error.is_cancelled() => ForkEnding::Cancelled,
        Err(Error::Run(failed)) => ForkEnding::Halted(failed.error.to_string()),
        Err(error @ Error::Lab(LabError::TailHalted { .. })) => ForkEnding::Halted(told(error)),
        Err(error) => {
            // It did not go its own way: nothing of it is to be left. The first error is the one to tell.
            let _ = fork.discard();
            ForkEnding::Refused(told(error))
        }
    }
}

/// Whether this is Python. Blocks.
///
/// # Errors
/// What is wrong with it, for people.
pub(in crate::tui) fn check(code: &str, config: &Config) -> Result<(), String> {
    let session = Session::ephemeral().map_err(told)?.config(config.clone());
    session.warm_up(&mut |_: &str| ()).map_err(|error| error.to_string())?;
    let runtime = super::runtime()?;
    runtime.block_on(session.check_syntax(&[code.to_owned()])).map_err(told)
}
