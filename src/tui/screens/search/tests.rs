//! The screen as a person meets it: typing, batches, the list, jumping.

use super::*;
use crate::model::{AgentId, Label};
use crate::tui::screens::{Place, QueryKey};
use crate::tui::testing::{World, text_of};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;

fn key(c: char) -> Input<'static> {
    Input::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))
}

fn spot(order: usize, step: usize) -> Spot {
    Spot::Run {
        query: QueryKey {
            label: Label::Completed(order as u32 + 1),
            log: None,
        },
        order,
        place: Some(Place {
            agent: AgentId(0),
            step: Some(step),
        }),
    }
}

fn hit(order: usize, step: usize, line: &str) -> Hit {
    let pattern = crate::tui::pattern::Pattern::new("goat").unwrap();
    Hit::find(&pattern, line, spot(order, step), Part::Output, &format!("step {step}")).unwrap()
}

fn batch(token: Token, hits: Vec<Hit>, done: bool) -> Answer {
    let hits = Box::new(Batch { hits, done });
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
    let mut world = World::new();
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
    let world = World::new();
    let (mut screen, token) = searching(&world);
    let hits = vec![hit(1, 2, "no goat\u{1b}[2J here"), hit(0, 1, "one goat, two goats")];
    screen.update(&Input::Answer(&batch(token, hits, false)), &world.ctx());
    insta::assert_snapshot!(frame(&mut screen, &world, 72, 8));
}

#[test]
fn enter_opens_the_place_of_the_selected_hit() {
    let world = World::new();
    let (mut screen, token) = searching(&world);
    screen.update(
        &Input::Answer(&batch(token, vec![hit(0, 1, "goat"), hit(0, 4, "goat")], true)),
        &world.ctx(),
    );
    screen.update(&Input::Action(Action::SearchNext), &world.ctx());
    let outcome = screen.update(&Input::Action(Action::Open), &world.ctx());
    let [Effect::Push(Route::Run { query, at: Some(place) })] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    assert_eq!((query.label, place.step), (Label::Completed(1), Some(4)));
}

#[test]
fn a_moved_selection_stays_on_its_hit_while_more_come() {
    let world = World::new();
    let (mut screen, token) = searching(&world);
    screen.update(
        &Input::Answer(&batch(token, vec![hit(5, 1, "goat"), hit(5, 2, "goat")], false)),
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
            [Effect::Push(Route::Run {
                at: Some(Place { step: Some(2), .. }),
                ..
            })]
        ),
        "{outcome:?}"
    );
}

#[test]
fn late_answers_are_dropped_and_ctrl_c_stops() {
    let world = World::new();
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
fn a_flood_of_hits_ends_the_search() {
    let world = World::new();
    let (mut screen, token) = searching(&world);
    let flood = (0..20_000).map(|step| hit(0, step, "goat")).collect();
    let outcome = screen.update(&Input::Answer(&batch(token, flood, false)), &world.ctx());
    assert!(matches!(outcome.effects.as_slice(), [Effect::Cancel(_)]), "{outcome:?}");
    assert!(frame(&mut screen, &world, 80, 6).contains("10,000 hits in 1 run · the first ones"));
}

proptest! {
    #[test]
    fn any_size_draws(width in 0u16..31, height in 0u16..13, hits in 0usize..9, typing in any::<bool>()) {
        let world = World::new();
        let (mut screen, token) = searching(&world);
        screen.typing = typing;
        let hits = (0..hits).map(|n| hit(n / 3, n, "👩‍👩‍👧 星丸 goat 星丸")).collect();
        screen.update(&Input::Answer(&batch(token, hits, true)), &world.ctx());
        frame(&mut screen, &world, width, height);
    }
}
