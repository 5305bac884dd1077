//! What a session remembers: in another process, when it is looked at, when it is cleared, and what is kept out.

use crate::child::Child;
use crate::script::{Digests, bytes_of, config, session_in};
use fast_rlm::disk::lock::SessionLock;
use fast_rlm::store::{Fact, Kind, Select, Store};
use fast_rlm::{Config, Error, Session};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

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
