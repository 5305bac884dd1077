//! What-ifs: one change, and the rest as it was recorded.

use crate::desk::{Counter, Never, builder, client, files, reader, scripted, with_tool};
use async_trait::async_trait;
use fast_rlm::observe::{Approver, Decision, DiffRow, GateCall};
use fast_rlm::{Error, LabError, NoSink, OffTape, WhatIfSpec};
use serde_json::json;
use std::sync::Arc;

const THREE: [&str; 4] = [
    "x = 1",
    "a = await llm_query('one')",
    "b, c = await batch_llm_query(llm_query('two'), llm_query('three'))",
    "FINAL([x, len(a), b])",
];

/// A session in which the steps ran, and a reader that may ask nobody.
async fn recorded(steps: &[&str]) -> (tempfile::TempDir, fast_rlm::Client, String) {
    let dir = tempfile::tempdir().unwrap();
    let first = client(dir.path(), steps);
    first.run("go").await.unwrap();
    let id = first.session_id().unwrap();
    let reader = reader(dir.path());
    (dir, reader, id)
}

/// What if every sub-agent had answered otherwise? What comes of it can be replayed.
async fn substituted(client: &fast_rlm::Client, id: &str) -> fast_rlm::WhatIfRun {
    let session = client.open_session(id).unwrap();
    let what_if = session.what_if().substitute("llm_query", json!("SUB"));
    let what_if = what_if.run().await.unwrap();
    let report = what_if.session().replay(None, &mut NoSink).await.unwrap();
    assert!(report.faithful(), "{report:#?}");
    what_if
}

fn changed(rows: &[DiffRow]) -> Vec<usize> {
    let numbered = rows.iter().enumerate();
    numbered.filter(|(_, row)| !row.is_same()).map(|(at, _)| at).collect()
}

#[tokio::test]
async fn case_63_a_substituted_call_asks_nobody_and_costs_nothing() {
    let (_dir, client, id) = recorded(&THREE).await;
    let what_if = substituted(&client, &id).await;
    assert!(what_if.hermetic() && what_if.first_divergence().is_none());
    assert_eq!((what_if.cost().nano, what_if.cost().unknown), (0, 0));
    assert_eq!(what_if.output().unwrap().value, json!([1, 3, "SUB"]));
    assert_eq!(changed(&what_if.diff().rows), [1, 2, 3]);
}

#[tokio::test]
async fn case_63_what_is_drawn_and_what_the_clocks_show_is_as_it_was_recorded() {
    let steps = [
        "import random, time, uuid\nx = random.random()",
        "y = [random.random(), time.time(), str(uuid.uuid4())]",
        "v = await llm_query('z')",
        "w = [random.random(), time.time_ns()]",
        "FINAL([x, y, v, w])",
    ];
    let (_dir, client, id) = recorded(&steps).await;
    let what_if = substituted(&client, &id).await;
    assert_eq!(changed(&what_if.diff().rows), [2, 4], "{:#?}", what_if.diff().rows);
}

#[tokio::test]
async fn recorded_replies_count_against_no_limit_of_calls() {
    let dir = tempfile::tempdir().unwrap();
    let mut steps: Vec<String> = (0..25).map(|step| format!("x{step} = {step}")).collect();
    steps.push("FINAL(x0)".into());
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let asked = builder(dir.path())
        .config(fast_rlm::Config::new("m").max_calls_per_subagent(30))
        .build(scripted(&steps))
        .unwrap();
    asked.run("go").await.unwrap();
    let id = asked.session_id().unwrap();
    let session = reader(dir.path()).open_session(&id).unwrap();
    let what_if = session
        .what_if()
        .substitute_var(3, "x0", json!(99))
        .run()
        .await
        .unwrap();
    assert_eq!(what_if.output().unwrap().value, json!(99));
    let fork = session.fork(23).await.unwrap();
    assert_eq!(fork.inject(&json!("y"), &mut NoSink).await.unwrap().value, json!(0));
    // What the parent's model said is no call of the fork's either.
    let asking = client(dir.path(), &["FINAL('anew')"]).open_session(&id).unwrap();
    let anew = asking.fork(24).await.unwrap();
    assert_eq!(anew.replan("go on", &mut NoSink).await.unwrap().value, json!("anew"));
}

#[tokio::test]
async fn case_64_a_substitution_without_a_place_is_an_error_and_makes_no_session() {
    let (_dir, client, id) = recorded(&THREE).await;
    let session = client.open_session(&id).unwrap();
    let before = client.sessions().unwrap().len();
    for what_if in [
        session.what_if().substitute_at(0, json!(1)),
        session.what_if().substitute("nothing", json!(1)),
        session.what_if().substitute_var(0, "nobody_binds_it", json!(1)),
    ] {
        let refused = what_if.run().await.unwrap_err();
        assert!(
            matches!(refused, Error::Lab(LabError::SubstitutionUnused { .. })),
            "{refused}"
        );
    }
    let two = session
        .what_if()
        .substitute("llm_query", json!(1))
        .model("n")
        .run()
        .await
        .unwrap_err();
    assert!(matches!(two, Error::Lab(LabError::NotOneChange { given: 2 })), "{two}");
    assert_eq!(client.sessions().unwrap().len(), before);
}

