//! Names of sessions: when they are asked for, and asked for again.

use super::*;

#[test]
fn a_name_that_was_refused_is_still_there() {
    let mut state = shown_demo();
    state.update(Msg::NameRefused {
        naming: Naming::Rename("/runs/trip".into()),
        name: "a/b".into(),
        why: Notice::trouble("\"a/b\" is no session name"),
    });
    let text = frame(&mut state, 120, 36);
    assert!(
        text.contains("name a/b") && text.contains("is no session name"),
        "{text}"
    );
}

#[test]
fn another_name_is_asked_for_once_it_is_known_that_there_can_be_one() {
    let mut state = shown_demo();
    let dir = std::path::PathBuf::from("/runs/trip");
    state.update(Msg::Notice(Notice::trouble("/runs/trip has its log elsewhere")));
    assert!(!frame(&mut state, 120, 36).contains("rename trip"));
    state.update(Msg::AskName(Naming::Rename(dir)));
    assert!(frame(&mut state, 120, 36).contains("rename trip"));
}
