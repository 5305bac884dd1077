//! `cassette:SESSION`: the recorded replies of a session, asked again.

use crate::desk::{builder, client, model};
use crate::shell::{asking, program};
use fast_rlm::provider::{self, Cancel, Discard, ErrorKind, Message, OpenError, Request, Settings};
use fast_rlm::store::payload::{ModelCall, TurnStarted};
use fast_rlm::store::{Digest, NewEvent, NewSession};
use fast_rlm::{Config, NoSink};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

fn asks(prompt: &str, model: &str, session: &str, dir: &Path) -> Output {
    program(&asking(prompt, model, session), dir)
}

fn out(output: &Output) -> &str {
    assert!(output.status.success(), "{output:?}");
    std::str::from_utf8(&output.stdout).unwrap().trim_end()
}

/// Two queries, of which the first asks sub-agents, two of them the very same.
fn record(dir: &Path) {
    let script = json!({"rules": [
        {"when": {"depth": 1, "first": "same"}, "replies": [{"code": "FINAL('both')"}]},
        {"when": {"depth": 1}, "replies": [{"code": "print(len(context))"}, {"code": "FINAL(context[::-1])"}]},
        {"when": {"depth": 0, "first": "characters\nAnd again"}, "replies": [{"code": "FINAL(found + '!')"}]},
        {"when": {}, "replies": [
            {"code": "found = await llm_query('elahw')\nprint(found)", "usage": {"prompt": 100, "completion": 7, "cost": 0.01}},
            {"code": "one = await llm_query('same')\ntwo = await llm_query('same')\nFINAL([found, one, two])"},
        ]},
    ]});
    std::fs::write(dir.join("model.json"), script.to_string()).unwrap();
    let first = asks("Find the whale", "scripted:model.json", "one", dir);
    assert_eq!(
        serde_json::from_str::<Value>(out(&first)).unwrap(),
        json!(["whale", "both", "both"])
    );
    assert_eq!(out(&asks("And again", "scripted:model.json", "one", dir)), "whale!");
    std::fs::remove_file(dir.join("model.json")).unwrap();
}

#[test]
fn the_replies_of_a_session_answer_its_queries_again() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path());
    let before = crate::desk::files(&dir.path().join("runs/one"));
    let again = asks("Find the whale", "cassette:runs/one", "two", dir.path());
    assert_eq!(
        serde_json::from_str::<Value>(out(&again)).unwrap(),
        json!(["whale", "both", "both"])
    );
    assert_eq!(
        out(&asks("And again", "cassette:runs/one", "two", dir.path())),
        "whale!"
    );
    assert_eq!(crate::desk::files(&dir.path().join("runs/one")), before);
    // The same steps with the same results, and what was recorded of it can be replayed and asked once more.
    assert_eq!(
        out(&program(&["diff", "one", "two", "--dir", "runs"], dir.path()))
            .lines()
            .last(),
        Some("identical: 3 steps")
    );
    out(&program(&["replay", "two", "--dir", "runs"], dir.path()));
    let third = asks("Find the whale", "cassette:runs/two", "three", dir.path());
    assert_eq!(
        serde_json::from_str::<Value>(out(&third)).unwrap(),
        json!(["whale", "both", "both"])
    );
    let json = program(
        &["Find the whale", "--primary-agent", "cassette:runs/one", "--json"],
        dir.path(),
    );
    let json: Value = serde_json::from_str(out(&json)).unwrap();
    assert!(json.to_string().contains("whale"), "{json}");
}

#[test]
fn a_request_that_was_not_recorded_ends_the_query_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path());
    let other = asks("Find the shark", "cassette:runs/one", "two", dir.path());
    assert_eq!(other.status.code(), Some(1), "{other:?}");
    let told = String::from_utf8_lossy(&other.stderr);
    for part in [
        "session runs/one has no reply to this request of the root",
        "scripted:model.json",
        "word for word",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    // The session is closed, and usable.
    assert_eq!(
        out(&program(&["sessions", "runs", "--json"], dir.path()))
            .matches("\"interrupted\": false")
            .count(),
        2
    );
    for (nothing, why) in [
        ("runs/nope", "no session"),
        ("nowhere/at/all", "cannot be used"),
        ("runs", "no session"),
    ] {
        let refused = asks("Find the whale", &format!("cassette:{nothing}"), "three", dir.path());
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let told = String::from_utf8_lossy(&refused.stderr);
        assert!(told.contains(why) && told.contains(nothing), "{told}");
    }
}

