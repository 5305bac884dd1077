//! The adapter to the engine: runs what machines order on threads of their own, and tells what happens in batches.
//!
//! The screen's thread only sends and receives here. News of a run are gathered for a moment before they are told, so
//! that a model that streams fast, or code that prints without end, costs a bounded number of frames.

mod fork;
mod person;
mod replay;
mod translate;
mod watch;

pub(in crate::tui) use fork::{TellFork, check};
pub(in crate::tui) use replay::replay;

use self::fork::Brake;
use self::person::Questions;
use self::watch::{News, Teller};
use super::order::{DriveOptions, Ending, Errand, Found, Order, Told};
use crate::client::{Config, Error, Session};
use crate::engine::{Allowance, BeginError, Input, RunError, asked_elsewhere, last_models, waiting};
use crate::tui::effect::Token;
use crate::tui::widgets::prompt::{Question, Settings};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Takes what an adapter tells: the session's directory, the run's token, the news.
pub(in crate::tui) type Tell = Arc<dyn Fn(&Path, Token, Told) + Send + Sync>;

/// The last query of a session, at work or ended.
struct Running {
    token: Token,
    /// The handle that watches nothing: watched ones are clones of it.
    session: Session,
    /// What it is run with; with the same, the next query uses the same handle: models stay open, and a scripted one
    /// goes on where it was.
    settings: (Settings, u32),
    /// A person stopped it, maybe before it could hear so.
    cancelled: Arc<AtomicBool>,
    allowance: Allowance,
    questions: Arc<Questions>,
}

/// The queries at work, by session directory.
pub(in crate::tui) struct Engine {
    options: Arc<DriveOptions>,
    tell: Tell,
    tell_fork: TellFork,
    /// The last fork, at work or ended.
    fork: Option<(Token, Brake)>,
    running: HashMap<PathBuf, Running>,
    /// Queries that have not ended.
    alive: Arc<Alive>,
}

/// Counts what runs, for who waits until nothing does.
#[derive(Default)]
struct Alive {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Alive {
    fn add(&self, by: isize) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add_signed(by);
        self.changed.notify_all();
    }

