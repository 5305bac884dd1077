//! Tests of the problems screen.

use proptest::prelude::*;

use super::super::Route;
use super::super::sample::{HOSTILE, SIZES, act, frame, world, world_of};
use super::*;
use crate::model::{LogId, ProblemKind};
use crate::tui::pattern::Pattern;

fn select(screen: &mut ProblemsScreen, kind: ProblemKind, ctx: &Ctx<'_>) {
    let index = ctx.session.problems.iter().position(|problem| problem.kind == kind);
    screen.list.select(index.unwrap());
    screen.follow(ctx);
}

#[test]
fn every_size_looks_right() {
    let world = world();
    for (width, height) in SIZES {
        let mut screen = ProblemsScreen::new(&world.ctx());
        insta::assert_snapshot!(
            format!("problems_{width}x{height}"),
            frame(&mut screen, &world, width, height)
        );
    }
}

#[test]
fn without_problems_all_is_well() {
    let world = world_of(Vec::new());
    let mut screen = ProblemsScreen::new(&world.ctx());
    assert!(frame(&mut screen, &world, 40, 10).contains("Nothing is wrong with the files"));
    assert_eq!(screen.title(&world.ctx()).as_str(), "no problems in files");
}

#[test]
fn runs_that_failed_are_no_problem_of_files_but_are_told() {
    let mut world = world();
    world.session.problems.clear();
    for query in &mut world.session.queries {
        query.outcome = crate::model::Outcome::Done;
    }
    world.session.queries[0].outcome = crate::model::Outcome::Error("no model".into());
    let mut screen = ProblemsScreen::new(&world.ctx());
    let text = frame(&mut screen, &world, 100, 10);
    assert!(
        text.contains("1 run ended in an error or at a limit: open it in the overview"),
        "{text}"
    );
}

#[test]
fn enter_goes_to_the_step_of_the_line() {
    let world = world();
    let mut screen = ProblemsScreen::new(&world.ctx());
    select(&mut screen, ProblemKind::Unreadable, &world.ctx());
    let outcome = act(&mut screen, Action::Open, &world.ctx());
    let [Effect::Push(Route::Run { query, at: Some(place) })] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    let agent = query.find(&world.session).unwrap().run.agent(place.agent).unwrap();
    assert_eq!(agent.steps[place.step.unwrap()].body.unwrap().line, 5);
}

#[test]
fn a_line_without_a_step_leads_to_its_run_and_other_problems_nowhere() {
    let world = world();
    let mut screen = ProblemsScreen::new(&world.ctx());
    select(&mut screen, ProblemKind::Incomplete, &world.ctx());
    let outcome = act(&mut screen, Action::Open, &world.ctx());
    let [Effect::Push(Route::Run { query, at: None })] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    assert_eq!(query.log, Some(LogId(1)));
    select(&mut screen, ProblemKind::State, &world.ctx());
    let outcome = act(&mut screen, Action::Open, &world.ctx());
    assert!(matches!(outcome.effects.as_slice(), [Effect::Notice(_)]));
}

#[test]
fn where_there_is_nothing_enter_says_nothing() {
    let mut world = world();
    world.session.problems.clear();
    let mut screen = ProblemsScreen::new(&world.ctx());
    let outcome = act(&mut screen, Action::Open, &world.ctx());
    assert!(outcome.consumed && outcome.effects.is_empty(), "{outcome:?}");
}

#[test]
fn the_selected_one_is_shown_and_copied_in_full() {
    let world = world();
    let mut screen = ProblemsScreen::new(&world.ctx());
    select(&mut screen, ProblemKind::Incomplete, &world.ctx());
    let shown = frame(&mut screen, &world, 80, 22);
    assert!(
        shown.contains("/tmp/podcasts/logs/run1.jsonl, line 812, byte 1,234,567"),
        "{shown}"
    );
    assert!(screen.focused(&world.ctx()).unwrap().raw().contains("line 812"));
}

#[test]
fn search_goes_through_kinds_files_and_words() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = ProblemsScreen::new(&ctx);
    for (words, kind) in [
        ("leftovers", ProblemKind::State),
        ("run1", ProblemKind::Incomplete),
        ("unreadable", ProblemKind::Unreadable),
    ] {
        let pattern = Pattern::new(words).unwrap();
        screen.update(&Input::Search(Some(&pattern)), &ctx);
        assert_eq!(screen.problem(&ctx).unwrap().kind, kind);
        assert_eq!(screen.matches().unwrap().total, 1);
    }
}

#[test]
fn the_selection_follows_its_problem() {
    let mut world = world();
    let mut screen = ProblemsScreen::new(&world.ctx());
    select(&mut screen, ProblemKind::State, &world.ctx());
    world.session.problems.remove(0);
    screen.update(&Input::ModelChanged, &world.ctx());
    assert_eq!(screen.problem(&world.ctx()).unwrap().kind, ProblemKind::State);
    assert!(world.session.problems.iter().any(|problem| problem.what == HOSTILE));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_size_draws(width in 0u16..30, height in 0u16..12, moves in 0usize..4) {
        let world = world();
        let mut screen = ProblemsScreen::new(&world.ctx());
        (0..moves).for_each(|_| { act(&mut screen, Action::MoveDown, &world.ctx()); });
        frame(&mut screen, &world, width, height);
    }
}
