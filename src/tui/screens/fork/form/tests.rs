//! Tests of the form: what a person does in, what is to be done out.

use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

fn point(names: &[&str], code: &str) -> ForkPoint {
    ForkPoint {
        code: code.into(),
        bound: names.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect(),
        following: 2,
    }
}

#[test]
fn what_cannot_be_done_is_not_chosen_at_first() {
    assert_eq!(Form::of(&point(&["count"], "count = 3")).way, Way::Inject);
    assert_eq!(Form::of(&point(&[], "print(3)")).way, Way::Edit);
    assert_eq!(Form::of(&point(&[], "")).way, Way::Replan);
}

fn form() -> Form {
    Form::of(&point(&["count", "longest"], "count = 3"))
}

fn type_in(form: &mut Form, text: &str) {
    form.text().unwrap().paste(text, Duration::ZERO).unwrap();
}

#[test]
fn values_are_json_and_names_without_one_stay_unbound() {
    let mut form = form();
    assert_eq!(form.take(Act::Accept), Do::Nothing);
    assert_eq!(form.stage, Stage::Values);
    form.take(Act::Accept);
    assert_eq!(form.trouble.as_deref(), Some("give at least one name a value"));
    form.take(Act::Down);
    for (text, trouble) in [
        ("Bo", "a text goes in double quotes"),
        ("[1, ", "this is no JSON, at column 3"),
        ("[1,\n 2,\n  x]", "this is no JSON, at line 3, column 3"),
    ] {
        form.text().unwrap().set("").unwrap();
        type_in(&mut form, text);
        form.take(Act::Accept);
        assert_eq!(form.trouble.as_deref(), Some(trouble), "{text}");
    }
    form.text().unwrap().set("").unwrap();
    type_in(&mut form, " {\n  \"a\": [1,\n    null]\n}\n");
    form.take(Act::Accept);
    let divergence = Divergence::Inject(vec![("longest".into(), json!({"a": [1, null]}))]);
    assert_eq!(form.stage, Stage::Ready(divergence.clone()));
    assert_eq!(form.take(Act::Accept), Do::Fork(divergence));
}

#[test]
fn back_leads_one_stage_back_and_keeps_what_was_typed() {
    let mut form = form();
    form.take(Act::Down);
    form.take(Act::Down);
    form.take(Act::Accept);
    type_in(&mut form, "be brief");
    form.take(Act::Accept);
    assert_eq!(form.stage, Stage::Ready(Divergence::Replan("be brief".into())));
    form.take(Act::Back);
    assert_eq!((&form.stage, form.prompt.text().as_str()), (&Stage::Asking, "be brief"));
    form.take(Act::Back);
    assert_eq!((&form.stage, form.way), (&Stage::Choosing, Way::Replan));
    assert_eq!(form.take(Act::Back), Do::Close);
}

#[test]
fn edited_code_is_checked_and_a_slip_is_not_lost() {
    let mut form = form();
    form.way = Way::Edit;
    assert_eq!(form.take(Act::Accept), Do::Edit("count = 3".into(), "py"));
    for unchanged in ["count = 3\n", "count = 3"] {
        assert_eq!(form.take(Act::Edited(Ok(unchanged.into()))), Do::Nothing);
        assert!(form.trouble.as_ref().is_some_and(|why| why.contains("as it was")));
    }
    assert_eq!(form.take(Act::Edited(Ok("  \n".into()))), Do::Nothing);
    assert_eq!(
        form.take(Act::Edited(Ok("count = (\n".into()))),
        Do::Check("count = (".into())
    );
    form.take(Act::Checked(Err("'(' was never closed".into())));
    assert_eq!(form.stage, Stage::Choosing);
    assert_eq!(
        form.take(Act::Accept),
        Do::Edit("count = (".into(), "py"),
        "as it was left"
    );
    assert_eq!(
        form.take(Act::Edited(Ok("count = 4".into()))),
        Do::Check("count = 4".into())
    );
    form.take(Act::Checked(Ok(())));
    assert_eq!(form.take(Act::Accept), Do::Fork(Divergence::Edit("count = 4".into())));
}

#[test]
fn an_editor_takes_and_gives_what_is_typed() {
    let mut form = form();
    form.take(Act::Accept);
    type_in(&mut form, "[1]");
    assert_eq!(form.take(Act::Editor), Do::Edit("[1]".into(), "json"));
    form.take(Act::Edited(Ok("[1,\n2]\n".into())));
    assert_eq!(form.text().unwrap().text(), "[1,\n2]");
    form.take(Act::Edited(Err("no editor".into())));
    assert_eq!(form.trouble.as_deref(), Some("no editor"));
    assert_eq!(form.text().unwrap().text(), "[1,\n2]");
}

#[test]
fn a_check_is_left_alone_by_going_back() {
    let mut form = form();
    form.way = Way::Edit;
    form.take(Act::Edited(Ok("count = 4".into())));
    assert_eq!(form.stage, Stage::Checking);
    assert_eq!(form.take(Act::Back), Do::StopCheck);
    assert_eq!(form.stage, Stage::Choosing);
}

#[test]
fn long_values_are_used_whole_and_shown_in_part() {
    let mut form = form();
    form.take(Act::Accept);
    let long = format!("\"{}\"", "x".repeat(5_000));
    type_in(&mut form, &long);
    form.take(Act::Accept);
    let [(name, shown)] = form.ready.as_slice() else {
        panic!("{:?}", form.ready);
    };
    assert_eq!(name, "count");
    assert!(shown.ends_with("x… (5,002 bytes)") && shown.len() < 500, "{shown}");
    let value = Divergence::Inject(vec![("count".into(), json!("x".repeat(5_000)))]);
    assert_eq!(form.take(Act::Accept), Do::Fork(value));
}

#[test]
fn ways_that_cannot_be_gone_say_why() {
    let mut form = Form::of(&point(&[], ""));
    for way in [Way::Inject, Way::Edit] {
        form.way = way;
        assert_eq!(form.take(Act::Accept), Do::Nothing);
        assert_eq!(form.stage, Stage::Choosing);
        assert!(form.trouble.is_some());
    }
    form.way = Way::Replan;
    form.take(Act::Accept);
    assert_eq!(form.stage, Stage::Asking);
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        Just(Act::Up),
        Just(Act::Down),
        Just(Act::Accept),
        Just(Act::Back),
        "[a-z(= ]{0,6}".prop_map(|text| Act::Edited(Ok(text))),
        Just(Act::Edited(Err("gave up".into()))),
        Just(Act::Checked(Ok(()))),
        Just(Act::Checked(Err("no Python".into()))),
    ]
}

proptest! {
    /// A fork is made of nothing that was not shown as ready, and of no code that was not checked.
    #[test]
    fn only_what_is_ready_is_forked(acts in proptest::collection::vec((any_act(), "[0-9\"]{0,2}"), 0..40)) {
        let mut form = form();
        let mut checked = None;
        for (act, typed) in acts {
            if let Some(text) = form.text() {
                text.paste(&typed, Duration::ZERO).unwrap();
            }
            let passes = matches!(act, Act::Checked(Ok(()))) && form.stage == Stage::Checking;
            let before = form.stage.clone();
            let done = form.take(act);
            if passes {
                checked = Some(form.edited.clone());
            }
            if let Do::Fork(divergence) = done {
                prop_assert_eq!(before, Stage::Ready(divergence.clone()));
                if let Divergence::Edit(code) = divergence {
                    prop_assert_eq!(Some(code), checked.clone());
                }
            }
            prop_assert!(form.field < form.fields.len());
            prop_assert_eq!(form.types(), form.text().is_some());
        }
    }
}
