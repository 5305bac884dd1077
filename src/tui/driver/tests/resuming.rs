//! Runs that a limit or a crash ended: what is offered, and what is said where it cannot be done.

use super::*;

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
fn a_run_that_has_no_record_is_not_offered_to_be_resumed() {
    let mut state = shown_demo();
    let query = state.world.session.queries.last_mut().unwrap();
    query.outcome = crate::model::Outcome::Interrupted;
    let dir = std::path::PathBuf::from("/runs/trip");
    let desk = crate::tui::live::Desk {
        dir: dir.clone(),
        opened: dir.clone(),
        closed: None,
    };
    let mut left = crate::model::Session::default();
    state.sit_down(Some(&desk), &mut left);
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
