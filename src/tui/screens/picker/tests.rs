//! Tests of the picker.

use proptest::prelude::*;

use super::super::sample::{HOSTILE, SIZES, act, frame, world};
use super::summary::Health;
use super::*;
use crate::model::{CostSum, Totals, Usage};
use crate::tui::effect::Stop;
use crate::tui::pattern::Pattern;
use std::path::Path;

const WALL: i64 = 1_700_000_000_000;

fn summaries() -> Vec<SessionSummary> {
    let session = |name: &str, queries, ago: i64| SessionSummary {
        path: PathBuf::from(format!("/runs/{name}")),
        name: name.into(),
        queries,
        last_query: Some("What changed since last week?\nIn two sentences.".into()),
        last_activity: Some(WALL - ago),
        ..SessionSummary::default()
    };
    vec![
        session("podcasts", 4, 187_000),
        SessionSummary {
            pending: Some("誰が一番楽観的ですか 🎙️".into()),
            ..session("日本語のセッション", 1, 7_500_000)
        },
        SessionSummary {
            state: Health::Damaged("state.json: line 1, byte 88: expected value".into()),
            ..session("damaged", 0, 90_000_000)
        },
        SessionSummary {
            parent: Some("podcasts".into()),
            ..session("podcasts-fork", 5, 5_000_000_000)
        },
        session(HOSTILE, 12_345, 12_000),
    ]
}

fn list(_: &Path, _: &Stop) -> Vec<SessionSummary> {
    summaries()
}

fn totals(path: &Path, _: &Stop) -> Option<SessionTotals> {
    let size = path.as_os_str().len() as u64;
    let completed = Totals {
        steps: 8,
        usage: Usage {
            total: size * 123_456,
            ..Usage::default()
        },
        cost: CostSum {
            nano: i128::from(size) * 31_000_000,
            known: 7,
            unknown: size % 2,
        },
        ..Totals::default()
    };
    (!path.ends_with("damaged")).then_some(SessionTotals {
        completed,
        lost: Totals::default(),
        lost_runs: 0,
        complete: true,
    })
}

/// Runs what is asked for, and what that asks for, until nothing is.
fn settle(screen: &mut PickerScreen, mut outcome: Outcome, ctx: &Ctx<'_>) {
    while let Some(effect) = outcome.effects.pop() {
        if let Effect::Work { token, work } = effect {
            let result = (work.run)(&Stop::default());
            let answer = Answer {
                token,
                result: Ok(Reply::Worked(result)),
            };
            outcome
                .effects
                .extend(screen.update(&Input::Answer(&answer), ctx).effects);
        }
    }
}

fn opened(ctx: &Ctx<'_>) -> PickerScreen {
    let mut screen = PickerScreen::new("/runs".into(), Vec::new(), Loader { list, totals });
    let outcome = screen.update(&Input::Opened, ctx);
    settle(&mut screen, outcome, ctx);
    screen
}

fn filter(screen: &mut PickerScreen, text: &str, ctx: &Ctx<'_>) {
    let pattern = Pattern::new(text);
    let outcome = screen.update(&Input::Search(pattern.as_ref()), ctx);
    settle(screen, outcome, ctx);
}

#[test]
fn every_size_looks_right() {
    let world = world();
    for (width, height) in SIZES {
        let mut screen = opened(&world.ctx());
        insta::assert_snapshot!(
            format!("picker_{width}x{height}"),
            frame(&mut screen, &world, width, height)
        );
    }
}

#[test]
fn before_the_listing_it_looks_for_sessions_and_says_when_there_are_none() {
    let world = world();
    let mut screen = PickerScreen::new(
        "/runs".into(),
        Vec::new(),
        Loader {
            list: |_, _| Vec::new(),
            totals,
        },
    );
    let outcome = screen.update(&Input::Opened, &world.ctx());
    assert!(frame(&mut screen, &world, 60, 8).contains("Looking for sessions."));
    settle(&mut screen, outcome, &world.ctx());
    assert!(frame(&mut screen, &world, 60, 8).contains("There are no sessions here."));
}

#[test]
fn typing_filters_and_the_end_of_the_search_shows_all() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = opened(&ctx);
    filter(&mut screen, "pdcst", &ctx);
    let names: Vec<_> = screen
        .shown
        .iter()
        .map(|index| screen.entries[*index].summary.name.as_str())
        .collect();
    assert_eq!(names, ["podcasts", "podcasts-fork"]);
    assert_eq!(screen.matches().unwrap().total, 2);
    filter(&mut screen, "nothing like it", &ctx);
    assert!(frame(&mut screen, &world, 80, 10).contains("No session matches"));
    filter(&mut screen, "", &ctx);
    assert_eq!(screen.shown.len(), 5);
    assert!(screen.matches().is_none());
}

#[test]
fn enter_opens_the_selected_session() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = opened(&ctx);
    filter(&mut screen, "fork", &ctx);
    let outcome = act(&mut screen, Action::Open, &ctx);
    assert!(matches!(outcome.effects.as_slice(), [Effect::OpenTarget(path)] if path.ends_with("podcasts-fork")));
}

#[test]
fn sorting_keeps_the_selection_on_its_session() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = opened(&ctx);
    act(&mut screen, Action::MoveDown, &ctx);
    let before = screen.selected().unwrap().summary.path.clone();
    for _ in 0..5 {
        act(&mut screen, Action::Sort, &ctx);
        assert_eq!(screen.selected().unwrap().summary.path, before);
    }
}

#[test]
fn only_sessions_in_sight_are_read() {
    let world = world();
    let ctx = world.ctx();
    let many: fn(&Path, &Stop) -> Vec<SessionSummary> = |_, _| {
        let session = |i: usize| SessionSummary {
            path: format!("/runs/{i}").into(),
            name: i.to_string(),
            ..SessionSummary::default()
        };
        (0..5_000).map(session).collect()
    };
    let mut screen = PickerScreen::new("/runs".into(), Vec::new(), Loader { list: many, totals });
    let outcome = screen.update(&Input::Opened, &ctx);
    frame(&mut screen, &world, 80, 12);
    settle(&mut screen, outcome, &ctx);
    let read = screen
        .entries
        .iter()
        .filter(|entry| matches!(entry.known, Known::Totals(_)))
        .count();
    assert!((1..=40).contains(&read), "{read}");
    assert_eq!(screen.asked, 0);
}

#[test]
fn a_new_listing_keeps_what_is_known() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = opened(&ctx);
    let outcome = screen.update(&Input::Shown, &ctx);
    assert_eq!(outcome.effects.len(), 1, "the listing alone is read again");
    settle(&mut screen, outcome, &ctx);
    assert!(screen.entries.iter().all(|entry| !matches!(entry.known, Known::Not)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_size_draws(width in 0u16..30, height in 0u16..12, moves in 0usize..6) {
        let world = world();
        let mut screen = opened(&world.ctx());
        (0..moves).for_each(|_| drop(act(&mut screen, Action::MoveDown, &world.ctx())));
        frame(&mut screen, &world, width, height);
    }
}
