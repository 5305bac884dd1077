//! The program without a terminal: keys in, frames and effects out.

use super::*;
use crate::model::Event;
use crate::source::{OpenOptions, Opened, Source, Stop, open};
use crate::tui::action::Action;
use crate::tui::compositor::LayerId;
use crate::tui::ctx::SessionList;
use crate::tui::effect::Token;
use crate::tui::input::Answer;
use crate::tui::keymap::Chord;
use crate::tui::live::{Errand, Forking};
use crate::tui::screens::Naming;
use crate::tui::testing::{fork_order, text_of};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyEventState, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;

mod naming;
mod resuming;
mod secrets;

fn state() -> State {
    let mut world = World::new();
    world.can.suspend = true;
    State::new(world, std::sync::Arc::default())
}

fn key(text: &str) -> KeyEvent {
    let (code, modifiers) = match text {
        "esc" => (KeyCode::Esc, KeyModifiers::NONE),
        "enter" => (KeyCode::Enter, KeyModifiers::NONE),
        "backspace" => (KeyCode::Backspace, KeyModifiers::NONE),
        "ctrl-c" => (KeyCode::Char('c'), KeyModifiers::CONTROL),
        "ctrl-z" => (KeyCode::Char('z'), KeyModifiers::CONTROL),
        one => (KeyCode::Char(one.chars().next().unwrap()), KeyModifiers::NONE),
    };
    KeyEvent::new(code, modifiers)
}

fn press(state: &mut State, keys: &[&str]) -> Vec<Effect> {
    let effects = keys.iter().flat_map(|text| state.update(Msg::Key(key(text))));
    effects.map(|(_, effect)| effect).collect()
}

fn frame(state: &mut State, width: u16, height: u16) -> String {
    let size = Size::new(width, height);
    state.update(Msg::Resize(size));
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    state.draw(&mut buf);
    text_of(&buf)
}

fn quits(effects: &[Effect]) -> bool {
    matches!(effects, [Effect::Quit])
}

#[test]
fn q_closes_what_is_on_top_and_else_quits() {
    let mut state = state();
    for close in ["q", "esc", "?", "ctrl-c"] {
        assert!(press(&mut state, &["?"]).is_empty());
        assert_eq!(state.stack.depth(), 1);
        assert!(press(&mut state, &[close]).is_empty());
        assert_eq!(state.stack.depth(), 0, "{close}");
    }
    assert!(quits(&press(&mut state, &["q"])));
}

#[test]
fn ctrl_c_cancels_the_fork_of_the_session_that_is_shown_and_no_other() {
    for (shown, cancels) in [("/runs/s", true), ("/runs/other", false)] {
        let mut state = state();
        let fork = Forking::new(fork_order(), ["/runs/s".into(), "/runs/s".into()], Duration::ZERO);
        state.world.lab.fork = Some(fork);
        state.world.lab.dir = Some(shown.into());
        let effects = press(&mut state, &["ctrl-c"]);
        let cancelled = matches!(effects[..], [Effect::Errand(Errand::CancelFork(Token(1)))]);
        assert_eq!(cancelled, cancels, "{shown}: {effects:?}");
        // Whether to leave while it goes on is asked.
        assert_eq!(state.stack.depth(), usize::from(!cancels), "{shown}");
        assert!(state.world.lab.fork.unwrap().is_running());
    }
}

#[test]
fn a_second_interrupt_within_two_seconds_quits_whatever_is_open() {
    let mut state = state();
    let mut interrupt_at = |secs| {
        state.set_time(Duration::from_secs(secs), 0);
        state.push(Route::Help);
        quits(&press(&mut state, &["ctrl-c"]))
    };
    assert!(!interrupt_at(10));
    assert!(!interrupt_at(13));
    assert!(interrupt_at(14));
}

#[test]
fn keys_work_in_both_cases_and_releases_are_no_keys() {
    let mut state = state();
    let release = KeyEvent {
        kind: KeyEventKind::Release,
        state: KeyEventState::NONE,
        ..key("q")
    };
    assert!(state.update(Msg::Key(release)).is_empty());
    assert!(quits(&press(&mut state, &["Q"])));
}

#[test]
fn a_held_key_counts_once_for_each_repeat() {
    let mut state = state();
    state.push(Route::Help);
    state.push(Route::Palette);
    let repeat = KeyEvent {
        kind: KeyEventKind::Repeat,
        ..key("esc")
    };
    state.update(Msg::Key(repeat));
    assert_eq!(state.stack.depth(), 1);
}

/// The demo session as it is known at once, and the way to the rest of it.
fn demo() -> (Vec<Event>, Source) {
    let demo = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo"));
    match open(demo, &OpenOptions::default()) {
        Ok(Opened::Session { events, source }) => (events, source),
        _ => panic!("a session"),
    }
}

