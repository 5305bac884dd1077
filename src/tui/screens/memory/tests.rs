//! Tests of the memory screen.

use proptest::prelude::*;

use super::super::sample::{SIZES, act, frame, world, world_of};
use super::*;

fn opened(ctx: &Ctx<'_>, name: Option<&str>) -> MemoryScreen {
    let mut screen = MemoryScreen::new(name, ctx);
    screen.update(&Input::Opened, ctx);
    screen
}

#[test]
fn every_size_looks_right() {
    let world = world();
    for (width, height) in SIZES {
        let mut screen = opened(&world.ctx(), None);
        insta::assert_snapshot!(
            format!("values_{width}x{height}"),
            frame(&mut screen, &world, width, height)
        );
    }
}

#[test]
fn every_kind_of_entry_looks_right() {
    let world = world();
    for name in [
        "find_quotes",
        "search_blob",
        "hostile",
        "日本語の変数名がとても長い場合もある",
    ] {
        let mut screen = opened(&world.ctx(), Some(name));
        let kind = if name.is_ascii() { name } else { "wide_name" };
        insta::assert_snapshot!(format!("entry_{kind}"), frame(&mut screen, &world, 80, 22));
    }
}

#[test]
fn an_empty_memory_says_so() {
    let world = world_of(Vec::new());
    let mut screen = opened(&world.ctx(), None);
    assert!(frame(&mut screen, &world, 80, 22).contains("Nothing is remembered yet."));
}

#[test]
fn enter_goes_to_the_step_that_bound_the_name() {
    let world = world();
    let mut screen = opened(&world.ctx(), Some("agi_ids"));
    let outcome = act(&mut screen, Action::Open, &world.ctx());
    let [Effect::Push(Route::Run { query, at: Some(place) })] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    let run = &query.find(&world.session).unwrap().run;
    assert_eq!(query.label, crate::model::Label::Completed(1));
    assert_eq!(run.agent(place.agent).unwrap().steps[place.step.unwrap()].number, 2);
}

#[test]
fn a_name_that_no_step_bound_says_so() {
    let world = world();
    let mut screen = opened(&world.ctx(), Some("hostile"));
    let outcome = act(&mut screen, Action::Open, &world.ctx());
    assert!(matches!(outcome.effects.as_slice(), [Effect::Notice(_)]));
}

#[test]
fn source_code_asks_for_its_colours_and_takes_only_its_own() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = MemoryScreen::new(Some("find_quotes"), &ctx);
    let outcome = screen.update(&Input::Opened, &ctx);
    let [Effect::Highlight { token, text, .. }] = outcome.effects.as_slice() else {
        panic!("{outcome:?}");
    };
    let highlights =
        crate::tui::content::highlight::highlight(Language::Python, text, &crate::tui::effect::Stop::default());
    let answer = |token| Answer {
        token,
        result: Ok(Reply::Highlights(highlights.clone().unwrap().into())),
    };
    screen.update(&Input::Answer(&answer(Token(99))), &ctx);
    assert!(screen.detail.source.is_none());
    screen.update(&Input::Answer(&answer(*token)), &ctx);
    assert!(screen.detail.source.is_some());
    act(&mut screen, Action::EntryNext, &ctx);
    assert!(screen.detail.source.is_none());
}

#[test]
fn raw_shows_what_was_recorded() {
    let world = world();
    let mut screen = opened(&world.ctx(), Some("episode_index"));
    assert!(frame(&mut screen, &world, 120, 34).contains("cut here: the whole has 55,962 characters"));
    act(&mut screen, Action::Raw, &world.ctx());
    let raw = frame(&mut screen, &world, 120, 34);
    assert!(raw.contains("...[truncated,") && raw.contains("as recorded"), "{raw}");
    assert!(screen.focused(&world.ctx()).unwrap().raw_shown);
}

#[test]
fn the_selection_follows_its_name() {
    let mut world = world();
    let mut screen = opened(&world.ctx(), Some("first_ref"));
    world.session.memory.entries.remove(0);
    screen.update(&Input::ModelChanged, &world.ctx());
    assert_eq!(screen.entry(&world.ctx()).unwrap().name, "first_ref");
}

#[test]
fn search_goes_through_names_notes_and_values() {
    let world = world();
    let ctx = world.ctx();
    let mut screen = opened(&ctx, None);
    let pattern = Pattern::new("chen petrov").unwrap();
    screen.update(&Input::Search(Some(&pattern)), &ctx);
    let first = screen.entry(&ctx).unwrap().name.clone();
    act(&mut screen, Action::SearchNext, &ctx);
    let second = screen.entry(&ctx).unwrap().name.clone();
    let mut names = [first.as_str(), second.as_str()];
    names.sort_unstable();
    assert_eq!(names, ["episode_index", "first_ref"]);
    assert_eq!(screen.matches().unwrap().total, 2);
}

#[test]
fn only_visible_names_are_made() {
    let record = |i: usize| crate::model::MemoryRecord {
        name: format!("name{i:06}"),
        kind: MemoryKind::Variable,
        type_name: "int".into(),
        text: "1".into(),
        comment: None,
        note: None,
        committed: false,
        pickle_bytes: 1,
    };
    let memory = (0..100_000).map(record).collect();
    let state = crate::model::Event::State {
        ledger: Vec::new(),
        code: Vec::new(),
        memory,
        interrupted: Vec::new(),
    };
    let world = world_of(vec![state]);
    let mut screen = opened(&world.ctx(), None);
    act(&mut screen, Action::Last, &world.ctx());
    assert!(frame(&mut screen, &world, 80, 22).contains("name099999"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_size_draws(width in 0u16..30, height in 0u16..12, moves in 0usize..7, raw: bool) {
        let world = world();
        let mut screen = opened(&world.ctx(), None);
        (0..moves).for_each(|_| { act(&mut screen, Action::EntryNext, &world.ctx()); });
        if raw {
            act(&mut screen, Action::Raw, &world.ctx());
        }
        frame(&mut screen, &world, width, height);
    }
}
