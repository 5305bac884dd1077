//! The commands on recorded sessions, as people run them.

use fast_rlm::observe::Fact;
use fast_rlm::store::{Digest, NewEvent, NewSession, Select};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

const STEPS: [&str; 3] = ["x = await llm_query('a')", "y = x + '!'", "FINAL(y)"];

/// The program in a directory, with no configuration but what lies there.
pub(crate) fn command(args: &[&str], dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm"));
    command
        .args(args)
        .current_dir(dir)
        .env("XDG_CONFIG_HOME", dir.join("none"))
        .env_remove("RUST_BACKTRACE");
    command
}

pub(crate) fn program(args: &[&str], dir: &Path) -> Output {
    command(args, dir).output().unwrap()
}

/// Arguments that ask in a session under `runs`.
pub(crate) fn asking<'a>(prompt: &'a str, model: &'a str, session: &'a str) -> [&'a str; 7] {
    [
        prompt,
        "--primary-agent",
        model,
        "--session-dir",
        "runs",
        "--session-id",
        session,
    ]
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
pub(crate) fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

#[track_caller]
pub(crate) fn exits(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
}

/// A directory with the session `one` under `runs`, and the script that made it.
pub(crate) fn recorded() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let replies: Vec<Value> = STEPS.iter().map(|code| json!({ "code": code })).collect();
    let script = json!({"rules": [{"when": {"depth": 1}, "replies": [{"code": "FINAL('sub')"}]}], "replies": replies});
    std::fs::write(dir.path().join("model.json"), script.to_string()).unwrap();
    let asked = program(&asking("Find the whale", "scripted:model.json", "one"), dir.path());
    exits(&asked, 0);
    dir
}

