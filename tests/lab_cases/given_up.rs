//! Leaf calls that the code gives up: recorded as such, and given up again.

use crate::desk::{builder, events_of, model, rewritten};
use crate::replays::{faithful, replayed};
use async_trait::async_trait;
use fast_rlm::observe::Fact;
use fast_rlm::provider::{CallError, Cancel, CostExpectation, DeltaSink, Provider, Reply, Request};
use fast_rlm::store::payload::CellOutcome;
use fast_rlm::{Client, Config, Session};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Models of which a sub-agent answers at once that is asked for something quick, and no other.
fn some_are_slow(steps: &[&str]) -> Arc<dyn Provider> {
    let replies: Vec<_> = steps.iter().map(|code| json!({ "code": code })).collect();
    model(&json!({
        "rules": [
            {"when": {"depth": 1, "first": "quick"}, "replies": [{"code": "FINAL('here')"}]},
            {"when": {"depth": 1}, "replies": [{"code": "FINAL('late')", "delay": "60s"}]},
        ],
        "replies": replies,
    }))
}

/// Outcomes of a session's calls, but those of the clock.
fn outcomes(client: &Client, session: &Session) -> Vec<CellOutcome> {
    let cells = events_of(client, session)
        .into_iter()
        .filter_map(|event| match event.fact {
            Fact::LeafCall(cell) if cell.call != "clock" => Some(cell.outcome),
            _ => None,
        });
    cells.collect()
}

fn gave_up(client: &Client, session: &Session) -> bool {
    outcomes(client, session).contains(&CellOutcome::Cancelled)
}

const GIVEN_UP: [&str; 4] = [
    "import asyncio\ntry:\n    x = await asyncio.wait_for(llm_query('slow'), 2)\nexcept TimeoutError:\n    x = 'too slow'\nprint(x)",
    "t = asyncio.create_task(batch_llm_query(llm_query('quick'), llm_query('slow')))\nawait asyncio.sleep(2)\nt.cancel()\n\
     try:\n    await t\nexcept asyncio.CancelledError:\n    print('cancelled')\ny = await llm_query('quick')",
    "done, waiting = await asyncio.wait([asyncio.create_task(llm_query(q)) for q in ('quick', 'slow')], \
     return_when=asyncio.FIRST_COMPLETED)\nz = [t.result() for t in done]\nawait asyncio.sleep(1)",
    "left = asyncio.create_task(llm_query('slow'))\nawait asyncio.sleep(2)\nFINAL([x, y, z])",
];

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_the_code_gave_up_are_given_up_again() {
    let dir = tempfile::tempdir().unwrap();
    let client = builder(dir.path()).build(some_are_slow(&GIVEN_UP)).unwrap();
    let answer = client.run("go").await.unwrap();
    assert_eq!(answer.value, json!(["too slow", "here", ["here"]]));
    let session = client.session().unwrap();
    let here = CellOutcome::Returned(json!("here"));
    let mut found = outcomes(&client, &session);
    found.sort_by_key(|outcome| outcome.to_string());
    let gone = CellOutcome::Cancelled;
    assert_eq!(
        found,
        [
            here.clone(),
            // Its sibling was given up when it had ended.
            here.clone(),
            here,
            gone.clone(),
            gone.clone(),
            gone.clone(),
            gone
        ]
    );
    let report = replayed(&session).await;
    faithful(&report, 7);
    assert_eq!(report.sub_agents.served, 3, "what was given up came to nothing");

    // A log of an older version has no such cells: it cannot be replayed beyond them.
    let older = rewritten(&client, &session, |fact| match fact {
        Fact::LeafCall(cell) if cell.outcome == CellOutcome::Cancelled => None,
        fact => Some(fact),
    });
    assert_eq!(replayed(&older).await.diverged.unwrap().what, "call llm_query");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_given_up_sub_agent_used_is_not_known() {
    let dir = tempfile::tempdir().unwrap();
    let client = builder(dir.path()).build(some_are_slow(&GIVEN_UP)).unwrap();
    client.run("go").await.unwrap();
    let session = client.session().unwrap();
    let cells = events_of(&client, &session)
        .into_iter()
        .filter_map(|event| match event.fact {
            Fact::LeafCall(cell) if cell.outcome == CellOutcome::Cancelled => {
                Some((cell.child_run.is_some(), cell.cost.whole()))
            }
            _ => None,
        });
    assert!(cells.into_iter().all(|cell| cell == (true, None)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_or_parks_has_given_up_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let left = "import asyncio\nt = asyncio.create_task(llm_query('slow'))\nawait asyncio.sleep(0.3)\n";
    let asks = format!("{left}y = await ask('ok?')");
    let client = builder(dir.path()).build(some_are_slow(&[&asks])).unwrap();
    let parked = client.run("go").await.unwrap();
    assert!(parked.suspended.is_some());
    assert!(!gave_up(&client, &client.session().unwrap()));

    let dir = tempfile::tempdir().unwrap();
    let waits = format!("{left}await t");
    let client = builder(dir.path()).build(some_are_slow(&[&waits])).unwrap();
    let session = client.create_session().unwrap();
    let cancel = session.clone();
    let stopped = tokio::spawn(async move { session.send("go").await });
    tokio::time::sleep(Duration::from_secs(3)).await;
    stopped.abort();
    drop(stopped.await);
    assert!(!gave_up(&client, &cancel));
}

/// A model of somebody else's, of which sub-agents get no answer, and which does not hear that a call is cancelled.
#[derive(Debug)]
struct Deaf(Arc<dyn Provider>);

#[async_trait]
impl Provider for Deaf {
    async fn call(&self, request: &Request, sink: &mut dyn DeltaSink, cancel: &Cancel) -> Result<Reply, CallError> {
        match request.depth {
            0 => self.0.call(request, sink, cancel).await,
            _ => std::future::pending().await,
        }
    }

    fn label(&self) -> String {
        self.0.label()
    }

    fn cost_expectation(&self, model: &str) -> CostExpectation {
        self.0.cost_expectation(model)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_does_not_hear_that_it_is_given_up_counts_and_holds_up_nothing_for_long() {
    let dir = tempfile::tempdir().unwrap();
    let step = "import asyncio\ntry:\n    await asyncio.wait_for(llm_query('slow'), 2)\nexcept TimeoutError:\n    FINAL('gone')";
    let builder = builder(dir.path()).config(Config::new("m").max_depth(1));
    let client = builder.build(Arc::new(Deaf(some_are_slow(&[step])))).unwrap();
    let answer = client.run("go").await.unwrap();
    assert_eq!((answer.value, answer.usage.unknown_costs), (json!("gone"), 1));
    let session = client.session().unwrap();
    let cells = events_of(&client, &session)
        .into_iter()
        .filter_map(|event| match event.fact {
            Fact::LeafCall(cell) if cell.call != "clock" => Some((cell.outcome, cell.cost.whole())),
            _ => None,
        });
    assert_eq!(cells.collect::<Vec<_>>(), [(CellOutcome::Cancelled, None)]);
    let transcript = std::fs::read_to_string(answer.transcript).unwrap();
    assert_eq!(transcript.matches("\"unanswered\"").count(), 1, "{transcript}");
    faithful(&replayed(&session).await, 1);
}
