//! The stores' files: made, found, brought up to date, refused, read without a trace, and their true troubles told.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fast_rlm::store::payload::{CellOutcome, Custom, LeafCall, StepEnded, TurnStarted};
use fast_rlm::store::{
    At, Binding, BindingKind, Cassette, Described, Digest, EventStore, FlowStore, Kind, Location, Namespace, NewEvent,
    NewSession, Parked, Redact, Select, Served, SessionWriter, SqliteEvents, SqliteFlow, Storage, Store, StoreError,
    copy_session, locate,
};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

fn note(number: u64) -> NewEvent {
    NewEvent::of_session(
        "note",
        1,
        Custom {
            name: "note".into(),
            data: json!(number),
        }
        .into(),
    )
    .numbered(number)
}

fn bound(value: &[u8]) -> Binding {
    Binding {
        name: "x".into(),
        kind: BindingKind::Value,
        digest: Some(Digest::of(value)),
        bytes: value.len() as u64,
        described: Described::default(),
    }
}

/// A store with one session, `s_1` in its root, of two events and one namespace.
fn filled() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = Storage::dir(dir.path()).open().unwrap();
    let session = store.events.root_session(&NewSession::in_root(1)).unwrap();
    let writer = SessionWriter::take_over(&store, &session.id).unwrap();
    let namespace = Namespace {
        at: At::after(0, 0),
        bindings: vec![bound(b"1")],
    };
    writer.end_step(&namespace, &[b"1"], vec![note(1), note(2)]).unwrap();
    dir
}

/// Digests of all files but those that SQLite keeps for running processes.
fn fingerprint(dir: &Path) -> BTreeMap<String, Digest> {
    let files = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    files
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path))
        .filter(|(name, _)| !name.ends_with("-wal") && !name.ends_with("-shm"))
        .map(|(name, path)| (name, Digest::of(&fs::read(path).unwrap())))
        .collect()
}

fn events_of(dir: &Path) -> Result<SqliteEvents, StoreError> {
    SqliteEvents::open(&dir.join("events.db"))
}

fn count(store: &dyn EventStore) -> usize {
    store.read_all("s_1", &Select::all()).unwrap().events.len()
}

#[test]
fn a_fresh_directory_gets_its_files_and_no_session() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("deep").join("er");
    let store = Storage::dir(&root).open().unwrap();
    assert!(root.join("events.db").is_file() && root.join("flow.db").is_file());
    assert_eq!(store.events.sessions().unwrap(), []);
    assert_eq!(store.events.latest_session().unwrap(), None);
}

#[test]
fn what_was_written_is_there_for_the_next_process() {
    let dir = filled();
    let store = Storage::dir(dir.path()).open().unwrap();
    assert_eq!(store.events.latest_session().unwrap().unwrap().id, "s_1");
    assert_eq!(count(store.events.as_ref()), 2);
    assert_eq!(store.flow.points("s_1").unwrap(), [At::after(0, 0)]);
    assert_eq!(
        store.session_dir("s_1").unwrap().unwrap(),
        dir.path().canonicalize().unwrap()
    );
    store.events.create_session(&NewSession::named("podcasts", 1)).unwrap();
    assert_eq!(
        store.session_dir("podcasts").unwrap().unwrap(),
        dir.path().canonicalize().unwrap().join("podcasts")
    );
}

#[test]
fn stores_in_memory_share_nothing() {
    let storage = Storage::memory();
    let (a, b) = (storage.open().unwrap(), storage.open().unwrap());
    let id = a.events.create_session(&NewSession::minted(1)).unwrap().id;
    assert!(matches!(b.events.session(&id), Err(StoreError::UnknownSession { .. })));
    assert_eq!(a.session_dir(&id).unwrap(), None);
}

#[test]
fn given_stores_are_used_as_they_are() {
    let given = Storage::memory().open().unwrap();
    let id = given.events.create_session(&NewSession::minted(1)).unwrap().id;
    let store = Storage::custom(given.events, given.flow).open().unwrap();
    assert_eq!(store.events.session(&id).unwrap().id, id);
}

