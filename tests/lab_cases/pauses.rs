//! Questions that wait, across restarts.

use crate::desk::{Counter, Never, builder, scripted};
use async_trait::async_trait;
use fast_rlm::repl::{HostError, HostTool};
use fast_rlm::{Client, NoSink, Tool};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ASKS: &str = "x = await llm_query('a')\ny = await ask('ok?', ['yes', 'no'])\nz = tool(y)\nFINAL([x, z])";

/// Asks, and gives the session's id; the client is gone then.
async fn park(dir: &Path, code: &str) -> String {
    let client = builder(dir).tool(Counter::default()).build(scripted(&[code])).unwrap();
    let output = client.run("go").await.unwrap();
    assert_eq!(output.suspended.unwrap().text, "ok?");
    client.session_id().unwrap()
}

fn next_process(dir: &Path) -> (Client, Counter) {
    let counter = Counter::default();
    let client = builder(dir).tool(counter.clone()).build(Arc::new(Never)).unwrap();
    (client, counter)
}

#[tokio::test]
async fn case_70_an_answer_goes_on_in_a_new_process_and_asks_no_model_again() {
    let dir = tempfile::tempdir().unwrap();
    let id = park(dir.path(), ASKS).await;
    let (client, counter) = next_process(dir.path());
    let session = client.open_session(&id).unwrap();
    assert!(session.suspended().unwrap());
    let cells = session.run_trace().unwrap();
    assert_eq!(
        cells
            .iter()
            .filter(|event| matches!(event.fact, fast_rlm::observe::Fact::LeafCall(_)))
            .count(),
        1
    );
    assert_eq!(
        session.send("yes").await.unwrap().value,
        json!(["sub: a", {"x": "yes", "call": 1}])
    );
    assert!(!session.suspended().unwrap() && counter.count() == 1);
    let report = session.replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful(), "{report:#?}");
    assert_eq!(report.cells_total, 3);
}

#[tokio::test]
async fn case_71_two_questions_park_twice() {
    let dir = tempfile::tempdir().unwrap();
    let id = park(
        dir.path(),
        "a = await ask('ok?')\nb = await ask('and now?')\nFINAL([a, b])",
    )
    .await;
    let (client, _) = next_process(dir.path());
    let second = client.open_session(&id).unwrap().send("one").await.unwrap();
    assert_eq!(second.suspended.unwrap().text, "and now?");
    drop(client);
    let (client, _) = next_process(dir.path());
    assert_eq!(
        client.open_session(&id).unwrap().send("two").await.unwrap().value,
        json!(["one", "two"])
    );
}

/// Hangs when it is called for the first time.
#[derive(Clone, Debug, Default)]
struct HangsOnce {
    calls: Arc<AtomicUsize>,
    started: Arc<tokio::sync::Notify>,
}

#[async_trait]
impl Tool for HangsOnce {
    fn describe(&self) -> HostTool {
        Counter::default().describe()
    }

    async fn call(&self, args: &[Value], _kwargs: &Value) -> Result<Value, HostError> {
        if self.calls.fetch_add(1, Ordering::SeqCst) == 0 {
            self.started.notify_one();
            std::future::pending::<()>().await;
        }
        Ok(args[0].clone())
    }
}

#[tokio::test]
async fn case_72_a_cancelled_answer_can_be_given_again() {
    let dir = tempfile::tempdir().unwrap();
    let id = park(dir.path(), ASKS).await;
    let tool = HangsOnce::default();
    let client = builder(dir.path()).tool(tool.clone()).build(Arc::new(Never)).unwrap();
    let session = client.open_session(&id).unwrap();
    let stream = session.stream("yes").unwrap();
    tool.started.notified().await;
    stream.cancel();
    assert!(stream.finish().await.unwrap_err().is_cancelled());
    assert!(session.suspended().unwrap());
    assert_eq!(session.send("no").await.unwrap().value, json!(["sub: a", "no"]));
    assert_eq!(tool.calls.load(Ordering::SeqCst), 2, "once for each answer");
}

#[tokio::test]
async fn case_74_a_wrong_answer_leaves_the_question_and_a_parked_session_can_be_forked() {
    let dir = tempfile::tempdir().unwrap();
    let id = park(dir.path(), ASKS).await;
    let (client, counter) = next_process(dir.path());
    let session = client.open_session(&id).unwrap();
    assert!(
        session
            .send("perhaps")
            .await
            .unwrap_err()
            .to_string()
            .contains("perhaps")
    );
    assert!(session.suspended().unwrap() && counter.count() == 0);
    let fork = session.fork(0).await.unwrap();
    assert!(!fork.session().suspended().unwrap());
    assert_eq!(session.send("no").await.unwrap().value[1]["x"], "no");
}
