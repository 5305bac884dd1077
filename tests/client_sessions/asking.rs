//! One query after another: turns, cancels, failures, questions.

use crate::script::{SaysNo, config, session_in};
use fast_rlm::disk::lock::SessionLock;
use fast_rlm::{Error, RunOptions, Session, What};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;

#[test]
fn a_busy_session_is_refused_and_names_who_holds_it() {
    let dir = tempfile::tempdir().unwrap();
    let session = session_in(dir.path());
    std::fs::create_dir(session.dir()).unwrap();
    let held = SessionLock::acquire(session.dir(), Duration::ZERO).unwrap();
    for refused in [session.query("bind").map(drop), session.clear()] {
        let error = refused.unwrap_err();
        assert!(
            error.is_busy() && error.to_string().contains(&std::process::id().to_string()),
            "{error}"
        );
    }
    drop(held);
    session.query("bind").unwrap();
}

#[test]
fn clones_take_turns() {
    let session = Session::ephemeral().unwrap().config(config());
    session.query("count").unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let session = session.clone();
            std::thread::spawn(move || session.query("and on").unwrap().value)
        })
        .collect();
    let mut counted: Vec<_> = threads.into_iter().map(|t| t.join().unwrap().as_i64()).collect();
    counted.sort_unstable();
    assert_eq!(counted, [Some(1), Some(2), Some(3), Some(4)]);
}

/// Sends a query whose step never ends, and drops it once the model has replied.
async fn send_and_drop(session: &Session) {
    let (began, begun) = tokio::sync::oneshot::channel();
    let began = Mutex::new(Some(began));
    let watched = session.clone().watch(move |event: fast_rlm::RunEvent| {
        if matches!(event.what, What::CallEnded { .. })
            && let Some(began) = began.lock().unwrap().take()
        {
            began.send(()).unwrap();
        }
    });
    tokio::select! {
        answered = watched.send("for ever") => panic!("{answered:?}"),
        begun = begun => begun.unwrap(),
    }
}

#[tokio::test]
async fn a_dropped_query_is_cancelled_and_the_next_one_works() {
    let session = Session::ephemeral().unwrap().config(config());
    session.send("bind").await.unwrap();
    send_and_drop(&session).await;
    assert_eq!(session.send("use").await.unwrap().value, json!(["a", "b"]));
    let state = std::fs::read_to_string(session.dir().join("state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["interrupted"][0]["outcome"], "cancelled");
    assert_eq!(state["interrupted"][0]["query"], "for ever");
}

#[tokio::test]
async fn the_blocking_form_may_be_called_inside_a_runtime() {
    let session = Session::ephemeral().unwrap().config(config());
    assert_eq!(session.query("bind").unwrap().value, "bound");
}

#[test]
fn a_failed_query_tells_why_and_the_session_goes_on() {
    let session = Session::ephemeral().unwrap();
    let error = session.query("bind").unwrap_err();
    assert!(matches!(error, Error::Model(_)), "{error}");
    let session = session.config(config().max_calls_per_subagent(2));
    let Error::Run(failed) = session.query("never ends").unwrap_err() else {
        panic!("it ended");
    };
    assert_eq!((failed.steps, failed.usage.calls), (2, 2));
    assert!(failed.error.to_string().contains("max_calls_per_subagent"));
    assert!(failed.transcript.exists());
    assert_eq!(session.query("bind").unwrap().value, "bound");
}

#[test]
fn a_suspended_query_is_answered_by_the_next_text() {
    let dir = tempfile::tempdir().unwrap();
    let output = session_in(dir.path()).query("book").unwrap();
    let question = output.suspended.unwrap();
    assert_eq!((question.text.as_str(), question.options.len()), ("Book the 7:40?", 2));
    let session = session_in(dir.path());
    assert_eq!(session.parked().unwrap(), Some(question));
    assert!(matches!(session.query(json!([1])), Err(Error::NotAnAnswer { .. })));
    assert!(session.query("perhaps").unwrap_err().to_string().contains("perhaps"));
    assert_eq!(session.query("yes").unwrap().value, "yes");
    assert!(session.parked().unwrap().is_none());

    session.query("book").unwrap();
    session.clear().unwrap();
    assert!(session.parked().unwrap().is_none(), "cleared questions wait no more");
    assert_eq!(session.query("bind").unwrap().value, "bound");
}

#[test]
fn a_person_answers_at_once_and_a_lone_query_has_nobody() {
    let session = Session::ephemeral().unwrap().config(config()).person(SaysNo);
    assert_eq!(session.query("book").unwrap().value, "no");
    let output = fast_rlm::run("book", RunOptions::new(config())).unwrap();
    assert_eq!(output.value, "nobody");
}
