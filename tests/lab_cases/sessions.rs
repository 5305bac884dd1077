//! Storage and sessions, turns, streams and cancels.

use crate::desk::{Counter, Never, builder, client, model, scripted};
use async_trait::async_trait;
use fast_rlm::observe::Outcome;
use fast_rlm::provider::{CallError, Cancel, CostExpectation, DeltaSink, Provider, Reply, Request};
use fast_rlm::repl::{HostError, HostTool};
use fast_rlm::store::StoreError;
use fast_rlm::{Client, Error, Storage, Tool, What};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn case_1_a_fresh_directory_has_stores_and_no_session() {
    let dir = tempfile::tempdir().unwrap();
    let client = client(&dir.path().join("new"), &[]);
    assert!(dir.path().join("new/events.db").exists() && dir.path().join("new/flow.db").exists());
    assert_eq!(client.sessions().unwrap(), []);
    assert!(client.latest_session().unwrap().is_none());
}

#[tokio::test]
async fn case_2_a_restart_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let id = {
        let client = client(dir.path(), &["FINAL('one')"]);
        client.run("hello").await.unwrap();
        client.session_id().unwrap()
    };
    let session = client(dir.path(), &["FINAL('two')"]).open_session(&id).unwrap();
    assert_eq!(session.history().unwrap().len(), 2);
    assert_eq!(session.send("again").await.unwrap().text(), "two");
    let history = session.history().unwrap();
    let roles: Vec<_> = history.iter().map(|message| message.role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
}

#[tokio::test]
async fn case_3_memory_outlives_no_client() {
    let build = || {
        Client::builder()
            .model("m")
            .build(scripted(&["x = 1", "FINAL(x)"]))
            .unwrap()
    };
    let one = build();
    one.run("hello").await.unwrap();
    let session = one.session().unwrap();
    assert_eq!(
        session.replay(None, &mut fast_rlm::NoSink).await.unwrap().cells_total,
        0
    );
    let unknown = build().open_session(&session.id()).unwrap_err();
    assert!(
        matches!(unknown, Error::Store(StoreError::UnknownSession { .. })),
        "{unknown}"
    );
}

