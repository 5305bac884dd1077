//! The library's sessions: where they live and when they go, that they resume in another process, and that looking at
//! them changes nothing.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "in a test, a surprise is a failure"
)]

#[path = "../examples/quick_start.rs"]
mod quick_start;
#[path = "../examples/session_resume.rs"]
mod session_resume;

mod client;

use client::child::{self, Child};
use client::{Digests, SaysNo, bytes_of, config, session_in};
use fast_rlm::disk::lock::SessionLock;
use fast_rlm::store::{Fact, Kind, Select, Store, StoreError};
use fast_rlm::{Config, Error, RunOptions, Session, What};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn the_examples_do_what_they_say() {
    quick_start::main().unwrap();
    session_resume::main().unwrap();
}

#[test]
fn an_id_needs_a_directory_and_must_be_one() {
    let alone = RunOptions::new(config()).session_id("podcasts");
    assert!(matches!(
        fast_rlm::run("bind", alone),
        Err(Error::IdWithoutDirectory { .. })
    ));
    assert!(matches!(
        Session::open("", "podcasts"),
        Err(Error::IdWithoutDirectory { .. })
    ));
    assert!(matches!(
        Session::open("", None),
        Err(Error::Option {
            name: "session_dir",
            ..
        })
    ));
    let dir = tempfile::tempdir().unwrap();
    for id in ["", "..", "a/b", ".hidden", "-flag", "logs", "é"] {
        let refused = Session::open(dir.path(), id);
        assert!(
            matches!(refused, Err(Error::Store(StoreError::BadSessionId { .. }))),
            "{id:?}"
        );
    }
    let session = Session::open(dir.path(), "podcasts").unwrap();
    assert_eq!(session.dir(), dir.path().join("podcasts"));
    assert!(!session.dir().exists(), "opening makes nothing");
    assert!(session.variables().unwrap().is_empty() && session.queries().unwrap().is_empty());
    assert!(session.parked().unwrap().is_none());
    session.clear().unwrap();
    assert!(!session.dir().exists());
}

#[test]
fn an_ephemeral_session_remembers_until_it_ends() {
    let session = Session::ephemeral().unwrap().config(config());
    let dir = session.dir().to_owned();
    session.query("bind").unwrap();
    let again = session.clone();
    assert_eq!(again.query("use").unwrap().value, json!(["a", "b"]));
    assert_eq!(session.queries().unwrap().len(), 2);
    again.close().unwrap();
    assert!(!dir.exists());
    assert!(matches!(session.query("use"), Err(Error::Closed)));
    assert!(matches!(session.variables(), Err(Error::Closed)));
    assert!(!dir.exists(), "what is refused makes nothing");

    let dropped = Session::ephemeral().unwrap();
    let dir = dropped.dir().to_owned();
    assert!(dir.exists());
    drop(dropped);
    assert!(!dir.exists());
}

#[test]
fn each_ephemeral_session_is_a_clean_slate() {
    let first = Session::ephemeral().unwrap().config(config());
    first.query("bind").unwrap();
    let second = Session::ephemeral().unwrap().config(config());
    assert_eq!(second.query("is it there").unwrap().value, json!(false));
}

/// Runs in a process of its own: see [`Child`].
#[test]
fn child() {
    child::main();
}

#[test]
fn an_ephemeral_session_goes_with_its_program_however_that_ends() {
    for (end, code) in [("exit", 0), ("panic", 101), ("panic_elsewhere", 0)] {
        let mut child = Child::start(end);
        child.wait_for_output(child::READY);
        assert_eq!(child.wait().code(), Some(code));
        assert_eq!(child.left_behind(), Vec::<String>::new(), "{end}");
    }
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let mut child = Child::start("signals");
        child.wait_for_its_directory();
        child.signal(signal);
        assert_eq!(
            child.wait().ended_by(),
            Some(signal.as_raw()),
            "the signal still ends it"
        );
        assert_eq!(child.left_behind(), Vec::<String>::new());
    }
}

#[test]
fn what_a_killed_program_leaves_goes_with_the_next_session() {
    let mut killed = Child::start("waits");
    killed.wait_for_its_directory();
    let mut beside = Child::start_beside(&killed, "exit");
    assert_eq!(beside.wait().code(), Some(0));
    assert_eq!(killed.left_behind().len(), 1, "a living program keeps its own");
    killed.signal(rustix::process::Signal::KILL);
    killed.wait();
    assert_eq!(killed.left_behind().len(), 1);
    let mut next = Child::start_beside(&killed, "exit");
    assert_eq!(next.wait().code(), Some(0));
    assert_eq!(killed.left_behind(), Vec::<String>::new());
}

#[test]
fn a_session_resumes_in_another_process() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Child::start_in(dir.path(), "binds");
    assert_eq!(child.wait().code(), Some(0));
    let session = session_in(dir.path());
    assert_eq!(session.query("use").unwrap().value, json!(["a", "b"]));
    let queries = session.queries().unwrap();
    assert_eq!(queries.len(), 2);
    assert_eq!(
        (queries[0].query.as_str(), &queries[0].value),
        ("bind", &json!("bound"))
    );
    let log = queries[1].log_file.as_deref().unwrap();
    assert!(session.dir().join(log).is_file(), "{log}");
}

