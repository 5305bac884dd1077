//! Older, newer, foreign and damaged files.

use std::fs;

use fast_rlm::store::payload::StepEnded;
use fast_rlm::store::{
    At, Binding, Digest, EventStore, FlowStore, Namespace, NewEvent, Select, SqliteEvents, SqliteFlow, Storage, Store,
    StoreError, Token,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{bound, count, events_of, filled, fingerprint, note};

/// A store as version 1.0 made it, before events told their turn and step.
fn version_1_0() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let old = Connection::open(dir.path().join("events.db")).unwrap();
    old.execute_batch(include_str!("../../src/store/sqlite/events_1_0.sql"))
        .unwrap();
    old.execute_batch(
        "PRAGMA application_id = 0x666c7265; PRAGMA user_version = 1000;
         INSERT INTO session (id, serial, origin, created, active, last_seq, events) VALUES ('s_1', 1, 'new', 5, 6, 1, 1);
         INSERT INTO event (session, stream_seq, id, kind, schema, time, payload)
         VALUES (1, 0, 'a', 'final', 1, 6, '{\"value\": 42}');",
    )
    .unwrap();
    dir
}

#[test]
fn case_12_an_older_store_is_brought_up_to_date_and_keeps_its_data() {
    let dir = version_1_0();
    let store = events_of(dir.path()).unwrap();
    let token = store.raise_token("s_1").unwrap();
    let step = NewEvent::of_step(3, 1, 7, StepEnded::default().into());
    store.append("s_1", token, &[step]).unwrap();
    let events = store.read_all("s_1", &Select::all()).unwrap().events;
    let seen: Vec<_> = events
        .iter()
        .map(|event| (event.id.as_str(), event.turn, event.step))
        .collect();
    assert_eq!(seen, [("a", None, None), ("t3.s1.step_ended", Some(3), Some(1))]);
    assert_eq!(store.session("s_1").unwrap().created, 5);
}

#[test]
fn an_older_store_is_read_without_being_changed() {
    let dir = version_1_0();
    let before = fingerprint(dir.path());
    let store = SqliteEvents::open_read_only(&dir.path().join("events.db")).unwrap();
    assert_eq!(count(&store), 1);
    drop(store);
    assert_eq!(fingerprint(dir.path()), before);
}

#[test]
fn case_13_a_newer_major_format_is_refused_untouched() {
    let dir = filled();
    for (file, version) in [("events.db", 2000), ("flow.db", 7001)] {
        let newer = Connection::open(dir.path().join(file)).unwrap();
        newer.pragma_update(None, "user_version", version).unwrap();
    }
    let before = fingerprint(dir.path());
    let refusals = [
        events_of(dir.path()).err().unwrap(),
        SqliteFlow::open(&dir.path().join("flow.db")).err().unwrap(),
        Storage::dir(dir.path()).open().err().unwrap(),
        Store::open_read_only(dir.path()).err().unwrap(),
    ];
    for refused in refusals {
        assert!(matches!(refused, StoreError::StoreTooNew { .. }), "{refused:?}");
        assert!(refused.to_string().contains("not touched"), "{refused}");
    }
    assert_eq!(fingerprint(dir.path()), before);
}

#[test]
fn a_newer_minor_format_is_used_and_keeps_its_version() {
    let dir = filled();
    let path = dir.path().join("events.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("ALTER TABLE event ADD COLUMN later TEXT; PRAGMA user_version = 1042;")
        .unwrap();
    let store = events_of(dir.path()).unwrap();
    let token = store.raise_token("s_1").unwrap();
    store.append("s_1", token, &[note(3)]).unwrap();
    assert_eq!(count(&store), 3);
    drop(store);
    let version: i64 = Connection::open(&path)
        .unwrap()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 1042);
}

