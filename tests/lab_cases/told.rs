//! What the shell is told of sessions in which something has no answer or no record: by the list, before a query, after a
//! replay.

use super::shell::{asking, command, exits, json_of, out, program, recorded};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn script(dir: &Path, name: &str, replies: &Value) -> String {
    std::fs::write(dir.join(name), json!({"replies": replies}).to_string()).unwrap();
    format!("scripted:{name}")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_list_says_how_the_last_query_ended_and_counts_as_the_viewer_does() {
    let dir = recorded();
    let model = script(dir.path(), "two.json", &json!([{"code": "x = 1"}, {"code": "x = 2"}]));
    exits(&program(&asking("fails", &model, "broken"), dir.path()), 1);
    let args = [&asking("stops", &model, "limited")[..], &["--max-calls", "1"]].concat();
    exits(&program(&args, dir.path()), 3);
    let listed = out(&program(&["sessions", "runs"], dir.path()));
    let line = |id: &str| listed.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    assert!(
        line("broken").contains("0 queries + 1 without FINAL  failed "),
        "{listed}"
    );
    assert!(
        line("limited").contains("0 queries + 1 without FINAL  stopped by a limit"),
        "{listed}"
    );
    assert!(line("one").contains(" 1 query   "), "{listed}");
    let rows = json_of(&program(&["sessions", "runs", "--json"], dir.path()));
    let row = |id: &str| {
        rows.as_array()
            .unwrap()
            .iter()
            .find(|row| row["id"] == id)
            .unwrap()
            .clone()
    };
    let facts = |id: &str| {
        (
            row(id)["queries"].clone(),
            row(id)["completed"].clone(),
            row(id)["outcome"].clone(),
        )
    };
    assert_eq!(facts("broken"), (json!(1), json!(0), json!("error")));
    assert_eq!(facts("limited"), (json!(1), json!(0), json!("limit")));
    assert_eq!(facts("one"), (json!(1), json!(1), json!("done")));
}

#[test]
fn a_session_in_its_own_directory_has_one_name() {
    let dir = recorded();
    exits(
        &program(
            &["go", "--primary-agent", "scripted:model.json", "--session-dir", "trip"],
            dir.path(),
        ),
        0,
    );
    for place in [".", "trip"] {
        let rows = json_of(&program(&["sessions", place, "--json"], dir.path()));
        let ids: Vec<&Value> = rows.as_array().unwrap().iter().map(|row| &row["id"]).collect();
        assert_eq!(ids, ["trip"], "{place}");
    }
    exits(&program(&["replay", "trip", "--dir", "trip"], dir.path()), 0);
    let wrong = program(&["replay", "trip", "--turn", "7"], dir.path());
    assert!(err(&wrong).contains("session trip has 1 query"), "{}", err(&wrong));
}

#[test]
fn a_replay_names_the_queries_that_have_no_record() {
    let dir = recorded();
    let query = |text: &str| json!({"query": text, "final": 1, "log_file": "logs/a.jsonl", "run_id": text});
    let state = json!({"version": 2, "queries": [query("a"), query("b")]});
    std::fs::create_dir(dir.path().join("theirs")).unwrap();
    std::fs::write(dir.path().join("theirs/state.json"), state.to_string()).unwrap();
    exits(
        &program(
            &[
                "go",
                "--primary-agent",
                "scripted:model.json",
                "--session-dir",
                "theirs",
            ],
            dir.path(),
        ),
        0,
    );
    let replayed = program(&["replay", "theirs"], dir.path());
    exits(&replayed, 0);
    let told = "not replayed, without a record (another program asked): 2 queries, Q1, Q2";
    assert!(out(&replayed).contains(told), "{}", out(&replayed));
    let replayed = json_of(&program(&["replay", "theirs", "--json"], dir.path()));
    assert_eq!(replayed["not_replayed"], json!(["Q1", "Q2"]));
    let one = json_of(&program(&["replay", "theirs", "--json", "--turn", "3"], dir.path()));
    assert_eq!(one["not_replayed"], json!([]));
}

#[test]
fn who_asks_is_told_that_the_query_before_can_be_resumed_no_more() {
    let dir = recorded();
    let slow = script(
        dir.path(),
        "slow.json",
        &json!([{"code": "kept = 1"}, {"code": "FINAL(1)", "delay": 60}]),
    );
    let mut child = command(&asking("Count the boats", &slow, "cut"), dir.path())
        .spawn()
        .unwrap();
    let state = dir.path().join("runs/cut/state.json");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !std::fs::read_to_string(&state).is_ok_and(|text| text.contains("kept = 1")) {
        assert!(Instant::now() < deadline, "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let model = script(dir.path(), "quick.json", &json!([{"code": "FINAL(2)"}]));
    let asked = program(&asking("what else?", &model, "cut"), dir.path());
    exits(&asked, 0);
    let told = "fast-rlm: the query \"Count the boats\" was interrupted: it stays in the list, and can no longer be resumed \
                once this one begins (`fast-rlm resume runs/cut` would have)";
    assert!(err(&asked).contains(told), "{}", err(&asked));
    let again = program(&asking("and now?", &model, "cut"), dir.path());
    assert!(!err(&again).contains("was interrupted"), "{}", err(&again));
}

#[test]
fn a_query_about_a_file_that_was_cut_stays_one_run_once_another_is_asked() {
    let dir = recorded();
    std::fs::write(dir.path().join("text.txt"), "line 1\nline 2\n").unwrap();
    let slow = script(
        dir.path(),
        "slow.json",
        &json!([{"code": "kept = 1"}, {"code": "FINAL(1)", "delay": 60}]),
    );
    let about = [
        &asking("Count the lines", &slow, "cut")[..],
        &["--input-file", "text.txt"],
    ]
    .concat();
    let mut child = command(&about, dir.path()).spawn().unwrap();
    let state = dir.path().join("runs/cut/state.json");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !std::fs::read_to_string(&state).is_ok_and(|text| text.contains("kept = 1")) {
        assert!(Instant::now() < deadline, "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let model = script(dir.path(), "quick.json", &json!([{"code": "FINAL(2)"}]));
    exits(&program(&asking("what else?", &model, "cut"), dir.path()), 0);
    let shown = || {
        let log = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"))
            .args(["runs/cut", "--json"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let session = json_of(&log);
        let queries = session["queries"].as_array().unwrap().iter();
        let facts =
            |query: &Value| [&query["name"], &query["query"], &query["run"]["root_steps"]].map(Value::to_string);
        queries.map(|query| facts(query).join(" ")).collect::<Vec<_>>()
    };
    let expected = [r#""X1" "Count the lines (text.txt)" 1"#, r#""Q1" "what else?" 1"#];
    assert_eq!(shown(), expected);
    // A record of an older build names no run.
    let mut kept: Value = serde_json::from_str(&std::fs::read_to_string(&state).unwrap()).unwrap();
    let row = kept["interrupted"][0].as_object_mut().unwrap();
    assert!(
        row.remove("run_id").is_some() && row.remove("log_file").is_some(),
        "{row:?}"
    );
    std::fs::write(&state, kept.to_string()).unwrap();
    assert_eq!(shown(), expected);
}

#[test]
fn full_shows_each_sub_agent() {
    let dir = recorded();
    let args = [
        &asking("go", "scripted:model.json", "full")[..],
        &["--verbosity", "full"],
    ]
    .concat();
    let asked = program(&args, dir.path());
    let told = err(&asked);
    assert!(told.contains("  ▶ sub-agent 1  a\n"), "{told}");
    assert!(told.contains("  ✓ sub-agent 1  1 step · "), "{told}");
}