/// A store as version 1.0 made it, before events told their turn and step.
fn version_1_0() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let old = Connection::open(dir.path().join("events.db")).unwrap();
    old.execute_batch(include_str!("../src/store/sqlite/events_1_0.sql"))
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
fn an_older_store_is_brought_up_to_date_and_keeps_its_data() {
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
fn a_newer_major_format_is_refused_untouched() {
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
fn rows_that_cannot_be_understood_are_skipped_and_reported() {
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
    let token = fast_rlm::store::Token(1);
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

#[test]
fn large_values_are_stored_compressed_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let flow = SqliteFlow::open(&dir.path().join("flow.db")).unwrap();
    let value = b"transcript ".repeat(300_000);
    for session in ["a", "b"] {
        for step in 0..5 {
            let namespace = Namespace {
                at: At::after(0, step),
                bindings: vec![bound(&value)],
            };
            flow.put_namespace(session, fast_rlm::store::Token(1), &namespace, &[&value])
                .unwrap();
        }
    }
    drop(flow);
    let length = fs::metadata(dir.path().join("flow.db")).unwrap().len();
    assert!(length < 200_000, "{length}");
}

#[test]
fn freed_values_give_their_space_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("flow.db");
    let flow = SqliteFlow::open(&path).unwrap();
    let token = fast_rlm::store::Token(1);
    let noise: Vec<u8> = (0..30_000_u32)
        .flat_map(|n| *Digest::of(&n.to_le_bytes()).as_bytes())
        .collect();
    let namespace = Namespace {
        at: At::after(0, 0),
        bindings: vec![bound(&noise)],
    };
    flow.put_namespace("s", token, &namespace, &[&noise]).unwrap();
    flow.forget("s", token).unwrap();
    assert_eq!(flow.collect(false).unwrap().values, 1);
    drop(flow);
    let length = fs::metadata(&path).unwrap().len();
    assert!(length < 200_000, "{length}");
}

#[test]
fn readers_change_no_byte_while_a_writer_runs_and_after() {
    let dir = filled();
    let writer = Storage::dir(dir.path()).open().unwrap();
    let token = writer.events.raise_token("s_1").unwrap();
    writer.events.append("s_1", token, &[note(3)]).unwrap();
    let before = fingerprint(dir.path());
    let reader = Store::open_read_only(dir.path()).unwrap();
    for _ in 0..100 {
        assert_eq!(count(reader.events.as_ref()), 3);
        reader.events.sessions().unwrap();
        reader.flow.namespace("s_1", At::after(0, 0)).unwrap().unwrap();
    }
    writer.events.append("s_1", token, &[note(4)]).unwrap();
    assert_eq!(
        count(reader.events.as_ref()),
        4,
        "a reader sees what is appended meanwhile"
    );
    let refused = reader.events.append("s_1", token, &[note(5)]).unwrap_err();
    assert!(matches!(refused, StoreError::OpenedReadOnly { .. }), "{refused:?}");
    drop(reader);
    assert_eq!(fingerprint(dir.path()), before);
}

#[test]
fn a_directory_without_stores_reads_as_empty_and_stays_so() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open_read_only(dir.path()).unwrap();
    assert_eq!(store.events.sessions().unwrap(), []);
    assert_eq!(store.flow.parked("s_1").unwrap(), []);
    let refused = store.events.create_session(&NewSession::minted(1)).unwrap_err();
    assert!(matches!(refused, StoreError::OpenedReadOnly { .. }), "{refused:?}");
    assert!(fingerprint(dir.path()).is_empty());
}

#[test]
fn a_writer_leaves_everything_in_the_main_file() {
    let dir = filled();
    let reader = Store::open_read_only(dir.path()).unwrap();
    let writer = Storage::dir(dir.path()).open().unwrap();
    let token = writer.events.raise_token("s_1").unwrap();
    writer.events.append("s_1", token, &[note(3)]).unwrap();
    drop(writer);
    let alone = tempfile::tempdir().unwrap();
    fs::copy(dir.path().join("events.db"), alone.path().join("events.db")).unwrap();
    assert_eq!(count(&events_of(alone.path()).unwrap()), 3);
    drop(reader);
}