#[test]
fn case_4_an_unknown_or_bad_id_creates_nothing() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("runs");
    let client = client(&dir, &[]);
    for id in ["s_999", "nope"] {
        let refused = client.open_session(id).unwrap_err();
        assert!(
            matches!(refused, Error::Store(StoreError::UnknownSession { .. })),
            "{id}"
        );
    }
    for id in ["../x", "", "a/b"] {
        for refused in [client.open_session(id), client.create_named(id)] {
            let refused = refused.unwrap_err();
            assert!(matches!(refused, Error::Store(StoreError::BadSessionId { .. })), "{id}");
        }
    }
    assert_eq!(client.sessions().unwrap(), []);
    let made: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        made.iter().all(|name| name.to_string_lossy().contains(".db")),
        "{made:?}"
    );
    assert_eq!(std::fs::read_dir(outer.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn case_5_a_second_client_mints_nothing_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let first = client(dir.path(), &["FINAL(1)"]);
    first.run("hello").await.unwrap();
    let second = client(dir.path(), &[]);
    assert_eq!(
        second.latest_session().unwrap().unwrap().id(),
        first.session_id().unwrap()
    );
    assert_eq!(second.sessions().unwrap().len(), 1);
}

#[tokio::test]
async fn case_9_turns_are_summed_up() {
    let dir = tempfile::tempdir().unwrap();
    let session = client(dir.path(), &["FINAL(1)", "FINAL(2)"]).create_session().unwrap();
    session.send("one").await.unwrap();
    session.send("two").await.unwrap();
    let turns = session.turns().unwrap();
    assert_eq!(turns.len(), 2);
    for turn in &turns {
        assert_eq!(turn.outcome, Some(Outcome::Ok));
        assert!(turn.usage.total > 0 && turn.calls >= 1 && turn.start <= turn.end.unwrap());
    }
    assert!(turns[0].turn < turns[1].turn);
}

/// Notes how many of its calls ran at once: of a tool, or of a model that always gives the same reply.
#[derive(Clone, Debug, Default)]
struct Overlaps {
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    calls: Arc<AtomicUsize>,
}

impl Overlaps {
    async fn busy(&self) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(30)).await;
        self.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A model that notes it.
#[derive(Debug)]
struct Asked(Overlaps, Arc<dyn Provider>);

#[async_trait]
impl Provider for Asked {
    async fn call(&self, request: &Request, sink: &mut dyn DeltaSink, cancel: &Cancel) -> Result<Reply, CallError> {
        self.0.busy().await;
        self.1.call(request, sink, cancel).await
    }

    fn label(&self) -> String {
        "noted".into()
    }

    fn cost_expectation(&self, _: &str) -> CostExpectation {
        CostExpectation::Unknown
    }
}

#[async_trait]
impl Tool for Overlaps {
    fn describe(&self) -> HostTool {
        Counter::default().describe()
    }

    async fn call(&self, _args: &[Value], _kwargs: &Value) -> Result<Value, HostError> {
        self.busy().await;
        Ok(Value::Null)
    }
}

#[tokio::test]
async fn case_16_queries_of_one_client_never_overlap() {
    let dir = tempfile::tempdir().unwrap();
    let overlaps = Overlaps::default();
    let provider =
        model(&json!({"rules": [{"when": {}, "at_end": "last", "replies": [{"code": "tool(1)\nFINAL(1)"}]}]}));
    let asked = Overlaps::default();
    let provider = Arc::new(Asked(asked.clone(), provider));
    let client = builder(dir.path()).tool(overlaps.clone()).build(provider).unwrap();
    let (a, b) = (client.create_session().unwrap(), client.create_session().unwrap());
    let (one, two, three) = tokio::join!(a.send("x"), b.send("x"), a.send("y"));
    assert_eq!(
        (one.unwrap().value, two.unwrap().value, three.unwrap().value),
        (json!(1), json!(1), json!(1))
    );
    for (noted, what) in [(overlaps, "the tool"), (asked, "the model")] {
        let (most, calls) = (noted.most.load(Ordering::SeqCst), noted.calls.load(Ordering::SeqCst));
        assert_eq!((most, calls), (1, 3), "{what}");
    }
}

#[tokio::test]
async fn case_26_a_stream_tells_the_reply_and_ends_as_send_does() {
    let dir = tempfile::tempdir().unwrap();
    let provider = model(&json!({"replies": [{"say": "Well.", "code": "FINAL('done')"}]}));
    let session = builder(dir.path()).build(provider).unwrap().create_session().unwrap();
    let mut stream = session.stream("go").unwrap();
    let (mut text, mut ended) = (String::new(), false);
    while let Some(event) = stream.next().await {
        match event.what {
            What::Text(delta) => text.push_str(&delta),
            What::Ended { error: None } => ended = true,
            _ => {}
        }
    }
    assert_eq!(text, session.history().unwrap()[1].text);
    assert!(ended);
    let finished = stream.finish().await.unwrap();
    assert_eq!(finished.text(), "done");
    let provider = model(&json!({"replies": [{"say": "Well.", "code": "FINAL('done')"}]}));
    let other = builder(dir.path()).build(provider).unwrap().create_session().unwrap();
    let sent = other.send("go").await.unwrap();
    assert_eq!(
        (finished.value, finished.steps, finished.usage, finished.suspended),
        (sent.value, sent.steps, sent.usage, sent.suspended)
    );
}

/// A tool that takes five minutes, and notes that it was given up.
#[derive(Clone, Debug, Default)]
struct Endless {
    started: Arc<tokio::sync::Notify>,
    dropped: Arc<AtomicBool>,
}

struct Noted(Arc<AtomicBool>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[async_trait]
impl Tool for Endless {
    fn describe(&self) -> HostTool {
        HostTool {
            is_async: true,
            ..Counter::default().describe()
        }
    }

    async fn call(&self, _args: &[Value], _kwargs: &Value) -> Result<Value, HostError> {
        let _noted = Noted(self.dropped.clone());
        self.started.notify_one();
        tokio::time::sleep(Duration::from_secs(300)).await;
        Ok(Value::Null)
    }
}

#[tokio::test]
async fn case_27_a_cancel_ends_a_long_tool_and_the_session_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let tool = Endless::default();
    let client = builder(dir.path())
        .tool(tool.clone())
        .build(scripted(&["await tool(1)", "FINAL('next')"]))
        .unwrap();
    let session = client.create_session().unwrap();
    let stream = session.stream("go").unwrap();
    tool.started.notified().await;
    let asked = Instant::now();
    stream.cancel();
    assert!(stream.finish().await.unwrap_err().is_cancelled());
    assert!(asked.elapsed() < Duration::from_secs(10), "not after five minutes");
    assert!(tool.dropped.load(Ordering::SeqCst));
    let history = session.history().unwrap();
    let last = history.last().unwrap();
    assert_eq!(
        (last.role.as_str(), last.text.as_str()),
        ("assistant", "(turn cancelled)")
    );
    assert!(
        history.windows(2).all(|pair| pair[0].role != pair[1].role),
        "{history:?}"
    );
    assert_eq!(session.turns().unwrap()[0].outcome, Some(Outcome::Cancelled));
    assert_eq!(session.send("on").await.unwrap().text(), "next");
}

#[tokio::test]
async fn case_28_dropping_a_stream_cancels_and_blocks_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let tool = Endless::default();
    let client = builder(dir.path())
        .tool(tool.clone())
        .build(scripted(&["await tool(1)", "FINAL('next')"]))
        .unwrap();
    let session = client.create_session().unwrap();
    let stream = session.stream("go").unwrap();
    tool.started.notified().await;
    drop(stream);
    assert_eq!(session.send("on").await.unwrap().text(), "next");
    assert_eq!(session.turns().unwrap()[0].outcome, Some(Outcome::Cancelled));
}

