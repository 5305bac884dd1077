//! Replays: the record alone, and nothing but the record.

use crate::desk::{builder, client, events_of, files, ran, reader, rewritten, scripted, tamper, with_tool};
use fast_rlm::observe::Fact;
use fast_rlm::store::payload::{LeafCall, StepEnded, TurnStarted};
use fast_rlm::store::{Digest, NewEvent};
use fast_rlm::{Client, Error, LabError, LabEvent, NoSink, ReplayReport, Session};
use serde_json::json;

pub(crate) async fn replayed(session: &Session) -> ReplayReport {
    session.replay(None, &mut NoSink).await.unwrap()
}

#[track_caller]
pub(crate) fn faithful(report: &ReplayReport, cells: usize) {
    assert!(report.faithful(), "{report:#?}");
    assert_eq!(
        (report.cells_consumed, report.cells_total),
        (cells, cells),
        "{report:#?}"
    );
}

fn reason(error: Error) -> String {
    match error {
        Error::Lab(LabError::NotReplayable { reason, .. }) => reason,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn case_33_replay_needs_no_provider_no_tool_and_no_input() {
    let dir = tempfile::tempdir().unwrap();
    let effect = dir.path().join("effect");
    let (client, counter) = with_tool(
        dir.path(),
        &["x = tool('a')\nprint(x)", "y = await llm_query(str(x))\nFINAL(y)"],
    );
    let input = dir.path().join("input");
    std::fs::write(&input, "from the input").unwrap();
    *counter.files.lock().unwrap() = Some((input.clone(), effect.clone()));
    client.run("go").await.unwrap();
    let id = client.session_id().unwrap();
    drop(client);
    assert_eq!(std::fs::read_to_string(&effect).unwrap(), "from the input");
    std::fs::remove_file(&effect).unwrap();
    std::fs::remove_file(&input).unwrap();
    let session = reader(dir.path()).open_session(&id).unwrap();
    let mut ticks = Vec::new();
    let report = session
        .replay(None, &mut |event: LabEvent| ticks.push(event))
        .await
        .unwrap();
    faithful(&report, 2);
    assert_eq!(report.plans[0].steps.len(), 2);
    assert_eq!(ticks.len(), 4, "a beginning and an end of each step");
    assert!(!effect.exists() && counter.count() == 1);
}

#[tokio::test]
async fn a_query_about_a_file_is_replayed_as_long_as_the_file_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("input.txt");
    std::fs::write(&input, "the whole input").unwrap();
    let client = client(dir.path(), &["x = context.upper()\nprint(x)", "FINAL(x)"]);
    let asked = fast_rlm::Input::File {
        path: input.clone(),
        prompt: "Shout it".into(),
    };
    client.run(asked).await.unwrap();
    let session = client.session().unwrap();
    faithful(&replayed(&session).await, 0);
    std::fs::write(&input, "another input").unwrap();
    assert_eq!(replayed(&session).await.diverged.unwrap().what, "output");
    std::fs::remove_file(&input).unwrap();
    let told = reason(session.replay(None, &mut NoSink).await.unwrap_err());
    assert!(
        told.contains("input.txt") && told.contains("the query \"Shout it\""),
        "{told}"
    );
}

#[tokio::test]
async fn case_34_what_cannot_be_replayed_says_why() {
    let (_dir, pure) = ran(&["x = sorted({3, 1, 2})\nprint(x)", "FINAL(x)"]).await;
    faithful(&replayed(&pure).await, 0);

    let dir = tempfile::tempdir().unwrap();
    let off = builder(dir.path())
        .cassette(false)
        .build(scripted(&["FINAL(1)"]))
        .unwrap();
    off.run("go").await.unwrap();
    let told = reason(off.session().unwrap().replay(None, &mut NoSink).await.unwrap_err());
    assert!(told.contains("cassette"), "{told}");
    let empty = off.create_session().unwrap();
    assert!(reason(empty.replay(None, &mut NoSink).await.unwrap_err()).contains("no query of it has a record"));

    let failing = builder(dir.path())
        .build(crate::desk::model(&json!({"replies": [{"error": 400}]})))
        .unwrap();
    failing.run("go").await.unwrap_err();
    let told = reason(failing.session().unwrap().replay(None, &mut NoSink).await.unwrap_err());
    assert!(told.contains("no steps"), "{told}");
}

async fn three_turns() -> (tempfile::TempDir, Session) {
    let dir = tempfile::tempdir().unwrap();
    let same = "y = await llm_query('same')\nFINAL(y)";
    let session = client(dir.path(), &[same, "z = await llm_query(y + '!')\nFINAL(z)", same])
        .create_session()
        .unwrap();
    for query in ["one", "two", "three"] {
        session.send(query).await.unwrap();
    }
    (dir, session)
}

#[tokio::test]
async fn case_35_and_36_one_turn_is_replayed_alone() {
    let (_dir, session) = three_turns().await;
    for turn in 0..3 {
        let report = session.replay(Some(turn), &mut NoSink).await.unwrap();
        faithful(&report, 1);
        assert_eq!((report.plans.len(), report.plans[0].turn), (1, turn));
    }
    let refused = session.replay(Some(3), &mut NoSink).await.unwrap_err();
    assert!(
        matches!(refused, Error::Lab(LabError::TurnOutOfRange { turn: 3, turns: 3, .. })),
        "{refused}"
    );
    faithful(&replayed(&session).await, 3);
}

fn store_of(client: &Client) -> fast_rlm::store::Store {
    client.store().clone()
}

/// A session whose only step asked a sub-agent, and the cell of it.
async fn with_cell(dir: &std::path::Path) -> (Client, Session, LeafCall) {
    let client = client(dir, &["x = await llm_query('a')", "FINAL(x)"]);
    client.run("go").await.unwrap();
    let session = client.session().unwrap();
    let events = events_of(&client, &session);
    let cell = events.into_iter().find_map(|event| match event.fact {
        Fact::LeafCall(cell) if cell.call == "llm_query" => Some(cell),
        _ => None,
    });
    (client, session, cell.unwrap())
}

#[tokio::test]
async fn case_38_a_cell_of_another_input_diverges() {
    let dir = tempfile::tempdir().unwrap();
    let (client, session, cell) = with_cell(dir.path()).await;
    let wrong = Digest::of(b"wrong");
    let broken = rewritten(&client, &session, |fact| match fact {
        Fact::LeafCall(cell) if cell.call == "llm_query" => Some(
            LeafCall {
                input: Some(wrong),
                ..cell
            }
            .into(),
        ),
        other => Some(other),
    });
    let report = replayed(&broken).await;
    let diverged = report.diverged.clone().unwrap();
    assert_eq!(
        (diverged.turn, diverged.step, diverged.what.as_str()),
        (0, 0, "call llm_query")
    );
    assert!(diverged.expected.contains(&wrong.to_string()) && diverged.got.contains(&cell.input.unwrap().to_string()));
    assert_eq!(report.plans[0].steps.len(), 1, "nothing runs after it");
    assert!(!report.faithful());
}

#[tokio::test]
async fn case_39_a_cell_that_nobody_asks_for_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let (client, session, cell) = with_cell(dir.path()).await;
    tamper(&store_of(&client), &session.id(), |writer| {
        let more = LeafCall {
            number: 9,
            input: Some(Digest::of(b"more")),
            ..cell
        };
        writer
            .append(vec![NewEvent::of_step(0, 0, 1, more.into()).numbered(9)])
            .unwrap();
    });
    let report = replayed(&session).await;
    assert!(report.diverged.is_none() && !report.faithful());
    assert_eq!(
        (report.unconsumed.len(), report.unconsumed[0].call.as_str()),
        (1, "llm_query")
    );
    assert_eq!((report.cells_consumed, report.cells_total), (1, 2));
}

