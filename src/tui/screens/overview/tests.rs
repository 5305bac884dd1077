//! What the overview shows and how it moves.

use super::sample;
use super::*;
use crate::model::{BranchKind, BranchPoint, Event, Lineage};
use crate::tui::input::MouseKind;
use crate::tui::testing::{World, text_of};
use proptest::prelude::*;
use ratatui::layout::{Position, Size};
use std::time::Duration;

fn world(session: crate::model::Session) -> World {
    let mut world = World::new();
    world.session = session;
    world
}

fn opened(world: &World) -> Overview {
    let mut screen = Overview::new();
    screen.update(&Input::Opened, &world.ctx());
    screen
}

fn frame(screen: &mut Overview, world: &World, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    screen.draw(area, &mut buf, &world.ctx());
    text_of(&buf)
}

fn snapshot(name: &str, session: crate::model::Session) {
    let world = world(session);
    for (width, height) in [(120, 34), (80, 22), (40, 10)] {
        let mut screen = opened(&world);
        insta::assert_snapshot!(
            format!("{name}_{width}x{height}"),
            frame(&mut screen, &world, width, height)
        );
    }
}

#[test]
fn a_session_with_something_of_everything() {
    snapshot("lighthouses", sample::lighthouses());
}

#[test]
fn hostile_text_is_shown_as_marks() {
    snapshot("hostile", sample::hostile());
}

#[test]
fn case_85_a_session_with_a_family_says_so() {
    let mut session = sample::lighthouses();
    let point = |name: &str, step: u64, run: usize| BranchPoint {
        session: name.into(),
        dir: format!("/runs/{name}").into(),
        kind: BranchKind::Fork,
        run_id: session.queries[run].run.root().map(|root| root.run_id.clone()),
        label: None,
        step,
    };
    let lineage = Lineage {
        parent: Some(point("harbour", 3, 1)),
        branches: (1..=6).map(|n| point(&format!("s_{n}"), n, 0)).collect(),
        root: "/runs".into(),
    };
    session.apply(Event::Lineage(lineage));
    session.settle();
    snapshot("family", session);
}

#[test]
fn few_queries_get_the_room_they_need() {
    let world = world(sample::lighthouses());
    let text = frame(&mut opened(&world), &world, 80, 56);
    let all = ["Q1", "Q2", "Q3", "Q4", "X1", "P running", "Signe Dahl"];
    for needle in all {
        assert!(text.contains(needle), "{needle}\n{text}");
    }
}

#[test]
fn nothing_yet_is_said() {
    let world = world(sample::many(0));
    assert!(frame(&mut opened(&world), &world, 80, 24).contains("no queries yet"));
}

#[test]
fn the_selected_query_opens_by_key_and_by_double_press() {
    let world = world(sample::lighthouses());
    let mut screen = opened(&world);
    frame(&mut screen, &world, 80, 22);
    screen.update(&Input::Action(Action::MoveDown), &world.ctx());
    let second = QueryKey::of(&world.session.queries[1]);
    let opens = |outcome: Outcome| match outcome.effects.into_iter().next() {
        Some(Effect::Push(Route::Run { query, at: None })) => Some(query),
        _ => None,
    };
    assert_eq!(
        opens(screen.update(&Input::Action(Action::Open), &world.ctx())),
        Some(second)
    );
    frame(&mut screen, &world, 80, 22);
    let press = Mouse {
        kind: MouseKind::DoublePress,
        at: Position { x: 20, y: 9 },
    };
    let first = QueryKey::of(&world.session.queries[0]);
    assert_eq!(opens(screen.update(&Input::Mouse(press), &world.ctx())), Some(first));
}

#[test]
fn failed_and_pending_runs_open_like_any_other() {
    let world = world(sample::lighthouses());
    let mut screen = opened(&world);
    for query in &world.session.queries {
        let outcome = screen.update(&Input::Action(Action::Open), &world.ctx());
        assert!(
            matches!(outcome.effects.as_slice(), [Effect::Push(Route::Run { query: key, .. })] if *key == QueryKey::of(query)),
            "{}",
            query.label
        );
        screen.update(&Input::Action(Action::MoveDown), &world.ctx());
    }
}

#[test]
fn new_queries_are_followed_only_from_the_end() {
    let grow = |world: &mut World, screen: &mut Overview, queries| {
        world.session = sample::many(queries);
        screen.update(&Input::ModelChanged, &world.ctx());
        screen.timeline.selected()
    };
    let mut world = world(sample::many(50));
    let mut screen = opened(&world);
    assert_eq!(grow(&mut world, &mut screen, 51), Some(0), "one reads at the start");
    screen.update(&Input::Action(Action::Last), &world.ctx());
    assert_eq!(grow(&mut world, &mut screen, 53), Some(52), "pinned to the end");
    frame(&mut screen, &world, 80, 22);
    let wheel = Mouse {
        kind: MouseKind::Wheel(-3),
        at: Position { x: 5, y: 15 },
    };
    screen.update(&Input::Mouse(wheel), &world.ctx());
    assert_eq!(grow(&mut world, &mut screen, 54), Some(52), "scrolling unpins");
    screen.update(&Input::Action(Action::Last), &world.ctx());
    assert_eq!(grow(&mut world, &mut screen, 55), Some(54), "End pins again");
}

