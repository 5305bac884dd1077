//! Forks, injections, edits, and the comparison of runs.

use crate::desk::{Counter, Never, builder, client, events_of, files, ran, reader, scripted, tamper, with_tool};
use fast_rlm::observe::{DiffRow, Fact, Message};
use fast_rlm::store::NewEvent;
use fast_rlm::store::payload::ModelCall;
use fast_rlm::{Client, Error, LabError, NamespaceFrom, NoSink, RunDiff, Session};
use serde_json::json;
use std::sync::Arc;

const FOUR: [&str; 4] = [
    "a = tool('a')",
    "b = tool('b')\nprint(b)",
    "c = tool([a, b])",
    "FINAL([a, b, c])",
];

/// A client in which the four steps ran, with its tool.
async fn four(dir: &std::path::Path) -> (Client, Session, Counter) {
    let (client, counter) = with_tool(dir, &FOUR);
    client.run("go").await.unwrap();
    let session = client.session().unwrap();
    (client, session, counter)
}

fn rows(diff: &RunDiff) -> String {
    let letter = |row: &DiffRow| match row {
        DiffRow::Same { .. } => 's',
        DiffRow::Plan { a: Some(_), b: Some(_) } => 'p',
        DiffRow::Plan { a: None, .. } => '+',
        DiffRow::Plan { .. } => '-',
        DiffRow::Output { .. } => 'o',
    };
    diff.rows.iter().map(letter).collect()
}

async fn is_faithful(session: &Session) {
    let report = session.replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful(), "{report:#?}");
}

#[tokio::test]
async fn case_49_a_fork_runs_nothing_and_leaves_the_original() {
    let dir = tempfile::tempdir().unwrap();
    let (client, session, counter) = four(dir.path()).await;
    let events = client.store().events.session(&session.id()).unwrap().events;
    let original = files(session.dir());
    // Whoever is asked here fails the test.
    let never = builder(dir.path())
        .tool(counter.clone())
        .build(Arc::new(Never))
        .unwrap();
    let session = never.open_session(&session.id()).unwrap();
    let fork = session.fork(2).await.unwrap();
    assert_eq!(counter.count(), 3, "the prefix is from the record");
    assert_eq!(client.store().events.session(&session.id()).unwrap().events, events);
    assert_eq!(files(session.dir()), original);
    let names: Vec<_> = fork.session().variables().unwrap().into_keys().collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(fork.namespace(), NamespaceFrom::Saved);
    assert_eq!(fork.session().history().unwrap()[..5], session.history().unwrap()[..5]);
    assert_eq!(
        client.store().events.session(fork.id()).unwrap().parent,
        Some(session.id())
    );
}

#[tokio::test]
async fn case_50_an_injected_value_takes_the_place_of_a_step() {
    let dir = tempfile::tempdir().unwrap();
    let (_client, session, counter) = four(dir.path()).await;
    let fork = session.fork(1).await.unwrap();
    let output = fork.inject(&json!({"status": 503}), &mut NoSink).await.unwrap();
    assert_eq!(counter.count(), 4, "only the third step called again");
    assert_eq!(output.value[1], json!({"status": 503}));
    assert_eq!(output.value[2]["x"][1], json!({"status": 503}));
    assert_eq!(rows(&fork.diff(&session).unwrap()), "spoo");
    is_faithful(&fork.session()).await;
    is_faithful(&session).await;

    let last = session.fork(2).await.unwrap();
    last.inject(&json!(0), &mut NoSink).await.unwrap();
    assert_eq!(counter.count(), 4, "a tail without any call");
    is_faithful(&last.session()).await;
    let refused = last.inject(&json!(1), &mut NoSink).await.unwrap_err();
    assert!(
        matches!(refused, Error::Lab(LabError::AlreadyDiverged { .. })),
        "{refused}"
    );
}

