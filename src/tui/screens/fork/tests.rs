//! Tests of the dialog: how it looks, and what it asks for.

use super::super::sample::{HOSTILE, SIZES, act, frame, world};
use super::form::Way;
use super::*;
use crate::model::{CostSum, LiveEvent, LiveNews};
use crate::tui::live::{Divergence, ForkEnding, ForkTold, Told};
use crate::tui::testing::{World, fork_order};
use crossterm::event::KeyCode;
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

fn point() -> ForkPoint {
    ForkPoint {
        code: "guests = find(context)\ncount = len(guests)".into(),
        bound: vec![
            ("guests".into(), "['Ada', 'Bo', 'Cy']".into()),
            ("count".into(), "3".into()),
            ("日本語の変数名".into(), HOSTILE.into()),
        ],
        following: 1,
    }
}

/// The dialog before a step of the first run, when it is known what the fork begins with.
fn opened(world: &World, step: u64) -> ForkScreen {
    let mut screen = ForkScreen::new(QueryKey::of(&world.session.queries[0]), step);
    let outcome = screen.update(&Input::Opened, &world.ctx());
    if let [Effect::LoadForkPoint { token, .. }] = outcome.effects.as_slice() {
        let result = Ok(Reply::ForkPoint(Arc::new(point())));
        screen.update(&Input::Answer(&Answer { token: *token, result }), &world.ctx());
    }
    screen
}

fn limited() -> World {
    let mut world = world();
    world.lab.limit = 5_000_000_000;
    world.lab.dir = Some("/runs/s".into());
    world.now = Duration::from_secs(9);
    world
}

fn keys(screen: &mut ForkScreen, world: &World, actions: &[Action]) -> Vec<Effect> {
    let mut last = Vec::new();
    for action in actions {
        last = act(screen, *action, &world.ctx()).effects;
    }
    last
}

/// Pastes, and lets some time pass.
fn paste(screen: &mut ForkScreen, world: &World, text: &str) {
    let before = Ctx {
        now: Duration::ZERO,
        ..world.ctx()
    };
    screen.update(&Input::Paste(text), &before);
}

/// A world in which a fork goes on, and these news came of it.
fn forking(news: Vec<ForkTold>) -> World {
    let mut world = limited();
    let mut fork = Forking::new(fork_order(), ["/runs/s".into(), "/runs/s".into()], Duration::ZERO);
    let made = ForkTold::Made {
        id: "s_4".into(),
        dir: "/runs/s_4".into(),
    };
    for told in std::iter::once(made).chain(news) {
        fork.take(Token(1), told, Duration::from_millis(4_200));
    }
    world.lab.fork = Some(fork);
    world.now = Duration::from_millis(4_700);
    world
}

fn live(news: LiveNews) -> ForkTold {
    ForkTold::Run(Told::Live(vec![LiveEvent::Agent {
        run_id: "root".into(),
        parent: None,
        time: 0,
        news,
    }]))
}

fn answered(text: &str) -> ForkTold {
    ForkTold::Ended(ForkEnding::Answered {
        text: text.into(),
        cost: CostSum {
            nano: 21_000_000,
            known: 3,
            unknown: 0,
        },
    })
}

fn snapshots(name: &str, world: &World, screen: impl Fn() -> ForkScreen) {
    for (width, height) in SIZES {
        let shown = frame(&mut screen(), world, width, height);
        insta::assert_snapshot!(format!("fork_{name}_{width}x{height}"), shown);
    }
}

#[test]
fn case_85_every_stage_of_a_branch_looks_right() {
    let world = limited();
    snapshots("ways", &world, || opened(&world, 2));
    let values = || {
        let mut screen = opened(&world, 2);
        keys(&mut screen, &world, &[Action::Open]);
        screen.update(&Input::Key(KeyEvent::from(KeyCode::Down)), &world.ctx());
        paste(&mut screen, &world, "41");
        screen
    };
    snapshots("values", &world, values);
    snapshots("ready", &world, || {
        let mut screen = values();
        keys(&mut screen, &world, &[Action::Send]);
        screen
    });
    snapshots("asking", &world, || {
        let mut screen = opened(&world, 2);
        screen.form.way = Way::Replan;
        keys(&mut screen, &world, &[Action::Open, Action::Send]);
        screen
    });
}

#[test]
fn case_85_a_branch_that_goes_on_and_ends_looks_right() {
    let running = forking(vec![
        live(LiveNews::Kept(2)),
        live(LiveNews::Output("41 guests\n".into())),
    ]);
    snapshots("running", &running, || opened(&running, 2));
    let ended = forking(vec![answered("{\n  \"guests\": 41\n}")]);
    snapshots("ended", &ended, || opened(&ended, 2));
    let halted = ForkEnding::Halted("it halted: NameError: name 'guests' is not defined".into());
    let halted = forking(vec![ForkTold::Ended(halted)]);
    snapshots("halted", &halted, || opened(&halted, 2));
}