#[test]
fn files_of_other_kinds_are_refused_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    let foreign = Connection::open(&path).unwrap();
    foreign.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    drop(foreign);
    let sqlite = fs::read(&path).unwrap();
    for content in [
        &sqlite[..],
        b"not a database at all, but long enough to look at; "
            .repeat(30)
            .as_slice(),
    ] {
        fs::write(&path, content).unwrap();
        for refused in [events_of(dir.path()), SqliteEvents::open_read_only(&path)] {
            let refused = refused.err().unwrap();
            assert!(matches!(refused, StoreError::NotAStore { .. }), "{refused:?}");
        }
        assert_eq!(fs::read(&path).unwrap(), content);
    }
    let flow = filled();
    fs::copy(flow.path().join("flow.db"), &path).unwrap();
    assert!(
        matches!(events_of(dir.path()), Err(StoreError::NotAStore { .. })),
        "a flow store is no event store"
    );
}

#[cfg(unix)]
#[test]
fn links_and_directories_in_a_files_place_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    for name in ["events.db", "events.db-wal", "events.db-shm"] {
        let sessions = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(&victim, sessions.path().join(name)).unwrap();
        let refused = events_of(sessions.path()).err().unwrap();
        assert!(matches!(refused, StoreError::NotAStore { .. }), "{name}: {refused:?}");
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    fs::create_dir(dir.path().join("events.db")).unwrap();
    assert!(matches!(events_of(dir.path()), Err(StoreError::NotAStore { .. })));
}

#[test]
fn damage_is_told_with_the_path() {
    let dir = filled();
    let path = dir.path().join("events.db");
    let mut bytes = fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[4096..length].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let store = events_of(dir.path()).unwrap();
    let error = store.read("s_1", &Select::all()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("events.db"), "{error}");
}

#[test]
fn case_12_rows_that_cannot_be_understood_are_skipped_and_reported() {
    let dir = filled();
    let rows = Connection::open(dir.path().join("events.db")).unwrap();
    for (seq, kind, schema, payload) in [
        (2, "from_the_future", 1, "'{}'"),
        (3, "final", 99, "'{}'"),
        (4, "final", 1, "'{\"value\":'"),
        (5, "turn_ended", 1, "'{\"outcome\":\"sideways\"}'"),
        (6, "final", 1, "CAST(x'ff00fe' AS TEXT)"),
        (7, "final", 1, "'[]'"),
    ] {
        let sql = format!(
            "INSERT INTO event (session, stream_seq, id, kind, schema, time, payload) VALUES (1, {seq}, 'x{seq}', \
             '{kind}', {schema}, 1, {payload})"
        );
        rows.execute(&sql, []).unwrap();
    }
    rows.execute("UPDATE session SET events = 8", []).unwrap();
    let store = events_of(dir.path()).unwrap();
    let token = store.raise_token("s_1").unwrap();
    store.append("s_1", token, &[note(9)]).unwrap();
    let page = store
        .read_all(
            "s_1",
            &Select {
                limit: 3,
                ..Select::all()
            },
        )
        .unwrap();
    assert_eq!(
        page.events.iter().map(|event| event.stream_seq).collect::<Vec<_>>(),
        [0, 1, 8]
    );
    assert_eq!(
        page.skipped.iter().map(|row| row.stream_seq).collect::<Vec<_>>(),
        [2, 3, 4, 5, 6, 7]
    );
    assert_eq!(page.skipped[0].kind, "from_the_future");
    assert!(
        page.skipped[1].reason.contains("newer version"),
        "{:?}",
        page.skipped[1]
    );
}

#[test]
fn a_value_that_does_not_match_its_digest_is_not_given_out() {
    let dir = tempfile::tempdir().unwrap();
    let flow = SqliteFlow::open(&dir.path().join("flow.db")).unwrap();
    let (small, large) = (b"abc".to_vec(), vec![b'a'; 200_000]);
    let bindings = vec![
        bound(&small),
        Binding {
            name: "y".into(),
            ..bound(&large)
        },
    ];
    let token = Token(1);
    flow.put_namespace(
        "s",
        token,
        &Namespace {
            at: At::after(0, 0),
            bindings,
        },
        &[&small, &large],
    )
    .unwrap();
    let rows = Connection::open(dir.path().join("flow.db")).unwrap();
    rows.execute(
        "UPDATE value SET body = CASE packed WHEN 1 THEN substr(body, 1, 9) ELSE x'00' END",
        [],
    )
    .unwrap();
    for value in [&small, &large] {
        let error = flow.value(&Digest::of(value)).unwrap_err();
        assert!(matches!(error, StoreError::DamagedValue { .. }), "{error:?}");
    }
}