#[tokio::test]
async fn case_51_only_one_bound_name_can_be_injected_unnamed() {
    let (dir, session) = ran(&["print(1)", "x = 1\ny = 2", "FINAL([x, y])"]).await;
    let client = reader(dir.path());
    let before = (client.sessions().unwrap().len(), files(dir.path()).len());
    for (at, bound) in [(0, vec![]), (1, vec!["x".to_owned(), "y".to_owned()])] {
        let fork = session.fork(at).await.unwrap();
        match fork.inject(&json!(7), &mut NoSink).await.unwrap_err() {
            Error::Lab(LabError::NotABind { step, names }) => assert_eq!((step, names), (at, bound)),
            other => panic!("{other}"),
        }
        assert!(!fork.session().dir().exists());
        let gone = fork.inject(&json!(7), &mut NoSink).await.unwrap_err();
        assert!(matches!(gone, Error::Lab(LabError::AlreadyDiverged { .. })), "{gone}");
    }
    assert_eq!((client.sessions().unwrap().len(), files(dir.path()).len()), before);
    let fork = session.fork(1).await.unwrap();
    let values = [("x".to_owned(), json!(7)), ("y".to_owned(), json!("é"))];
    assert_eq!(
        fork.inject_named(&values, &mut NoSink).await.unwrap().value,
        json!([7, "é"])
    );
}

#[tokio::test]
async fn case_54_a_refused_tool_halts_the_tail() {
    let dir = tempfile::tempdir().unwrap();
    let (_, session, _) = four(dir.path()).await;
    let counter = Counter::default();
    let denying = builder(dir.path())
        .tool(counter.clone())
        .approver(fast_rlm::DenyAll)
        .build(Arc::new(Never))
        .unwrap();
    let fork = denying.open_session(&session.id()).unwrap().fork(1).await.unwrap();
    match fork.inject(&json!(1), &mut NoSink).await.unwrap_err() {
        Error::Lab(LabError::TailHalted { exception, .. }) => {
            assert!(exception.contains("PermissionError"), "{exception}")
        }
        other => panic!("{other}"),
    }
    assert_eq!(counter.count(), 0);
    let halted = fork.session();
    assert_eq!(
        halted.turns().unwrap()[0].outcome,
        Some(fast_rlm::observe::Outcome::Halted)
    );
    assert!(halted.interrupted().unwrap().is_none());
    assert_eq!(halted.history().unwrap().last().unwrap().text, "(turn halted)");
}

fn steps(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}

#[tokio::test]
async fn case_55_and_56_edits_are_checked_and_equal_steps_are_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let (client, session, counter) = four(dir.path()).await;
    let fork = session.fork(0).await.unwrap();
    let events = client.store().events.session(fork.id()).unwrap().events;
    let refused = fork
        .edit(&steps(&["x = 1", "y = 2", "z = ("]), &mut NoSink)
        .await
        .unwrap_err();
    assert!(
        matches!(refused, Error::Lab(LabError::Syntax { step: 2, .. })),
        "{refused}"
    );
    assert_eq!(client.store().events.session(fork.id()).unwrap().events, events);

    let edited = steps(&[
        FOUR[0],
        "b = tool( 'b' )  # the same\nprint(b)",
        "c = tool('other')",
        "FINAL([b, c])",
    ]);
    let output = fork.edit(&edited, &mut NoSink).await.unwrap();
    assert_eq!(counter.count(), 4, "two were taken over, one ran");
    assert_eq!(output.value, json!([{"x": "b", "call": 2}, {"x": "other", "call": 4}]));
    assert_eq!(rows(&fork.diff(&session).unwrap()), "sspp");
    is_faithful(&fork.session()).await;

    // Only the tail: what the steps before bound is there.
    let tail = session.fork(2).await.unwrap();
    assert_eq!(
        tail.edit(&steps(&["FINAL(a['x'] + b['x'])"]), &mut NoSink)
            .await
            .unwrap()
            .value,
        "ab"
    );
}

#[tokio::test]
async fn a_tail_that_reads_what_could_not_be_saved_gets_it_from_the_tape() {
    let dir = tempfile::tempdir().unwrap();
    let (client, counter) = with_tool(
        dir.path(),
        &[
            "g = (tool(i) for i in [1, 2])\nfirst = next(g)",
            "x = 1",
            "FINAL([next(g), first, x])",
        ],
    );
    client.run("go").await.unwrap();
    let fork = client.session().unwrap().fork(1).await.unwrap();
    assert_eq!(fork.namespace(), NamespaceFrom::Tape);
    let output = fork.inject(&json!(5), &mut NoSink).await.unwrap();
    assert_eq!(
        (output.value[0]["x"].clone(), output.value[2].clone()),
        (json!(2), json!(5))
    );
    assert_eq!(counter.count(), 3, "two when it was recorded, one live");
}