#[tokio::test]
async fn a_sub_agent_without_a_recorded_reply_raises_in_its_parent() {
    let dir = tempfile::tempdir().unwrap();
    let steps = "try:\n    x = await llm_query('a')\nexcept RuntimeError as e:\n    x = str(e)\nFINAL(x)";
    let off = builder(dir.path()).cassette(false).build(model(&json!({"rules": [
        {"when": {"depth": 1}, "replies": [{"code": "FINAL(1)"}]}, {"when": {}, "replies": [{"code": steps}]},
    ]})));
    let off = off.unwrap();
    off.run("go").await.unwrap();
    let recorded = off.session().unwrap().dir().to_owned();
    let again = builder(dir.path()).config(Config::new(format!("cassette:{}", recorded.display())));
    let again = again.open().unwrap();
    let told = again.run("go").await.unwrap();
    assert!(told.text().contains("sub-agent at depth 1"), "{}", told.text());
    assert_eq!((told.cost().nano, told.cost().unknown), (0, 0));
}

/// A session in which the same request was answered twice.
fn answered_twice(dir: &Path, request: &Request) {
    let store = fast_rlm::Storage::dir(dir).open().unwrap();
    let row = store.events.create_session(&NewSession::named("twice", 1)).unwrap();
    let call = |number: u64| {
        let call = ModelCall {
            model: request.model.clone(),
            request: Digest::from_bytes(&request.hash().0),
            reply: format!("reply {number}"),
            reasoning: Some("hm".into()),
            ..ModelCall::default()
        };
        NewEvent::of_step(0, 0, 1, call.into()).numbered(number)
    };
    crate::desk::tamper(&store, &row.id, |writer| {
        writer
            .append(vec![
                NewEvent::of_turn(0, 1, TurnStarted::default().into()),
                call(1),
                call(2),
            ])
            .unwrap();
    });
}

#[tokio::test]
async fn a_request_asked_more_often_than_recorded_gets_its_last_reply_again() {
    let dir = tempfile::tempdir().unwrap();
    let request = Request::new("z-ai/glm-5", vec![Message::system("be brief"), Message::user("hi")]);
    answered_twice(dir.path(), &request);
    let opened = provider::open(
        &format!("cassette:{}", dir.path().join("twice").display()),
        &Settings::default(),
    );
    let (opened, cancel) = (opened.unwrap(), Cancel::new());
    let asked = Request {
        model: "cassette:…".into(),
        ..request
    };
    for expected in ["reply 1", "reply 2", "reply 2"] {
        let reply = opened.call(&asked, &mut Discard, &cancel).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.reasoning.as_str()), (expected, "hm"));
        assert_eq!(reply.usage.cost_nano, Some(0));
    }
    let longer = Request {
        messages: vec![Message::user("hi")],
        ..asked
    };
    let missing = opened.call(&longer, &mut Discard, &cancel).await.unwrap_err();
    assert!(
        matches!(*missing.kind, ErrorKind::Cassette(_)) && missing.attempts == 1,
        "{missing}"
    );
}

#[tokio::test]
async fn a_session_without_replies_is_no_cassette() {
    let dir = tempfile::tempdir().unwrap();
    let empty = client(dir.path(), &[]).create_named("empty").unwrap();
    let model = format!("cassette:{}", empty.dir().display());
    let refused = provider::open(&model, &Settings::default()).unwrap_err();
    assert!(
        matches!(&refused, OpenError::Cassette { .. }) && refused.to_string().contains("no reply"),
        "{refused}"
    );
    let one = client(dir.path(), &["x = 1", "FINAL(x)"]).create_named("one").unwrap();
    one.send("go").await.unwrap();
    let opened = provider::open(&format!("cassette:{}", one.dir().display()), &Settings::default()).unwrap();
    assert!(opened.label().contains("one"));
    // Its tail was in no model's words, its first step was.
    let fork = one.fork(1).await.unwrap();
    fork.inject_named(&[("x".into(), json!(2))], &mut NoSink)
        .await
        .unwrap_err();
    provider::open(
        &format!("cassette:{}", fork.session().dir().display()),
        &Settings::default(),
    )
    .unwrap();
}
