//! Where stores are made and found, and how much room they take.

use std::fs;
use std::path::Path;

use fast_rlm::store::{
    At, Digest, FlowStore, Location, Namespace, NewSession, SqliteFlow, Storage, Store, StoreError, Token, locate,
};

use crate::{bound, count, filled, note};

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
            flow.put_namespace(session, Token(1), &namespace, &[&value]).unwrap();
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
    let token = Token(1);
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
