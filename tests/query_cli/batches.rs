//! Sub-agents of a batch whose process dies: what had ended is in the record, and is not paid for again.

use super::Place;
use super::stopping::wait_for;
use crate::running::{Program, script, signal};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;

/// Cells of the log that a sub-agent stands behind.
fn cells(dir: &Path) -> Vec<Value> {
    let Ok(log) =
        rusqlite::Connection::open_with_flags(dir.join("events.db"), rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
    else {
        return Vec::new();
    };
    let cells = "SELECT payload FROM event WHERE kind = 'leaf_call' ORDER BY global_seq";
    // The file may be there and its tables not.
    let Ok(mut cells) = log.prepare(cells) else {
        return Vec::new();
    };
    let rows = cells.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|cell| serde_json::from_str(&cell.unwrap()).unwrap()).collect()
}

/// A query whose sub-agents answer by what they are given: with these texts, after so many seconds.
fn asks(place: &Place, name: &str, step: &str, answers: &[(&str, &str, u64)]) -> std::path::PathBuf {
    let rules = answers.iter().map(|(given, answer, delay)| {
        json!({"when": {"depth": 1, "first": given}, "replies": [{"code": format!("FINAL({answer:?})"), "delay": delay}]})
    });
    let rules = rules.collect::<Vec<_>>();
    script::write(
        place.path(),
        name,
        &json!({"rules": rules, "replies": [{"code": step}]}),
    )
}

#[test]
fn what_had_ended_when_its_process_was_killed_is_not_asked_again() {
    let place = Place::new();
    let step = "FINAL(await batch_llm_query(*[llm_query(of) for of in ('one', 'two', 'three', 'slow')]))";
    let first = [("one", "1", 0), ("two", "2", 0), ("three", "3", 1), ("slow", "4", 300)];
    let first = asks(&place, "first.json", step, &first);
    let mut child = Program::asks(place.path(), "go")
        .scripted(&first)
        .session(&place.session_dir())
        .start();
    wait_for(&mut child, || cells(&place.session_dir()).len() == 3);
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    // None but the slow one may be asked: the others would give another answer.
    let again = asks(
        &place,
        "again.json",
        "",
        &[("slow", "late", 0), ("o", "asked again", 0)],
    );
    let resumed = Program::new(place.path())
        .arg("resume")
        .arg(place.session_dir())
        .scripted(&again)
        .arg("--json")
        .run();
    assert_eq!(resumed.json()["final"], json!(["1", "2", "3", "late"]), "{resumed:?}");
    // The slow one was asked twice, and was billed for twice.
    let stopped = cells(&place.session_dir());
    let stopped: Vec<_> = stopped.iter().map(|cell| cell["outcome"] == "stopped").collect();
    assert_eq!(stopped, [false, false, false, true, false]);
    let replay = Program::new(place.path()).arg("replay").arg(place.session_dir()).run();
    assert_eq!(replay.code, Some(0), "{replay:?}");
}

#[test]
fn calls_of_a_step_that_goes_on_are_counted_on_from_all_that_it_made() {
    let place = Place::new();
    // The sub-agent's own calls have numbers of the same step.
    let step =
        "a = await llm_query('has children')\nb = await ask('go on?')\nc = await llm_query('zulu')\nFINAL([a, b, c])";
    let script = script::write(
        place.path(),
        "children.json",
        &json!({
            "rules": [
                {"when": {"depth": 2}, "replies": [{"code": "FINAL('child')"}]},
                {"when": {"depth": 1, "first": "zulu"}, "replies": [{"code": "FINAL('zulu')"}]},
                {"when": {"depth": 1}, "replies": [{"code": "FINAL(await batch_llm_query(llm_query('x'), llm_query('y')))"}]},
            ],
            "replies": [{"code": step}],
        }),
    );
    let parked = Program::asks(place.path(), "go")
        .scripted(&script)
        .session(&place.session_dir())
        .run();
    assert_eq!(parked.code, Some(75), "{parked:?}");
    let answer = Program::new(place.path()).arg("answer").arg(place.session_dir());
    let answered = answer.arg("yes").arg("--json").run();
    assert_eq!(answered.json()["final"], json!([["child", "child"], "yes", "zulu"]));
    let asked: Vec<_> = cells(&place.session_dir())
        .iter()
        .map(|cell| cell["shown_input"]["context"].clone())
        .collect();
    assert_eq!(asked.len(), 4, "no result is missing in the log: {asked:?}");
    let replay = Program::new(place.path()).arg("replay").arg(place.session_dir()).run();
    assert_eq!(replay.code, Some(0), "{replay:?}");
}
