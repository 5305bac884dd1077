//! Stopping it: Ctrl-C, limits, and what is left behind.

use super::Place;
use crate::running::{Program, Ran, script, signal};
use rustix::process::Signal;
use serde_json::json;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

pub(super) fn wait_for(child: &mut Child, what: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !what() {
        assert!(
            Instant::now() < deadline && child.try_wait().unwrap().is_none(),
            "it never came"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(super) fn has(state: &Path, text: &str) -> bool {
    std::fs::read_to_string(state).is_ok_and(|found| found.contains(text))
}

/// Three steps, the last of which the model takes a minute for, or which computes for a minute.
fn slow(place: &Place, computing: bool) -> Program {
    let last = if computing {
        json!({"code": "done = 0\nwhile True:\n    done += 1"})
    } else {
        json!({"code": "FINAL(1)", "delay": 60})
    };
    let replies = json!([{"code": "first = 1"}, {"code": "second = 2"}, last]);
    let script = script::write(place.path(), "slow.json", &json!({"replies": replies}));
    Program::asks(place.path(), "slow").scripted(&script)
}

#[test]
fn ctrl_c_stops_cleanly_and_keeps_the_state() {
    for (computing, with) in [(false, Signal::INT), (true, Signal::INT), (false, Signal::TERM)] {
        let place = Place::new();
        let state = place.session_dir().join("state.json");
        let mut child = slow(&place, computing).session(&place.session_dir()).start();
        wait_for(&mut child, || has(&state, "second = 2"));
        signal(&child, with);
        Ran::from(child.wait_with_output().unwrap()).refused(130, &["cancelled"]);
        let state = place.session().state();
        crate::running::session::check_state(&state);
        assert_eq!(state["pending_query"], json!(null));
        assert_eq!(state["interrupted"][0]["outcome"], json!("cancelled"));
        assert_eq!(
            place
                .steps(&["FINAL([first, second])"])
                .session(&place.session_dir())
                .arg("--json")
                .run()
                .json()["final"],
            json!([1, 2])
        );
    }
}

#[test]
fn without_a_session_nothing_is_left() {
    for with in [None, Some(Signal::INT), Some(Signal::TERM), Some(Signal::HUP)] {
        let place = Place::new();
        let temporary = place.path().join("tmp");
        std::fs::create_dir(&temporary).unwrap();
        let entries = || std::fs::read_dir(&temporary).unwrap().count();
        let query = if with.is_some() {
            slow(&place, false)
        } else {
            place.steps(&["kept = 1", "FINAL(1)"])
        };
        let mut child = query.env("TMPDIR", &temporary).start();
        if let Some(with) = with {
            let logs = || walk(&temporary).iter().any(|path| has(path, "second = 2"));
            wait_for(&mut child, logs);
            signal(&child, with);
        }
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(if with.is_some() { 130 } else { 0 }), "{ran:?}");
        assert_eq!(entries(), 0, "after {with:?}");
    }
}

/// All files below a directory.
fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths
        .flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] })
        .collect()
}

#[test]
fn limits_stop_a_run_with_their_name_and_keep_its_steps() {
    let usage = json!({"prompt": 1_000, "completion": 200, "cost": 0.05});
    let reply = |code: &str| json!({"code": code, "usage": usage});
    for (option, value, name, kept) in [
        ("--max-calls", "2", "max_calls_per_subagent", 2),
        ("--max-global-calls", "1", "max_global_calls", 1),
        ("--max-money-spent", "0.07", "max_money_spent", 2),
    ] {
        let place = Place::new();
        let replies: Vec<_> = (1..=4).map(|i| reply(&format!("x{i} = {i}"))).collect();
        let script = script::write(place.path(), "limits.json", &json!({"replies": replies}));
        let query = Program::asks(place.path(), "go on")
            .scripted(&script)
            .session(&place.session_dir());
        query.option(option, value).run().refused(3, &[name]);
        assert_eq!(place.session().names("variables").len(), kept, "{option}");
    }
    for (setting, name) in [
        ("max_completion_tokens: 150", "max_completion_tokens"),
        ("max_prompt_tokens: 1100", "max_prompt_tokens"),
    ] {
        let place = Place::new();
        place.file("rlm_config.yaml", setting);
        let script = script::write(
            place.path(),
            "limits.json",
            &json!({"replies": [reply("x = 1"), reply("y = 2")]}),
        );
        let query = Program::asks(place.path(), "go on")
            .scripted(&script)
            .session(&place.session_dir());
        query.run().refused(3, &[name]);
        assert_eq!(place.session().names("variables"), ["x"], "{setting}");
    }
}

