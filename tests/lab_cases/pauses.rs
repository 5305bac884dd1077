//! Questions that wait, across restarts.

use crate::desk::{Counter, Never, builder, client, scripted};
use async_trait::async_trait;
use fast_rlm::observe::{DiffRow, Fact};
use fast_rlm::repl::{HostError, HostTool};
use fast_rlm::{Client, Error, NamespaceFrom, NoSink, Output, Tool};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ASKS: &str = "x = await llm_query('a')\ny = await ask('ok?', ['yes', 'no'])\nz = tool(y)\nFINAL([x, z])";

/// Asks, and gives the session's id; the client is gone then, and no tool was called.
async fn park(dir: &Path, code: &str) -> String {
    park_after(dir, &[code]).await
}

/// The last of these steps asks.
async fn park_after(dir: &Path, steps: &[&str]) -> String {
    let counter = Counter::default();
    let client = builder(dir).tool(counter.clone()).build(scripted(steps)).unwrap();
    let output = client.run("go").await.unwrap();
    assert_eq!(output.suspended.unwrap().text, "ok?");
    assert_eq!(counter.count(), 0);
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

#[tokio::test]
async fn what_was_sent_before_a_question_was_asked_is_no_answer_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let code = "a = await ask('ok?')\nb = await ask('and now?')\nFINAL([a, b])";
    let id = park(dir.path(), code).await;
    let (next, _) = next_process(dir.path());
    let session = next.open_session(&id).unwrap();
    let both = tokio::join!(session.send("one"), session.send("one"));
    let (went_on, refused) = one_each(both);
    assert_eq!(went_on.suspended.unwrap().text, "and now?");
    assert!(
        refused.contains("open no more") && refused.contains("and now?"),
        "{refused}"
    );
    assert_eq!(session.send("two").await.unwrap().value, json!(["one", "two"]));

    let dir = tempfile::tempdir().unwrap();
    let asks = client(dir.path(), &["FINAL(await ask('ok?'))"]);
    let (asked, refused) = one_each(tokio::join!(asks.run("first"), asks.run("second")));
    assert!(asked.suspended.is_some());
    assert!(refused.contains("waits for an answer"), "{refused}");
}

/// Of two, the one that was taken and why the other was not, whichever came first.
fn one_each(both: (Result<Output, Error>, Result<Output, Error>)) -> (Output, String) {
    match both {
        (Ok(taken), Err(refused)) | (Err(refused), Ok(taken)) => (taken, refused.to_string()),
        both => panic!("{both:?}"),
    }
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
    assert!(!fork.session().suspended().unwrap() && session.suspended().unwrap());
    let structured = fast_rlm::Input::Json(json!({"an": "object"}));
    let refused = session.send(structured).await.unwrap_err();
    assert!(matches!(refused, Error::NotAnAnswer { .. }), "{refused}");
    drop(client);
    // Another process answers, and this one's handle sees it.
    let (client, counter) = next_process(dir.path());
    let other = client.open_session(&id).unwrap();
    assert_eq!(other.send("no").await.unwrap().value[1]["x"], "no");
    assert!(!session.suspended().unwrap() && counter.count() == 1);
}

#[tokio::test]
async fn an_answer_that_was_waited_for_is_served_in_a_what_if() {
    let dir = tempfile::tempdir().unwrap();
    let id = park(dir.path(), ASKS).await;
    let (client, counter) = next_process(dir.path());
    let session = client.open_session(&id).unwrap();
    session.send("yes").await.unwrap();
    let what_if = session.what_if().substitute("tool", json!("else")).run().await.unwrap();
    assert!(what_if.hermetic(), "{:?}", what_if.first_divergence());
    assert_eq!(what_if.output().unwrap().value, json!(["sub: a", "else"]));
    let ran = what_if.session();
    assert!(!ran.suspended().unwrap());
    let asked = |fact: &Fact| matches!(fact, Fact::LeafCall(cell) if cell.call == "ask");
    assert!(
        ran.run_trace().unwrap().iter().any(|event| asked(&event.fact)),
        "a cell of its own"
    );
    let report = ran.replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful() && report.cells_total == 3, "{report:#?}");
    // The same answers, given another way, are no difference.
    let same = session.what_if().policy(fast_rlm::AllowAll).run().await.unwrap();
    assert!(same.hermetic() && same.diff().identical, "{:#?}", same.diff());
    assert_eq!(counter.count(), 1);
}