#[test]
fn what_is_ready_is_ordered_and_told_what_it_costs() {
    let world = limited();
    let mut screen = opened(&world, 2);
    keys(&mut screen, &world, &[Action::Open]);
    assert_eq!(screen.context(), Context::Box);
    paste(&mut screen, &world, "[1, 2]");
    keys(&mut screen, &world, &[Action::Send]);
    let shown = frame(&mut screen, &world, 120, 34);
    // Step 2 with its sub-agents, and step 3: five calls of $0.001 each.
    assert!(
        shown.contains("What it replaces cost $0.005. At most $5.00 is spent."),
        "{shown}"
    );
    assert!(
        shown.contains("Step 1 is taken over from the record, at no cost."),
        "{shown}"
    );
    let effects = keys(&mut screen, &world, &[Action::Open]);
    let [Effect::Fork(ForkAct::Begin(request))] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let wanted = ForkRequest {
        run_id: "root0".into(),
        label: "Q1".into(),
        step: 2,
        divergence: Divergence::Inject(vec![("guests".into(), json!([1, 2]))]),
    };
    assert_eq!(*request, wanted);
}

#[test]
fn code_goes_to_the_editor_is_checked_and_then_ready() {
    let world = limited();
    let mut screen = opened(&world, 2);
    let effects = keys(&mut screen, &world, &[Action::StepNext, Action::Open]);
    let [
        Effect::Edit {
            token,
            text,
            extension: "py",
        },
    ] = effects.as_slice()
    else {
        panic!("{effects:?}");
    };
    assert_eq!(*text, point().code);
    let answer = |token: Token, result| Answer { token, result };
    let edited = answer(*token, Ok(Reply::Edited("count = 7\n".into())));
    let outcome = screen.update(&Input::Answer(&edited), &world.ctx());
    let [Effect::CheckCode { token, code }] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    assert_eq!(code, "count = 7");
    let checked = answer(*token, Ok(Reply::Checked));
    screen.update(&Input::Answer(&checked), &world.ctx());
    assert!(frame(&mut screen, &world, 120, 34).contains("it is Python"));
    assert!(matches!(
        keys(&mut screen, &world, &[Action::Open]).as_slice(),
        [Effect::Fork(ForkAct::Begin(_))]
    ));
}

#[test]
fn case_85_pastes_keep_every_line_and_what_has_no_room_is_told() {
    let world = limited();
    let mut screen = opened(&world, 2);
    keys(&mut screen, &world, &[Action::Open]);
    paste(&mut screen, &world, "{\n  \"guests\": [\n    \"Ada\"\n  ]\n}");
    let shown = frame(&mut screen, &world, 120, 34);
    assert!(shown.contains("\"guests\": [") && shown.contains("\"Ada\""), "{shown}");
    paste(&mut screen, &world, &"x".repeat(17 << 20));
    let shown = frame(&mut screen, &world, 120, 34);
    assert!(shown.contains("there is no room for it"), "{shown}");
    keys(&mut screen, &world, &[Action::Send]);
    let effects = keys(&mut screen, &world, &[Action::Open]);
    let [Effect::Fork(ForkAct::Begin(request))] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let values = vec![("guests".into(), json!({"guests": ["Ada"]}))];
    assert_eq!(request.divergence, Divergence::Inject(values));
}

#[test]
fn case_85_the_model_is_told_every_line() {
    let world = limited();
    let told = |world: &World| {
        let mut screen = opened(world, 2);
        screen.form.way = Way::Replan;
        keys(&mut screen, world, &[Action::Open]);
        paste(&mut screen, world, "count again:\n- the guests");
        keys(&mut screen, world, &[Action::NewLine]);
        paste(&mut screen, world, "- the hosts\n");
        screen
    };
    snapshots("asking_lines", &world, || told(&world));
    let mut screen = told(&world);
    keys(&mut screen, &world, &[Action::Send]);
    let effects = keys(&mut screen, &world, &[Action::Open]);
    let [Effect::Fork(ForkAct::Begin(request))] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let told = Divergence::Replan("count again:\n- the guests\n- the hosts".into());
    assert_eq!(request.divergence, told);
}

#[test]
fn a_check_that_is_not_waited_for_says_nothing_later() {
    let world = limited();
    let mut screen = opened(&world, 2);
    let effects = keys(&mut screen, &world, &[Action::StepNext, Action::Open]);
    let [Effect::Edit { token, .. }] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    let edited = Answer {
        token: *token,
        result: Ok(Reply::Edited("count = (".into())),
    };
    let outcome = screen.update(&Input::Answer(&edited), &world.ctx());
    let [Effect::CheckCode { token: check, .. }] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    assert!(frame(&mut screen, &world, 120, 34).contains("does not wait for it, and goes back"));
    let effects = keys(&mut screen, &world, &[Action::Back]);
    assert!(matches!(effects.as_slice(), [Effect::Cancel(token)] if token == check));
    let late = Answer {
        token: *check,
        result: Err(SafeText::literal("'(' was never closed")),
    };
    screen.update(&Input::Answer(&late), &world.ctx());
    let shown = frame(&mut screen, &world, 120, 34);
    assert!(
        shown.contains("edit the code") && !shown.contains("never closed"),
        "{shown}"
    );
}

