//! Several processes at once.

use std::process::Child;

use fast_rlm::store::{NewSession, Token};

use crate::roles::open;
use crate::{finish, hear, ids, start};

#[test]
fn case_18_four_processes_append_to_shared_streams() {
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

#[test]
fn case_20_eight_processes_make_one_store_at_once() {
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

#[test]
fn case_21_two_processes_that_wait_for_the_lock_lose_no_turn() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.events.root_session(&NewSession::in_root(1)).unwrap();
    finish((0..2).map(|number| start("queue", dir.path(), number, "")).collect());
    assert_eq!(
        ids(&store, "s_1"),
        (0..10).map(|turn| format!("t{turn}.turn_started")).collect::<Vec<_>>()
    );
}