#[tokio::test]
async fn case_40_a_cut_result_is_refused_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let config = fast_rlm::Config::new("m").cell_cap(50);
    let long = "x = await llm_query('a' * 100)\nFINAL(len(x))";
    let client = builder(dir.path()).config(config).build(scripted(&[long])).unwrap();
    client.run("go").await.unwrap();
    let mut ticks = 0;
    let session = client.session().unwrap();
    let refused = session.replay(None, &mut |_: LabEvent| ticks += 1).await;
    let told = reason(refused.unwrap_err());
    assert_eq!(ticks, 0, "nothing ran, so nothing was served");
    assert!(told.contains("limit of 50") && told.contains("cell_cap"), "{told}");
}

#[tokio::test]
async fn case_43_what_was_raised_or_refused_is_so_again() {
    let dir = tempfile::tempdir().unwrap();
    let tools = "class Odd(Exception): pass\ndef odd(): raise Odd('seven')\ndef key(): return {}['k']\ndef pair(): return (1, {2})\n";
    let config = fast_rlm::Config::new("m").tool_source("t.py", tools);
    let caught = "out = []\nfor f in (odd, key):\n    try: f()\n    except Exception as e: out.append((type(e).__name__, str(e)))\nprint(out, pair())\np = pair()";
    let steps = [caught, "tool('bad')", "key()", "1/0", "FINAL(p[0])"];
    let client = builder(dir.path())
        .config(config)
        .tool(crate::desk::Counter::default())
        .build(scripted(&steps))
        .unwrap();
    client.run("go").await.unwrap();
    let id = client.session_id().unwrap();
    let denied = builder(dir.path())
        .tool(crate::desk::Counter::default())
        .approver(fast_rlm::DenyAll);
    let denied = denied.build(scripted(&["tool(1)", "FINAL(1)"])).unwrap();
    denied.run("go").await.unwrap();
    let report = replayed(&reader(dir.path()).open_session(&id).unwrap()).await;
    assert!(report.faithful() && report.plans[0].steps.len() == 5, "{report:#?}");
    let report = replayed(&denied.session().unwrap()).await;
    faithful(&report, 1);
}

