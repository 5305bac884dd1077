//! Every figure of the answer key beside the sessions of an existing program is reproduced by the program itself.
//! Needs `FAST_RLM_COMPAT_DIR`; skipped with a visible line where it is not set, failed where it is set and missing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn compat() -> Option<PathBuf> {
    let Some(dir) = std::env::var_os("FAST_RLM_COMPAT_DIR") else {
        eprintln!("SKIPPED: FAST_RLM_COMPAT_DIR is not set, so the sessions of an existing program are not read");
        return None;
    };
    let dir = PathBuf::from(dir);
    assert!(
        dir.join("facts.json").is_file(),
        "FAST_RLM_COMPAT_DIR has no facts.json: {}",
        dir.display()
    );
    Some(dir)
}

fn log(args: &[&str], target: &Path) -> String {
    let cache = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"))
        .arg(target)
        .args(args)
        .env("FAST_RLM_CACHE_DIR", cache.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(target: &Path) -> Value {
    serde_json::from_str(&log(&["--json"], target)).unwrap()
}

fn names<'a>(session: &'a Value, keep: impl Fn(&Value) -> bool + 'a) -> Vec<&'a str> {
    let entries = session["memory"]["entries"].as_array().unwrap();
    entries
        .iter()
        .filter(|entry| keep(entry))
        .map(|entry| entry["name"].as_str().unwrap())
        .collect()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect()
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

fn file_name(path: &Value) -> &str {
    path.as_str().unwrap().rsplit('/').next().unwrap()
}

/// The sum of tokens; the key counts what nobody reported as 0.
fn total_tokens(sums: &Value) -> Value {
    match &sums["tokens"] {
        Value::Null => 0.into(),
        tokens => tokens["total"].clone(),
    }
}

/// A run's figures, named as the answer key names them.
fn check_run(place: &str, run: &Value, facts: &Value) {
    for (key, ours) in [
        ("events", &run["events"]),
        ("unreadable_lines", &run["unreadable_lines"]),
        ("agents", &run["agents"]),
        ("roots", &run["roots"]),
        ("max_depth", &run["max_depth"]),
        ("root_steps", &run["root_steps"]),
        ("all_steps", &run["steps"]),
        ("failed_steps", &run["failed_steps"]),
        ("total_tokens", &total_tokens(run)),
        ("cost_nano_usd", &run["cost_nano_usd"]),
        ("steps_with_cost", &run["steps_with_cost"]),
        ("steps_without_cost", &run["steps_without_cost"]),
        ("root_run_id", &run["root_run_id"]),
    ] {
        assert_eq!(ours, &facts[key], "{place}: {key}");
    }
    let counted: Vec<&str> = facts.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        counted.len(),
        13,
        "{place}: the key has figures that are not compared: {counted:?}"
    );
}

fn check_query(place: &str, ours: &Value, facts: &Value) {
    let start = facts["query_start"].as_str().unwrap();
    assert!(ours["query"].as_str().unwrap().starts_with(start), "{place}");
    assert_eq!(ours["name"], format!("Q{}", facts["n"]), "{place}");
    assert_eq!(
        ours.get("final").unwrap_or(&Value::Null),
        &facts["final"],
        "{place}: final"
    );
    let absent = facts["final_absent"].as_bool().unwrap();
    assert_eq!(ours["final_state"] == "none", absent, "{place}: final absent");
    assert_eq!(
        ours["log"]["state"] != "unlinked",
        facts["linked"].as_bool().unwrap(),
        "{place}: linked"
    );
    if facts["linked"] == true {
        assert_eq!(file_name(&ours["log"]["path"]), facts["log"], "{place}: log");
        check_run(place, &ours["run"], &facts["run"]);
    }
}

fn check_session(name: &str, session: &Value, facts: &Value) {
    assert_eq!(session["version"], facts["version"], "{name}");
    let queries = session["queries"].as_array().unwrap();
    let (completed, others): (Vec<_>, Vec<_>) = queries
        .iter()
        .partition(|query| query["name"].as_str().unwrap().starts_with('Q'));
    let expected = facts["queries"].as_array().unwrap();
    assert_eq!(completed.len(), expected.len(), "{name}");
    for (i, (ours, facts)) in completed.iter().zip(expected).enumerate() {
        check_query(&format!("{name} Q{}", i + 1), ours, facts);
    }
    let pending = others.iter().any(|query| query["name"] == "P");
    assert_eq!(pending, facts["pending"].as_bool().unwrap(), "{name}: pending");
    let unlinked = others.iter().filter(|query| query["log"]["state"] == "attached");
    let unlinked: Vec<(&str, &Value)> = unlinked
        .map(|query| (file_name(&query["log"]["path"]), &query["run"]))
        .collect();
    assert_eq!(
        sorted(unlinked.iter().map(|(file, _)| *file).collect()),
        sorted(texts(&facts["unlinked_logs"])),
        "{name}: unlinked logs"
    );
    for (file, run) in unlinked {
        check_run(&format!("{name} {file}"), run, &facts["unlinked_runs"][file]);
    }
    check_memory(name, session, facts);
    assert_eq!(session["code_log"], facts["code_log"], "{name}: code_log");
    let totals = &session["totals"]["completed"];
    assert_eq!(total_tokens(totals), facts["total_tokens"], "{name}: total_tokens");
    assert_eq!(
        totals["cost_nano_usd"], facts["total_cost_nano_usd"],
        "{name}: total cost"
    );
    assert_eq!(
        totals["steps_without_cost"], facts["steps_without_cost"],
        "{name}: steps without cost"
    );
}

fn check_memory(name: &str, session: &Value, facts: &Value) {
    let variables = names(session, |entry| entry["kind"] == "variable");
    assert_eq!(
        variables.len() as u64,
        facts["variables"].as_u64().unwrap(),
        "{name}: variables"
    );
    let order = texts(&facts["memory_order"]);
    assert_eq!(variables.get(..order.len()).unwrap(), order, "{name}: memory order");
    let committed = names(session, |entry| entry["committed"] == true);
    assert_eq!(
        sorted(committed),
        sorted(texts(&facts["committed"])),
        "{name}: committed"
    );
    assert_eq!(
        names(session, |entry| entry["kind"] == "function"),
        texts(&facts["functions"]),
        "{name}"
    );
    assert_eq!(
        names(session, |entry| entry["kind"] == "dropped"),
        texts(&facts["dropped"]),
        "{name}"
    );
}

#[test]
fn every_figure_of_every_session() {
    let Some(dir) = compat() else { return };
    let facts: Value = serde_json::from_slice(&std::fs::read(dir.join("facts.json")).unwrap()).unwrap();
    let sessions = facts.as_object().unwrap();
    assert!(sessions.len() >= 6);
    for (name, facts) in sessions {
        check_session(name, &json(&dir.join(name)), facts);
        check_session(name, &json(&dir.join(name).join("state.json")), facts);
    }
}

#[test]
fn single_transcripts_give_the_figures_of_their_runs() {
    let Some(dir) = compat() else { return };
    let facts: Value = serde_json::from_slice(&std::fs::read(dir.join("facts.json")).unwrap()).unwrap();
    for (name, facts) in facts.as_object().unwrap() {
        for query in facts["queries"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|query| query["linked"] == true)
        {
            let file = query["log"].as_str().unwrap();
            let single = json(&dir.join(name).join("logs").join(file));
            assert_eq!(single["target"], "transcript");
            check_run(&format!("{name} {file}"), &single["queries"][0]["run"], &query["run"]);
        }
    }
}

#[test]
fn stats_say_what_json_says() {
    let Some(dir) = compat() else { return };
    let text = log(&["--stats"], &dir.join("podcasts"));
    for expected in [
        "4 completed",
        "36 variables (4 committed), 2 functions, 4 dropped",
        "8 steps (+16 in 8 sub-agents)",
        "166,708",
        "245,622 tokens",
        "6 unknown",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
    let errors = log(&["--stats"], &dir.join("errors"));
    assert!(
        errors.contains("X1") && errors.contains("2 runs without FINAL"),
        "{errors}"
    );
    assert!(
        !errors.chars().any(|c| c.is_control() && c != '\n'),
        "a control character reached the output"
    );
}

#[test]
fn a_parent_directory_lists_its_sessions() {
    let Some(dir) = compat() else { return };
    let listing = json(&dir);
    let names: Vec<&str> = listing["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    for name in ["podcasts", "interrupted", "errors", "structured", "finals", "legacy_v1"] {
        assert!(names.contains(&name), "{names:?}");
    }
}
