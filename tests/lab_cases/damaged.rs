//! What commands tell of sessions that are damaged, wait, or were made of given steps.

use crate::shell::{asking, exits, json_of, out, program, recorded};
use serde_json::{Value, json};
use std::process::Command;

#[test]
fn a_damaged_question_of_one_session_hides_no_other() {
    let dir = recorded();
    let ask = json!({"replies": [{"code": "y = await ask('ok?')"}]});
    std::fs::write(dir.path().join("ask.json"), ask.to_string()).unwrap();
    exits(
        &program(&asking("Ask me", "scripted:ask.json", "waits"), dir.path()),
        75,
    );
    let flow = rusqlite::Connection::open(dir.path().join("runs/flow.db")).unwrap();
    assert_eq!(flow.execute("UPDATE parked SET body = '{}'", []).unwrap(), 1);
    drop(flow);
    let listed = program(&["sessions", "runs"], dir.path());
    exits(&listed, 1);
    let (lines, err) = (out(&listed), String::from_utf8(listed.stderr.clone()).unwrap());
    let line = |id: &str| lines.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    assert!(
        line("one").contains("Find the whale") && line("waits").contains("damaged"),
        "{lines}"
    );
    assert!(
        err.contains("session waits: ") && err.contains("a parked question"),
        "{err}"
    );
    let rows = json_of(&program(&["sessions", "runs", "--json"], dir.path()));
    let damaged = |id: &str| rows.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap()["damaged"].clone();
    assert!(damaged("waits").is_string() && damaged("one").is_null(), "{rows}");
}

#[test]
fn a_fork_that_waits_names_what_answers_it() {
    let dir = recorded();
    let ask = json!({"replies": [{"code": "y = await ask('ok?')"}]});
    std::fs::write(dir.path().join("model.json"), ask.to_string()).unwrap();
    let forked = program(
        &[
            "fork",
            "one",
            "--dir",
            "runs",
            "--at",
            "2",
            "--replan",
            "ask",
            "--primary-agent",
            "scripted:model.json",
        ],
        dir.path(),
    );
    exits(&forked, 75);
    let err = String::from_utf8(forked.stderr.clone()).unwrap();
    let next: Vec<&str> = err.lines().filter(|line| line.starts_with("  fast-rlm ")).collect();
    assert!(
        next.iter()
            .any(|line| line.contains("fast-rlm answer ") && line.ends_with(" TEXT")),
        "{err}"
    );
    assert!(
        next.iter()
            .all(|line| !line.contains("replay") && !line.contains("--session-dir")),
        "{err}"
    );
}

#[test]
fn steps_that_were_given_used_no_tokens() {
    let dir = tempfile::tempdir().unwrap();
    let script = json!({"replies": [{"code": "x = 1"}, {"code": "FINAL(x)"}]});
    std::fs::write(dir.path().join("model.json"), script.to_string()).unwrap();
    std::fs::write(dir.path().join("edit.py"), "FINAL(2)\n").unwrap();
    exits(&program(&asking("Count", "scripted:model.json", "one"), dir.path()), 0);
    let forked = program(
        &["fork", "one", "--dir", "runs", "--at", "1", "--edit", "edit.py"],
        dir.path(),
    );
    exits(&forked, 0);
    let fork = out(&forked).lines().next().unwrap().to_owned();
    let seen = |how: &str| {
        let mut viewer = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        let told = viewer
            .arg(dir.path().join("runs").join(&fork))
            .arg(how)
            .output()
            .unwrap();
        String::from_utf8(told.stdout).unwrap()
    };
    assert!(!seen("--stats").contains("unknown"), "{}", seen("--stats"));
    let log: Value = serde_json::from_str(&seen("--json")).unwrap();
    assert_eq!(log["totals"]["without_final"]["tokens"]["total"], json!(0), "{log}");
}