#[tokio::test]
async fn case_44_a_replay_is_pure() {
    let (dir, session) = ran(&["x = await llm_query('a')", "FINAL(x)"]).await;
    let before = files(dir.path());
    let first = replayed(&session).await;
    assert_eq!(replayed(&session).await, first);
    assert_eq!(files(dir.path()), before);
}

#[tokio::test]
async fn case_47_the_namespace_at_the_end_is_that_of_state_json() {
    let steps = [
        "import random, time, uuid, datetime\na = random.random()\nb = {str(i): {i} for i in range(20)}",
        "def f(n): return n * 2\nc = [f(a), uuid.uuid4(), datetime.datetime.now(), time.perf_counter()]\nd = (i for i in b)",
        "e = await batch_llm_query(llm_query('1'), llm_query('2'))\nprint(c, e, random.random())",
        "FINAL(e)",
    ];
    let (_dir, session) = ran(&steps).await;
    let report = replayed(&session).await;
    faithful(&report, 2);
    assert_eq!(report.state_equal, Some(true));
}

#[tokio::test]
async fn case_48_a_step_whose_text_is_lost_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let client = client(dir.path(), &["x = 1", "FINAL(x)"]);
    client.run("go").await.unwrap();
    let session = client.session().unwrap();
    let lost = rewritten(&client, &session, |fact| match fact {
        Fact::StepStarted(started) if started.code == "x = 1" => None,
        other => Some(other),
    });
    let report = replayed(&lost).await;
    assert_eq!(report.missing_sources, 1);
    assert!(!report.faithful());
}

#[tokio::test]
async fn case_48_a_step_whose_end_is_lost_is_counted_though_later_ones_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let client = client(dir.path(), &["x = 1", "print('between')", "FINAL(x)"]);
    client.run("go").await.unwrap();
    let session = client.session().unwrap();
    for lost in [1, 2] {
        let ends = std::cell::Cell::new(0);
        let damaged = rewritten(&client, &session, |fact| {
            let is_end = matches!(fact, Fact::StepEnded(_));
            ends.set(ends.get() + usize::from(is_end));
            (!is_end || ends.get() != lost + 1).then_some(fact)
        });
        let report = replayed(&damaged).await;
        assert_eq!(report.missing_sources, 1, "{report:#?}");
        assert!(!report.faithful());
    }
}