#[tokio::test]
async fn a_variable_can_be_another_one() {
    let (_dir, client, id) = recorded(&["x = 1", "y = x * 2", "FINAL(y)"]).await;
    let what_if = client
        .open_session(&id)
        .unwrap()
        .what_if()
        .substitute_var(0, "x", json!(21))
        .run()
        .await
        .unwrap();
    assert_eq!(what_if.output().unwrap().value, json!(42));
    assert!(what_if.hermetic());
    assert_eq!(changed(&what_if.diff().rows), [0, 1, 2]);
}

#[tokio::test]
async fn a_changed_prompt_halts_and_shows_both() {
    let (_dir, client, id) =
        recorded(&["a = await llm_query('one')", "b = await llm_query(a + '?')", "FINAL(b)"]).await;
    let session = client.open_session(&id).unwrap();
    let what_if = session.what_if().substitute_at(0, json!("other")).run().await.unwrap();
    assert!(!what_if.hermetic() && what_if.output().is_none());
    let divergence = what_if.first_divergence().unwrap();
    assert_eq!((divergence.step, divergence.call.as_str()), (1, "llm_query"));
    assert_eq!(divergence.got["context"], "other?");
    assert_eq!(divergence.expected.as_ref().unwrap()["context"], "sub: one?");
}

#[tokio::test]
async fn off_the_tape_a_call_may_be_made() {
    let dir = tempfile::tempdir().unwrap();
    let steps = ["a = await llm_query('one')", "b = await llm_query(a + '?')", "FINAL(b)"];
    let client = client(dir.path(), &steps);
    client.run("go").await.unwrap();
    let what_if = client
        .session()
        .unwrap()
        .what_if()
        .substitute_at(0, json!("other"))
        .off_tape(OffTape::Live);
    let what_if = what_if.run().await.unwrap();
    assert!(!what_if.hermetic());
    assert_eq!(what_if.output().unwrap().value, "sub: other?");
    assert_eq!(what_if.cost().nano, 1_000_000, "one sub-agent was asked");
}

#[tokio::test]
async fn case_66_another_model_plans_on_the_recorded_world() {
    let (dir, _, id) = recorded(&["x = await llm_query('one')", "FINAL(x)"]).await;
    let plan = |steps: &[&str]| {
        builder(dir.path())
            .build(scripted(steps))
            .unwrap()
            .open_session(&id)
            .unwrap()
    };
    let same = plan(&["x = await llm_query('one')", "FINAL(x)"]);
    let same = same.what_if().model("other").run().await.unwrap();
    assert!(same.hermetic() && same.diff().identical, "{:#?}", same.diff());
    let new = plan(&["x = await llm_query('one')", "FINAL(x.upper())"]);
    let new = new.what_if().instruction("Shout.").run().await.unwrap();
    assert!(matches!(new.diff().rows[1], DiffRow::Plan { .. }));
    assert_eq!(new.output().unwrap().value, "SUB: ONE");
}

/// Refuses tools whose first argument it is.
#[derive(Debug)]
struct Refuses(&'static str);

#[async_trait]
impl Approver for Refuses {
    async fn decide(&self, call: &GateCall) -> Decision {
        match call.input["args"][0] == self.0 {
            true => Decision::Deny("not that one".into()),
            false => Decision::Allow,
        }
    }
}

#[tokio::test]
async fn case_67_a_stricter_policy_refuses_what_was_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let (first, _) = with_tool(
        dir.path(),
        &[
            "a = tool('a')",
            "try:\n    b = tool('b')\nexcept PermissionError:\n    b = None",
            "FINAL(b)",
        ],
    );
    first.run("go").await.unwrap();
    let counter = Counter::default();
    let client = builder(dir.path())
        .tool(counter.clone())
        .build(Arc::new(Never))
        .unwrap();
    let session = client.open_session(&first.session_id().unwrap()).unwrap();
    let equal = session.what_if().policy(fast_rlm::AllowAll).run().await.unwrap();
    assert!(equal.hermetic() && equal.diff().identical);
    let strict = session.what_if().policy(Refuses("b")).run().await.unwrap();
    assert!(!strict.hermetic());
    assert_eq!(strict.output().unwrap().value, json!(null));
    assert_eq!(changed(&strict.diff().rows), [1, 2]);
    assert_eq!(counter.count(), 0);
}

#[tokio::test]
async fn case_69_the_original_is_only_read() {
    let (_dir, client, id) = recorded(&THREE).await;
    let session = client.open_session(&id).unwrap();
    let (trace, before) = (session.run_trace().unwrap(), files(session.dir()));
    session
        .what_if()
        .substitute("llm_query", json!("s"))
        .run()
        .await
        .unwrap();
    assert_eq!(session.run_trace().unwrap(), trace);
    assert_eq!(files(session.dir()), before);
    assert_eq!(
        client.latest_session().unwrap().unwrap().id(),
        id,
        "case 6: branches do not count"
    );
}

#[tokio::test]
async fn a_sweep_over_many_sessions_stops_at_none() {
    let (_dir, client, id) = recorded(&THREE).await;
    let spec = WhatIfSpec::new().substitute("llm_query", json!("s"));
    let rows = client.what_if_over(&[id.as_str(), "nope", id.as_str()], &spec).await;
    let ran: Vec<_> = rows.iter().map(|(_, ran)| ran.is_ok()).collect();
    assert_eq!(ran, [true, false, true]);
}
