//! Focus, folding, raw forms, searches, and bodies that are late or missing.

use super::*;
use crate::tui::screens::TextPart;

#[test]
fn a_query_that_was_cut_is_shown_whole_where_it_was_kept() {
    let mut stage = Stage::new(sample::cut_query(), 0);
    stage.act(Action::Input);
    assert!(stage.frame(120, 34).contains("all of it, to the very end"));
}

#[test]
fn the_focused_pane_is_the_one_last_scrolled_clicked_or_cycled_to() {
    let mut stage = lighthouses(0);
    stage.frame(120, 34);
    let title = |stage: &Stage| stage.screen.focused(&stage.world.ctx()).unwrap().title.to_string();
    assert_eq!(title(&stage), "code of Q1 › step 1");
    stage.act(Action::OutputDown);
    assert_eq!(title(&stage), "output of Q1 › step 1");
    stage.mouse(MouseKind::Wheel(3), 3, 10);
    assert_eq!(title(&stage), "tree of Q1 › step 1");
    stage.act(Action::NextPane);
    assert_eq!(title(&stage), "figures of Q1 › step 1");
    let code = stage.screen.areas.code.unwrap();
    stage.mouse(MouseKind::Press, code.x + 2, code.y + 2);
    let focused = stage.screen.focused(&stage.world.ctx()).unwrap();
    assert_eq!(
        (&*focused.raw(), focused.raw_shown, focused.extension),
        (CODE, false, "py")
    );
    stage.act(Action::Raw);
    assert!(stage.screen.focused(&stage.world.ctx()).unwrap().raw_shown);
}

#[test]
fn json_output_folds_and_can_be_seen_raw() {
    let mut stage = lighthouses(0);
    stage.acts(&[Action::OutputDown, Action::OutputUp]);
    let lines = |stage: &mut Stage| stage.screen.output.text().lines().count();
    let unfolded = lines(&mut stage);
    assert!(unfolded > 6);
    stage.act(Action::Fold);
    assert!(lines(&mut stage) < unfolded);
    stage.act(Action::Raw);
    assert_eq!(stage.screen.output.text().as_str(), JSON);
}

#[test]
fn a_press_on_a_folded_row_of_json_unfolds_it() {
    let mut stage = lighthouses(0);
    stage.frame(120, 34);
    let output = stage.screen.areas.output.unwrap();
    let before = stage.screen.output.text().lines().count();
    stage.mouse(MouseKind::Press, output.x + 5, output.y + 2);
    assert!(stage.screen.output.text().lines().count() < before);
}

#[test]
fn figures_can_be_seen_to_the_last_digit() {
    let mut stage = lighthouses(0);
    assert!(stage.frame(120, 34).contains("$0.0042682") || stage.frame(120, 34).contains("$0.00427"));
    stage.acts(&[Action::NextPane, Action::NextPane, Action::NextPane, Action::Raw]);
    let exact = stage.frame(120, 34);
    assert!(exact.contains("$0.0042682"), "{exact}");
}

#[test]
fn a_search_counts_in_the_focused_pane() {
    let mut stage = lighthouses(0);
    let pattern = Pattern::new("winter");
    stage.send(&Input::Search(pattern.as_ref()));
    assert_eq!(stage.screen.matches().map(|matches| matches.total), Some(5));
    stage.acts(&[Action::NextPane, Action::NextPane]);
    assert_eq!(
        stage.screen.matches().map(|matches| matches.total),
        Some(0),
        "the tree names none"
    );
    let pattern = Pattern::new("STEP");
    stage.send(&Input::Search(pattern.as_ref()));
    let pattern = Pattern::new("step");
    stage.send(&Input::Search(pattern.as_ref()));
    stage.act(Action::SearchNext);
    assert_eq!(stage.title(), "Q1 › step 2");
}

#[test]
fn a_search_goes_to_the_pane_that_has_it_or_says_which_text_does() {
    let mut stage = lighthouses(0);
    assert_eq!(stage.screen.focus, Part::Code);
    stage.send(&Input::Search(Pattern::new("storms").as_ref()));
    assert_eq!(stage.screen.focus, Part::Output);
    assert_eq!(
        stage.screen.matches().map(|matches| (matches.current, matches.total)),
        Some((1, 1))
    );
    stage.send(&Input::Search(Pattern::new("separated").as_ref()));
    let matches = stage.screen.matches().unwrap();
    assert_eq!(
        (matches.total, matches.elsewhere),
        (0, Some(("reasoning", Action::Reasoning)))
    );
    stage.act(Action::Reasoning);
    assert_eq!(stage.screen.matches().map(|matches| matches.current), Some(1));
    stage.act(Action::Back);
    stage.send(&Input::Search(Pattern::new("nowhere at all").as_ref()));
    assert_eq!(stage.screen.matches().unwrap().elsewhere, None);
}

#[test]
fn a_hit_of_the_sessions_search_has_its_text_in_focus() {
    let mut stage = lighthouses(0);
    let pattern = Pattern::new("storms");
    stage.send(&Input::Search(pattern.as_ref()));
    stage.send(&Input::FoundIn(TextPart::Output));
    assert_eq!(stage.screen.focus, Part::Output);
    assert_eq!(
        stage.screen.matches().map(|matches| (matches.current, matches.total)),
        Some((1, 1))
    );
    stage.send(&Input::Search(Pattern::new("pages").as_ref()));
    stage.send(&Input::FoundIn(TextPart::Reasoning));
    assert!(stage.frame(120, 34).contains("reasoning of Q1"));
    assert_eq!(
        stage.screen.matches().map(|matches| (matches.current, matches.total)),
        Some((1, 1))
    );
    stage.send(&Input::FoundIn(TextPart::Code));
    assert!(stage.screen.over.is_none() && stage.screen.focus == Part::Code);
}

