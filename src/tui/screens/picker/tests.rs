//! Tests of the picker.

use proptest::prelude::*;

use super::super::sample::{HOSTILE, SIZES, act, frame};
use super::*;
use crate::model::{CostSum, Totals, Usage};
use crate::source::{Health, SessionSummary, Stop};
use crate::tui::pattern::Pattern;
use crate::tui::testing::World;

const WALL: i64 = 1_700_000_000_000;

fn session(name: &str, queries: u64, ago: i64) -> SessionSummary {
    SessionSummary {
        queries,
        last_query: Some("What changed since last week?\nIn two sentences.".into()),
        last_activity: Some(WALL - ago),
        ..Entry::named(name).summary
    }
}

fn summaries() -> Vec<SessionSummary> {
    let damaged = Health::Damaged("state.json: line 1, byte 88: expected value".into());
    vec![
        session("podcasts", 4, 187_000),
        SessionSummary {
            pending: Some("誰が一番楽観的ですか 🎙️".into()),
            ..session("日本語のセッション", 1, 7_500_000)
        },
        SessionSummary {
            health: damaged,
            ..session("damaged", 0, 90_000_000)
        },
        SessionSummary {
            parent: Some("podcasts".into()),
            ..session("podcasts-fork", 5, 5_000_000_000)
        },
        session(HOSTILE, 12_345, 12_000),
    ]
}

fn totals(summary: &SessionSummary) -> Option<Box<SessionTotals>> {
    let size = summary.name.len() as u64;
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
    let totals = SessionTotals {
        completed,
        complete: true,
        ..SessionTotals::default()
    };
    (summary.health == Health::Good).then_some(Box::new(totals))
}

fn screen(found: Vec<SessionSummary>) -> PickerScreen {
    PickerScreen::new(
        &SessionList {
            dir: "/runs".into(),
            found: found.into(),
        },
        Sort::default(),
    )
}

fn answer(screen: &mut PickerScreen, loaded: Loaded, ctx: &Ctx<'_>) -> Outcome {
    let answer = Answer {
        token: screen.token,
        result: Ok(Reply::Worked(Box::new(Some(loaded)))),
    };
    screen.update(&Input::Answer(&answer), ctx)
}

fn listed(rows: Vec<SessionSummary>, gone: &[&str], all: bool) -> Loaded {
    let gone = gone.iter().map(|name| Entry::named(name).summary.path).collect();
    Loaded::Sessions(Listed { rows, gone, all })
}

/// The names on the screen, in their order.
fn names(screen: &PickerScreen) -> Vec<&str> {
    let shown = screen.shown.iter();
    shown
        .map(|index| screen.entries[*index].summary.name.as_str())
        .collect()
}

/// A screen on which everything has been read.
fn read(world: &World) -> PickerScreen {
    let mut screen = screen(summaries());
    screen.update(&Input::Opened, &world.ctx());
    for summary in summaries() {
        let totals = totals(&summary);
        answer(
            &mut screen,
            Loaded::Totals(summary.path, Ok(totals), Duration::ZERO),
            &world.ctx(),
        );
    }
    screen
}

fn filter(screen: &mut PickerScreen, text: &str, ctx: &Ctx<'_>) {
    screen.update(&Input::Search(Pattern::new(text).as_ref()), ctx);
}

#[test]
fn every_size_looks_right() {
    let world = World::new();
    for (width, height) in SIZES {
        let mut screen = read(&world);
        insta::assert_snapshot!(
            format!("picker_{width}x{height}"),
            frame(&mut screen, &world, width, height)
        );
    }
}