#[test]
fn a_store_that_vanished_is_told_not_written_into_the_void() {
    let dir = filled();
    let store = Storage::dir(dir.path()).open().unwrap();
    let token = store.events.raise_token("s_1").unwrap();
    let moved = dir.path().with_extension("moved");
    fs::rename(dir.path(), &moved).unwrap();
    let error = store.events.append("s_1", token, &[note(3)]).unwrap_err();
    assert!(
        error.to_string().contains("events.db") && error.to_string().contains("gone"),
        "{error}"
    );
    fs::rename(&moved, dir.path()).unwrap();
    store.events.append("s_1", token, &[note(3)]).unwrap();
    assert_eq!(count(store.events.as_ref()), 3);
}

#[test]
fn a_missing_directory_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = Store::open_read_only(&dir.path().join("gone")).err().unwrap();
    assert!(
        error.to_string().contains("gone") && error.to_string().contains("directory"),
        "{error}"
    );
    fs::write(dir.path().join("file"), "").unwrap();
    let error = Storage::dir(dir.path().join("file").join("sub")).open().err().unwrap();
    assert!(error.to_string().contains("a part of the path is a file"), "{error}");
}

#[test]
fn a_session_directory_belongs_to_one_store() {
    let dir = filled();
    let root = dir.path().canonicalize().unwrap();
    let store = Storage::dir(&root).open().unwrap();
    store.events.create_session(&NewSession::named("podcasts", 1)).unwrap();
    drop(store);
    for name in ["podcasts", "stranger", "own"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    drop(Storage::dir(root.join("own")).open().unwrap());
    let at = |root: &Path, session: Option<&str>, exists| Location {
        root: root.to_owned(),
        session: session.map(str::to_owned),
        exists,
    };
    assert_eq!(locate(&root, None).unwrap(), at(&root, None, true));
    assert_eq!(
        locate(&root.join("podcasts"), None).unwrap(),
        at(&root, Some("podcasts"), true)
    );
    assert_eq!(
        locate(&root.join("podcasts/../podcasts"), None).unwrap(),
        at(&root, Some("podcasts"), true)
    );
    assert_eq!(
        locate(&root.join("own"), None).unwrap(),
        at(&root.join("own"), None, true)
    );
    assert_eq!(
        locate(&root.join("stranger"), None).unwrap(),
        at(&root.join("stranger"), None, false)
    );
    assert_eq!(
        locate(&root.join("stranger"), Some(&root)).unwrap(),
        at(&root, Some("stranger"), true)
    );
    assert_eq!(
        locate(&root.join("not_there"), Some(&root)).unwrap(),
        at(&root, Some("not_there"), true)
    );
    let odd = root.join("not a name");
    assert_eq!(locate(&odd, Some(&root)).unwrap(), at(&odd, None, false));
    assert_eq!(
        locate(&root.join("own/deeper"), Some(&root)).unwrap(),
        at(&root.join("own/deeper"), None, false)
    );
    assert_eq!(
        locate(&root.join("s_1"), None).unwrap(),
        at(&root.join("s_1"), None, false),
        "s_1 is in the root"
    );
    assert!(!root.join("stranger/events.db").exists(), "looking makes nothing");
}

fn hide(secret: &'static str) -> Redact {
    Redact::with(move |text| match text.contains(secret) {
        true => Cow::Owned(text.replace(secret, "[secret]")),
        false => Cow::Borrowed(text),
    })
}

#[test]
fn a_registered_secret_is_in_no_file_and_its_cell_is_still_served() {
    const SECRET: &str = "hunter2hunter2";
    let dir = tempfile::tempdir().unwrap();
    let store = Storage::dir(dir.path()).open().unwrap();
    let session = store.events.root_session(&NewSession::in_root(1)).unwrap();
    let writer = SessionWriter::take_over(&store, &session.id)
        .unwrap()
        .redacting(hide(SECRET));
    let cell = LeafCall {
        call: "login".into(),
        run_id: "r".into(),
        input: Some(writer.input_digest(&format!("password {SECRET}"))),
        outcome: CellOutcome::Returned(json!({ SECRET: [format!("\"{SECRET}\"\n")] })),
        ..LeafCall::default()
    };
    let query = TurnStarted {
        query: json!(format!("use {SECRET}")),
        ..TurnStarted::default()
    };
    let events = vec![
        NewEvent::of_turn(0, 1, query.into()),
        NewEvent::of_step(0, 0, 1, cell.into()),
    ];
    let recorded = writer.append(events).unwrap();
    let question = Parked {
        turn: 0,
        step: 0,
        number: 0,
        question: format!("Is {SECRET} right?"),
        options: vec![SECRET.into()],
        schema: Some(json!({ "const": SECRET })),
        time: 1,
    };
    writer.park(&question, vec![]).unwrap();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(
            !bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()),
            "{}",
            path.display()
        );
    }
    // Served to who knows the secret, and to who only sees what was recorded.
    for input in [
        writer.input_digest(&format!("password {SECRET}")),
        writer.input_digest("password [secret]"),
    ] {
        let Served::Cell(cell) = Cassette::of_run(&recorded, "r").serve("login", input) else {
            panic!("not served")
        };
        assert!(cell.redacted);
        assert_eq!(
            cell.outcome,
            CellOutcome::Returned(json!({"[secret]": ["\"[secret]\"\n"]}))
        );
    }
}

