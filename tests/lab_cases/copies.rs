//! Secrets that are nowhere, sub-agents with cells of their own, sessions carried over.

use crate::desk::{builder, client, scripted, tamper};
use fast_rlm::store::payload::StepEnded;
use fast_rlm::store::{NewEvent, Storage, StoreError, copy_session};
use fast_rlm::{Client, Config, NoSink};
use std::path::Path;

fn found(dir: &Path, secret: &str) -> Option<std::path::PathBuf> {
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if std::fs::read(&path)
                .unwrap()
                .windows(secret.len())
                .any(|window| window == secret.as_bytes())
            {
                return Some(path);
            }
        }
    }
    None
}

#[tokio::test]
async fn case_42_a_secret_is_in_no_file_and_the_replay_is_faithful() {
    let dir = tempfile::tempdir().unwrap();
    let (word, number, quoted) = ("hunter2hunter2", "73549812", "line\\\"two\\\"");
    let plain = "line\"two\"";
    let config = || {
        Config::new("m")
            .env("TOKEN", word)
            .env("PIN_CODE", number)
            .secret("QUOTED", plain)
    };
    let steps = [
        "import os\nt = os.environ['TOKEN']\nx = await llm_query('key ' + t + ' and ' + os.environ['PIN_CODE'])\nprint(t, x)",
        "n = int(os.environ['PIN_CODE'])\ny = await llm_query({'pin': n, 'quoted': 'line' + chr(34) + 'two' + chr(34)})\nprint(n, y)",
        "FINAL('done')",
    ];
    let client = builder(dir.path()).config(config()).build(scripted(&steps)).unwrap();
    client.run("go").await.unwrap();
    for secret in [word, number, quoted, plain] {
        assert_eq!(found(dir.path(), secret), None, "{secret}");
    }
    let report = client.session().unwrap().replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful(), "{report:#?}");
}

#[tokio::test]
async fn case_15_a_session_is_carried_to_another_store() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = client(one.path(), &["x = await llm_query('a')", "FINAL(x)"]);
    first.run("go").await.unwrap();
    let (session, other) = (first.session().unwrap(), Storage::dir(two.path()).open().unwrap());
    copy_session(first.store(), &session.id(), &other, None, 7).unwrap();
    let copied = Client::builder()
        .storage(Storage::dir(two.path()))
        .open()
        .unwrap()
        .open_session(&session.id())
        .unwrap();
    assert_eq!(copied.turns().unwrap(), session.turns().unwrap());
    assert_eq!(copied.history().unwrap(), session.history().unwrap());
    assert_eq!(copied.run_trace().unwrap(), session.run_trace().unwrap());

    tamper(first.store(), &session.id(), |writer| {
        let stray = NewEvent::of_step(9, 0, 1, StepEnded::default().into());
        drop(writer.append(vec![stray]).unwrap());
    });
    let refused = copy_session(first.store(), &session.id(), &other, Some("again"), 7).unwrap_err();
    assert!(matches!(refused, StoreError::BadTurn { turn: 9, .. }), "{refused}");
    assert!(matches!(
        other.events.session("again"),
        Err(StoreError::UnknownSession { .. })
    ));
}