#[tokio::test]
async fn case_30_a_failing_model_closes_the_turn() {
    let dir = tempfile::tempdir().unwrap();
    let provider = model(&json!({"replies": [{"error": 400}, {"code": "FINAL('next')"}]}));
    let session = builder(dir.path()).build(provider).unwrap().create_session().unwrap();
    assert!(matches!(session.send("go").await, Err(Error::Run(_))));
    assert_eq!(session.turns().unwrap()[0].outcome, Some(Outcome::Error));
    let history = session.history().unwrap();
    assert_eq!(history.last().unwrap().role, "assistant");
    assert_eq!(session.send("on").await.unwrap().text(), "next");
    let history = session.history().unwrap();
    assert!(
        history.windows(2).all(|pair| pair[0].role != pair[1].role),
        "{history:?}"
    );
}

#[tokio::test]
async fn a_store_of_the_hosts_own_brings_a_session_back() {
    let store = Storage::memory().open().unwrap();
    let storage = || Storage::custom(store.events.clone(), store.flow.clone());
    let build = |steps: &[&str]| {
        Client::builder()
            .model("m")
            .storage(storage())
            .build(scripted(steps))
            .unwrap()
    };
    let id = {
        let first = build(&["x = [1, 2]\nFINAL(x)"]);
        first.run("bind").await.unwrap();
        first.session_id().unwrap()
    };
    let session = build(&["x.append(3)\nFINAL(x)"]).open_session(&id).unwrap();
    assert!(session.variables().unwrap().contains_key("x"));
    assert_eq!(session.send("go on").await.unwrap().value, json!([1, 2, 3]));
    let reader = Client::builder().storage(storage()).build(Arc::new(Never)).unwrap();
    let report = reader
        .open_session(&id)
        .unwrap()
        .replay(None, &mut fast_rlm::NoSink)
        .await
        .unwrap();
    assert!(report.faithful(), "{report:?}");
}