#[test]
fn a_fork_of_another_session_is_not_shown_here() {
    let mut ended = forking(vec![answered("41")]);
    ended.lab.dir = Some("/runs/other".into());
    let mut screen = opened(&ended, 2);
    assert!(frame(&mut screen, &ended, 120, 34).contains("inject a value"));
    let mut running = forking(Vec::new());
    running.lab.dir = Some("/runs/other".into());
    let mut screen = opened(&running, 2);
    let shown = frame(&mut screen, &running, 120, 34);
    assert!(shown.contains("a fork of s goes on: there is one at a time"), "{shown}");
    assert!(matches!(
        keys(&mut screen, &running, &[Action::Back]).as_slice(),
        [Effect::Pop]
    ));
}

#[test]
fn where_it_cannot_be_forked_the_reason_is_said_at_once() {
    let closed = {
        let mut world = limited();
        world.lab.closed = Some("no model is set: --primary-agent MODEL".into());
        world
    };
    for (world, step, words) in [(limited(), 0, "choose a step"), (closed, 2, "no model is set")] {
        let mut screen = opened(&world, step);
        let shown = frame(&mut screen, &world, 120, 34);
        assert!(
            shown.contains("cannot be forked here") && shown.contains(words),
            "{shown}"
        );
        assert!(matches!(
            keys(&mut screen, &world, &[Action::Back]).as_slice(),
            [Effect::Pop]
        ));
    }
    let world = limited();
    let mut screen = ForkScreen::new(QueryKey::of(&world.session.queries[0]), 2);
    screen.update(&Input::Opened, &world.ctx());
    let answer = Answer {
        token: screen.token,
        result: Err(SafeText::literal("recorded with the cassette off")),
    };
    screen.update(&Input::Answer(&answer), &world.ctx());
    assert!(frame(&mut screen, &world, 120, 34).contains("the cassette off"));
}

#[test]
fn a_fork_that_goes_on_is_cancelled_or_left_alone() {
    let world = forking(Vec::new());
    let mut screen = opened(&world, 2);
    assert!(matches!(
        keys(&mut screen, &world, &[Action::Interrupt]).as_slice(),
        [Effect::Fork(ForkAct::Cancel)]
    ));
    assert!(matches!(
        keys(&mut screen, &world, &[Action::Back]).as_slice(),
        [Effect::Pop]
    ));
}

#[test]
fn a_fork_that_has_ended_is_opened_or_compared() {
    let world = forking(vec![answered("41")]);
    let mut screen = opened(&world, 2);
    let effects = keys(&mut screen, &world, &[Action::Diff]);
    let [Effect::Push(Route::Diff(Sides::Branch(query, dir)))] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert_eq!((*query, dir.to_str()), (screen.query, Some("/runs/s_4")));
    let effects = keys(&mut screen, &world, &[Action::Open]);
    assert!(matches!(
        effects.as_slice(),
        [Effect::Fork(ForkAct::Seen), Effect::OpenTarget(dir)] if dir.ends_with("s_4")
    ));
}

#[test]
fn a_refused_fork_gives_back_what_was_typed() {
    let mut world = limited();
    let mut screen = opened(&world, 2);
    screen.form.way = Way::Replan;
    keys(&mut screen, &world, &[Action::Open]);
    paste(&mut screen, &world, "be brief");
    keys(&mut screen, &world, &[Action::Send, Action::Open]);
    let mut fork = Forking::new(fork_order(), ["/runs/s".into(), "/runs/s".into()], Duration::ZERO);
    let refused = ForkEnding::Refused("the model cannot be opened".into());
    fork.take(Token(1), ForkTold::Ended(refused), Duration::ZERO);
    world.lab.fork = Some(fork);
    assert!(frame(&mut screen, &world, 120, 34).contains("the model cannot be opened"));
    assert!(matches!(
        keys(&mut screen, &world, &[Action::Back]).as_slice(),
        [Effect::Fork(ForkAct::Seen)]
    ));
    world.lab.fork = None;
    assert!(frame(&mut screen, &world, 120, 34).contains("be brief"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_size_draws(width in 0u16..50, height in 0u16..20, stage in 0usize..5) {
        let world = match stage {
            3 => forking(Vec::new()),
            4 => forking(vec![answered(HOSTILE)]),
            _ => limited(),
        };
        let mut screen = opened(&world, 2);
        if stage < 3 {
            screen.form.way = Way::ALL[stage];
            keys(&mut screen, &world, &[Action::Open]);
        }
        frame(&mut screen, &world, width, height);
    }
}
