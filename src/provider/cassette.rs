//! The recorded replies of a session, served again: for running a query once more without a model, and for working on
//! everything around one.
//!
//! A reply is found by the hash of the whole request, so it is given only to the conversation that it was recorded in.
//! The replies of sub-agents are there as well as the root's. Nothing is asked, and nothing costs.

use super::collect::Collector;
use super::error::{CallError, ErrorKind};
use super::open::OpenError;
use super::reply::{CostSource, Finish, Reply, Usage};
use super::request::{Request, RequestHash};
use super::retry::{self, Attempt, Pacing};
use super::{Cancel, CostExpectation, Delta, DeltaSink, Provider};
use crate::store::payload::ModelCall;
use crate::store::{Fact, Kind, Select, SessionRow, Store, StoreError, locate};
use crate::text::plural;
use async_trait::async_trait;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What a model string of this backend begins with; a session's directory follows.
pub(super) const PREFIX: &str = "cassette:";

/// Calls with a reply of the log; what it holds besides is for the lab.
const KINDS: [Kind; 2] = [Kind::ModelCall, Kind::SubAgent];

/// A model whose replies are those of a recorded session.
pub struct CassetteReplies {
    /// The session, as it was named.
    session: String,
    /// The models that gave the replies: a request's hash holds its model's name.
    models: BTreeSet<String>,
    /// Replies by request, in the order of recording.
    replies: Mutex<HashMap<[u8; 32], VecDeque<Recorded>>>,
}

/// A reply as it was.
#[derive(Clone)]
struct Recorded {
    text: String,
    reasoning: String,
    usage: Usage,
    finish: Finish,
}

impl std::fmt::Debug for CassetteReplies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CassetteReplies").field(&self.session).finish()
    }
}

impl CassetteReplies {
    /// Reads the replies of the session in the directory that follows the prefix of `model`. No byte of it changes.
    ///
    /// # Errors
    ///
    /// [`OpenError::Cassette`] when there is no such session, or nothing was recorded in it.
    pub fn open(model: &str) -> Result<Self, OpenError> {
        let session = model.strip_prefix(PREFIX).unwrap_or(model);
        let failed = |reason: String| OpenError::Cassette {
            model: model.to_owned(),
            reason,
        };
        let mut cassette = Self {
            session: session.to_owned(),
            models: BTreeSet::new(),
            replies: Mutex::default(),
        };
        let found = cassette.read(Path::new(session));
        if !found.map_err(|error| failed(error.to_string()))? {
            return Err(failed("there is no session with an event log".into()));
        }
        if cassette.models.is_empty() {
            return Err(failed("no reply of a model is recorded in that session".into()));
        }
        Ok(cassette)
    }

    /// `false` when there is no such session.
    fn read(&mut self, dir: &Path) -> Result<bool, StoreError> {
        let location = locate(dir, None)?;
        if !location.exists {
            return Ok(false);
        }
        let store = Store::open_read_only(&location.root)?;
        let ours = |row: &SessionRow| location.session.as_ref().map_or(row.in_root, |name| row.id == *name);
        let Some(row) = store.events.sessions()?.into_iter().find(ours) else {
            return Ok(false);
        };
        let mut select = Select::all().only(&KINDS);
        loop {
            // Page by page: of what a page holds only the replies stay.
            let page = store.events.read(&row.id, &select)?;
            page.events.into_iter().for_each(|event| self.take(event.fact));
            match page.next {
                Some(next) => select = select.starting(next),
                None => return Ok(true),
            }
        }
    }

    fn take(&mut self, fact: Fact) {
        match fact {
            Fact::ModelCall(call) => self.keep(call),
            Fact::SubAgent(agent) => {
                let calls = agent.steps.into_iter().map(|step| step.call);
                calls.chain(agent.guards).for_each(|call| self.keep(call));
            }
            _ => {}
        }
    }

    fn keep(&mut self, call: ModelCall) {
        // What a script replied in a model's place, as in the tail of a fork, was asked with no request.
        let asked = call.request.filter(|request| *request.as_bytes() != [0; 32]);
        let Some(request) = asked.filter(|_| call.error.is_none()) else {
            return;
        };
        self.models.insert(call.model.clone());
        let replies = self.replies.get_mut().unwrap_or_else(PoisonError::into_inner);
        replies
            .entry(*request.as_bytes())
            .or_default()
            .push_back(Recorded::from(call));
    }

    /// The first reply to this request that was not given yet; the last one is given again.
    fn find(&self, request: &Request) -> Result<Recorded, ErrorKind> {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        for model in &self.models {
            let RequestHash(hash) = Request {
                model: model.clone(),
                ..request.clone()
            }
            .hash();
            if let Some(waiting) = replies.get_mut(&hash) {
                let next = match waiting.len() {
                    1 => waiting.front().cloned(),
                    _ => waiting.pop_front(),
                };
                return next.ok_or_else(|| self.missing(request, replies.len()));
            }
        }
        Err(self.missing(request, replies.len()))
    }

    fn missing(&self, request: &Request, requests: usize) -> ErrorKind {
        let who = match request.depth {
            0 => "the root".to_owned(),
            depth => format!("a sub-agent at depth {depth}"),
        };
        let models: Vec<&str> = self.models.iter().map(String::as_str).collect();
        ErrorKind::Cassette(format!(
            "session {} has no reply to this request of {who} ({} messages): it holds those to {}, given by {}. Only \
             the recorded conversation is answered, word for word: the same query, input, options and version of \
             fast-rlm, in a session of the same memory",
            self.session,
            request.messages.len(),
            plural(requests as u128, "other", "others"),
            models.join(", "),
        ))
    }
}

impl From<ModelCall> for Recorded {
    fn from(call: ModelCall) -> Self {
        let used = call.usage.unwrap_or_default();
        let finish = call.finish_reason.as_deref();
        Self {
            text: call.reply,
            reasoning: call.reasoning.unwrap_or_default(),
            usage: Usage {
                prompt_tokens: used.prompt,
                completion_tokens: used.completion,
                total_tokens: used.total,
                cached_tokens: used.cached,
                reasoning_tokens: used.reasoning,
                // It was paid when it was recorded.
                cost_nano: Some(0),
                part_nano: 0,
                cost_source: CostSource::Table,
                reported: call.usage.is_some(),
            },
            finish: finish.map_or(Finish::Unstated, Finish::from_word),
        }
    }
}

#[async_trait]
impl Attempt for CassetteReplies {
    async fn attempt(&self, request: &Request, _number: u32, collector: &mut Collector<'_>) -> Result<(), ErrorKind> {
        let recorded = self.find(request)?;
        for piece in [Delta::Reasoning(&recorded.reasoning), Delta::Text(&recorded.text)] {
            collector.push(piece, PREFIX)?;
        }
        collector.usage(recorded.usage);
        collector.ending.finish = Some(recorded.finish);
        Ok(())
    }
}

#[async_trait]
impl Provider for CassetteReplies {
    async fn call(&self, request: &Request, deltas: &mut dyn DeltaSink, cancel: &Cancel) -> Result<Reply, CallError> {
        retry::run(self, Pacing::default(), request, deltas, cancel).await
    }

    fn label(&self) -> String {
        format!("the replies recorded in {}", self.session)
    }

    fn cost_expectation(&self, _model: &str) -> CostExpectation {
        CostExpectation::Reported
    }
}
