//! The stores' files: made, found, brought up to date, refused, read without a trace, and their true troubles told.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

mod formats;
mod places;
mod power;
mod reading;
mod recording;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fast_rlm::store::payload::Custom;
use fast_rlm::store::{
    At, Binding, BindingKind, Described, Digest, EventStore, Namespace, NewEvent, NewSession, Select, SessionWriter,
    SqliteEvents, Storage, StoreError,
};
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
