//! Tests of the timeline.

use proptest::prelude::*;

use super::super::sample::{SIZES, START, StepAt, act, frame, world, world_of};
use super::*;
use crate::model::{Event, Label, LogFacts, LogId, LogState, Time};
use crate::tui::testing::World;

fn run_screen(world: &World) -> TimelineScreen {
    let query = QueryKey::of(&world.session.queries[0]);
    TimelineScreen::of_run(query, &world.ctx())
}

#[test]
fn every_size_looks_right() {
    let world = world();
    for (width, height) in SIZES {
        let mut screen = run_screen(&world);
        insta::assert_snapshot!(
            format!("run_{width}x{height}"),
            frame(&mut screen, &world, width, height)
        );
        let mut screen = TimelineScreen::of_session(&world.ctx());
        insta::assert_snapshot!(
            format!("session_{width}x{height}"),
            frame(&mut screen, &world, width, height)
        );
    }
}

#[test]
fn ascii_has_its_own_glyphs() {
    let mut world = world();
    world.options.ascii = true;
    let mut screen = TimelineScreen::of_session(&world.ctx());
    act(&mut screen, Action::Last, &world.ctx());
    insta::assert_snapshot!("session_ascii", frame(&mut screen, &world, 80, 22));
}

#[test]
fn zooming_shows_less_and_back() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = run_screen(&world);
    act(&mut screen, Action::ZoomIn, &ctx);
    act(&mut screen, Action::ZoomIn, &ctx);
    insta::assert_snapshot!("run_zoomed", frame(&mut screen, &world, 80, 22));
    act(&mut screen, Action::MoveRight, &ctx);
    assert!(screen.view.range().start > 0);
    act(&mut screen, Action::ZoomReset, &ctx);
    assert!(screen.view.is_whole());
}

#[test]
fn enter_goes_to_the_agent() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = run_screen(&world);
    act(&mut screen, Action::MoveDown, &ctx);
    let outcome = act(&mut screen, Action::Open, &ctx);
    let [Effect::Replace(Route::Run { query, at: Some(place) })] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    assert_eq!(query.label, Label::Completed(1));
    let run = &query.find(&world.session).unwrap().run;
    assert_eq!(run.agent(place.agent).unwrap().run_id, "kid-a");
}

#[test]
fn from_the_session_enter_opens_the_run_on_top() {
    let world = world();
    let mut screen = TimelineScreen::of_session(&world.ctx());
    act(&mut screen, Action::Last, &world.ctx());
    let outcome = act(&mut screen, Action::Open, &world.ctx());
    let [Effect::Push(Route::Run { query, .. })] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    assert_eq!(query.label, Label::Completed(3));
}

#[test]
fn the_selected_agent_comes_into_sight() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = TimelineScreen::of_session(&ctx);
    (0..4).for_each(|_| drop(act(&mut screen, Action::ZoomIn, &ctx)));
    act(&mut screen, Action::Last, &ctx);
    let span = screen.row().unwrap().span.clone().unwrap();
    assert!(screen.view.range().contains(&span.start));
}

#[test]
fn the_selection_follows_its_agent_while_the_run_grows() {
    let mut world = world();
    let mut screen = TimelineScreen::of_session(&world.ctx());
    act(&mut screen, Action::Last, &world.ctx());
    let before = screen.selected;
    let early = StepAt {
        log: 0,
        line: 9,
        agent: "late",
        parent: Some("root0"),
        depth: 1,
        number: 1,
        times: [20_000, 21_000, 22_000],
    };
    world.session.apply(Event::Lines(vec![early.line()]));
    world.session.settle();
    screen.update(&Input::ModelChanged, &world.ctx());
    assert_eq!(screen.selected, before);
    assert_eq!(screen.chart.rows.len(), screen.list.selected().unwrap() + 1);
}

#[test]
fn search_finds_tasks_and_queries() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = TimelineScreen::of_session(&ctx);
    let pattern = Pattern::new("grandkid").unwrap();
    screen.update(&Input::Search(Some(&pattern)), &ctx);
    let (_, agent) = screen.row().unwrap().of(&world.session).unwrap();
    assert_eq!(
        (agent.run_id.as_str(), screen.matches().unwrap().total),
        ("grandkid", 1)
    );
}

#[test]
fn without_times_it_says_so() {
    let world = world_of(Vec::new());
    let mut screen = TimelineScreen::of_session(&world.ctx());
    assert!(frame(&mut screen, &world, 80, 22).contains("No times were"));
}

