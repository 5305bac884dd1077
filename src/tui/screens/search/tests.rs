//! The screen as a person meets it: typing, batches, the list, jumping.

use super::*;
use crate::model::{
    BodyRef, Cost, Event, Final, Label, LedgerEntry, Line, LineKind, LogFacts, LogId, LogState, StepLine, Timings,
};
use crate::tui::screens::Place;
use crate::tui::testing::{World, text_of};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

fn key(c: char) -> Input<'static> {
    Input::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))
}

/// Two runs of six steps, the lines of run `n` in transcript `n`.
fn world() -> World {
    let mut world = World::new();
    for log in 0..2 {
        let queries = vec![log as usize];
        world.session.apply(Event::Log(LogFacts {
            id: LogId(log),
            path: format!("{log}.jsonl"),
            state: LogState::Found,
            queries,
        }));
        let lines = (1..=6).map(|number| step_line(log, number)).collect();
        world.session.apply(Event::Lines(lines));
    }
    let query = |text: &str| LedgerEntry {
        query: text.into(),
        result: Final::None,
        log_file: None,
        run_id: None,
    };
    world.session.apply(Event::State {
        ledger: vec![query("who keeps the sheep"), query("and who the cat")],
        code: Vec::new(),
        memory: Vec::new(),
        interrupted: Vec::new(),
    });
    world.session.settle();
    world
}

fn at(log: u32, number: u64) -> BodyRef {
    BodyRef {
        log: LogId(log),
        line: number,
        offset: number * 100,
        len: 90,
    }
}

fn step_line(log: u32, number: u64) -> Line {
    let step = StepLine {
        number: Some(number),
        executed: true,
        failed: false,
        usage: None,
        cost: Cost::Unknown,
        timings: Timings::default(),
        code_digest: number,
        no_code: false,
        task: None,
    };
    Line {
        at: at(log, number),
        run_id: format!("root {log}").into(),
        parent: None,
        depth: 0,
        time: Some(number as i64 * 1_000),
        kind: LineKind::Step(step),
    }
}

fn hit(log: u32, number: u64, line: &str) -> source::Hit {
    let pattern = Pattern::new("goat").unwrap();
    source::Hit {
        // A search knows offsets, not line numbers.
        at: BodyRef {
            line: 0,
            ..at(log, number)
        },
        run_id: format!("root {log}"),
        step: Some(number),
        field: Field::Output,
        count: pattern.find_iter(line).count(),
        offset: 0,
        snippet: line.to_owned(),
        matched: pattern.find_iter(line).next().unwrap(),
    }
}

fn batch(token: Token, hits: Vec<source::Hit>, done: bool) -> Answer {
    Answer {
        token,
        result: Ok(Reply::Hits { hits, done }),
    }
}

/// A screen that searches for a goat, and the token of its search.
fn searching(world: &World) -> (SearchScreen, Token) {
    let mut screen = SearchScreen::new("goat");
    let outcome = screen.update(&Input::Opened, &world.ctx());
    match outcome.effects.as_slice() {
        [Effect::Search { token, pattern }] if pattern == "goat" => (screen, *token),
        other => panic!("{other:?}"),
    }
}

fn frame(screen: &mut SearchScreen, world: &World, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    screen.draw(area, &mut buf, &world.ctx());
    text_of(&buf)
}

#[test]
fn typing_searches_when_it_rests_and_stops_what_ran() {
    let mut world = world();
    let mut screen = SearchScreen::new("");
    assert!(screen.update(&Input::Opened, &world.ctx()).effects.is_empty());
    assert_eq!(screen.context(), Context::Prompt);
    let outcome = screen.update(&key('g'), &world.ctx());
    assert!(matches!(outcome.effects.as_slice(), [Effect::FrameAt(_)]));
    assert!(screen.update(&Input::Frame, &world.ctx()).effects.is_empty());
    world.now = REST;
    assert!(matches!(
        screen.update(&Input::Frame, &world.ctx()).effects.as_slice(),
        [Effect::Search { .. }]
    ));
    let outcome = screen.update(&key('o'), &world.ctx());
    assert!(
        outcome.effects.iter().any(|effect| matches!(effect, Effect::Cancel(_))),
        "{outcome:?}"
    );
}

#[test]
fn hits_are_listed_by_run_with_the_match_in_its_line() {
    let world = world();
    let (mut screen, token) = searching(&world);
    let hits = vec![hit(1, 2, "no goat\u{1b}[2J here"), hit(0, 1, "one goat, two goats")];
    screen.update(&Input::Answer(&batch(token, hits, false)), &world.ctx());
    insta::assert_snapshot!(frame(&mut screen, &world, 72, 8));
}

