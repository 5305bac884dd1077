//! The person at the box, as the engine asks them.

use super::watch::News;
use crate::engine::{Person, Question as Asked};
use crate::tui::widgets::prompt::Question;
use async_trait::async_trait;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Questions of one run that wait for the person.
pub(super) struct Questions {
    news: Arc<News>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: u64,
    waiting: HashMap<u64, oneshot::Sender<String>>,
}

impl Questions {
    pub(super) fn new(news: Arc<News>) -> Self {
        Self {
            news,
            open: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a question; one that nobody waits for any more is dropped.
    pub(super) fn answer(&self, id: u64, text: String) {
        if let Some(waiting) = self.lock().waiting.remove(&id) {
            let _ = waiting.send(text);
        }
    }

    /// Nobody answers now: the run parks with its question, to be answered later. `false` when it asks nothing.
    pub(super) fn leave_open(&self) -> bool {
        let mut open = self.lock();
        let asks = !open.waiting.is_empty();
        open.waiting.clear();
        asks
    }
}

#[async_trait]
impl Person for Arc<Questions> {
    async fn ask(&self, question: &Asked) -> Option<String> {
        let (sender, receiver) = oneshot::channel();
        let id = {
            let mut open = self.lock();
            open.last += 1;
            let id = open.last;
            open.waiting.insert(id, sender);
            id
        };
        self.news.asked(Question {
            id,
            text: question.text.clone(),
            options: question.options.clone(),
            free: question.options.is_empty(),
            label: "the run asks".into(),
        });
        receiver.await.ok()
    }
}