#[test]
fn clocks_that_contradict_themselves_are_marked() {
    let back = |agent, line, times| {
        StepAt {
            log: 0,
            line,
            agent,
            parent: None,
            depth: 0,
            number: 1,
            times,
        }
        .line()
    };
    let log = LogFacts {
        id: LogId(0),
        path: "a.jsonl".into(),
        state: LogState::Stray,
        queries: Vec::new(),
    };
    let lines = vec![
        back("a", 1, [5_000, 1_000, 2_000]),
        back("b", 2, [Time::MAX / 4, -START, 0]),
    ];
    let world = world_of(vec![Event::Log(log), Event::Lines(lines)]);
    let mut screen = TimelineScreen::of_session(&world.ctx());
    let shown = frame(&mut screen, &world, 100, 22);
    assert!(shown.contains("its clock contradicts itself"), "{shown}");
    let named: Vec<String> = screen
        .chart
        .rows
        .iter()
        .map(|row| lane::names(row, &world.session).unwrap().0)
        .collect();
    let [run, other] = named.as_slice() else {
        panic!("{named:?}")
    };
    let own = world.session.queries[0].run.root().unwrap();
    assert!(
        run.starts_with('X') && ["a", "b"].contains(&other.as_str()),
        "{named:?}"
    );
    assert_ne!(other, &own.run_id);
}

#[test]
fn a_long_run_costs_no_more_than_what_is_visible() {
    let step = |i: u64| {
        let at = i as Time * 10;
        StepAt {
            log: 0,
            line: i,
            agent: "root",
            parent: None,
            depth: 0,
            number: i,
            times: [at, at + 5, at + 9],
        }
        .line()
    };
    let log = LogFacts {
        id: LogId(0),
        path: "a.jsonl".into(),
        state: LogState::Stray,
        queries: Vec::new(),
    };
    let world = world_of(vec![Event::Log(log), Event::Lines((1..20_000).map(step).collect())]);
    let mut screen = TimelineScreen::of_session(&world.ctx());
    let shown = frame(&mut screen, &world, 80, 22);
    assert!(shown.contains(&"█".repeat(30)), "{shown}");
}

#[test]
fn times_are_those_of_the_cards_and_the_gaps_that_are_counted_are_marked() {
    const HOUR: Time = 3_600_000;
    let step = |number: u64, at: Time| {
        StepAt {
            log: 0,
            line: number,
            agent: "root",
            parent: None,
            depth: 0,
            number,
            times: [at, at + 500, at + 1_000],
        }
        .line()
    };
    let end = crate::model::Line {
        kind: crate::model::LineKind::End(Default::default()),
        time: Some(START + HOUR + 5_000),
        ..step(4, 0)
    };
    let log = LogFacts {
        id: LogId(0),
        path: "a.jsonl".into(),
        state: LogState::Stray,
        queries: Vec::new(),
    };
    let lines = vec![step(1, 0), step(2, HOUR), step(3, HOUR + 2_000), end];
    let world = world_of(vec![Event::Log(log), Event::Lines(lines)]);
    let worked = crate::text::duration(world.session.queries[0].run.worked);
    for mut screen in [run_screen(&world), TimelineScreen::of_session(&world.ctx())] {
        let shown = frame(&mut screen, &world, 100, 22);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].contains(&format!(" {worked} ")), "{worked}: {shown}");
        let row = lines.iter().find(|line| line.contains("  3  ")).unwrap();
        assert!(row.trim_end().ends_with(&worked), "{shown}");
        let marks = lines[2].matches('╎').count();
        assert!(
            lines[0].contains(&format!("{marks} gaps folded, 1h 00m in all")),
            "{shown}"
        );
        assert!(shown.contains("╎ a gap: nothing happened for so long"), "{shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_size_and_any_keys_draw(width in 0u16..30, height in 0u16..12, keys in prop::collection::vec(0usize..7, 0..10), all: bool) {
        let world = world();
        let mut screen = if all { TimelineScreen::of_session(&world.ctx()) } else { run_screen(&world) };
        let actions = [Action::ZoomIn, Action::ZoomOut, Action::MoveRight, Action::MoveLeft, Action::MoveDown, Action::Last, Action::PageUp];
        for key in keys {
            act(&mut screen, actions[key], &world.ctx());
            frame(&mut screen, &world, width, height);
        }
    }
}