#[test]
fn enter_opens_the_place_of_the_selected_hit() {
    let world = world();
    let (mut screen, token) = searching(&world);
    screen.update(
        &Input::Answer(&batch(token, vec![hit(0, 1, "goat"), hit(0, 5, "goat")], true)),
        &world.ctx(),
    );
    assert_eq!(screen.context(), Context::Prompt);
    assert!(
        screen
            .update(&Input::Action(Action::Accept), &world.ctx())
            .effects
            .is_empty()
    );
    assert_eq!(screen.context(), Context::Everywhere);
    screen.update(&Input::Action(Action::SearchNext), &world.ctx());
    let outcome = screen.update(&Input::Action(Action::Open), &world.ctx());
    let [
        Effect::Push(Route::Run { query, at: Some(place) }),
        Effect::SearchOn(_, Some(Part::Output)),
    ] = outcome.effects.as_slice()
    else {
        panic!("{outcome:?}");
    };
    assert_eq!((query.label, place.step), (Label::Completed(1), Some(4)));
}

#[test]
fn a_moved_selection_stays_on_its_hit_while_more_come() {
    let world = world();
    let (mut screen, token) = searching(&world);
    screen.update(
        &Input::Answer(&batch(token, vec![hit(1, 1, "goat"), hit(1, 3, "goat")], false)),
        &world.ctx(),
    );
    screen.update(&Input::Action(Action::MoveDown), &world.ctx());
    screen.update(
        &Input::Answer(&batch(token, vec![hit(0, 1, "goat")], true)),
        &world.ctx(),
    );
    let outcome = screen.update(&Input::Action(Action::Open), &world.ctx());
    assert!(
        matches!(
            outcome.effects.as_slice(),
            [
                Effect::Push(Route::Run {
                    at: Some(Place { step: Some(2), .. }),
                    ..
                }),
                Effect::SearchOn(..)
            ]
        ),
        "{outcome:?}"
    );
}

#[test]
fn late_answers_are_dropped_and_ctrl_c_stops() {
    let world = world();
    let (mut screen, token) = searching(&world);
    let late = batch(Token(token.0 - 1), vec![hit(0, 1, "goat")], true);
    assert!(!screen.update(&Input::Answer(&late), &world.ctx()).consumed);
    let outcome = screen.update(&Input::Action(Action::Interrupt), &world.ctx());
    assert!(matches!(outcome.effects.as_slice(), [Effect::Cancel(stopped)] if *stopped == token));
    assert!(
        !screen
            .update(
                &Input::Answer(&batch(token, vec![hit(0, 1, "goat")], true)),
                &world.ctx()
            )
            .consumed
    );
    assert!(frame(&mut screen, &world, 60, 6).contains("Stopped"));
}

#[test]
fn what_the_model_holds_is_found_at_once() {
    let world = world();
    let mut screen = SearchScreen::new("sheep");
    screen.update(&Input::Opened, &world.ctx());
    assert!(frame(&mut screen, &world, 80, 6).contains("1 match in 1 run"));
    let outcome = screen.update(&Input::Action(Action::Open), &world.ctx());
    assert!(
        matches!(
            outcome.effects.as_slice(),
            [Effect::Push(Route::Run { at: None, .. }), Effect::SearchOn(..)]
        ),
        "{outcome:?}"
    );
}

#[test]
fn lines_that_are_no_step_are_no_hits() {
    let world = world();
    let (mut screen, token) = searching(&world);
    screen.update(
        &Input::Answer(&batch(token, vec![hit(0, 99, "goat"), hit(7, 1, "goat")], true)),
        &world.ctx(),
    );
    assert!(frame(&mut screen, &world, 80, 6).contains("Nothing has it"));
}

proptest! {
    #[test]
    fn any_size_draws(width in 0u16..31, height in 0u16..13, hits in 0usize..9, typing in any::<bool>()) {
        let world = world();
        let (mut screen, token) = searching(&world);
        screen.typing = typing;
        let hits = (0..hits as u64).map(|n| hit((n / 6) as u32, n % 6 + 1, "👩‍👩‍👧 星丸 goat 星丸")).collect();
        screen.update(&Input::Answer(&batch(token, hits, true)), &world.ctx());
        frame(&mut screen, &world, width, height);
    }
}