#[tokio::test]
async fn a_model_goes_on_from_a_fork() {
    let dir = tempfile::tempdir().unwrap();
    let session = client(dir.path(), &["x = 1", "FINAL(x)", "FINAL(x + 41)"])
        .create_session()
        .unwrap();
    session.send("go").await.unwrap();
    let fork = session.fork(1).await.unwrap();
    assert_eq!(
        fork.replan("Add 41 first.", &mut NoSink).await.unwrap().value,
        json!(42)
    );
    let history = fork.session().history().unwrap();
    assert!(
        history.iter().any(|message| message.text == "Add 41 first."),
        "{history:?}"
    );
}

#[tokio::test]
async fn case_58_a_fork_can_be_forked() {
    let dir = tempfile::tempdir().unwrap();
    let (_client, session, _) = four(dir.path()).await;
    let fork = session.fork(1).await.unwrap();
    fork.inject(&json!("one"), &mut NoSink).await.unwrap();
    let second = fork.session().fork(2).await.unwrap();
    second.inject(&json!("two"), &mut NoSink).await.unwrap();
    assert_eq!(rows(&second.diff(&session).unwrap()), "sppo");
    is_faithful(&second.session()).await;
    is_faithful(&fork.session()).await;
}

#[tokio::test]
async fn case_59_a_fork_goes_on_in_a_new_process() {
    let dir = tempfile::tempdir().unwrap();
    let (id, original) = {
        let (client, session, _) = four(dir.path()).await;
        assert_eq!(client.latest_session().unwrap().unwrap().id(), session.id());
        (session.fork(2).await.unwrap().id().to_owned(), session.id())
    };
    let again = client(dir.path(), &["FINAL([a['x'], b['x']])"]);
    let fork = again.open_session(&id).unwrap();
    assert!(fork.interrupted().unwrap().is_none());
    assert_eq!(again.latest_session().unwrap().unwrap().id(), original);
    assert_eq!(fork.send("on").await.unwrap().value, json!(["a", "b"]));
    assert_eq!(again.latest_session().unwrap().unwrap().id(), original, "case 6");
}

#[tokio::test]
async fn case_60_what_differs_is_named_at_its_step() {
    let dir = tempfile::tempdir().unwrap();
    let (client, session, _) = four(dir.path()).await;
    let same = session.diff(&session).unwrap();
    assert!(same.identical && same.rows.len() == 4);
    let build = |steps: &[&str]| {
        builder(dir.path())
            .tool(Counter::default())
            .build(scripted(steps))
            .unwrap()
    };
    let run = async |steps: &[&str]| {
        let session = build(steps).create_session().unwrap();
        session.send("go").await.unwrap();
        session
    };
    let other = run(&["a = tool('a')", "b = 7", "c = tool([a, b])", "d = 1", "FINAL(1)"]).await;
    assert_eq!(
        rows(&session.diff(&other).unwrap()),
        "spopp".replace("pp", "-").replace('-', "p+")
    );
    // One more tool call before it: the same steps, other results.
    let counter = Counter::default();
    fast_rlm::Tool::call(&counter, &[], &json!({})).await.unwrap();
    let shifted = builder(dir.path()).tool(counter).build(scripted(&FOUR)).unwrap();
    shifted.run("go").await.unwrap();
    let diff = session.diff(&shifted.session().unwrap()).unwrap();
    match &diff.rows[0] {
        DiffRow::Output { what, was, is, .. } => {
            assert_eq!(what, "call tool");
            assert!(was.contains("\"call\":1") && is.contains("\"call\":2"), "{was} {is}");
        }
        other => panic!("{other:?}"),
    }
    drop(client);
}