#[test]
fn a_directory_that_vanishes_ends_the_query_and_is_named() {
    let place = Place::new();
    let replies = json!([{"code": "first = 1"}, {"code": "second = 2", "delay": 1}, {"code": "FINAL(1)"}]);
    let script = script::write(place.path(), "slow.json", &json!({"replies": replies}));
    let asks = Program::asks(place.path(), "slow").scripted(&script);
    let state = place.session_dir().join("state.json");
    let mut child = asks.session(&place.session_dir()).start();
    wait_for(&mut child, || has(&state, "first = 1"));
    std::fs::remove_dir_all(place.session_dir()).unwrap();
    Ran::from(child.wait_with_output().unwrap()).refused(1, &["session"]);
    let again = place.steps(&["FINAL('works')"]).session(&place.session_dir());
    assert_eq!(again.answer(), "works");
}

/// A step that binds what takes for ever to be saved, after one that was saved.
fn saving_for_ever(place: &Place) -> Program {
    let replies = json!([
        {"code": "kept = 1"},
        {"code": "kept = 2\nclass Slow:\n    def __reduce__(self):\n        while True: pass\nslow = Slow()\nprint(await llm_query('mark'))"},
    ]);
    let rules = json!([{"when": {"depth": 1}, "replies": [{"code": "FINAL('it runs')"}]}]);
    let script = script::write(
        place.path(),
        "saving.json",
        &json!({"rules": rules, "replies": replies}),
    );
    Program::asks(place.path(), "save it")
        .scripted(&script)
        .session(&place.session_dir())
}

/// Its sub-agent has ended, and what remains of the step takes no time.
fn wait_until_it_saves(place: &Place, child: &mut Child) {
    let logs = place.session_dir().join("logs");
    wait_for(child, || walk(&logs).iter().any(|path| has(path, "it runs")));
    std::thread::sleep(Duration::from_millis(700));
}

#[test]
fn ctrl_c_is_heard_while_names_are_saved_and_none_of_them_is_kept_by_half() {
    let place = Place::new();
    let mut child = saving_for_ever(&place).start();
    wait_until_it_saves(&place, &mut child);
    let pressed = Instant::now();
    signal(&child, Signal::INT);
    Ran::from(child.wait_with_output().unwrap()).refused(130, &["cancelled"]);
    // No measure of speed: saving would be given up after a minute.
    assert!(pressed.elapsed() < Duration::from_secs(30), "{:?}", pressed.elapsed());
    let state = place.session().state();
    crate::running::session::check_state(&state);
    assert_eq!(state["interrupted"][0]["outcome"], json!("cancelled"));
    assert_eq!(place.session().names("variables"), ["kept"]);
    let steps: Vec<&serde_json::Value> = state["code_log"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["ok"])
        .collect();
    assert_eq!(steps, [true, false]);
    let again = place.steps(&["FINAL(kept)"]).session(&place.session_dir());
    assert_eq!(again.arg("--json").run().json()["final"], json!(1));
}

#[test]
fn a_second_ctrl_c_ends_the_program_while_names_are_saved() {
    let place = Place::new();
    let mut child = saving_for_ever(&place).start();
    wait_until_it_saves(&place, &mut child);
    signal(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let state = place.session().state();
    assert_eq!(state["pending_query"], json!("save it"));
    assert_eq!(place.session().names("variables"), ["kept"]);
}
