//! Nothing is lost, doubled or torn when several processes use one store, or when one of them is killed.
//!
//! The other processes are this same test binary, started again for the test `child`, which plays the role that an
//! environment variable names.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use fast_rlm::disk::lock::{LockError, SessionLock, holder};
use fast_rlm::disk::{atomic, fault};
use fast_rlm::store::payload::{Custom, LeafCall, StepEnded, StepStarted, Swept, TurnStarted};
use fast_rlm::store::{
    Action, At, Binding, BindingKind, Described, Digest, FileState, Kind, Namespace, NewEvent, NewSession, Select,
    SessionWriter, Storage, Store, StoreError, Token, reconcile, recorded,
};
use serde_json::json;

const ROLE: &str = "STORE_TEST_ROLE";
const DIR: &str = "STORE_TEST_DIR";
const ARG: &str = "STORE_TEST_ARG";
const STEPS: u32 = 3;

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

fn start(role: &str, dir: &Path, arg: u64, armed: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(DIR, dir)
        .env(ARG, arg.to_string())
        .env(fault::VARIABLE, armed)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn finish(children: Vec<Child>) {
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
}

/// What a child says to its parent, among the test harness's own lines.
fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "\n@{line}").unwrap();
    out.flush().unwrap();
}

fn hear(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix('@').map(str::to_owned))
}