#[test]
fn a_wheel_scroll_stays_where_it_is_while_the_session_grows() {
    let mut world = world(sample::many(50));
    let mut screen = opened(&world);
    screen.update(&Input::Action(Action::Last), &world.ctx());
    frame(&mut screen, &world, 80, 22);
    let wheel = Mouse {
        kind: MouseKind::Wheel(-60),
        at: Position { x: 5, y: 15 },
    };
    screen.update(&Input::Mouse(wheel), &world.ctx());
    let before = frame(&mut screen, &world, 80, 22);
    world.session = sample::many(51);
    screen.update(&Input::ModelChanged, &world.ctx());
    let cards = |text: &str| {
        text.lines()
            .skip(5)
            .map(|row| row.trim_end_matches(['│', '┃', ' ']).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(cards(&before), cards(&frame(&mut screen, &world, 80, 22)));
}

#[test]
fn searching_walks_the_matching_cards() {
    let world = world(sample::many(100));
    let mut screen = opened(&world);
    let pattern = Pattern::new("number 7");
    screen.update(&Input::Search(pattern.as_ref()), &world.ctx());
    assert_eq!(
        screen.matches(),
        Some(Matches {
            current: 1,
            total: 11,
            more: false,
            elsewhere: None,
        })
    );
    assert_eq!(screen.timeline.selected(), Some(7));
    screen.update(&Input::Action(Action::SearchPrevious), &world.ctx());
    assert_eq!(screen.timeline.selected(), Some(79));
    screen.update(&Input::Action(Action::SearchNext), &world.ctx());
    assert_eq!(screen.timeline.selected(), Some(7));
    screen.update(&Input::Search(None), &world.ctx());
    assert_eq!(screen.matches(), None);
}

#[test]
fn the_first_frame_has_the_layout_and_any_key_ends_the_entrance() {
    let mut world = world(sample::lighthouses());
    world.options.animation = true;
    let mut screen = Overview::new();
    let outcome = screen.update(&Input::Opened, &world.ctx());
    assert!(matches!(outcome.effects.as_slice(), [Effect::FrameAt(_)]));
    let first = frame(&mut screen, &world, 80, 22);
    assert!(first.contains("134,172 tokens") && first.contains("╭──"), "{first}");
    assert!(!first.contains("Q1"), "{first}");
    world.now = Duration::from_millis(250);
    let outcome = screen.update(&Input::Frame, &world.ctx());
    assert!(matches!(outcome.effects.as_slice(), [Effect::FrameAt(_)]));
    let middle = frame(&mut screen, &world, 80, 22);
    assert!(
        middle.contains("Q1") && middle.contains("Q2") && !middle.contains("Q3"),
        "{middle}"
    );
    screen.update(&Input::Action(Action::Help), &world.ctx());
    assert!(frame(&mut screen, &world, 80, 22).contains("Q3"));
    assert!(
        screen.update(&Input::Frame, &world.ctx()).effects.is_empty(),
        "no frame without need"
    );
}

#[test]
fn only_cards_in_sight_are_laid_out() {
    let world = world(sample::many(10_000));
    let mut screen = opened(&world);
    screen.update(&Input::Action(Action::Last), &world.ctx());
    let text = frame(&mut screen, &world, 120, 34);
    assert!(text.contains("Q10000") && text.contains("query number 9999"), "{text}");
    assert_eq!(text.matches("query number").count(), 6, "{text}");
}

const KEYS: [Action; 9] = [
    Action::MoveUp,
    Action::MoveDown,
    Action::PageUp,
    Action::PageDown,
    Action::First,
    Action::Last,
    Action::SearchNext,
    Action::SearchPrevious,
    Action::Raw,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_size_draws(width in 0u16..31, height in 0u16..13, which in 0usize..4, key in 0usize..9) {
        let session = match which {
            0 => sample::lighthouses(),
            1 => sample::hostile(),
            2 => sample::many(0),
            _ => sample::many(3),
        };
        let mut world = world(session);
        world.size = Size::new(width, height);
        let mut screen = opened(&world);
        frame(&mut screen, &world, width, height);
        screen.update(&Input::Action(KEYS[key]), &world.ctx());
        frame(&mut screen, &world, height, width);
    }

    #[test]
    fn the_selected_card_is_in_sight_after_any_keys_and_sizes(
        keys in proptest::collection::vec((0usize..9, 60u16..130, 14u16..40), 1..12),
    ) {
        let world = world(sample::many(40));
        let mut screen = opened(&world);
        for (key, width, height) in keys {
            frame(&mut screen, &world, width, height);
            screen.update(&Input::Action(KEYS[key]), &world.ctx());
            let text = frame(&mut screen, &world, width, height);
            let selected = screen.timeline.selected().unwrap();
            let needle = format!("query number {selected} ");
            prop_assert!(text.contains(&needle), "{needle}\n{text}");
            prop_assert!(text.contains('◉') && text.contains('┗'), "{}", text);
        }
    }
}
