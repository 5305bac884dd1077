//! What the lab costs: a durable query against one in memory, replayed steps, a comparison of long runs, reading back.
#![allow(clippy::unwrap_used, missing_docs)]

use divan::{Bencher, black_box};
use fast_rlm::lab::{RecordedStep, RecordedTurn, Recording, diff};
use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::store::payload::{
    CellOutcome, LeafCall, Message, ModelCall, StepEnded, StepStarted, TurnEnded, TurnStarted, Written,
};
use fast_rlm::store::{Digest, NewEvent, SessionWriter};
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
            if n.is_multiple_of(other) { n * 7 } else { n }
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

/// A session of 10,000 events, four a step, with texts of the usual lengths.
fn many_events(dir: &Path) -> Session {
    let client = client(Storage::dir(dir), ONE_CALL);
    let session = client.create_session().unwrap();
    let writer = SessionWriter::take_over(client.store(), &session.id()).unwrap();
    for turn in 0..50 {
        let mut events = vec![NewEvent::of_turn(turn, 1, TurnStarted::default().into())];
        (0..50).for_each(|step| events.extend(step_events(turn, step)));
        events.push(NewEvent::of_turn(turn, 1, TurnEnded::default().into()));
        writer.append(events).unwrap();
    }
    session
}

fn step_events(turn: u32, step: u32) -> [NewEvent; 4] {
    let digest = Some(Digest::of(&step.to_le_bytes()));
    let call = ModelCall {
        run_id: "1795994485898-8d8t5ysny".into(),
        model: "z-ai/glm-5".into(),
        added: vec![Message {
            role: "user".into(),
            text: "Output: of a step, as a model is shown it.\n".repeat(20),
        }],
        request: digest,
        reply: format!("Let me look.\n```repl\nx = {step}\nprint(x)\n```").repeat(4),
        ..ModelCall::default()
    };
    let started = StepStarted {
        code: format!("x = {step}\nprint(x)\n").repeat(8),
        code_digest: digest,
        tree_digest: digest,
    };
    let cell = LeafCall {
        call: "llm_query".into(),
        input: digest,
        shown_input: Some(json!({"context": "a question to a sub-agent ".repeat(8)})),
        outcome: CellOutcome::Returned(json!("its answer ".repeat(20))),
        child_run: Some("1795994485898-1a2b3c4d5".into()),
        ..LeafCall::default()
    };
    let ended = StepEnded {
        output: "a line of what it printed\n".repeat(30),
        written: vec![Written {
            name: "x".into(),
            preview: step.to_string(),
            digest,
            ..Written::default()
        }],
        ..StepEnded::default()
    };
    [
        NewEvent::of_step(turn, step, 1, call.into()),
        NewEvent::of_step(turn, step, 1, started.into()),
        NewEvent::of_step(turn, step, 1, cell.into()),
        NewEvent::of_step(turn, step, 1, ended.into()),
    ]
}

fn read_back<T>(bencher: Bencher<'_, '_>, read: impl Fn(&Session) -> T) {
    let dir = disk();
    let session = many_events(dir.path());
    bencher.bench_local(|| read(&session));
}

#[divan::bench(sample_count = 20)]
fn history_of_10000_events(bencher: Bencher<'_, '_>) {
    read_back(bencher, |session| session.history().unwrap());
}

#[divan::bench(sample_count = 20)]
fn turns_of_10000_events(bencher: Bencher<'_, '_>) {
    read_back(bencher, |session| session.turns().unwrap());
}

#[divan::bench(sample_count = 20)]
fn run_trace_of_10000_events(bencher: Bencher<'_, '_>) {
    read_back(bencher, |session| session.run_trace().unwrap());
}

#[divan::bench(sample_count = 20)]
fn cost_of_10000_events(bencher: Bencher<'_, '_>) {
    let table = PricingTable::builtin();
    read_back(bencher, |session| session.cost(&table).unwrap());
}

#[divan::bench(sample_count = 20)]
fn efficiency_of_10000_events(bencher: Bencher<'_, '_>) {
    read_back(bencher, |session| session.efficiency().unwrap());
}

/// Two sessions of 1,000 steps each, read from the log and compared.
#[divan::bench(sample_count = 10)]
fn diff_of_two_sessions_of_1000_steps(bencher: Bencher<'_, '_>) {
    let (one, two) = (disk(), disk());
    let (a, b) = (many_steps(one.path(), 10), many_steps(two.path(), 7));
    bencher.bench_local(|| a.diff(&b).unwrap());
}

fn many_steps(dir: &Path, other: u32) -> Session {
    let client = client(Storage::dir(dir), ONE_CALL);
    let session = client.create_session().unwrap();
    let writer = SessionWriter::take_over(client.store(), &session.id()).unwrap();
    let mut events = vec![NewEvent::of_turn(0, 1, TurnStarted::default().into())];
    (0..1_000).for_each(|step| {
        let mut of_step = step_events(0, if step % other == 0 { step * 7 } else { step });
        of_step.iter_mut().for_each(|event| {
            event.step = Some(step);
            event.id = format!("{step}.{}", event.fact.kind());
        });
        events.extend(of_step);
    });
    writer.append(events).unwrap();
    session
}
