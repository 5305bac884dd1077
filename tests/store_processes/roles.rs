//! What the other processes do.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fast_rlm::disk::atomic;
use fast_rlm::disk::lock::SessionLock;
use fast_rlm::store::payload::{Custom, LeafCall, StepEnded, StepStarted, Swept, TurnStarted};
use fast_rlm::store::{
    At, Binding, BindingKind, Described, Digest, Namespace, NewEvent, NewSession, SessionWriter, Storage, Store, Token,
};
use serde_json::json;

pub(crate) const ROLE: &str = "STORE_TEST_ROLE";
pub(crate) const DIR: &str = "STORE_TEST_DIR";
pub(crate) const ARG: &str = "STORE_TEST_ARG";
pub(crate) const STEPS: u32 = 3;

/// Plays a role in another test; on its own it does nothing.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let dir = PathBuf::from(std::env::var_os(DIR).unwrap());
    let arg: u64 = std::env::var(ARG).unwrap().parse().unwrap();
    match role.as_str() {
        "append" => append_to_shared(&dir, arg),
        "boot" => boot(&dir, arg),
        "own" => own(&dir),
        "turn" => run_turn(&dir),
        "endless" => run_endlessly(&dir),
        "queue" => queue(&dir, arg),
        other => panic!("no role {other}"),
    }
}

fn append_to_shared(dir: &Path, number: u64) {
    let store = open(dir);
    for n in 0..25 {
        for session in ["a", "b"] {
            store
                .events
                .append(session, Token(1), &[note(&format!("{number}.{n}"))])
                .unwrap();
        }
    }
}

fn boot(dir: &Path, number: u64) {
    let store = open(dir);
    let root = store.events.root_session(&NewSession::in_root(1)).unwrap();
    let own = store.events.create_session(&NewSession::minted(1)).unwrap();
    let writer = SessionWriter::take_over(&store, &own.id).unwrap();
    writer.append(vec![note(&format!("{number}"))]).unwrap();
    say(&root.id);
}

fn own(dir: &Path) {
    let _lock = SessionLock::acquire(dir, Duration::ZERO).unwrap();
    let store = open(dir);
    let writer = SessionWriter::take_over(&store, "s_1").unwrap();
    writer.append(vec![note("before")]).unwrap();
    say(&writer.token().to_string());
    std::thread::sleep(Duration::from_secs(600));
}

pub(crate) fn value(turn: u32, step: u32) -> Vec<u8> {
    format!("{turn}.{step}").repeat(40_000).into_bytes()
}

pub(crate) fn namespace(turn: u32, step: u32) -> Namespace {
    let value = value(turn, step);
    let binding = Binding {
        name: "x".into(),
        kind: BindingKind::Value,
        digest: Some(Digest::of(&value)),
        bytes: value.len() as u64,
        described: Described::default(),
    };
    Namespace {
        at: At::after(turn, step),
        bindings: vec![binding],
    }
}

pub(crate) fn state(turn: u32, step: u32) -> Vec<u8> {
    serde_json::to_vec(&json!({"version": 2, "turn": turn, "step": step, "pad": "x".repeat(10_000)})).unwrap()
}

/// One step, in the order in which an engine writes it.
fn write_step(writer: &SessionWriter, dir: &Path, turn: u32, step: u32) {
    let of_step = |fact| NewEvent::of_step(turn, step, 1, fact);
    writer
        .append(vec![of_step(
            StepStarted {
                code: format!("x = {step}"),
                ..Default::default()
            }
            .into(),
        )])
        .unwrap();
    writer
        .append(vec![
            of_step(
                LeafCall {
                    call: "f".into(),
                    ..Default::default()
                }
                .into(),
            )
            .numbered(0),
        ])
        .unwrap();
    let state = state(turn, step);
    let swept = Swept {
        imports: vec![],
        state: Some(Digest::of(&state)),
        dropped: vec![],
    };
    let ended = vec![of_step(StepEnded::default().into()), of_step(swept.into())];
    writer
        .end_step(&namespace(turn, step), &[&value(turn, step)], ended)
        .unwrap();
    atomic::write(&dir.join("state.json"), &state).unwrap();
}

/// A turn that a second process can run again: what is there already is not written twice.
fn run_turn(dir: &Path) {
    let _lock = SessionLock::acquire(dir, Duration::ZERO).unwrap();
    let store = open(dir);
    let session = store.events.root_session(&NewSession::in_root(1)).unwrap();
    let writer = SessionWriter::take_over(&store, &session.id).unwrap();
    writer
        .append(vec![NewEvent::of_turn(0, 1, TurnStarted::default().into())])
        .unwrap();
    for step in 0..STEPS {
        write_step(&writer, dir, 0, step);
    }
}

fn run_endlessly(dir: &Path) {
    let store = open(dir);
    let session = store.events.root_session(&NewSession::in_root(1)).unwrap();
    let writer = SessionWriter::take_over(&store, &session.id).unwrap();
    let done = store
        .flow
        .points(&session.id)
        .unwrap()
        .last()
        .map_or(0, |at| at.turn + 1);
    for turn in done.. {
        write_step(&writer, dir, turn, 0);
        say(&turn.to_string());
    }
}

fn queue(dir: &Path, number: u64) {
    for n in 0..5 {
        let _lock = SessionLock::acquire(dir, Duration::from_secs(120)).unwrap();
        let store = open(dir);
        let writer = SessionWriter::take_over(&store, "s_1").unwrap();
        let turn = u32::try_from(writer.row().unwrap().events).unwrap();
        let started = TurnStarted {
            query: json!(format!("{number}.{n}")),
            ..Default::default()
        };
        writer.append(vec![NewEvent::of_turn(turn, 1, started.into())]).unwrap();
    }
}

pub(crate) fn note(id: &str) -> NewEvent {
    NewEvent::of_session(
        id,
        1,
        Custom {
            name: "note".into(),
            data: json!(null),
        }
        .into(),
    )
}

pub(crate) fn open(dir: &Path) -> Store {
    Storage::dir(dir).open().unwrap()
}

/// What a child says to its parent, among the test harness's own lines.
fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "\n@{line}").unwrap();
    out.flush().unwrap();
}