#[test]
fn real_sessions_are_listed_and_read() {
    let world = World::new();
    let dir = tempfile::tempdir().unwrap();
    for (name, query) in [("one", "first question"), ("two", "second question")] {
        let session = dir.path().join(name);
        std::fs::create_dir(&session).unwrap();
        let state =
            format!(r#"{{"version": 2, "queries": [{{"query": "{query}", "final": 1}}], "pending_query": null}}"#);
        std::fs::write(session.join("state.json"), state).unwrap();
    }
    let mut screen = PickerScreen::new(
        &SessionList {
            dir: dir.path().into(),
            found: Vec::new().into(),
        },
        Sort::default(),
    );
    let mut outcome = screen.update(&Input::Opened, &world.ctx());
    let mut looks = 0;
    while let Some(effect) = outcome.effects.pop() {
        let Effect::Work { token, work } = effect else {
            continue;
        };
        looks += usize::from(work.name == "follow sessions");
        if work.name == "follow sessions" && looks > 1 {
            continue;
        }
        let answer = Answer {
            token,
            result: Ok(Reply::Worked((work.run)(&Stop::default()))),
        };
        outcome
            .effects
            .extend(screen.update(&Input::Answer(&answer), &world.ctx()).effects);
    }
    assert_eq!(screen.entries.len(), 2);
    assert!(
        screen
            .entries
            .iter()
            .all(|entry| entry.totals().is_some() && entry.summary.queries == 1)
    );
    filter(&mut screen, "second", &world.ctx());
    assert_eq!(screen.selected().unwrap().summary.name, "two");
}

#[test]
fn before_the_listing_it_looks_for_sessions_and_says_when_there_are_none() {
    let world = World::new();
    let mut screen = screen(Vec::new());
    assert!(frame(&mut screen, &world, 60, 8).contains("Looking for sessions."));
    answer(&mut screen, listed(Vec::new(), &[], true), &world.ctx());
    assert!(frame(&mut screen, &world, 60, 8).contains("There are no sessions here."));
}

#[test]
fn typing_filters_and_the_end_of_the_search_shows_all() {
    let world = World::new();
    let ctx = world.ctx();
    let mut screen = read(&world);
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
    let world = World::new();
    let ctx = world.ctx();
    let mut screen = read(&world);
    filter(&mut screen, "fork", &ctx);
    let outcome = act(&mut screen, Action::Open, &ctx);
    assert!(matches!(outcome.effects.as_slice(), [Effect::OpenTarget(path)] if path.ends_with("podcasts-fork")));
}

#[test]
fn sorting_keeps_the_selection_on_its_session() {
    let world = World::new();
    let ctx = world.ctx();
    let mut screen = read(&world);
    act(&mut screen, Action::MoveDown, &ctx);
    let before = screen.selected().unwrap().summary.path.clone();
    for _ in 0..5 {
        act(&mut screen, Action::Sort, &ctx);
        assert_eq!(screen.selected().unwrap().summary.path, before);
    }
}

#[test]
fn only_sessions_in_sight_are_read_a_few_at_a_time() {
    let world = World::new();
    let ctx = world.ctx();
    let mut screen = screen((0..5_000).map(|i| session(&format!("{i:04}"), i, 0)).collect());
    frame(&mut screen, &world, 80, 12);
    let asked = |outcome: &Outcome| {
        outcome
            .effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Work { work, .. } if work.name == "session totals"))
            .count()
    };
    assert_eq!(asked(&screen.update(&Input::Opened, &ctx)), AT_A_TIME);
    let first = screen.entries[screen.shown[0]].summary.clone();
    let outcome = answer(
        &mut screen,
        Loaded::Totals(first.path.clone(), Ok(totals(&first)), Duration::ZERO),
        &ctx,
    );
    assert_eq!(asked(&outcome), 1);
    for _ in 0..100 {
        let waiting = screen.entries.iter().find(|entry| matches!(entry.known, Known::Asked));
        let Some(path) = waiting.map(|entry| entry.summary.path.clone()) else {
            break;
        };
        answer(&mut screen, Loaded::Totals(path, Ok(None), Duration::ZERO), &ctx);
    }
    let untouched = screen
        .entries
        .iter()
        .filter(|entry| matches!(entry.known, Known::Not))
        .count();
    assert!(untouched > 4_900, "{untouched}");
}

#[test]
fn a_new_listing_keeps_what_is_known() {
    let world = World::new();
    let ctx = world.ctx();
    let mut screen = read(&world);
    let outcome = screen.update(&Input::Shown, &ctx);
    assert!(outcome.effects.is_empty(), "who follows looks again: {outcome:?}");
    answer(&mut screen, listed(summaries(), &[], true), &ctx);
    assert!(screen.entries.iter().all(|entry| !matches!(entry.known, Known::Not)));
}

#[test]
fn what_changes_is_told_and_selection_sort_and_filter_stay() {
    let mut world = World::new();
    let mut screen = read(&world);
    act(&mut screen, Action::Sort, &world.ctx());
    filter(&mut screen, "podcasts", &world.ctx());
    act(&mut screen, Action::MoveDown, &world.ctx());
    assert_eq!(screen.selected().unwrap().summary.name, "podcasts-fork");
    let rows = vec![
        session("a new one of podcasts", 1, 0),
        SessionSummary {
            pending: None,
            ..session("podcasts-fork", 6, 0)
        },
        session("unlike the others", 9, 0),
    ];
    world.now += Duration::from_secs(5);
    let outcome = answer(&mut screen, listed(rows, &["podcasts"], false), &world.ctx());
    let mut shown = names(&screen);
    shown.sort_unstable();
    assert_eq!(shown, ["a new one of podcasts", "podcasts-fork"]);
    assert_eq!(screen.selected().unwrap().summary.queries, 6);
    assert_eq!(screen.sort, Sort::Name);
    assert!(
        screen.selected().unwrap().totals().is_some(),
        "shown until they are read again"
    );
    let asked = outcome.effects.iter().filter_map(|effect| match effect {
        Effect::Work { work, .. } => Some(work.name),
        _ => None,
    });
    let mut asked: Vec<_> = asked.collect();
    asked.sort_unstable();
    assert_eq!(asked, ["follow sessions", "session totals", "session totals"]);
    filter(&mut screen, "", &world.ctx());
    assert_eq!(screen.entries.len(), 6);
    assert_eq!(screen.selected().unwrap().summary.name, "podcasts-fork");
}

