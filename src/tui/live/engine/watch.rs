//! News of a run, gathered on the engine's threads and told every now and then on one of our own.

use super::Tell;
use super::translate::live_event;
use crate::client::Session;
use crate::engine::{RunEvent, What};
use crate::model::{LiveEvent, LiveNews};
use crate::tui::effect::Token;
use crate::tui::live::order::Told;
use crate::tui::widgets::prompt::Question;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// News are gathered for so long before they are told.
const GATHER: Duration = Duration::from_millis(50);
/// Bytes of one agent's text that wait at most; what came before them is not seen in the meantime.
const TEXT: usize = 64 << 10;

/// What has not been told yet.
#[derive(Default)]
pub(super) struct News {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    told: Vec<Told>,
    live: Vec<LiveEvent>,
    over: bool,
}

impl News {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line about how far Python is.
    pub(super) fn preparing(&self, line: &str) {
        self.tell(Told::Preparing(line.to_owned()));
    }

    /// A question of the run.
    pub(super) fn asked(&self, question: Question) {
        self.tell(Told::Asked(question));
    }

    fn tell(&self, told: Told) {
        let mut waiting = self.lock();
        waiting.flush();
        waiting.told.push(told);
        self.changed.notify_all();
    }

    /// Adds an event; a text joins the one before it of the same agent and kind.
    pub(super) fn live(&self, event: LiveEvent) {
        let mut waiting = self.lock();
        if let Some(event) = joined(&mut waiting.live, event) {
            waiting.live.push(event);
        }
        self.changed.notify_all();
    }
}

impl Waiting {
    fn flush(&mut self) {
        let live = std::mem::take(&mut self.live);
        if !live.is_empty() {
            self.told.push(Told::Live(live));
        }
    }
}

/// Appends a text to the agent's last event, if that is of its kind; else gives the event back.
fn joined(live: &mut [LiveEvent], event: LiveEvent) -> Option<LiveEvent> {
    let LiveEvent::Agent { run_id, news, .. } = &event else {
        return Some(event);
    };
    let last = live.iter_mut().rev().find_map(|before| match before {
        LiveEvent::Agent {
            run_id: other, news, ..
        } if other == run_id => Some(news),
        _ => None,
    });
    let (held, more) = match (last, news) {
        (Some(LiveNews::Text(held)), LiveNews::Text(more))
        | (Some(LiveNews::Reasoning(held)), LiveNews::Reasoning(more))
        | (Some(LiveNews::Output(held)), LiveNews::Output(more)) => (held, more),
        _ => return Some(event),
    };
    held.push_str(more);
    if held.len() > 2 * TEXT {
        let from = held.ceil_char_boundary(held.len() - TEXT);
        held.drain(..from);
    }
    None
}

/// What the engine tells. A run that was stopped before it could hear so is stopped at its first word.
pub(super) fn watcher(
    news: Arc<News>,
    session: Session,
    cancelled: Arc<AtomicBool>,
) -> impl Fn(RunEvent) + Send + Sync + 'static {
    move |event: RunEvent| {
        if cancelled.load(Ordering::SeqCst) {
            session.cancel();
        }
        match event.what {
            What::Notice(text) => news.tell(Told::Notice(text)),
            _ => {
                if let Some(event) = live_event(event) {
                    news.live(event);
                }
            }
        }
    }
}

/// Tells gathered news until the run is over.
pub(super) struct Teller {
    news: Arc<News>,
    thread: Option<JoinHandle<()>>,
}

impl Teller {
    pub(super) fn start(news: Arc<News>, dir: PathBuf, token: Token, tell: Tell) -> Self {
        let waiting = news.clone();
        let work = move || {
            loop {
                let (told, over) = take(&waiting);
                told.into_iter().for_each(|told| tell(&dir, token, told));
                if over {
                    return;
                }
                std::thread::sleep(GATHER);
            }
        };
        // Without a thread the run is not seen, but its end is.
        let thread = std::thread::Builder::new().name("news".into()).spawn(work).ok();
        Self { news, thread }
    }

    /// Tells what is left, and ends.
    pub(super) fn finish(self) {
        self.news.lock().over = true;
        self.news.changed.notify_all();
        if let Some(thread) = self.thread {
            let _ = thread.join();
        }
    }
}

/// Waits until there is something, and takes all of it.
fn take(news: &News) -> (Vec<Told>, bool) {
    let mut waiting = news.lock();
    while waiting.told.is_empty() && waiting.live.is_empty() && !waiting.over {
        waiting = news.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
    }
    waiting.flush();
    (std::mem::take(&mut waiting.told), waiting.over)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(run_id: &str, news: LiveNews) -> LiveEvent {
        LiveEvent::Agent {
            run_id: run_id.into(),
            parent: None,
            time: 0,
            news,
        }
    }

    #[test]
    fn texts_join_whatever_others_say_between_them_and_stay_bounded() {
        let news = News::default();
        for _ in 0..50_000 {
            news.live(event("a", LiveNews::Output("0123456789".into())));
            news.live(event("b", LiveNews::Text("x".into())));
        }
        news.live(event("a", LiveNews::Kept(1)));
        news.live(event("a", LiveNews::Output("after".into())));
        let (told, _) = take(&news);
        let [Told::Live(events)] = told.as_slice() else {
            panic!("{told:?}")
        };
        assert_eq!(events.len(), 4);
        let LiveEvent::Agent {
            news: LiveNews::Output(text),
            ..
        } = &events[0]
        else {
            panic!("{events:?}")
        };
        assert!(text.len() <= 2 * TEXT && text.ends_with("789"));
    }
}
