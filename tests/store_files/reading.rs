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
