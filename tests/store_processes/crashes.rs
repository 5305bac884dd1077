//! One process dies, another goes on.

use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use fast_rlm::disk::lock::{LockError, SessionLock, holder};
use fast_rlm::store::{
    Action, At, Digest, FileState, Kind, NewSession, Select, SessionWriter, StoreError, Token, reconcile, recorded,
};

use crate::roles::{STEPS, namespace, note, open, state, value};
use crate::{hear, ids, start};

#[test]
fn case_22_a_killed_owner_is_taken_over_and_its_token_is_worth_nothing() {
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
fn case_23_killed_after_any_write_a_session_is_whole_and_can_go_on() {
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

#[test]
fn case_25_a_write_that_fails_leaves_a_session_whole_and_works_once_the_cause_is_gone() {
    for point in [
        "atomic.create",
        "atomic.write",
        "atomic.sync",
        "events.write",
        "events.commit",
        "flow.write",
    ] {
        for what in ["full", "readonly", "denied", "gone"] {
            let dir = tempfile::tempdir().unwrap();
            // The first two commits of each database make it and its session.
            let count = if point.starts_with("atomic") { 1 } else { 3 };
            let failed = wait(start("turn", dir.path(), 0, &format!("{point}:{count}={what}")));
            assert!(!failed.success(), "{point} {what}");
            check_whole(dir.path());
            assert!(!leftovers(dir.path()), "{point} {what}");
            assert!(wait(start("turn", dir.path(), 0, "")).success(), "{point} {what}");
            assert_eq!(check_whole(dir.path()), STEPS as usize, "{point} {what}");
        }
    }
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

#[test]
fn case_23_killed_at_any_time_every_completed_step_is_there() {
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
