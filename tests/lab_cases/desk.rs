//! What the cases share: models that are scripts, a tool that counts, a look at all files.

pub(crate) use crate::unchanged::files;
use async_trait::async_trait;
use fast_rlm::observe::Fact;
use fast_rlm::provider::{CallError, Cancel, CostExpectation, DeltaSink, Provider, Reply, Request, Scripted, Settings};
use fast_rlm::repl::{HostError, HostTool};
use fast_rlm::store::{NewEvent, Select, SessionWriter, Store, StoredEvent};
use fast_rlm::{Client, ClientBuilder, Session, Storage, Tool};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// P: a model that answers `steps` in order, whoever of the roots asks; sub-agents get `FINAL("sub: " + context)`.
pub(crate) fn scripted(steps: &[&str]) -> Arc<dyn Provider> {
    let replies: Vec<Value> = steps.iter().map(|code| json!({ "code": code })).collect();
    model(&json!({"rules": [sub_agents()], "replies": replies}))
}

fn sub_agents() -> Value {
    json!({"when": {"depth": 1}, "replies": [{
        "code": "FINAL('sub: ' + str(context))",
        "usage": {"prompt": 100, "completion": 10, "cost": 0.001},
    }]})
}

/// A model of this script.
pub(crate) fn model(script: &Value) -> Arc<dyn Provider> {
    Arc::new(Scripted::from_yaml(&script.to_string(), &Settings::default()).unwrap())
}

/// Never: a model that must not be asked.
#[derive(Debug)]
pub(crate) struct Never;

#[async_trait]
impl Provider for Never {
    async fn call(&self, request: &Request, _: &mut dyn DeltaSink, _: &Cancel) -> Result<Reply, CallError> {
        panic!("asked: {request:?}")
    }

    fn label(&self) -> String {
        "never".into()
    }

    fn cost_expectation(&self, _model: &str) -> CostExpectation {
        CostExpectation::Unknown
    }
}

/// C: a tool of the host, `tool(x)`, that counts its calls and answers `x` with their number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter {
    pub(crate) calls: Arc<AtomicUsize>,
    /// Reads the first, and writes what it says into the second.
    pub(crate) files: Arc<Mutex<Option<(PathBuf, PathBuf)>>>,
}

impl Counter {
    pub(crate) fn count(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Tool for Counter {
    fn describe(&self) -> HostTool {
        HostTool {
            name: "tool".into(),
            signature: "(x)".into(),
            doc: "Counts.".into(),
            is_async: false,
        }
    }

    async fn call(&self, args: &[Value], _kwargs: &Value) -> Result<Value, HostError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some((input, effect)) = &*self.files.lock().unwrap() {
            std::fs::copy(input, effect).unwrap();
        }
        match args.first() {
            Some(x) if x == "bad" => Err(HostError::new("a bad argument")),
            x => Ok(json!({"x": x, "call": number})),
        }
    }
}

pub(crate) fn builder(dir: &Path) -> ClientBuilder {
    Client::builder().model("m").storage(Storage::dir(dir))
}

pub(crate) fn client(dir: &Path, steps: &[&str]) -> Client {
    builder(dir).build(scripted(steps)).unwrap()
}

/// A client with the counting tool.
pub(crate) fn with_tool(dir: &Path, steps: &[&str]) -> (Client, Counter) {
    let counter = Counter::default();
    let client = builder(dir).tool(counter.clone()).build(scripted(steps)).unwrap();
    (client, counter)
}

/// A client that may ask nobody.
pub(crate) fn reader(dir: &Path) -> Client {
    builder(dir).approver(fast_rlm::DenyAll).build(Arc::new(Never)).unwrap()
}

/// A fresh directory, with a session in which these steps ran.
pub(crate) async fn ran(steps: &[&str]) -> (tempfile::TempDir, Session) {
    let dir = tempfile::tempdir().unwrap();
    let session = client(dir.path(), steps).create_session().unwrap();
    session.send("go").await.unwrap();
    (dir, session)
}

/// Writes to a session's log past the engine: what damage or another version would leave.
pub(crate) fn tamper(store: &Store, session: &str, write: impl FnOnce(&SessionWriter)) {
    write(&SessionWriter::take_over(store, session).unwrap());
}

/// What the session's log holds.
pub(crate) fn events_of(client: &Client, session: &Session) -> Vec<StoredEvent> {
    let events = &client.store().events;
    events.read_all(&session.id(), &Select::all()).unwrap().events
}

/// The session's events in another session, changed on the way.
pub(crate) fn rewritten(client: &Client, session: &Session, change: impl Fn(Fact) -> Option<Fact>) -> Session {
    let copy = client.create_session().unwrap();
    let events = events_of(client, session);
    let again = events.into_iter().filter_map(|event| {
        let fact = change(event.fact)?;
        Some(NewEvent {
            id: event.id,
            time: event.time,
            turn: event.turn,
            step: event.step,
            fact,
        })
    });
    tamper(client.store(), &copy.id(), |writer| {
        drop(writer.append(again.collect()).unwrap())
    });
    copy
}
