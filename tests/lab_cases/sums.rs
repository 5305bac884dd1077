//! What the viewer sums over sessions that branched off each other.

use crate::shell::{asking, exits, out, program};
use std::path::Path;

/// What the viewer says of a target.
fn facts(target: &str, dir: &Path) -> String {
    let mut viewer = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
    out(&viewer.current_dir(dir).args([target, "--no-cache"]).output().unwrap())
}

#[test]
fn what_branches_took_over_was_paid_once() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let script = r#"{"replies": [
        {"code": "x = 1", "usage": {"prompt": 100, "completion": 10, "cost": 0.01}},
        {"code": "y = x + 1", "usage": {"prompt": 200, "completion": 10, "cost": 0.02}},
        {"code": "FINAL(y)", "usage": {"prompt": 300, "completion": 10, "cost": 0.03}}]}"#;
    std::fs::write(dir.join("paid.json"), script).unwrap();
    exits(&program(&asking("go", "scripted:paid.json", "s"), dir), 0);
    for value in ["5", "6"] {
        let branch = ["fork", "s", "--dir", "runs", "--at", "2", "--inject", value];
        exits(&program(&branch, dir), 0);
    }
    let list = facts("runs", dir);
    let total = list.lines().find(|line| line.contains("Total")).unwrap();
    assert!(total.contains("3 queries: 630 tokens, $0.06"), "{list}");
    // Another query is another's cost, also of the same script.
    exits(&program(&asking("go", "scripted:paid.json", "t"), dir), 0);
    let list = facts("runs", dir);
    let total = list.lines().find(|line| line.contains("Total")).unwrap();
    assert!(total.contains("4 queries: 1,260 tokens, $0.12"), "{list}");
}

#[test]
fn rows_of_branches_say_what_they_add_to_a_sum() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let script = r#"{"replies": [
        {"code": "x = 1", "usage": {"prompt": 100, "completion": 10, "cost": 0.01}},
        {"code": "y = x + 1", "usage": {"prompt": 200, "completion": 10, "cost": 0.02}},
        {"code": "FINAL(y)", "usage": {"prompt": 300, "completion": 10, "cost": 0.03}}]}"#;
    std::fs::write(dir.join("paid.json"), script).unwrap();
    exits(&program(&asking("go", "scripted:paid.json", "s"), dir), 0);
    for value in ["5", "6"] {
        let branch = ["fork", "s", "--dir", "runs", "--at", "2", "--inject", value];
        exits(&program(&branch, dir), 0);
    }
    let mut viewer = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
    let viewer = viewer.current_dir(dir).args(["runs", "--json", "--no-cache"]);
    let listing: serde_json::Value = serde_json::from_str(&out(&viewer.output().unwrap())).unwrap();
    let rows = listing["sessions"].as_array().unwrap();
    let sum = |of: fn(&serde_json::Value) -> &serde_json::Value| -> i64 {
        rows.iter().map(|row| of(row)["cost_nano_usd"].as_i64().unwrap()).sum()
    };
    // Each branch has a copy of the first step, of 0.01.
    assert_eq!(sum(|row| &row["completed"]), 80_000_000);
    assert_eq!(sum(|row| &row["spent"]["completed"]), 60_000_000);
    assert_eq!(listing["spent"]["completed"]["cost_nano_usd"], 60_000_000);
}

#[test]
fn tokens_that_nobody_reported_are_unknown_in_every_place() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let script = r#"{"replies": [{"code": "FINAL(1)", "usage": "none"}]}"#;
    std::fs::write(dir.join("bare.json"), script).unwrap();
    exits(&program(&asking("go", "scripted:bare.json", "s"), dir), 0);
    let tokens = |target: &str| {
        let facts = facts(target, dir);
        let line = facts
            .lines()
            .find(|line| line.trim_start().starts_with("Tokens"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(tokens("runs/s"), "unknown");
    let all = facts("runs/s", dir);
    assert!(all.contains("tokens unknown") && !all.contains("0 tokens"), "{all}");
}

#[test]
fn no_more_is_cached_than_was_sent() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let script = r#"{"replies": [{"code": "FINAL(1)", "usage": {"prompt": 10, "completion": 1, "cached": 99}}]}"#;
    std::fs::write(dir.join("odd.json"), script).unwrap();
    exits(&program(&asking("go", "scripted:odd.json", "s"), dir), 0);
    let all = facts("runs/s", dir);
    assert!(all.contains("10 prompt (10 cached)"), "{all}");
}
