//! What the lab costs: a durable query against one in memory, replayed steps, a comparison of long runs, reading back.
#![allow(clippy::unwrap_used, missing_docs)]

use divan::{Bencher, black_box};
use fast_rlm::lab::{RecordedStep, RecordedTurn, Recording, diff};
use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::store::payload::{LeafCall, ModelCall, StepEnded, StepStarted, TurnStarted};
use fast_rlm::store::{NewEvent, SessionWriter};
use fast_rlm::{Client, NoSink, PricingTable, Session, Storage};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

fn main() {
    divan::main();
}

fn client(storage: Storage, code: &str) -> Client {
    let script = json!({"rules": [
        {"when": {"depth": 1}, "replies": [{"code": "FINAL(1)"}]},
        {"when": {}, "at_end": "last", "replies": [{"code": code}]},
    ]});
    let model = Scripted::from_yaml(&script.to_string(), &Settings::default()).unwrap();
    Client::builder()
        .model("m")
        .storage(storage)
        .build(Arc::new(model))
        .unwrap()
}

fn disk() -> tempfile::TempDir {
    tempfile::tempdir_in(std::env::var_os("BENCH_DIR").unwrap_or_else(|| ".".into())).unwrap()
}

const ONE_CALL: &str = "FINAL(await llm_query('x'))";

#[divan::bench(sample_count = 30)]
fn query_with_one_call_durable(bencher: Bencher<'_, '_>) {
    let dir = disk();
    let session = client(Storage::dir(dir.path()), ONE_CALL).create_session().unwrap();
    session.query("warm").unwrap();
    bencher.bench_local(|| session.query("x").unwrap());
}

#[divan::bench(sample_count = 30)]
fn query_with_one_call_in_memory(bencher: Bencher<'_, '_>) {
    let session = client(Storage::memory(), ONE_CALL).create_session().unwrap();
    session.query("warm").unwrap();
    bencher.bench_local(|| session.query("x").unwrap());
}

/// A session of so many trivial steps.
fn long(dir: &Path, steps: usize) -> Session {
    let mut replies: Vec<_> = (0..steps).map(|n| json!({ "code": format!("x = {n}") })).collect();
    replies.push(json!({"code": "FINAL(x)"}));
    let model = Scripted::from_yaml(&json!({ "replies": replies }).to_string(), &Settings::default()).unwrap();
    let config = fast_rlm::Config::new("m").max_calls_per_subagent(steps as u64 + 1);
    let builder = Client::builder().config(config).storage(Storage::dir(dir));
    let session = builder.build(Arc::new(model)).unwrap().create_session().unwrap();
    session.query("go").unwrap();
    session
}

#[divan::bench(sample_count = 5)]
fn replay_of_100_steps(bencher: Bencher<'_, '_>) {
    let dir = disk();
    let session = long(dir.path(), 100);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    bencher.bench_local(|| runtime.block_on(session.replay(None, &mut NoSink)).unwrap());
}

fn run_of(steps: usize, other: usize) -> Recording {
    let step = |n: usize| RecordedStep {
        code: Some(format!(
            "x = {}\nprint(x, 'step')",
            if n % other == 0 { n * 7 } else { n }
        )),
        ..RecordedStep::default()
    };
    let steps = (0..steps).map(step).collect();
    Recording {
        turns: vec![RecordedTurn {
            steps,
            ..RecordedTurn::default()
        }],
        ..Recording::default()
    }
}

#[divan::bench]
fn diff_of_two_runs_of_1000_steps(bencher: Bencher<'_, '_>) {
    let (a, b) = (run_of(1_000, 10), run_of(1_000, 7));
    bencher.bench(|| diff(black_box(&a), black_box(&b)));
}

/// A session of 10,000 events, four a step.
fn many_events(dir: &Path) -> Session {
    let client = client(Storage::dir(dir), ONE_CALL);
    let session = client.create_session().unwrap();
    let writer = SessionWriter::take_over(client.store(), &session.id()).unwrap();
    for turn in 0..50 {
        let mut events = vec![NewEvent::of_turn(turn, 1, TurnStarted::default().into())];
        for step in 0..50 {
            let call = ModelCall {
                reply: "```repl\nx = 1\n```".into(),
                ..ModelCall::default()
            };
            events.push(NewEvent::of_step(turn, step, 1, call.into()));
            events.push(NewEvent::of_step(turn, step, 1, StepStarted::default().into()));
            events.push(NewEvent::of_step(turn, step, 1, LeafCall::default().into()));
            events.push(NewEvent::of_step(turn, step, 1, StepEnded::default().into()));
        }
        writer.append(events).unwrap();
    }
    session
}

#[divan::bench(sample_count = 20)]
fn history_of_10000_events(bencher: Bencher<'_, '_>) {
    let dir = disk();
    let session = many_events(dir.path());
    bencher.bench_local(|| session.history().unwrap());
}

#[divan::bench(sample_count = 20)]
fn turns_of_10000_events(bencher: Bencher<'_, '_>) {
    let dir = disk();
    let session = many_events(dir.path());
    bencher.bench_local(|| session.turns().unwrap());
}

#[divan::bench(sample_count = 20)]
fn cost_of_10000_events(bencher: Bencher<'_, '_>) {
    let dir = disk();
    let session = many_events(dir.path());
    let table = PricingTable::builtin();
    bencher.bench_local(|| session.cost(&table).unwrap());
}