#[test]
fn what_is_remembered_is_described_and_never_unpickled() {
    let dir = tempfile::tempdir().unwrap();
    let session = session_in(dir.path());
    let output = session.query("bind").unwrap();
    assert_eq!(
        (output.steps, output.usage.calls, output.text()),
        (1, 1, "bound".into())
    );
    let variables = session.variables().unwrap();
    assert_eq!(variables.keys().collect::<Vec<_>>(), ["letters"]);
    let letters = serde_json::to_value(&variables["letters"]).unwrap();
    assert_eq!(
        letters,
        json!({"type": "list", "preview": "['a', 'b']", "comment": "in order", "note": "two of them", "committed": true})
    );
    assert_eq!(session.functions().unwrap().keys().collect::<Vec<_>>(), ["double"]);
    assert!(session.functions().unwrap()["double"].contains("return letter * 2"));
    let dropped = session.dropped().unwrap();
    assert_eq!(dropped.keys().collect::<Vec<_>>(), ["stream"]);
    assert!(dropped["stream"].contains("generator"), "{dropped:?}");
}

#[test]
fn looking_changes_no_byte_and_waits_for_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let session = session_in(dir.path());
    session.query("bind").unwrap();
    let _held = SessionLock::acquire(session.dir(), Duration::ZERO).unwrap();
    let before = Digests::of(dir.path());
    let look = Session::open(dir.path(), "s").unwrap();
    look.queries().unwrap();
    look.variables().unwrap();
    look.functions().unwrap();
    look.dropped().unwrap();
    look.parked().unwrap();
    look.close().unwrap();
    assert_eq!(Digests::of(dir.path()), before);
}

#[test]
fn a_newer_state_is_named_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let session = session_in(dir.path());
    std::fs::create_dir(session.dir()).unwrap();
    let newer = r#"{"version": 3, "queries": []}"#;
    std::fs::write(session.dir().join("state.json"), newer).unwrap();
    for refused in [
        session.queries().map(drop),
        session.clear(),
        session.query("bind").map(drop),
    ] {
        let told = refused.unwrap_err().to_string();
        assert!(told.contains("version 3") && told.contains("state.json"), "{told}");
    }
    let kept = std::fs::read_to_string(session.dir().join("state.json")).unwrap();
    assert_eq!(kept, newer);
}

#[test]
fn clearing_forgets_and_keeps_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let session = session_in(dir.path());
    let transcript = session.query("bind").unwrap().transcript;
    session.clear().unwrap();
    assert!(session.variables().unwrap().is_empty() && session.queries().unwrap().is_empty());
    assert!(transcript.exists() && !session.dir().join("state.json").exists());
    let store = Store::open_read_only(dir.path()).unwrap();
    let cleared = store
        .events
        .read_all("s", &Select::all().only(&[Kind::Cleared]))
        .unwrap();
    assert!(matches!(cleared.events[..], [ref only] if matches!(only.fact, Fact::Cleared(_))));
    drop(store);
    assert_eq!(session.query("is it there").unwrap().value, json!(false));
    session.clear().unwrap();
    session.clear().unwrap();
}

#[test]
fn a_session_of_another_program_is_cleared_without_a_log() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("state.json"),
        r#"{"version": 1, "queries": [{"query": "q"}]}"#,
    )
    .unwrap();
    let session = Session::open(dir.path(), None).unwrap();
    let past = session.queries().unwrap();
    assert_eq!((past[0].value.clone(), past[0].log_file.clone()), (Value::Null, None));
    session.clear().unwrap();
    assert!(session.queries().unwrap().is_empty());
    assert!(!dir.path().join("events.db").exists());
    std::fs::write(dir.path().join("state.json"), "{\"version\": 2, \"quer").unwrap();
    assert!(matches!(session.queries(), Err(Error::Memory(_))));
    session.clear().expect("clearing is the way out of a damaged file");
}

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
fn closing_cancels_what_runs_and_the_directory_goes_with_it() {
    let session = Session::ephemeral().unwrap();
    let dir = session.dir().to_owned();
    let closing = Arc::new(Mutex::new(Some(session.clone())));
    let session = session.config(config()).watch(move |event: fast_rlm::RunEvent| {
        if matches!(event.what, What::CallEnded { .. })
            && let Some(session) = closing.lock().unwrap().take()
        {
            session.close().unwrap();
        }
    });
    let error = session.query("for ever").unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert!(!dir.exists());
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

#[test]
fn secrets_show_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let secret = "hunter2-and-more";
    let session = session_in(dir.path()).config(config().env("TOKEN", secret));
    let output = session.query("environment").unwrap();
    assert_eq!(output.value, secret.len());
    let found = |path: &Path, bytes: &[u8]| {
        let needle = secret.as_bytes();
        assert!(
            !bytes.windows(needle.len()).any(|window| window == needle),
            "in {}",
            path.display()
        );
    };
    for (path, bytes) in bytes_of(dir.path()) {
        found(&path, &bytes);
    }
    let told = format!("{:?}", Config::default().env("TOKEN", secret));
    assert!(!told.contains(secret));
}

#[test]
fn a_program_that_is_stopped_at_once_leaves_no_directory() {
    let mut program = Child::start_program();
    program.wait_for_output("step 1");
    // The second one does not wait for the query to be closed.
    program.signal(rustix::process::Signal::TERM);
    program.signal(rustix::process::Signal::TERM);
    assert_eq!(program.wait().code(), Some(130));
    assert_eq!(program.left_behind(), Vec::<String>::new());
}