#[test]
fn case_84_sessions_without_a_log_are_not_called_identical() {
    let dir = recorded();
    for name in ["foreign", "other"] {
        let session = dir.path().join("runs").join(name);
        std::fs::create_dir(&session).unwrap();
        std::fs::write(session.join("state.json"), r#"{"version": 2, "queries": []}"#).unwrap();
    }
    for pair in [["foreign", "other"], ["one", "foreign"], ["foreign", "one"]] {
        let compared = program(&["diff", pair[0], pair[1], "--dir", "runs"], dir.path());
        exits(&compared, 2);
        let told = String::from_utf8(compared.stderr).unwrap();
        assert!(
            told.contains("foreign") && told.contains("has no record (events.db)"),
            "{told}"
        );
    }
}

#[test]
fn case_82_replay_prints_its_report_and_exits_by_it() {
    let dir = recorded();
    let replayed = program(&["replay", "last", "--dir", "runs", "--json"], dir.path());
    exits(&replayed, 0);
    let report = json_of(&replayed);
    assert_eq!(
        (&report["faithful"], &report["report"]["cells_total"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(report["report"]["plans"][0]["steps"].as_array().unwrap().len(), 3);
    exits(
        &program(&["replay", "one", "--dir", "runs", "--turn", "0"], dir.path()),
        2,
    );
    exits(
        &program(&["replay", "one", "--dir", "runs", "--turn", "2"], dir.path()),
        2,
    );
    let told = program(&["replay", "one", "--dir", "runs", "--turn", "1"], dir.path());
    assert!(out(&told).starts_with("faithful: 3 steps, 1/1 calls"), "{told:?}");

    // A step that the log has otherwise than it ran.
    changed(dir.path(), "wrong", |fact| match fact {
        Fact::StepStarted(mut started) if started.code == STEPS[1] => {
            started.code = "y = x + '?'".into();
            started.into()
        }
        other => other,
    });
    let diverged = program(&["replay", "wrong", "--dir", "runs"], dir.path());
    exits(&diverged, 1);
    assert!(out(&diverged).contains("Q1 step 2: value of y"), "{diverged:?}");
}

/// The session `one` once more under another name, changed on the way.
fn changed(dir: &Path, name: &str, change: fn(Fact) -> Fact) {
    let store = fast_rlm::Storage::dir(dir.join("runs")).open().unwrap();
    let copy = store.events.create_session(&NewSession::named(name, 9)).unwrap();
    let events = store.events.read_all("one", &Select::all()).unwrap().events;
    let again = events.into_iter().map(|event| {
        let mut event = NewEvent::from(event);
        event.fact = change(event.fact);
        event
    });
    crate::desk::tamper(&store, &copy.id, |writer| drop(writer.append(again.collect()).unwrap()));
}

#[test]
fn case_38_a_cell_of_another_input_exits_with_1_and_shows_both_hashes() {
    let dir = recorded();
    changed(dir.path(), "keyed", |fact| match fact {
        Fact::LeafCall(mut cell) if cell.call == "llm_query" => {
            cell.input = Some(Digest::of(b"wrong"));
            cell.into()
        }
        other => other,
    });
    let diverged = program(&["replay", "keyed", "--dir", "runs", "--json"], dir.path());
    exits(&diverged, 1);
    let report = json_of(&diverged);
    let found = &report["report"]["diverged"];
    assert_eq!((&found["what"], &found["step"]), (&json!("call llm_query"), &json!(0)));
    let digits = |key: &str| found[key].as_str().unwrap().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(digits("expected"), Digest::of(b"wrong").to_string());
    assert!(digits("got").parse::<Digest>().is_ok() && digits("got") != digits("expected"));
    assert_eq!(report["report"]["plans"][0]["steps"].as_array().unwrap().len(), 1);
    assert_eq!(report["faithful"], json!(false));
}

#[test]
fn case_84_diff_exits_0_or_1_and_2_for_errors() {
    let dir = recorded();
    let what_if = program(
        &[
            "what-if",
            "one",
            "--dir",
            "runs",
            "--substitute",
            "llm_query=\"else\"",
            "--json",
        ],
        dir.path(),
    );
    exits(&what_if, 0);
    let ran = json_of(&what_if);
    assert_eq!(
        (&ran["hermetic"], &ran["final"], &ran["cost_nano_usd"]),
        (&json!(true), &json!("else!"), &json!(0))
    );
    let id = ran["session"].as_str().unwrap();
    exits(&program(&["diff", "one", "one", "--dir", "runs"], dir.path()), 0);
    let differs = program(&["diff", "one", id, "--dir", "runs", "--json"], dir.path());
    exits(&differs, 1);
    let rows = json_of(&differs);
    assert_eq!(
        (&rows["identical"], &rows["rows"][0]["row"]),
        (&json!(false), &json!("output"))
    );
    exits(&program(&["diff", "one", "nope", "--dir", "runs"], dir.path()), 2);
}

#[test]
fn a_session_goes_into_a_file_and_comes_back_elsewhere() {
    let dir = recorded();
    exits(
        &program(&["export", "one", "--dir", "runs", "--bundle", "one.tar"], dir.path()),
        0,
    );
    exits(
        &program(&["export", "one", "--dir", "runs", "--bundle", "one.tar"], dir.path()),
        2,
    );
    exits(&program(&["import", "one.tar", "--dir", "other"], dir.path()), 0);
    exits(&program(&["import", "one.tar", "--dir", "other"], dir.path()), 2);
    exits(&program(&["replay", "one", "--dir", "other"], dir.path()), 0);
    let state = |runs: &str| std::fs::read(dir.path().join(runs).join("one/state.json")).unwrap();
    assert_eq!(state("runs"), state("other"));
    std::fs::write(dir.path().join("no.tar"), "no tar").unwrap();
    exits(&program(&["import", "no.tar", "--dir", "other"], dir.path()), 2);
}

#[test]
fn a_removed_state_is_rebuilt_from_the_log() {
    let dir = recorded();
    let path = dir.path().join("runs/one/state.json");
    let before: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    exits(
        &program(&["sessions", "rebuild", "one", "--dir", "runs"], dir.path()),
        0,
    );
    let after: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        (&after["queries"], &after["variables"]),
        (&before["queries"], &before["variables"])
    );
    let gc = program(&["sessions", "gc", "runs"], dir.path());
    assert!(out(&gc).contains("to be freed"), "{gc:?}");
}

#[test]
fn a_what_if_that_waits_for_an_answer_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let steps = [
        "x = await llm_query('a')",
        "y = await ask('go on?') if x == 'else' else 'no need'",
        "FINAL(y)",
    ];
    let replies: Vec<Value> = steps.iter().map(|code| json!({ "code": code })).collect();
    let script = json!({"rules": [{"when": {"depth": 1}, "replies": [{"code": "FINAL('sub')"}]}], "replies": replies});
    std::fs::write(dir.path().join("model.json"), script.to_string()).unwrap();
    exits(
        &program(&asking("Find the whale", "scripted:model.json", "one"), dir.path()),
        0,
    );
    let change = [
        "what-if",
        "one",
        "--dir",
        "runs",
        "--substitute",
        "llm_query=\"else\"",
        "--live",
    ];
    let json = program(&[&change[..], &["--json"]].concat(), dir.path());
    exits(&json, 75);
    let ran = json_of(&json);
    assert_eq!((&ran["final"], &ran["halted"]), (&Value::Null, &Value::Null));
    assert!(ran["suspended"].as_str().unwrap().contains("go on?"), "{ran}");
    let shown = program(&change, dir.path());
    exits(&shown, 75);
    assert!(out(&shown).contains("waits for an answer: go on?"), "{shown:?}");
    let told = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(told.contains("fast-rlm answer"), "{told}");
}