#[tokio::test]
async fn a_call_that_its_step_did_not_wait_for_is_no_divergence() {
    for call in ["llm_query('a')", "batch_llm_query(llm_query('a'), llm_query('b'))"] {
        let dir = tempfile::tempdir().unwrap();
        let code = format!("import asyncio\nt = asyncio.ensure_future({call})\nx = 1");
        let client = client(dir.path(), &[&code, "FINAL(x)"]);
        client.run("go").await.unwrap();
        let report = replayed(&client.session().unwrap()).await;
        assert!(report.faithful(), "{call}: {report:#?}");
    }
}

#[tokio::test]
async fn a_value_that_ends_python_while_it_is_saved_ends_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let deep = "kept = 1\ndeep = []\nfor _ in range(100_000):\n    deep = [deep]";
    let client = client(dir.path(), &[deep, "FINAL(kept)"]);
    assert_eq!(client.run("go").await.unwrap().value, serde_json::json!(1));
    let report = replayed(&client.session().unwrap()).await;
    assert!(report.faithful(), "{report:#?}");
    assert_eq!(report.plans[0].steps.len(), 2);
}

#[tokio::test]
async fn another_hash_seed_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let client = client(dir.path(), &["FINAL(1)"]);
    client.run("go").await.unwrap();
    let other = rewritten(&client, &client.session().unwrap(), |fact| match fact {
        Fact::TurnStarted(started) => {
            let pinned = started.pinned.clone().map(|pinned| fast_rlm::store::payload::Pinned {
                hash_seed: 77,
                ..pinned
            });
            Some(TurnStarted { pinned, ..started }.into())
        }
        other => Some(other),
    });
    let told = reason(other.replay(None, &mut NoSink).await.unwrap_err());
    assert!(told.contains("hash seed 77"), "{told}");
}

#[tokio::test]
async fn a_changed_output_or_value_diverges() {
    let dir = tempfile::tempdir().unwrap();
    let client = client(dir.path(), &["x = [1]\nprint('a')", "FINAL(x)"]);
    client.run("go").await.unwrap();
    let session = client.session().unwrap();
    let changed = |change: fn(StepEnded) -> StepEnded| {
        rewritten(&client, &session, move |fact| match fact {
            Fact::StepEnded(ended) => Some(change(ended).into()),
            other => Some(other),
        })
    };
    let output = changed(|ended| StepEnded {
        output: ended.output.replace('a', "b"),
        ..ended
    });
    assert_eq!(replayed(&output).await.diverged.unwrap().what, "output");
    let value = changed(|mut ended| {
        ended.written.iter_mut().for_each(|written| {
            written.digest = Some(Digest::of(b"other"));
            written.preview = "[2]".into();
        });
        ended
    });
    assert_eq!(replayed(&value).await.diverged.unwrap().what, "value of x");
}

/// Answers later the earlier it is called.
#[derive(Debug)]
struct Backwards;

#[async_trait::async_trait]
impl fast_rlm::Tool for Backwards {
    fn describe(&self) -> fast_rlm::repl::HostTool {
        fast_rlm::repl::HostTool {
            name: "slow".into(),
            signature: "(n)".into(),
            doc: String::new(),
            is_async: true,
        }
    }

    async fn call(
        &self,
        args: &[serde_json::Value],
        _kwargs: &serde_json::Value,
    ) -> Result<serde_json::Value, fast_rlm::repl::HostError> {
        let n = args[0].as_u64().unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(60 - n * 20)).await;
        Ok(json!(format!("answer {n}")))
    }
}

#[tokio::test]
async fn case_32_calls_that_end_in_another_order_keep_their_answers() {
    let dir = tempfile::tempdir().unwrap();
    let step = "import asyncio\nr = await asyncio.gather(slow(0), slow(1), slow(2), slow(1))\nFINAL(r)";
    let client = builder(dir.path()).tool(Backwards).build(scripted(&[step])).unwrap();
    let output = client.run("go").await.unwrap();
    assert_eq!(output.value, json!(["answer 0", "answer 1", "answer 2", "answer 1"]));
    faithful(&replayed(&client.session().unwrap()).await, 4);
}
