//! Tests of the scrub screen.

use super::super::sample::{HOSTILE, SIZES, act, frame, world};
use super::*;
use crate::model::{MemoryKind, NameAt, Unkept};
use crate::tui::live::{Mismatch, ReplayNews, Verdict};
use crate::tui::testing::World;
use proptest::prelude::*;

fn name(name: &str, digest: &str, text: &str) -> NameAt {
    NameAt {
        name: name.into(),
        kind: MemoryKind::Variable,
        type_name: "list".into(),
        text: text.into(),
        committed: name == "guests",
        digest: Some(digest.into()),
    }
}

fn points() -> Vec<NamesAfter> {
    let point = |step, names| NamesAfter { step, names };
    vec![
        point(0, Ok(vec![name("old", "0", "[0]")])),
        point(1, Ok(vec![name("guests", "1", "['Ada']"), name("old", "0", "[0]")])),
        point(
            2,
            Ok(vec![name("guests", "2", "['Ada', 'Bo']"), name("日本", "3", HOSTILE)]),
        ),
        point(3, Err(Unkept::Thinned)),
    ]
}

fn opened(world: &World, step: u64) -> ScrubScreen {
    let mut screen = ScrubScreen::new(QueryKey::of(&world.session.queries[0]), Some(step));
    let outcome = screen.update(&Input::Opened, &world.ctx());
    let asked = |effect: &Effect| match effect {
        Effect::LoadNames { token, .. } => Some(*token),
        _ => None,
    };
    let token = outcome.effects.iter().find_map(asked).unwrap();
    let answer = Answer {
        token,
        result: Ok(Reply::Names(Arc::new(points()))),
    };
    screen.update(&Input::Answer(&answer), &world.ctx());
    screen
}

#[test]
fn every_size_looks_right() {
    let world = world();
    for (width, height) in SIZES {
        let mut screen = opened(&world, 2);
        insta::assert_snapshot!(
            format!("scrub_{width}x{height}"),
            frame(&mut screen, &world, width, height)
        );
    }
}

#[test]
fn the_output_of_a_step_stands_below_its_code() {
    let body = Body {
        code: Text::new("1 / 0"),
        output: Text::new("Traceback (most recent call last):\nZeroDivisionError: division by zero"),
        ..Body::default()
    };
    let text = code_and_output(&body);
    assert!(text.as_str().starts_with("1 / 0\n\n── output ──\nTraceback"), "{text}");
    assert_eq!(code_and_output(&Body::default()).as_str(), "the model wrote no code");
    assert!(text.as_str().ends_with("division by zero"), "{text}");
}

#[test]
fn names_that_are_not_kept_are_said_to_be_elsewhere() {
    let world = world();
    let shown = frame(&mut opened(&world, 3), &world, 120, 30);
    assert!(shown.contains("The last step has them"), "{shown}");
}

#[test]
fn a_step_shows_what_it_added_changed_and_dropped() {
    let world = world();
    let mut screen = opened(&world, 1);
    let shown = frame(&mut screen, &world, 120, 30);
    assert!(shown.contains("1 added") && shown.contains("+ ★ guests"), "{shown}");
    act(&mut screen, Action::FirstChild, &world.ctx());
    let shown = frame(&mut screen, &world, 120, 30);
    assert!(shown.contains("1 added · 1 changed · 1 gone"), "{shown}");
    assert!(shown.contains("before this step"), "{shown}");
    act(&mut screen, Action::Parent, &world.ctx());
    act(&mut screen, Action::Parent, &world.ctx());
    assert_eq!(screen.step, 0);
    assert_eq!(screen.title(&world.ctx()).as_str(), "Q1 › before step 1");
}

#[test]
fn a_session_without_a_log_says_so_and_still_shows_the_code() {
    let world = world();
    let mut screen = opened(&world, 1);
    let why = Answer {
        token: screen.asked_names,
        result: Err(SafeText::literal("this session has no event log")),
    };
    screen.update(&Input::Answer(&why), &world.ctx());
    assert!(frame(&mut screen, &world, 120, 30).contains("no event log"));
}

