//! Steps that go on in another process and read what could not be saved there: generators, open files, locks. The answer
//! of a person is used or told to the model, no call is paid twice, and a replay comes out as recorded.

use super::Place;
use crate::running::{Program, Ran, script, session::output};
use serde_json::{Value, json};

/// Binds a generator, and what it has given so far.
const BINDS: &str = "g = (n * n for n in range(10))\nfirst = next(g)\nheard = await llm_query('quick')";

/// A query of these steps, with sub-agents that count as they are asked: each answers once.
fn asks(place: &Place, steps: &[&str]) -> Ran {
    let replies: Vec<_> = steps.iter().map(|code| json!({"code": code})).collect();
    let rules = json!([{"when": {"depth": 1}, "replies": [{"code": "FINAL('here')"}]}]);
    let script = script::write(place.path(), "steps.json", &json!({"rules": rules, "replies": replies}));
    Program::asks(place.path(), "go")
        .scripted(&script)
        .session(&place.session_dir())
        .run()
}

/// Answers, with a model that replies with these steps from then on, and sub-agents that must not be asked.
fn answers(place: &Place, text: &str, steps: &[&str]) -> Ran {
    let more = script::steps(place.path(), "more.json", steps);
    let answer = Program::new(place.path()).arg("answer").arg(place.session_dir());
    answer.arg(text).scripted(&more).arg("--json").run()
}

#[track_caller]
fn replays(place: &Place) {
    let replay = Program::new(place.path()).arg("replay").arg(place.session_dir()).run();
    assert_eq!(replay.code, Some(0), "{replay:?}");
}

fn agents(place: &Place) -> usize {
    let lines = place.session().last_transcript();
    let starts = |line: &&Value| line["event_type"] == "agent_start" && line["depth"] == 1;
    lines.iter().filter(starts).count()
}

#[test]
fn a_step_that_waited_reads_what_could_not_be_saved() {
    let place = Place::new();
    let waits = "before = next(g)\na = await ask('ok?')\nresult = [first, before, next(g), a, heard]";
    assert_eq!(asks(&place, &[BINDS, waits]).code, Some(75));
    let answered = answers(&place, "yes", &["FINAL(result + [next(g)])"]);
    assert_eq!(
        answered.json()["final"],
        json!([0, 1, 4, "yes", "here", 9]),
        "{answered:?}"
    );
    assert_eq!(agents(&place), 1, "a call is served from the record");
    replays(&place);
}

#[test]
fn what_is_read_in_a_function_or_a_text_is_read_too() {
    let place = Place::new();
    let binds = format!("{BINDS}\ndef following():\n    return next(g)");
    let waits = "a = await ask('ok?')\nFINAL([following(), f'{next(g)}', a])";
    // A reply without code has no namespace of its own.
    assert_eq!(asks(&place, &[&binds, "x = 1", "", waits]).code, Some(75));
    assert_eq!(answers(&place, "yes", &["0"]).json()["final"], json!([1, "4", "yes"]));
    replays(&place);
}

#[test]
fn so_is_it_after_each_of_several_questions() {
    let place = Place::new();
    let waits = "a = await ask('one?')\nb = await ask('two?')\nFINAL([next(g), a, b])";
    assert_eq!(asks(&place, &[BINDS, waits]).code, Some(75));
    let again = answers(&place, "1", &["0"]);
    assert_eq!(again.code, Some(75), "{again:?}");
    assert_eq!(answers(&place, "2", &["0"]).json()["final"], json!([1, "1", "2"]));
    assert_eq!(agents(&place), 1);
    replays(&place);
}

#[test]
fn an_answer_that_the_step_cannot_come_to_is_told_to_the_model() {
    let place = Place::new();
    // Nobody can tell from the code which name it reads.
    let waits = "value = next(eval(chr(103)))\na = await ask('Is it ok?')\nFINAL(a)";
    assert_eq!(asks(&place, &[BINDS, waits]).code, Some(75));
    let answered = answers(&place, "yes, but later", &["FINAL('used')"]);
    assert_eq!(answered.json()["final"], "used", "{answered:?}");
    let lines = place.session().last_transcript();
    let told = output(&lines, 2);
    for part in [
        "The question \"Is it ok?\" was answered: \"yes, but later\"",
        "the name g was not kept while it waited (",
        "NameError: name 'g' is not defined",
    ] {
        assert!(told.contains(part), "{part:?} is not in {told}");
    }
    replays(&place);
}

#[test]
fn what_an_answer_led_to_before_the_step_raised_is_told_with_it() {
    let place = Place::new();
    let waits = "print('the answer is ' + await ask('ok?'))\neval(chr(103))";
    assert_eq!(asks(&place, &[BINDS, waits]).code, Some(75));
    assert_eq!(answers(&place, "yes", &["FINAL(1)"]).code, Some(0));
    let lines = place.session().last_transcript();
    assert!(output(&lines, 2).contains("was answered: \"yes\""), "{lines:?}");
    replays(&place);
}

#[test]
fn a_step_that_was_killed_reads_it_too() {
    let place = Place::new();
    let steps = [
        json!({"code": BINDS}),
        json!({"code": "second = next(g)\nmore = await llm_query('slow')\nFINAL([first, second, more])"}),
    ];
    let rules = json!([
        {"when": {"depth": 1, "first": "slow"}, "replies": [{"code": "FINAL('late')", "delay": 300}]},
        {"when": {"depth": 1}, "replies": [{"code": "FINAL('here')"}]},
    ]);
    let first = script::write(place.path(), "first.json", &json!({"rules": rules, "replies": steps}));
    let asks = Program::asks(place.path(), "go").scripted(&first);
    let mut child = asks.session(&place.session_dir()).start();
    let logs = place.session_dir().join("logs");
    super::stopping::wait_for(&mut child, || {
        let logs = std::fs::read_dir(&logs).into_iter().flatten();
        let texts = logs.map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap());
        texts.into_iter().any(|text| text.matches("agent_start").count() == 3)
    });
    crate::running::signal(&child, rustix::process::Signal::KILL);
    child.wait().unwrap();
    let rules = json!([{"when": {"depth": 1, "first": "slow"}, "replies": [{"code": "FINAL('late')"}]}]);
    let again = script::write(place.path(), "again.json", &json!({"rules": rules}));
    let resume = Program::new(place.path()).arg("resume").arg(place.session_dir());
    let resumed = resume.scripted(&again).arg("--json").run();
    assert_eq!(resumed.json()["final"], json!([0, 1, "late"]), "{resumed:?}");
    replays(&place);
}

#[test]
fn a_name_of_an_earlier_query_is_missing_in_the_step_and_in_its_replay() {
    let place = Place::new();
    assert_eq!(asks(&place, &[BINDS, "FINAL(1)"]).code, Some(0));
    let waits = "a = await ask('ok?')\nprint(next(g))";
    assert_eq!(asks(&place, &["x = 1", waits]).code, Some(75));
    assert_eq!(answers(&place, "yes", &["FINAL(a)"]).json()["final"], "yes");
    replays(&place);
}
