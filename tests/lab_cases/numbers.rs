//! Queries are numbered on the command line as screens number them.

use crate::shell::{asking, exits, json_of, out, program};
use serde_json::json;
use std::path::Path;
use std::process::Output;

fn script(dir: &Path, name: &str, replies: &serde_json::Value) {
    std::fs::write(dir.join(name), json!({"replies": replies}).to_string()).unwrap();
}

fn err(ran: &Output) -> String {
    String::from_utf8(ran.stderr.clone()).unwrap()
}

/// Replays or forks the session `s` of `runs`.
fn on(dir: &Path, command: &str, more: &[&str]) -> Output {
    program(&[&[command, "s", "--dir", "runs"], more].concat(), dir)
}

#[test]
fn a_query_without_an_answer_has_a_number_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    script(dir, "cut.json", &json!([{"code": "a = 1"}]));
    script(dir, "b.json", &json!([{"code": "b = 2"}, {"code": "FINAL(b)"}]));
    let limited = program(
        &[&asking("A", "scripted:cut.json", "s")[..], &["--max-calls", "1"]].concat(),
        dir,
    );
    exits(&limited, 3);
    exits(&program(&asking("B", "scripted:b.json", "s"), dir), 0);
    let all = on(dir, "replay", &[]);
    exits(&all, 0);
    let ticks = err(&all);
    assert!(
        ticks.contains("X1 step 1") && ticks.contains("Q1 step 2") && !ticks.contains("Q2"),
        "{ticks}"
    );
    let turn = |name: &str| {
        let replayed = on(dir, "replay", &["--turn", name, "--json"]);
        exits(&replayed, 0);
        json_of(&replayed)["report"]["plans"][0]["turn"].clone()
    };
    assert_eq!(["1", "Q1", "X1"].map(turn), [json!(1), json!(1), json!(0)]);
    let none = on(dir, "replay", &["--turn", "2"]);
    exits(&none, 2);
    assert!(err(&none).contains("has 1 query: there is no query 2"), "{none:?}");
    exits(&on(dir, "replay", &["--turn", "X2"]), 2);
    let forked = on(dir, "fork", &["--turn", "1", "--at", "1", "--inject", "7", "-q"]);
    assert_eq!(out(&forked), "7\n", "{forked:?}");
    let far = on(dir, "fork", &["--turn", "X1", "--at", "9", "--inject", "7"]);
    assert!(err(&far).contains("X1 has 1 step: there is no step 9"), "{far:?}");
}

#[test]
fn queries_from_before_the_log_keep_their_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::create_dir_all(dir.join("runs/s")).unwrap();
    let state = json!({"version": 2, "queries": [
        {"query": "old", "final": 1, "log_file": "logs/a.jsonl", "run_id": "r1"},
        {"query": "older", "final": 2, "log_file": "logs/b.jsonl", "run_id": "r2"},
    ]});
    std::fs::write(dir.join("runs/s/state.json"), state.to_string()).unwrap();
    script(dir, "c.json", &json!([{"code": "c = 3"}, {"code": "FINAL(c)"}]));
    exits(&program(&asking("C", "scripted:c.json", "s"), dir), 0);
    let third = on(dir, "replay", &["--turn", "3"]);
    exits(&third, 0);
    assert!(
        err(&third).contains("Q3 step 1") && !err(&third).contains("Q1"),
        "{third:?}"
    );
    let forked = on(dir, "fork", &["--turn", "Q3", "--at", "1", "--inject", "7", "-q"]);
    assert_eq!(out(&forked), "7\n", "{forked:?}");
    let early = on(dir, "replay", &["--turn", "2"]);
    exits(&early, 2);
    let told = "Q2 has no record (events.db): another program asked it; the record begins with Q3";
    assert!(err(&early).contains(told), "{early:?}");
    // Both sides of a comparison have the numbers of their own screens.
    exits(&program(&asking("D", "scripted:c.json", "t"), dir), 0);
    let differs = program(&["diff", "s", "t", "--dir", "runs"], dir);
    assert!(out(&differs).contains("Q3 step 1: c = 3"), "{differs:?}");
}

#[test]
fn a_cut_query_that_fails_again_is_told_as_json() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let slow = json!([{"code": "a = 1"}, {"code": "FINAL(a)", "delay": "120s"}]);
    script(dir, "cut.json", &slow);
    script(dir, "ends.json", &json!([{"code": "c = 3"}]));
    let mut asked = crate::shell::command(&asking("A", "scripted:cut.json", "s"), dir);
    let mut asked = asked.stderr(std::process::Stdio::null()).spawn().unwrap();
    let is_saved = || std::fs::read_to_string(dir.join("runs/s/state.json")).is_ok_and(|state| state.contains("a = 1"));
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !is_saved() && std::time::Instant::now() < patience {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    asked.kill().unwrap();
    asked.wait().unwrap();
    let failed = on(dir, "resume", &["--primary-agent", "scripted:ends.json", "--json"]);
    exits(&failed, 1);
    let record = json_of(&failed);
    assert_eq!((&record["session"], &record["outcome"]), (&json!("s"), &json!("error")));
}