#[tokio::test]
async fn case_60_one_other_result_is_one_row_and_what_follows_alike_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let run = async |first: usize| {
        let counter = Counter::default();
        counter.calls.store(first, std::sync::atomic::Ordering::SeqCst);
        let steps = [
            "x = 1",
            "a = tool('a')['call'] > 0 and 'called'",
            "y = [x, a]",
            "FINAL(y)",
        ];
        let client = builder(dir.path()).tool(counter).build(scripted(&steps)).unwrap();
        client.run("go").await.unwrap();
        client.session().unwrap()
    };
    let (one, other) = (run(0).await, run(6).await);
    let diff = one.diff(&other).unwrap();
    assert_eq!((rows(&diff).as_str(), diff.identical), ("soss", false));
    match &diff.rows[1] {
        DiffRow::Output { a, b, what, was, is } => {
            assert_eq!((a.step, b.step, what.as_str()), (1, 1, "call tool"));
            assert_eq!(
                (was.as_str(), is.as_str()),
                (r#"{"x":"a","call":1}"#, r#"{"x":"a","call":7}"#)
            );
        }
        other => panic!("{other:?}"),
    }
    let longer = client(dir.path(), &["x = 1", "z = 3", "FINAL(0)"]);
    longer.run("go").await.unwrap();
    let shorter = client(dir.path(), &["x = 1"]);
    shorter.run("go").await.unwrap_err();
    let diff = shorter.session().unwrap().diff(&longer.session().unwrap()).unwrap();
    assert_eq!(rows(&diff), "s++");
    assert!(matches!(&diff.rows[2], DiffRow::Plan { a: None, b: Some(side) } if side.step == 2));
}

#[tokio::test]
async fn case_62_a_broken_conversation_is_refused_without_a_child() {
    let dir = tempfile::tempdir().unwrap();
    let (client, session, _) = four(dir.path()).await;
    let broken = client.create_session().unwrap();
    let events = events_of(&client, &session);
    let again = events.into_iter().map(|event| {
        let fact = match event.fact {
            Fact::ModelCall(call) if event.step == Some(1) => {
                let added = vec![Message {
                    role: "assistant".into(),
                    text: "me again".into(),
                }];
                ModelCall { added, ..call }.into()
            }
            other => other,
        };
        NewEvent {
            id: event.id,
            time: event.time,
            turn: event.turn,
            step: event.step,
            fact,
        }
    });
    tamper(client.store(), &broken.id(), |writer| {
        drop(writer.append(again.collect()).unwrap())
    });
    let sessions = client.sessions().unwrap().len();
    match broken.fork(2).await.unwrap_err() {
        Error::Lab(LabError::Conversation { invariant, .. }) => {
            assert!(invariant.contains("step 2 answers"), "{invariant}")
        }
        other => panic!("{other}"),
    }
    let range = session.fork(9).await.unwrap_err();
    assert!(
        matches!(range, Error::Lab(LabError::StepOutOfRange { step: 9, steps: 4, .. })),
        "{range}"
    );
    assert_eq!(client.sessions().unwrap().len(), sessions);
}

#[tokio::test]
async fn case_17_replay_and_fork_take_turns_with_queries() {
    let dir = tempfile::tempdir().unwrap();
    let session = client(dir.path(), &["x = 1\nFINAL(x)", "FINAL(2)"])
        .create_session()
        .unwrap();
    session.send("go").await.unwrap();
    let mut sink = NoSink;
    let (sent, replayed, forked) = tokio::join!(
        session.send("on"),
        session.replay(Some(0), &mut sink),
        session.fork_at(0, 0)
    );
    assert_eq!(sent.unwrap().value, json!(2));
    assert!(replayed.unwrap().faithful());
    forked.unwrap();
    drop(reader(dir.path()));
}

#[tokio::test]
async fn case_6_the_latest_session_is_the_last_active_one_and_no_branch() {
    let dir = tempfile::tempdir().unwrap();
    let client = client(dir.path(), &["x = 1", "FINAL(x)"]);
    let (first, second) = (client.create_session().unwrap(), client.create_session().unwrap());
    assert_eq!(client.latest_session().unwrap().unwrap().id(), second.id());
    first.send("go").await.unwrap();
    assert_eq!(client.latest_session().unwrap().unwrap().id(), first.id());
    first
        .fork(1)
        .await
        .unwrap()
        .inject(&json!(2), &mut NoSink)
        .await
        .unwrap_err();
    first.what_if().substitute_var(0, "x", json!(3)).run().await.unwrap();
    assert_eq!(client.latest_session().unwrap().unwrap().id(), first.id());
}