#[tokio::test]
async fn the_answer_itself_can_be_another_one_or_be_refused() {
    let dir = tempfile::tempdir().unwrap();
    let id = park(dir.path(), "y = await ask('ok?', ['yes', 'no'])\nFINAL('did ' + y)").await;
    let (client, _) = next_process(dir.path());
    let session = client.open_session(&id).unwrap();
    session.send("yes").await.unwrap();
    for what_if in [
        session.what_if().substitute("ask", json!("no")),
        session.what_if().substitute_at(0, json!("no")),
    ] {
        let ran = what_if.run().await.unwrap();
        assert!(ran.hermetic(), "{:?}", ran.first_divergence());
        assert_eq!(ran.output().unwrap().value, json!("did no"));
        match &ran.diff().rows[..] {
            [DiffRow::Output { what, was, is, .. }] => {
                assert_eq!(
                    (what.as_str(), was.as_str(), is.as_str()),
                    ("call ask", "\"yes\"", "\"no\"")
                )
            }
            rows => panic!("{rows:?}"),
        }
    }
    let denied = session.what_if().policy(fast_rlm::DenyAll).run().await.unwrap();
    assert!(!denied.hermetic() && denied.output().is_none());
}

#[tokio::test]
async fn a_question_that_was_never_asked_gets_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    let id = park(dir.path(), "y = await ask('ok?')\nFINAL(y)").await;
    let (client, _) = next_process(dir.path());
    client.open_session(&id).unwrap().send("yes").await.unwrap();
    let other = builder(dir.path())
        .build(scripted(&["y = await ask('really?')\nFINAL(y)"]))
        .unwrap();
    let session = other.open_session(&id).unwrap();
    let ran = session.what_if().model("other").run().await.unwrap();
    assert!(!ran.hermetic() && ran.output().is_none());
    let divergence = ran.first_divergence().unwrap();
    assert_eq!(
        (divergence.call.as_str(), &divergence.got["question"]),
        ("ask", &json!("really?"))
    );
}

#[tokio::test]
async fn a_fork_gets_the_answers_of_the_steps_before_it() {
    let dir = tempfile::tempdir().unwrap();
    // The generator cannot be saved: the step that asked runs again for who goes on from behind it.
    let asks = "y = await ask('ok?')\ng = (y + n for n in 'ab')\nfirst = next(g)";
    let id = park_after(dir.path(), &["x = 1", asks]).await;
    let client = builder(dir.path())
        .build(scripted(&["z = 1", "FINAL([first, next(g), z])"]))
        .unwrap();
    let session = client.open_session(&id).unwrap();
    assert_eq!(session.send("yes ").await.unwrap().value, json!(["yes a", "yes b", 1]));
    let fork = session.fork(2).await.unwrap();
    assert_eq!(fork.namespace(), NamespaceFrom::Tape);
    let output = fork.inject(&json!(2), &mut NoSink).await.unwrap();
    assert_eq!(output.value, json!(["yes a", "yes b", 2]));
    let report = fork.session().replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful(), "{report:#?}");
    // Taken over with its steps, too.
    let fork = session.fork(0).await.unwrap();
    let edited = ["x = 1", asks, "FINAL(y)"].map(str::to_owned);
    assert_eq!(fork.edit(&edited, &mut NoSink).await.unwrap().value, "yes ");
    let report = fork.session().replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful() && report.cells_total == 1, "{report:#?}");
}