#[test]
fn at_80x24_the_cost_is_in_sight() {
    let mut stage = lighthouses(0);
    stage.act(Action::StepNext);
    // The program's header, footer and question box take the rest of 24 rows.
    let text = stage.frame(80, 19);
    assert!(text.contains("cost    step $0.0"), "{text}");
    assert!(text.contains("took"), "{text}");
}

#[test]
fn what_takes_long_is_said_to_be_on_its_way_only_after_a_while() {
    let mut world = World::new();
    world.session = sample::lighthouses();
    let mut screen = RunScreen::new(QueryKey::of(&world.session.queries[0]), None);
    let outcome = screen.update(&Input::Opened, &world.ctx());
    let asks = |effect: &Effect| matches!(effect, Effect::LoadBody { .. });
    assert!(
        outcome.effects.iter().filter(|effect| asks(effect)).count() >= 2,
        "and the next one ahead"
    );
    let mut stage = Stage {
        world,
        screen,
        left: Vec::new(),
    };
    assert!(!stage.frame(80, 22).contains("reading"));
    stage.world.now += PATIENCE;
    assert!(stage.frame(80, 22).contains("reading…"));
}

#[test]
fn a_body_that_cannot_be_read_says_why() {
    let mut world = World::new();
    world.session = sample::lighthouses();
    let mut screen = RunScreen::new(QueryKey::of(&world.session.queries[0]), None);
    let effects = screen.update(&Input::Opened, &world.ctx()).effects;
    for effect in effects {
        if let Effect::LoadBody { token, .. } = effect {
            let answer = Answer {
                token,
                result: Err(SafeText::literal("the file shrank")),
            };
            screen.update(&Input::Answer(&answer), &world.ctx());
        }
    }
    let mut stage = Stage {
        world,
        screen,
        left: Vec::new(),
    };
    assert!(stage.frame(80, 22).contains("cannot be read: the file shrank"));
}

#[test]
fn a_text_that_was_cut_or_repaired_says_so_beside_its_name() {
    let mut world = World::new();
    world.session = sample::lighthouses();
    let mut screen = RunScreen::new(QueryKey::of(&world.session.queries[0]), None);
    let effects = screen.update(&Input::Opened, &world.ctx()).effects;
    for effect in effects {
        if let Effect::LoadBody { token, .. } = effect {
            let body = Body {
                code: Text::new("x = 1"),
                output: Text::new("half a pair: \u{FFFD}"),
                repaired: true,
                ..Body::default()
            };
            let answer = Answer {
                token,
                result: Ok(Reply::Body(Arc::new(body))),
            };
            screen.update(&Input::Answer(&answer), &world.ctx());
        }
    }
    let mut stage = Stage {
        world,
        screen,
        left: Vec::new(),
    };
    let frame = stage.frame(120, 30);
    assert_eq!(frame.matches("repaired").count(), 1, "{frame}");
}

#[test]
fn a_hit_in_the_last_step_opens_at_its_place_though_the_result_is_known_before_the_output() {
    let mut world = World::new();
    world.session = sample::lighthouses();
    let last = at_the_last_step().screen.tree.place();
    let mut screen = RunScreen::new(QueryKey::of(&world.session.queries[3]), last);
    let effects = screen.update(&Input::Opened, &world.ctx()).effects;
    screen.update(&Input::Search(Pattern::new("line 70").as_ref()), &world.ctx());
    screen.update(&Input::FoundIn(TextPart::Output), &world.ctx());
    let printed: Vec<String> = (0..200).map(|n| format!("line {n} of it")).collect();
    for effect in effects {
        if let Effect::LoadBody { token, .. } = effect {
            let body = Body {
                code: Text::new("x = 1"),
                output: Text::new(&*printed.join("\n")),
                ..Body::default()
            };
            let answer = Answer {
                token,
                result: Ok(Reply::Body(Arc::new(body))),
            };
            screen.update(&Input::Answer(&answer), &world.ctx());
        }
    }
    let mut stage = Stage {
        world,
        screen,
        left: Vec::new(),
    };
    let frame = stage.frame(120, 34);
    assert!(
        frame.contains("line 70 of it") && frame.contains("line 68 of it"),
        "{frame}"
    );
    stage.screen.output.act(Action::Last, &mut Token::default());
    assert!(stage.frame(120, 34).contains("── FINAL ──"));
}

#[test]
fn beside_a_huge_output_the_result_has_its_own_pane_alone() {
    let mut stage = at_the_last_step();
    assert!(stage.screen.output.text().as_str().contains("── FINAL ──"));
    let ctx = stage.world.ctx();
    let at = stage
        .screen
        .shown(stage.screen.query(&ctx).unwrap())
        .step()
        .unwrap()
        .body
        .unwrap();
    let (mut bodies, mut token) = (Bodies::default(), Token::default());
    bodies.ask(at, None, &mut token);
    let output = Text::new("line\n".repeat(4 << 20));
    let body = Body {
        output: output.clone(),
        ..Body::default()
    };
    bodies.take(token, Ok(Arc::new(body)));
    stage.screen.bodies = bodies;
    stage.send(&Input::ModelChanged);
    assert!(
        stage.screen.output.text().shared().is(output.safe.shared()),
        "it is held once"
    );
    assert!(stage.frame(120, 34).contains("FINAL: o"));
    stage.act(Action::Final);
    assert!(stage.frame(120, 34).contains("final of "));
}
