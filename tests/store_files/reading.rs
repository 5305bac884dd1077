//! Reading leaves no trace, and what a writer leaves is complete.

use std::fs;

use fast_rlm::store::{At, NewSession, Storage, Store, StoreError};

use crate::{count, events_of, filled, fingerprint, note};

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
fn a_reader_sees_whole_appends_only() {
    let dir = filled();
    let store = Storage::dir(dir.path()).open().unwrap();
    let token = store.events.raise_token("s_1").unwrap();
    let before = count(store.events.as_ref());
    let path = dir.path().to_owned();
    let reading = std::thread::spawn(move || {
        loop {
            let reader = Store::open_read_only(&path).unwrap();
            let seen = count(reader.events.as_ref()) - before;
            assert_eq!(seen % 3, 0);
            if seen == 300 {
                break;
            }
        }
    });
    for batch in 0..100 {
        let notes = [0, 1, 2].map(|n| note(1000 + batch * 3 + n));
        store.events.append("s_1", token, &notes).unwrap();
    }
    reading.join().unwrap();
}

#[test]
fn a_store_that_is_just_being_made_reads_as_empty() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["events.db", "flow.db"] {
        let making = rusqlite::Connection::open(dir.path().join(file)).unwrap();
        making
            .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
            .unwrap();
    }
    let before = fingerprint(dir.path());
    let store = Store::open_read_only(dir.path()).unwrap();
    assert_eq!(store.events.sessions().unwrap(), []);
    assert_eq!(store.flow.points("s_1").unwrap(), []);
    drop(store);
    assert_eq!(fingerprint(dir.path()), before);
    Storage::dir(dir.path()).open().unwrap();
}