fn note(id: &str) -> NewEvent {
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

fn open(dir: &Path) -> Store {
    Storage::dir(dir).open().unwrap()
}

fn ids(store: &Store, session: &str) -> Vec<String> {
    let page = store.events.read_all(session, &Select::all()).unwrap();
    assert_eq!(page.skipped, []);
    let seqs: Vec<u64> = page.events.iter().map(|event| event.stream_seq).collect();
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>(), "a gap in {session}");
    page.events.into_iter().map(|event| event.id).collect()
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

#[test]
fn four_processes_append_to_shared_streams() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for session in ["a", "b"] {
        store.events.create_session(&NewSession::named(session, 1)).unwrap();
        assert_eq!(store.events.raise_token(session).unwrap(), Token(1));
    }
    finish((0..4).map(|number| start("append", dir.path(), number, "")).collect());
    for session in ["a", "b"] {
        let mut found = ids(&store, session);
        found.sort();
        let mut expected: Vec<String> = (0..4).flat_map(|p| (0..25).map(move |n| format!("{p}.{n}"))).collect();
        expected.sort();
        assert_eq!(found, expected);
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

#[test]
fn eight_processes_make_one_store_at_once() {
    for _ in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        let fresh = dir.path().join("fresh");
        let mut children: Vec<Child> = (0..8).map(|number| start("boot", &fresh, number, "")).collect();
        let roots: Vec<Vec<String>> = children.iter_mut().map(|child| hear(child).collect()).collect();
        finish(children);
        assert!(
            roots.iter().all(|root| root.len() == 1 && root == &roots[0]),
            "{roots:?}"
        );

        let store = open(&fresh);
        let sessions = store.events.sessions().unwrap();
        let mut minted: Vec<String> = sessions.iter().map(|session| session.id.clone()).collect();
        minted.sort();
        assert_eq!(minted, (1..=9).map(|n| format!("s_{n}")).collect::<Vec<_>>());
        let mut notes: Vec<String> = minted.iter().flat_map(|id| ids(&store, id)).collect();
        notes.sort();
        assert_eq!(notes, (0..8).map(|n| n.to_string()).collect::<Vec<_>>());
    }
}

fn own(dir: &Path) {
    let _lock = SessionLock::acquire(dir, Duration::ZERO).unwrap();
    let store = open(dir);
    let writer = SessionWriter::take_over(&store, "s_1").unwrap();
    writer.append(vec![note("before")]).unwrap();
    say(&writer.token().to_string());
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_killed_owner_is_taken_over_and_its_token_is_worth_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.events.root_session(&NewSession::in_root(1)).unwrap();
    let mut owner = start("own", dir.path(), 0, "");
    let stale: u64 = hear(&mut owner).next().unwrap().parse().unwrap();

    let LockError::Busy { holder: Some(by), .. } = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap_err() else {
        panic!("the owner holds the lock");
    };
    assert_eq!(by.pid, owner.id());
    assert_eq!(holder(dir.path()), Some(by));
    owner.kill().unwrap();
    owner.wait().unwrap();

    assert_eq!(holder(dir.path()), None);
    let _lock = SessionLock::acquire(dir.path(), Duration::from_secs(60)).unwrap();
    let writer = SessionWriter::take_over(&store, "s_1").unwrap();
    writer.append(vec![note("before"), note("after")]).unwrap();
    let late = store.events.append("s_1", Token(stale), &[note("late")]);
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    let late = store.flow.put_namespace("s_1", Token(stale), &namespace(0, 0), &[]);
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    assert_eq!(ids(&store, "s_1"), ["before", "after"]);
}

fn value(turn: u32, step: u32) -> Vec<u8> {
    format!("{turn}.{step}").repeat(40_000).into_bytes()
}

fn namespace(turn: u32, step: u32) -> Namespace {
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

fn state(turn: u32, step: u32) -> Vec<u8> {
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
    atomic::remove_leftovers(&dir.join("state.json")).unwrap();
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

/// Checks that whatever was left behind is whole, and returns the number of completed steps.
fn check_whole(dir: &Path) -> usize {
    let store = open(dir);
    for file in ["events.db", "flow.db"] {
        let connection = rusqlite::Connection::open(dir.join(file)).unwrap();
        let verdict: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(verdict, "ok", "{file}");
    }
    let Some(session) = store.events.latest_session().unwrap() else {
        return 0;
    };
    ids(&store, &session.id);
    let events = store.events.read_all(&session.id, &Select::all()).unwrap().events;
    let ended: Vec<_> = events
        .iter()
        .filter(|event| event.fact.kind() == Kind::StepEnded)
        .collect();
    for event in &ended {
        let at = At::after(event.turn.unwrap(), event.step.unwrap());
        let names = store
            .flow
            .namespace(&session.id, at)
            .unwrap()
            .expect("a step that ended has its namespace");
        let digest = names.bindings[0].digest.unwrap();
        assert_eq!(
            store.flow.value(&digest).unwrap().unwrap(),
            value(at.turn, at.step.unwrap())
        );
    }
    check_projection(dir, reconcile(&recorded(&events), file_state(dir)));
    ended.len()
}

fn file_state(dir: &Path) -> FileState {
    match std::fs::read(dir.join("state.json")) {
        Err(_) => FileState::Missing,
        Ok(bytes) if serde_json::from_slice::<serde_json::Value>(&bytes).is_err() => FileState::Torn,
        Ok(bytes) => FileState::Whole(Digest::of(&bytes)),
    }
}

/// Nobody else wrote the file: it is in step, or the log is ahead.
fn check_projection(dir: &Path, action: Action) {
    assert!(
        matches!(action, Action::InStep | Action::RewriteProjection),
        "{action:?} in {}",
        dir.display()
    );
}

#[test]
fn killed_after_any_write_a_session_is_whole_and_can_go_on() {
    let reference = tempfile::tempdir().unwrap();
    assert!(wait(start("turn", reference.path(), 0, "")).success());
    let complete = ids(&open(reference.path()), "s_1");

    let mut killed_at = 0;
    loop {
        let dir = tempfile::tempdir().unwrap();
        let armed = format!("*:{}", killed_at + 1);
        if wait(start("turn", dir.path(), 0, &armed)).success() {
            break;
        }
        killed_at += 1;
        check_whole(dir.path());
        assert!(
            wait(start("turn", dir.path(), 0, "")).success(),
            "going on after a kill at point {killed_at}"
        );
        assert_eq!(check_whole(dir.path()), STEPS as usize);
        assert_eq!(
            ids(&open(dir.path()), "s_1"),
            complete,
            "after a kill at point {killed_at}"
        );
        assert_eq!(
            std::fs::read(dir.path().join("state.json")).unwrap(),
            state(0, STEPS - 1)
        );
        assert!(!leftovers(dir.path()), "after a kill at point {killed_at}");
    }
    // Each step passes 4 commits, each with a point before and after, and 5 points of the file.
    assert!(killed_at >= STEPS * 13, "{killed_at}");
}

fn wait(mut child: Child) -> ExitStatus {
    hear(&mut child).for_each(drop);
    child.wait().unwrap()
}

fn leftovers(dir: &Path) -> bool {
    std::fs::read_dir(dir)
        .unwrap()
        .any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".tmp"))
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

#[test]
fn killed_at_any_time_every_completed_step_is_there() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..20_u64 {
        let mut writer = start("endless", dir.path(), 0, "");
        let mut heard = hear(&mut writer);
        let completed: u32 = heard.next().unwrap().parse().unwrap();
        std::thread::sleep(Duration::from_micros(round * 701));
        writer.kill().unwrap();
        let completed = heard.last().map_or(completed, |line| line.parse().unwrap_or(completed));
        writer.wait().unwrap();
        check_whole(dir.path());
        let store = open(dir.path());
        let ended = store
            .events
            .read_all("s_1", &Select::turn(completed).only(&[Kind::StepEnded]))
            .unwrap();
        assert_eq!(ended.events.len(), 1, "turn {completed} of round {round}");
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

#[test]
fn two_processes_that_wait_for_the_lock_lose_no_turn() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.events.root_session(&NewSession::in_root(1)).unwrap();
    finish((0..2).map(|number| start("queue", dir.path(), number, "")).collect());
    assert_eq!(
        ids(&store, "s_1"),
        (0..10).map(|turn| format!("t{turn}.turn_started")).collect::<Vec<_>>()
    );
}
