//! The popup as a person meets it.

use super::*;
use crate::model::Label;
use crate::tui::export::{Report, SecretKind};
use crate::tui::testing::{World, text_of};
use proptest::prelude::*;

fn popup() -> ExportScreen {
    ExportScreen::new(Some(QueryKey {
        label: Label::Completed(3),
        log: None,
    }))
}

fn act(screen: &mut ExportScreen, action: Action) -> Outcome {
    screen.update(&Input::Action(action), &World::new().ctx())
}

fn news(screen: &mut ExportScreen, news: News) {
    let answer = Answer {
        token: screen.token,
        result: Ok(Reply::Export(news)),
    };
    screen.update(&Input::Answer(&answer), &World::new().ctx());
}

fn frame(screen: &mut ExportScreen, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    screen.draw(area, &mut buf, &World::new().ctx());
    text_of(&buf)
}

fn saved(masked: u64) -> Saved {
    let masked = (1..=masked).map(|n| Masked {
        kind: SecretKind::ApiKey,
        place: format!("Q1 step {n} output"),
        count: 2,
    });
    Saved {
        path: "demo-2.html".into(),
        report: Report {
            steps: 54,
            unreadable: 1,
            masked: masked.collect(),
        },
    }
}

#[test]
fn arrows_choose_and_enter_exports() {
    let mut screen = popup();
    act(&mut screen, Action::MoveRight);
    act(&mut screen, Action::MoveUp);
    act(&mut screen, Action::MoveRight);
    act(&mut screen, Action::Raw);
    let outcome = act(&mut screen, Action::Open);
    let [Effect::Export { job, .. }] = outcome.effects.as_slice() else {
        panic!("{outcome:?}")
    };
    assert_eq!((job.query, job.format, job.raw), (None, Format::Html, true));
}

#[test]
fn the_run_on_screen_is_offered_first() {
    let outcome = act(&mut popup(), Action::Open);
    assert!(matches!(
        outcome.effects.as_slice(),
        [Effect::Export {
            job: Job {
                query: Some(_),
                raw: false,
                ..
            },
            ..
        }]
    ));
}

#[test]
fn the_choices() {
    insta::assert_snapshot!(frame(&mut popup(), 70, 12));
}

#[test]
fn no_choice_is_cut_where_it_is_narrow() {
    let shown = frame(&mut ExportScreen::new(None), 42, 15);
    for words in ["[Markdown]  HTML   JSON ", "[as on screen]  as recorded "] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
}

#[test]
fn without_a_run_it_says_that_the_whole_session_is_written_and_where_to() {
    let shown = frame(&mut ExportScreen::new(None), 70, 12);
    for words in ["Export the whole session", "what", "in      /home/ada/work"] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
}

#[test]
fn the_footer_says_what_enter_does_in_each_state() {
    let mut screen = popup();
    let enter = |screen: &ExportScreen| screen.here().hint(Action::Open);
    assert_eq!(enter(&screen), "write");
    act(&mut screen, Action::Open);
    assert_eq!(screen.here().hint(Action::Back), "stop");
    news(&mut screen, News::Done(Ok(saved(0))));
    assert_eq!(enter(&screen), "close");
}

#[test]
fn what_was_written_and_masked() {
    let mut screen = popup();
    act(&mut screen, Action::Open);
    news(&mut screen, News::Done(Ok(saved(9))));
    insta::assert_snapshot!(frame(&mut screen, 70, 12));
}

#[test]
fn progress_shows_and_back_cancels() {
    let mut screen = popup();
    act(&mut screen, Action::Open);
    news(&mut screen, News::Progress(Progress { done: 12, all: 54 }));
    assert!(frame(&mut screen, 70, 12).contains("Writing: 12 of 54 steps"));
    let outcome = act(&mut screen, Action::Back);
    assert!(matches!(outcome.effects.as_slice(), [Effect::Cancel(_)]) && outcome.consumed);
    news(&mut screen, News::Done(Ok(saved(0))));
    assert!(matches!(screen.state, State::Choosing), "a late answer changes nothing");
}

#[test]
fn a_failure_says_why_and_leads_back() {
    let mut screen = popup();
    act(&mut screen, Action::Open);
    let error = ExportError::Write {
        path: "/full".into(),
        error: std::io::ErrorKind::StorageFull.into(),
    };
    news(&mut screen, News::Done(Err(error)));
    assert!(frame(&mut screen, 70, 12).contains("cannot write /full"));
    act(&mut screen, Action::Open);
    assert!(matches!(screen.state, State::Choosing));
}

proptest! {
    #[test]
    fn any_size_draws(width in 0u16..31, height in 0u16..13, masked in 0u64..20, choosing in any::<bool>()) {
        let mut screen = popup();
        if !choosing {
            act(&mut screen, Action::Open);
            news(&mut screen, News::Done(Ok(saved(masked))));
        }
        frame(&mut screen, width, height);
    }
}
