//! Tests of the comparison's screen.

use super::super::QueryKey;
use super::super::Route;
use super::super::sample::{HOSTILE, SIZES, act, frame, world};
use super::*;
use crate::model::DiffStep;
use crate::source::Side;
use crate::tui::testing::World;
use proptest::prelude::*;

fn step(name: &str, code: &str, output: &str) -> DiffStep {
    DiffStep {
        name: name.into(),
        code: code.into(),
        output: output.into(),
        ..DiffStep::default()
    }
}

fn comparison() -> Comparison {
    let side = |name: &str, steps| Side {
        name: name.into(),
        steps,
        unreadable: 0,
    };
    let left = vec![
        step("step 1", "guests = find(context)\nprint(len(guests))", "41"),
        step("step 2", "answer = await llm_query(guests)", ""),
        step("step 3", HOSTILE, HOSTILE),
        DiffStep {
            value: Some("2031".into()),
            ..step("step 4", "FINAL(answer)", "")
        },
    ];
    let right = vec![
        step(
            "step 1",
            "guests = find(context)  # all of them\nprint(len(guests))",
            "41",
        ),
        step("step 2", "import re", ""),
        step("step 3", "answer = await llm_query(guests)", "slow"),
        step("step 4", "raise ValueError(日本語)", "ValueError"),
        DiffStep {
            value: Some("2029".into()),
            ..step("step 5", "FINAL(answer)", "")
        },
    ];
    Comparison::of(side("Q1", left), side("Q2", right))
}

fn opened(world: &World) -> DiffScreen {
    let other = Sides::Session("/tmp/other".into());
    let mut screen = DiffScreen::new(other.clone());
    let outcome = screen.update(&Input::Opened, &world.ctx());
    let [Effect::Compare { token, sides }] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    assert_eq!(*sides, other);
    let reply = Reply::Compared(Arc::new(comparison()));
    let answer = Answer {
        token: *token,
        result: Ok(reply),
    };
    screen.update(&Input::Answer(&answer), &world.ctx());
    screen
}

#[test]
fn every_size_looks_right() {
    let world = world();
    for (width, height) in SIZES {
        let mut screen = opened(&world);
        insta::assert_snapshot!(
            format!("diff_{width}x{height}"),
            frame(&mut screen, &world, width, height)
        );
    }
}

#[test]
fn the_first_difference_is_selected_and_n_goes_on() {
    let world = world();
    let mut screen = opened(&world);
    let at = |screen: &DiffScreen| screen.list.selected().unwrap();
    assert_eq!(at(&screen), 1, "{:?}", comparison().diff);
    let mut seen = vec![at(&screen)];
    for _ in 0..4 {
        act(&mut screen, Action::SearchNext, &world.ctx());
        seen.push(at(&screen));
    }
    assert_eq!(seen, [1, 2, 3, 4, 1]);
}

#[test]
fn a_failure_is_said_and_late_answers_are_dropped() {
    let world = world();
    let mut screen = opened(&world);
    let late = Answer {
        token: Token::default(),
        result: Err(SafeText::literal("late")),
    };
    screen.update(&Input::Answer(&late), &world.ctx());
    assert!(screen.comparison().is_some());
    let failed = Answer {
        token: screen.token,
        result: Err(SafeText::literal("that run is gone")),
    };
    screen.update(&Input::Answer(&failed), &world.ctx());
    assert!(frame(&mut screen, &world, 80, 24).contains("that run is gone"));
}

#[test]
fn a_run_is_compared_with_one_of_the_others() {
    let world = world();
    let query = QueryKey::of(&world.session.queries[1]);
    let mut screen = ChooseScreen::new(query, &world.ctx());
    let shown = frame(&mut screen, &world, 100, 20);
    assert!(shown.contains("Compare") && shown.matches("Q2").count() == 1, "{shown}");
    let outcome = act(&mut screen, Action::Accept, &world.ctx());
    let first = QueryKey::of(&world.session.queries[0]);
    let [Effect::Replace(Route::Diff(sides))] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    assert_eq!(*sides, Sides::Runs(query, first));
}

#[test]
fn the_marks_are_those_of_the_shell_and_of_the_document() {
    let world = world();
    let shown = frame(&mut opened(&world), &world, 120, 34);
    for row in [
        "step 1   step 1",
        "       + step 2  right only",
        "step 2 ! step 3  the output differs",
        "step 3 ~ step 4  other code",
        "step 4 ! step 5  FINAL differs",
    ] {
        assert!(shown.contains(row), "{row}\n{shown}");
    }
    let doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/lab.md"));
    assert!(doc.contains("(`~`, `+`, `-`)") && doc.contains("another result (`!`)"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_size_draws(width in 0u16..30, height in 0u16..12) {
        let world = world();
        frame(&mut opened(&world), &world, width, height);
        let query = QueryKey::of(&world.session.queries[0]);
        frame(&mut ChooseScreen::new(query, &world.ctx()), &world, width, height);
    }
}