#[test]
fn enter_goes_to_the_step_in_its_transcript() {
    let world = world();
    let mut screen = opened(&world, 2);
    let outcome = act(&mut screen, Action::Open, &world.ctx());
    let [Effect::Replace(Route::Run { query, at: Some(place) })] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    let run = &query.find(&world.session).unwrap().run;
    assert_eq!(run.root().unwrap().steps[place.step.unwrap()].number, 2);
}

fn replaying(world: &World, news: Vec<ReplayNews>) -> ScrubScreen {
    let mut screen = opened(world, 1);
    let outcome = act(&mut screen, Action::Replay, &world.ctx());
    let [Effect::Replay { token, run_id }] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    assert_eq!(run_id, "root0");
    for news in news {
        let result = Ok(Reply::Replay(news));
        screen.update(&Input::Answer(&Answer { token: *token, result }), &world.ctx());
    }
    screen
}

fn diverged() -> Vec<ReplayNews> {
    let mismatch = Mismatch {
        step: 2,
        what: "output".into(),
        expected: "41".into(),
        got: format!("40 {HOSTILE}"),
    };
    vec![
        ReplayNews::Began(1),
        ReplayNews::Ended(1, true),
        ReplayNews::Began(2),
        ReplayNews::Ended(2, false),
        ReplayNews::Done(Box::new(Verdict {
            steps: 2,
            mismatch: Some(mismatch),
            ..Verdict::default()
        })),
    ]
}

#[test]
fn case_85_a_replay_that_ticks_and_one_that_diverges_look_right() {
    let world = world();
    for (name, news) in [
        (
            "ticking",
            vec![ReplayNews::Began(1), ReplayNews::Ended(1, true), ReplayNews::Began(2)],
        ),
        ("diverged", diverged()),
    ] {
        for (width, height) in SIZES {
            let mut screen = replaying(&world, news.clone());
            let shown = frame(&mut screen, &world, width, height);
            insta::assert_snapshot!(format!("scrub_{name}_{width}x{height}"), shown);
        }
    }
}

#[test]
fn the_first_mismatch_is_gone_to_and_explained() {
    let world = world();
    let mut screen = replaying(&world, diverged());
    assert_eq!(screen.step, 2);
    let shown = frame(&mut screen, &world, 120, 34);
    for words in [
        "step 2: output is not as recorded",
        "Not as recorded: output",
        "printed something else",
        "41",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
    act(&mut screen, Action::Parent, &world.ctx());
    assert!(!frame(&mut screen, &world, 120, 34).contains("Not as recorded"));
}

#[test]
fn a_replay_is_stopped_before_the_screen_is_left() {
    let world = world();
    let mut screen = replaying(&world, vec![ReplayNews::Began(1)]);
    let token = screen.asked_replay;
    for action in [Action::Back, Action::Interrupt] {
        let mut screen = replaying(&world, vec![ReplayNews::Began(1)]);
        let outcome = act(&mut screen, action, &world.ctx());
        assert!(matches!(outcome.effects.as_slice(), [Effect::Cancel(cancelled)] if *cancelled == token));
        assert!(frame(&mut screen, &world, 120, 34).contains("nothing was changed"));
        assert!(!act(&mut screen, Action::Back, &world.ctx()).consumed);
    }
    let refused = Answer {
        token,
        result: Err(SafeText::literal("cannot be run again: the cassette was off")),
    };
    screen.update(&Input::Answer(&refused), &world.ctx());
    assert!(frame(&mut screen, &world, 120, 34).contains("the cassette was off"));
}

#[test]
fn a_fork_is_made_before_the_step_that_is_shown() {
    let world = world();
    let mut screen = opened(&world, 2);
    let outcome = act(&mut screen, Action::Fork, &world.ctx());
    assert!(matches!(
        outcome.effects.as_slice(),
        [Effect::Push(Route::Fork { step: 2, .. })]
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_size_draws(width in 0u16..30, height in 0u16..12, step in 0u64..5) {
        let world = world();
        frame(&mut opened(&world, step), &world, width, height);
    }
}