#[test]
fn the_header_says_how_far_reading_is() {
    let mut state = state();
    state.world.can.session = true;
    let (events, _) = demo();
    events.into_iter().for_each(|event| state.world.session.apply(event));
    state.world.session.settle();
    state.push(Route::Overview);
    assert!(frame(&mut state, 100, 20).contains("reading 0 of 8 runs"));
}

#[test]
fn between_a_run_and_its_timeline_nothing_piles_up() {
    let mut state = state();
    let (mut events, source) = demo();
    source.scan(&Stop::default(), &mut |found| events.extend(found));
    events.into_iter().for_each(|event| state.world.session.apply(event));
    state.world.session.settle();
    state.push(Route::Overview);
    press(&mut state, &["enter"]);
    for _ in 0..3 {
        press(&mut state, &["t", "enter", "enter", "enter"]);
    }
    assert!(matches!(state.stack.top_route(), Some(Route::Run { .. })));
    assert_eq!(state.stack.depth(), 2);
    press(&mut state, &["esc"]);
    assert_eq!(state.stack.top_route(), Some(&Route::Overview));
}

#[test]
fn what_cannot_be_done_says_so_and_does_nothing() {
    let mut state = state();
    assert!(press(&mut state, &["a"]).is_empty());
    let text = frame(&mut state, 100, 12);
    assert!(text.contains("open a session first"), "{text}");
    press(&mut state, &["up"]);
    assert!(!frame(&mut state, 100, 12).contains("open a session first"));
}

#[test]
fn a_notice_goes_by_itself_after_some_seconds() {
    let mut state = state();
    state.update(Msg::Notice(Notice::info("hello there")));
    assert!(frame(&mut state, 80, 12).contains("hello there"));
    state.set_time(Notice::STAYS, 0);
    state.update(Msg::Time);
    assert!(!frame(&mut state, 80, 12).contains("hello there"));
    assert_eq!(state.frames().wait(Notice::STAYS), Some(Duration::ZERO));
}

#[test]
fn the_footer_shows_where_to_begin_until_the_first_key() {
    let mut state = state();
    state.world.can.ask = true;
    assert!(frame(&mut state, 80, 12).contains("\n ? keys  a ask  m memory"));
    press(&mut state, &["up"]);
    assert!(!frame(&mut state, 80, 12).contains("m memory"));
}

/// The demo, read to its end.
fn shown_demo() -> State {
    let mut state = state();
    state.world.can = Abilities {
        ask: true,
        lab: true,
        resume: true,
        session: true,
        sessions: true,
        suspend: true,
        ..Abilities::default()
    };
    let (mut events, source) = demo();
    source.scan(&Stop::default(), &mut |found| events.extend(found));
    events.into_iter().for_each(|event| state.world.session.apply(event));
    state.world.session.settle();
    state.push(Route::Overview);
    state
}