    fn wait(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        while *count > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            count = self
                .changed
                .wait_timeout(count, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Engine {
    pub(in crate::tui) fn new(options: Arc<DriveOptions>, tell: Tell, tell_fork: TellFork) -> Self {
        Self {
            options,
            tell,
            tell_fork,
            fork: None,
            running: HashMap::new(),
            alive: Arc::default(),
        }
    }

    /// Does what concerns runs; gives back an errand that is not for the engine.
    pub(in crate::tui) fn run(&mut self, errand: Errand) -> Option<Errand> {
        match errand {
            Errand::Start { dir, order } => self.start(dir, order),
            Errand::Cancel { dir, token } => self.with(&dir, token, Running::cancel),
            Errand::Answer { dir, token, id, text } => {
                self.with(&dir, token, |running| running.questions.answer(id, text));
            }
            Errand::Allow { dir, token, nano } => self.with(&dir, token, |running| running.allowance.allow(nano)),
            Errand::Fork { dir, order } => self.fork(dir, order),
            Errand::CancelFork(token) => self.cancel_fork(token),
            other => return Some(other),
        }
        None
    }

    fn with(&self, dir: &Path, token: Token, act: impl FnOnce(&Running)) {
        if let Some(running) = self.running.get(dir).filter(|running| running.token == token) {
            act(running);
        }
    }

    fn start(&mut self, dir: PathBuf, order: Order) {
        let (token, settings) = (order.token, (order.settings.clone(), order.stretch));
        let (session, allowance) = match self.handle(&dir, &order) {
            Ok(handle) => handle,
            Err(error) => return self.refuse(&dir, token, &error.to_string()),
        };
        allowance.allow(0);
        let news = Arc::new(News::default());
        let questions = Arc::new(Questions::new(news.clone()));
        let cancelled = Arc::new(AtomicBool::new(false));
        let watcher = watch::watcher(news.clone(), session.clone(), cancelled.clone());
        let running = Running {
            token,
            session: session.clone(),
            settings,
            cancelled: cancelled.clone(),
            allowance,
            questions,
        };
        let session = session.watch(watcher).person(running.questions.clone());
        self.running.insert(dir.clone(), running);
        let (alive, tell, of) = (self.alive.clone(), self.tell.clone(), dir.clone());
        let work = move || {
            let teller = Teller::start(news.clone(), of.clone(), token, tell.clone());
            let ending = attend(&session, order, &cancelled, &mut |line| news.preparing(line));
            // What happened is told before how it ended.
            teller.finish();
            alive.add(-1);
            tell(&of, token, Told::Ended(ending));
        };
        self.alive.add(1);
        if let Err(error) = std::thread::Builder::new().name("query".into()).spawn(work) {
            self.alive.add(-1);
            self.refuse(&dir, token, &error.to_string());
        }
    }

    /// The handle of the session's last query, where it was run with the same; else a new one.
    fn handle(&self, dir: &Path, order: &Order) -> Result<(Session, Allowance), Error> {
        if let Some(last) = self.running.get(dir)
            && last.settings.0 == order.settings
            && last.settings.1 == order.stretch
        {
            return Ok((last.session.clone(), last.allowance.clone()));
        }
        let allowance = Allowance::default();
        let config = configured(&self.options.config, &order.settings, order.stretch).allowance(allowance.clone());
        Ok((Session::open(dir, None)?.config(config), allowance))
    }

    fn refuse(&self, dir: &Path, token: Token, why: &str) {
        (self.tell)(dir, token, Told::Ended(Ending::Refused(why.to_owned())));
    }

    /// Stops everything, and waits until it has ended or patience has. A run that asks is left with its question open.
    pub(in crate::tui) fn leave_all(&self, patience: Duration) {
        self.running.values().for_each(Running::leave);
        if let Some((_, brake)) = &self.fork {
            brake.pull();
        }
        self.alive.wait(patience);
    }
}

impl Running {
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.session.cancel();
    }

    fn leave(&self) {
        if !self.questions.leave_open() {
            self.cancel();
        }
    }
}

/// Runs a query to its end.
fn attend(session: &Session, order: Order, cancelled: &AtomicBool, progress: &mut (dyn FnMut(&str) + Send)) -> Ending {
    if let Err(error) = session.warm_up(progress) {
        return Ending::Refused(error.to_string());
    }
    if cancelled.load(Ordering::SeqCst) {
        return Ending::Cancelled;
    }
    // What cannot be read is told by the query.
    if let Ok(waits) = session.parked()
        && let Some(why) = misplaced(waits.as_ref().map(|question| question.text.as_str()), &order)
    {
        return Ending::Refused(why);
    }
    let input = match order.request.file {
        None => Input::Text(order.request.text),
        Some(path) => Input::File {
            path,
            prompt: order.request.text,
        },
    };
    let ended = match order.resume {
        false => session.query(input),
        true => match runtime() {
            Ok(runtime) => runtime.block_on(session.resume()),
            Err(why) => return Ending::Refused(why),
        },
    };
    match ended {
        Ok(output) => match output.suspended {
            Some(question) => Ending::Parked(parked(&question)),
            None => Ending::Answered,
        },
        Err(error) if error.is_cancelled() => Ending::Cancelled,
        Err(Error::Run(failed)) => match &failed.error {
            RunError::Limit(exceeded) => Ending::Limit {
                name: exceeded.name().to_owned(),
                error: exceeded.to_string(),
            },
            error => Ending::Failed(error.to_string()),
        },
        // The session is on the screen, and its path leaves no room for the reason.
        Err(Error::Begin(BeginError::NothingCut { reason, .. })) => Ending::Refused(reason),
        Err(Error::Panicked) => Ending::Failed(Error::Panicked.to_string()),
        Err(error) => Ending::Refused(error.to_string()),
    }
}

/// Why a text is none for what the session asks by now, where another process has answered or asked meanwhile.
fn misplaced(asks: Option<&str>, order: &Order) -> Option<String> {
    let meant = order.answers.as_deref();
    if order.resume || asks == meant {
        return None;
    }
    Some(match (asks, meant) {
        (Some(asks), Some(_)) => format!("that question is open no more; the session asks now: {asks}"),
        (Some(asks), None) => format!("the session waits for an answer: {asks}"),
        (None, _) => "that question is open no more: another process has answered or closed it".into(),
    })
}

/// The question that a session waits with. Its id is none that a run's own questions have.
fn parked(question: &crate::engine::Question) -> Question {
    Question {
        id: u64::MAX,
        text: question.text.clone(),
        options: question.options.clone(),
        free: question.options.is_empty(),
        label: "waits for an answer".into(),
    }
}

/// What the session in `dir` waits with, and what it was last run with. Blocks on files.
pub(in crate::tui) fn look(dir: &Path) -> Found {
    // A log that cannot be read is told when a query is asked; browsing goes on.
    let waiting = waiting(dir).ok().flatten();
    Found {
        parked: waiting.as_ref().map(parked),
        foreign: asked_elsewhere(dir).unwrap_or_default(),
        models: last_models(dir).ok().flatten().filter(|(model, _)| !model.is_empty()),
    }
}

/// Threads that only wait for the library's.
fn runtime() -> Result<tokio::runtime::Runtime, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.map_err(|error| error.to_string())
}

fn configured(config: &Config, settings: &Settings, stretch: u32) -> Config {
    let Settings {
        model,
        sub_model,
        max_money_nano,
        max_depth,
        code_in_context,
    } = settings.clone();
    #[allow(clippy::cast_precision_loss)] // Nano-dollars of a limit are far below what a double holds exactly.
    let dollars = max_money_nano as f64 / 1e9;
    let mut config = config
        .clone()
        .primary_agent(model.unwrap_or_default())
        .max_depth(max_depth)
        .max_money_spent(dollars)
        .add_session_code_to_context(code_in_context)
        .stretched(stretch);
    if let Some(sub_model) = sub_model {
        config = config.sub_agent(sub_model);
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::widgets::prompt::Request;

    #[test]
    fn an_answer_to_another_question_is_refused_and_so_is_a_query_where_one_waits() {
        let order = |answers: Option<&str>| Order {
            answers: answers.map(str::to_owned),
            ..Order::new(Request::default(), Settings::default())
        };
        let told = |asks, answers| misplaced(asks, &order(answers)).unwrap_or_default();
        assert_eq!(told(None, None), "");
        assert_eq!(told(Some("sure?"), Some("sure?")), "");
        assert!(told(Some("really?"), Some("sure?")).ends_with("asks now: really?"));
        assert!(told(None, Some("sure?")).contains("open no more"));
        assert!(told(Some("sure?"), None).contains("waits for an answer"));
        let resumed = Order {
            resume: true,
            ..order(None)
        };
        assert_eq!(misplaced(Some("sure?"), &resumed), None, "resuming says so itself");
    }
}