#[test]
fn where_the_selected_session_is_gone_the_next_one_is_selected() {
    let world = World::new();
    let mut screen = read(&world);
    act(&mut screen, Action::MoveDown, &world.ctx());
    let (before, next) = (names(&screen)[1].to_owned(), names(&screen)[2].to_owned());
    answer(&mut screen, listed(Vec::new(), &[&before], false), &world.ctx());
    assert_eq!(screen.selected().unwrap().summary.name, next);
    let all: Vec<String> = names(&screen).into_iter().map(str::to_owned).collect();
    let gone: Vec<&str> = all.iter().map(String::as_str).collect();
    answer(&mut screen, listed(Vec::new(), &gone, false), &world.ctx());
    assert!(frame(&mut screen, &world, 60, 8).contains("There are no sessions here."));
}

#[test]
fn totals_of_a_session_that_goes_on_are_read_now_and_then() {
    let mut world = World::new();
    let mut screen = read(&world);
    let grown = |queries: u64| listed(vec![session("podcasts", queries, 0)], &[], false);
    let reads = |outcome: &Outcome| {
        let works = outcome.effects.iter();
        works
            .filter(|effect| matches!(effect, Effect::Work { work, .. } if work.name == "session totals"))
            .count()
    };
    world.now += Duration::from_secs(10);
    assert_eq!(reads(&answer(&mut screen, grown(5), &world.ctx())), 1);
    assert_eq!(
        reads(&answer(&mut screen, grown(6), &world.ctx())),
        0,
        "it is being read"
    );
    let path = Entry::named("podcasts").summary.path;
    let read = Loaded::Totals(path, Ok(totals(&session("podcasts", 5, 0))), Duration::from_secs(1));
    let outcome = answer(&mut screen, read, &world.ctx());
    assert_eq!(reads(&outcome), 0, "it rests");
    let due = world.now + Duration::from_secs(20);
    assert!(
        outcome
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::FrameAt(at) if *at == due))
    );
    world.now = due;
    assert_eq!(reads(&screen.update(&Input::Frame, &world.ctx())), 1);
}

#[test]
fn case_85_filter_age_and_active_mark_at_60_and_120_columns() {
    let mut world = World::new();
    world.running = vec![PathBuf::from("/runs/podcasts-fork")].into();
    for width in [60, 120] {
        let mut screen = read(&world);
        filter(&mut screen, "podcasts", &world.ctx());
        insta::assert_snapshot!(format!("case_85_{width}"), frame(&mut screen, &world, width, 24));
    }
}

#[test]
fn a_session_says_what_it_was_forked_from_and_what_was_forked_from_it() {
    let world = World::new();
    let mut screen = read(&world);
    let shown = frame(&mut screen, &world, 80, 22);
    assert!(shown.contains("podcasts-fork ← podcasts"), "{shown}");
    filter(&mut screen, "podcasts", &world.ctx());
    let selected = |screen: &PickerScreen| screen.selected().unwrap().summary.name.clone();
    assert_eq!(selected(&screen), "podcasts");
    assert!(frame(&mut screen, &world, 120, 34).contains("forks podcasts-fork"));
    act(&mut screen, Action::MoveDown, &world.ctx());
    assert!(frame(&mut screen, &world, 120, 34).contains("forked from podcasts"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_size_draws(width in 0u16..30, height in 0u16..12, moves in 0usize..6) {
        let world = World::new();
        let mut screen = read(&world);
        (0..moves).for_each(|_| drop(act(&mut screen, Action::MoveDown, &world.ctx())));
        frame(&mut screen, &world, width, height);
    }
}

#[test]
fn runs_without_final_are_counted_and_the_last_end_is_told() {
    let world = World::new();
    let mut entry = Entry::named("lost");
    let totals = SessionTotals {
        lost_runs: 1,
        last_end: Some(crate::source::BadEnd::Limit),
        ..SessionTotals::default()
    };
    entry.known = Known::Totals(Box::new(totals));
    let row: String = table::Columns::of(100, Sort::Activity)
        .row(&entry, &world.ctx())
        .spans()
        .map(|(text, _)| text)
        .collect();
    assert!(row.contains("✕ lost") && row.contains("0 + 1"), "{row}");
    let text = preview::document(&entry, &[], &world.ctx()).text.to_string();
    assert!(text.contains("its last query hit a limit"), "{text}");
    assert!(text.contains("0 queries + 1 run without FINAL"), "{text}");
    let head: String = table::Columns::of(100, Sort::Activity)
        .head(Sort::Queries, &world.ctx())
        .spans()
        .map(|(text, _)| text)
        .collect();
    assert!(head.contains("queries↓"), "{head}");
}

#[test]
fn whether_a_session_can_have_another_name_is_looked_up_before_it_is_asked_for() {
    let world = World::new();
    let mut screen = read(&world);
    let effects = screen.update(&Input::Action(Action::Rename), &world.ctx()).effects;
    assert!(
        matches!(effects.as_slice(), [Effect::Errand(Errand::AskName { dir })] if dir.starts_with("/runs")),
        "{effects:?}"
    );
}