#[test]
fn a_result_over_the_cap_keeps_only_its_beginning_and_is_never_served() {
    let store = Storage::memory().open().unwrap();
    let id = store.events.create_session(&NewSession::minted(1)).unwrap().id;
    let writer = SessionWriter::take_over(&store, &id).unwrap().cell_cap(10_000);
    let cell = |number: u64, length| LeafCall {
        call: "f".into(),
        number,
        input: Some(Digest::of(&number.to_le_bytes())),
        outcome: CellOutcome::Returned(json!("é".repeat(length))),
        ..LeafCall::default()
    };
    let cells = [cell(0, 4_999), cell(1, 5_000)];
    let recorded = writer
        .append(
            cells
                .map(|c| NewEvent::of_step(0, 0, 1, c.clone().into()).numbered(c.number))
                .to_vec(),
        )
        .unwrap();
    let mut cassette = Cassette::of_run(&recorded, "");
    assert!(matches!(
        cassette.serve("f", Digest::of(&0_u64.to_le_bytes())),
        Served::Cell(_)
    ));
    let Served::Truncated { bytes, cap } = cassette.serve("f", Digest::of(&1_u64.to_le_bytes())) else {
        panic!("not truncated");
    };
    assert_eq!((bytes, cap), (10_002, 10_000));
    let payloads = store
        .events
        .read_all(&id, &Select::all().only(&[Kind::LeafCall]))
        .unwrap()
        .events;
    assert!(format!("{:?}", payloads[1].fact).len() < 10_000);
}

#[test]
fn a_session_is_carried_to_another_store_whole_or_not_at_all() {
    let dir = filled();
    let from = Storage::dir(dir.path()).open().unwrap();
    let writer = SessionWriter::take_over(&from, "s_1").unwrap();
    writer
        .append(vec![NewEvent::of_turn(0, 77, TurnStarted::default().into())])
        .unwrap();
    let to = Storage::memory().open().unwrap();
    let (copied, skipped) = copy_session(&from, "s_1", &to, Some("copy"), 9).unwrap();
    assert_eq!((copied.id.as_str(), copied.events, skipped), ("copy", 3, 0));
    let facts = |store: &Store, id: &str| -> Vec<_> {
        let events = store.events.read_all(id, &Select::all()).unwrap().events;
        events
            .into_iter()
            .map(|event| (event.id, event.time, event.turn, event.step, event.fact))
            .collect()
    };
    assert_eq!(facts(&from, "s_1"), facts(&to, "copy"));
    let at = At::after(0, 0);
    assert_eq!(
        from.flow.namespace("s_1", at).unwrap(),
        to.flow.namespace("copy", at).unwrap()
    );
    assert_eq!(to.flow.value(&Digest::of(b"1")).unwrap().unwrap(), b"1");

    writer
        .append(vec![NewEvent::of_step(5, 0, 1, StepEnded::default().into())])
        .unwrap();
    let refused = copy_session(&from, "s_1", &to, Some("bad"), 9).unwrap_err();
    assert!(matches!(refused, StoreError::BadTurn { turn: 5, .. }), "{refused:?}");
    assert!(matches!(
        to.events.session("bad"),
        Err(StoreError::UnknownSession { .. })
    ));
}