fn footer(state: &mut State, width: u16) -> String {
    frame(state, width, 36).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn help_and_the_way_out_are_in_the_footer_of_every_screen_at_every_width() {
    for width in [60, 80, 120] {
        let mut state = shown_demo();
        assert!(
            footer(&mut state, width).ends_with("q quit"),
            "before the first key, {width}"
        );
        for (keys, end) in [
            (&["g"][..], "? keys  q quit"),
            (&["enter"], "? keys  Esc back"),
            (&["i"], "? keys  Esc close"),
            (&["i", "p"], "? keys  Esc back"),
            (&["esc", "t"], "? keys  Esc back"),
            (&["m"], "? keys  Esc back"),
            (&["!"], "? keys  Esc back"),
            (&["x"], "? keys  Esc close"),
        ] {
            press(&mut state, keys);
            let footer = footer(&mut state, width);
            assert!(footer.trim_end().ends_with(end), "{keys:?} at {width}: {footer}");
        }
    }
}

#[test]
fn a_key_that_works_elsewhere_says_where() {
    let mut state = shown_demo();
    press(&mut state, &["p"]);
    let footer_of = |state: &mut State| footer(state, 120);
    assert!(footer_of(&mut state).contains("\"Replay, and scrub through the steps\" works in a run"));
    press(&mut state, &["enter", "p", "o"]);
    assert!(footer_of(&mut state).contains("\"Final output of this agent\" works in a run"));
    press(&mut state, &["?"]);
    let text = frame(&mut state, 120, 36);
    assert!(
        text.contains("To the step before") && text.contains("On this screen"),
        "{text}"
    );
    assert!(!text.contains("To the parent"), "{text}");
}

#[test]
fn the_order_of_the_list_of_sessions_is_kept() {
    let mut state = shown_demo();
    state.world.sessions = Some(SessionList {
        dir: "/runs".into(),
        found: std::sync::Arc::default(),
    });
    press(&mut state, &["s", "o"]);
    assert!(frame(&mut state, 120, 36).contains("by name"));
    press(&mut state, &["esc", "s"]);
    assert!(frame(&mut state, 120, 36).contains("by name"));
}

#[test]
fn n_goes_on_with_what_the_whole_session_was_searched_for() {
    let mut state = shown_demo();
    press(&mut state, &["\\", "p", "r", "i", "n", "t", "enter", "enter"]);
    let top = state.stack.top_route();
    assert!(!matches!(top, Some(Route::SearchResults { .. })), "{top:?}");
    assert_eq!(
        state.stack.pattern().map(|pattern| pattern.text().to_owned()),
        Some("print".into())
    );
    press(&mut state, &["n"]);
    assert!(!footer(&mut state, 120).contains("nothing is searched for"));
}

#[test]
fn the_search_of_the_session_takes_text_at_once_and_in_place_of_the_old_term() {
    let mut state = shown_demo();
    press(&mut state, &["/", "p", "r", "i", "n", "t", "enter", "\\"]);
    assert!(frame(&mut state, 120, 36).contains("› print"));
    press(&mut state, &["f", "u", "t"]);
    let text = frame(&mut state, 120, 36);
    assert!(text.contains("› fut") && !text.contains("› print"), "{text}");
    assert!(matches!(state.stack.top_route(), Some(Route::SearchResults { .. })));
    press(&mut state, &["esc"]);
    // From a run, back to the screen that is open below: the line again, not its hits.
    let mut state = shown_demo();
    press(
        &mut state,
        &["\\", "p", "r", "i", "n", "t", "enter", "enter", "\\", "t"],
    );
    assert!(matches!(state.stack.top_route(), Some(Route::SearchResults { .. })));
    let text = frame(&mut state, 120, 36);
    assert!(text.contains("› t ") && !text.contains("› print"), "{text}");
}

#[test]
fn searching_shows_the_bar_and_esc_brings_back_what_was() {
    let mut state = state();
    press(&mut state, &["?", "/", "z", "o", "o", "m"]);
    let text = frame(&mut state, 120, 30);
    assert!(text.ends_with(" 1 of 3"), "{text}");
    assert!(text.contains(" / zoom"));
    press(&mut state, &["enter", "/", "q"]);
    assert_eq!(
        state.stack.pattern().map(|pattern| pattern.text().to_owned()),
        Some("q".into())
    );
    press(&mut state, &["esc"]);
    assert_eq!(
        state.stack.pattern().map(|pattern| pattern.text().to_owned()),
        Some("zoom".into())
    );
}

#[test]
fn suspending_and_rebinding_reach_the_outside() {
    let mut state = state();
    assert!(matches!(press(&mut state, &["ctrl-z"])[..], [Effect::Suspend]));
    state.world.keymap =
        crate::tui::keymap::Keymap::parse("k.toml".as_ref(), "[everywhere]\nquit = [\"Z\"]\nfold = []").unwrap();
    assert!(press(&mut state, &["q"]).is_empty());
    assert!(quits(&press(&mut state, &["z"])));
    assert_eq!(
        state.world.keymap.lookup(Context::Run, Chord::parse("q").unwrap()),
        None::<Action>
    );
}

#[test]
fn answers_for_layers_that_are_gone_are_dropped() {
    let mut state = state();
    let answer = Answer {
        token: crate::tui::effect::Token(1),
        result: Err(crate::text::SafeText::literal("late")),
    };
    assert!(state.update(Msg::Answer(LayerId::default(), answer)).is_empty());
}

#[test]
fn too_small_a_terminal_says_so_in_one_line() {
    let mut state = state();
    assert_eq!(frame(&mut state, 39, 10).trim_end(), "needs 40x10, has 39x10");
    assert_eq!(frame(&mut state, 5, 1), "need…");
    assert_eq!(frame(&mut state, 0, 0), "");
}

#[test]
fn ascii_terminals_get_nothing_but_ascii() {
    let mut state = state();
    state.world.options.ascii = true;
    press(&mut state, &["?"]);
    for width in [5, 60, 120] {
        assert!(frame(&mut state, width, 30).is_ascii());
    }
}

#[test]
fn help_and_palette_look_like_this() {
    for (name, keys) in [("help", &["?"][..]), ("palette", &[":", "z", "o"])] {
        for (width, height) in [(120, 36), (80, 24), (40, 12)] {
            let mut state = state();
            state.world.can.suspend = false;
            state.update(Msg::Resize(Size::new(width, height)));
            press(&mut state, keys);
            let frame = frame(&mut state, width, height);
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), frame);
        }
    }
}

proptest! {
    #[test]
    fn no_sequence_of_keys_at_any_size_breaks_it(
        keys in proptest::collection::vec("[a-z?/:!\\\\#+0-9-]|esc|enter|backspace|ctrl-c|ctrl-z", 0..30),
        width in 0u16..130,
        height in 0u16..30,
    ) {
        let mut state = state();
        for text in &keys {
            press(&mut state, &[text]);
        }
        frame(&mut state, width, height);
    }
}
