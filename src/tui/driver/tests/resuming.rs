//! Runs that a limit or a crash ended: what is offered, and what is said where it cannot be done.

use super::*;
use crate::tui::screens::QueryKey;
use crate::tui::widgets::prompt::{Reaction, Request, Said};

/// The session can be asked; its directory.
fn sit(state: &mut State) -> std::path::PathBuf {
    let dir = std::path::PathBuf::from("/runs/trip");
    let desk = crate::tui::live::Desk {
        dir: dir.clone(),
        opened: dir.clone(),
        closed: None,
    };
    let mut left = crate::model::Session::default();
    state.sit_down(Some(&desk), &mut left);
    dir
}

#[test]
fn the_limit_that_stopped_a_run_is_named() {
    let mut state = shown_demo();
    let query = state.world.session.queries.last_mut().unwrap();
    query.outcome = crate::model::Outcome::Limit("max_global_calls".into());
    press(&mut state, &["b"]);
    let text = footer(&mut state, 120);
    assert!(
        text.contains("met max_global_calls: raise it (fast-rlm --max-global-calls N) and ask again"),
        "{text}"
    );
}

#[test]
fn what_a_query_may_spend_when_it_is_asked_again_is_said() {
    let mut state = shown_demo();
    sit(&mut state);
    let query = state.world.session.queries.last_mut().unwrap();
    query.outcome = crate::model::Outcome::Limit("max_money_spent".into());
    press(&mut state, &["b"]);
    let text = footer(&mut state, 120);
    assert!(
        text.contains("P met max_money_spent: asked again it may spend $0.20 (Ctrl-O in the box changes that)"),
        "{text}"
    );
}

#[test]
fn a_limit_that_an_earlier_query_met_is_named_too() {
    let mut state = shown_demo();
    press(&mut state, &["b"]);
    let text = footer(&mut state, 120);
    assert!(text.contains("X1 met max_calls_per_subagent: raise it"), "{text}");
}

#[test]
fn only_the_last_query_is_offered_to_be_resumed() {
    let mut state = shown_demo();
    sit(&mut state);
    let session = &mut state.world.session;
    let last = session.queries.len() - 1;
    session.queries[last].outcome = crate::model::Outcome::Interrupted;
    session.queries[last - 1].outcome = crate::model::Outcome::Interrupted;
    let keys = [last - 1, last].map(|at| QueryKey::of(&session.queries[at]));
    for (query, offered) in keys.into_iter().zip([false, true]) {
        state.push(Route::Run { query, at: None });
        assert_eq!(frame(&mut state, 160, 36).contains("u resume"), offered);
        press(&mut state, &["esc"]);
    }
}

#[test]
fn who_asks_is_told_that_the_query_before_can_be_resumed_no_more() {
    let mut state = shown_demo();
    sit(&mut state);
    state.world.session.queries.last_mut().unwrap().outcome = crate::model::Outcome::Interrupted;
    let sent = Reaction {
        said: vec![Said::Send(Request::default())],
        ..Reaction::default()
    };
    let told = |state: &mut State| footer(state, 120).contains("it stays in the list, and can no longer be resumed");
    assert!(!told(&mut state));
    state.react(sent);
    assert!(told(&mut state), "{}", footer(&mut state, 120));
}

#[test]
fn a_run_that_has_no_record_is_not_offered_to_be_resumed() {
    let mut state = shown_demo();
    let query = state.world.session.queries.last_mut().unwrap();
    query.outcome = crate::model::Outcome::Interrupted;
    let dir = sit(&mut state);
    for (foreign, offered) in [(false, true), (true, false)] {
        let found = crate::tui::live::Found {
            foreign,
            ..Default::default()
        };
        state.update(Msg::Found {
            dir: dir.clone(),
            found,
        });
        assert_eq!(frame(&mut state, 120, 36).contains("u resume"), offered);
        press(&mut state, &["a"]);
        let told = footer(&mut state, 120).contains("resumes it, until you ask");
        assert_eq!(told, offered, "{}", footer(&mut state, 120));
        press(&mut state, &["esc"]);
    }
    press(&mut state, &["u"]);
    let text = footer(&mut state, 80);
    assert!(
        text.contains("no record to resume from: another program asked this; ask it again"),
        "{text}"
    );
}
