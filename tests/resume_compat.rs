//! Sessions written by an existing program resume here, complete, and what we write is in the form that it reads.
//!
//! The sessions are found through `FAST_RLM_COMPAT_DIR`; without it these tests say that they are skipped.
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

mod running;

use running::session::{self, Session, check_state, check_transcript, output, table};
use running::{Program, foreign_sessions, script};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// A copy of the foreign session `name`, with keys in it that nobody knows.
fn copy(sessions: &Path, name: &str, to: &Path) -> Session {
    let dir = to.join(name);
    session::copy_tree(&sessions.join(name), &dir);
    let path = dir.join("state.json");
    let mut state = session::read_json(&path);
    state["from_the_future"] = json!({"kept": [1, 2]});
    for row in ["queries", "code_log"] {
        state[row][0]["also_unknown"] = json!(row);
    }
    for row in state["variables"].as_object_mut().unwrap().values_mut() {
        row["unknown_here_too"] = json!(1.5);
    }
    std::fs::write(&path, state.to_string()).unwrap();
    Session { dir }
}

/// Resumes with a first step that tells the type of every name, these steps, and a FINAL.
fn resume(session: &Session, told: &[&str], steps: &[&str]) -> String {
    let list = "print({n: type(v).__name__ for n, v in list(globals().items()) if not n.startswith('_')})";
    let answer = "FINAL({'resumed': True})";
    let rules = [script::rule(
        json!({"first": told}),
        &[&[list], steps, &[answer]].concat(),
    )];
    let script = script::write(session.dir.parent().unwrap(), "resume.json", &json!({"rules": rules}));
    Program::asks(session.dir.parent().unwrap(), "Go on from here.")
        .scripted(&script)
        .session(&session.dir)
        .answer()
}

/// Everything that must hold of any session after it was resumed.
fn check_resumed(before: &Value, session: &Session) {
    let after = session.state();
    let lines = session.last_transcript();
    check_state(&after);
    check_transcript(&lines);
    check_names(before, &after, &lines);
    check_unknown_keys(before, &after);
    let queries = before["queries"].as_array().unwrap();
    assert_eq!(after["queries"].as_array().unwrap()[..queries.len()], queries[..]);
    let added = &after["queries"][queries.len()];
    assert_eq!(
        (&added["query"], &added["final"]),
        (&json!("Go on from here."), &json!({"resumed": true}))
    );
    assert_eq!(added["run_id"], lines[0]["run_id"]);
    let rows = before["code_log"].as_array().unwrap();
    assert_eq!(after["code_log"].as_array().unwrap()[..rows.len()], rows[..]);
    assert_eq!(after["pending_query"], Value::Null);
    check_viewer(session, queries.len() + 1);
}

/// The viewer opens what is written, and misses nothing.
fn check_viewer(session: &Session, completed: usize) {
    let mut viewer = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
    let shown = viewer
        .arg(&session.dir)
        .args(["--json", "--no-cache"])
        .output()
        .unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(
        (&shown["completed"], &shown["pending"]),
        (&json!(completed), &Value::Null)
    );
    let names = session.names("variables").len();
    assert_eq!(shown["memory"]["variables"], json!(names));
}

/// Every name is there again, or was named with the reason; what was not touched is saved as it was.
fn check_names(before: &Value, after: &Value, lines: &[Value]) {
    let (probe, there) = (output(lines, 0), output(lines, 1));
    for (name, row) in table(before, "variables") {
        let restored = there.contains(&format!("\"{name}\": "));
        assert!(
            restored || probe.contains(&format!("  {name}: not restored: ")),
            "{name} is nowhere"
        );
        assert_eq!(after["variables"][name]["pickle_b64"], row["pickle_b64"], "{name}");
        for key in ["comment", "note", "committed"] {
            assert_eq!(after["variables"][name][key], row[key], "{name}.{key}");
        }
    }
    assert_eq!(after["functions"], before["functions"]);
    for name in table(before, "functions").keys() {
        assert!(there.contains(&format!("\"{name}\": ")), "{name}");
    }
    for (name, reason) in table(before, "dropped") {
        assert!(
            probe.contains(&format!("  {name}: was not saved: {}", reason.as_str().unwrap())),
            "{name}"
        );
        assert_eq!(after["dropped"][name], *reason, "a later query is told, too");
    }
}

fn check_unknown_keys(before: &Value, after: &Value) {
    assert_eq!(after["from_the_future"], before["from_the_future"]);
    for row in ["queries", "code_log"] {
        assert_eq!(after[row][0]["also_unknown"], json!(row));
    }
    for name in table(before, "variables").keys() {
        assert_eq!(after["variables"][name]["unknown_here_too"], json!(1.5), "{name}");
    }
}

#[test]
fn podcasts_come_back_with_functions_that_work() {
    let Some(sessions) = foreign_sessions() else { return };
    let dir = tempfile::tempdir().unwrap();
    let session = copy(&sessions, "podcasts", dir.path());
    let before = session.state();
    let same = r#"
lines = [(n, l) for n, e in episode_index.items() for l in e["text"].splitlines()]
plain = [(n, l) for n, l in lines if "would say ten" in l and "HOST:" not in l]
print("quotes", len(plain), find_quotes("would say ten") == plain)
print(repr(EpisodeRef(18)), type(first_ref) is EpisodeRef, Counter("aab")["a"])
del lines, plain
"#;
    resume(&session, &["Query 4: Draft one follow-up question"], &[same]);
    check_resumed(&before, &session);
    let lines = session.last_transcript();
    assert_eq!(before["variables"].as_object().unwrap().len(), 36);
    assert!(!output(&lines, 0).contains("not restored"), "{}", output(&lines, 0));
    let said = output(&lines, 2);
    assert!(said.contains("quotes 11 True"), "{said}");
    assert!(said.contains("EpisodeRef(ep18, Bo Nakamura) True 2"), "{said}");
    assert_eq!(
        session.state()["imports"],
        json!(["import re", "from collections import Counter"])
    );
    assert_eq!(session.names("variables").len(), 36);
}

#[test]
fn dropped_names_are_told_again_until_they_are_bound() {
    let Some(sessions) = foreign_sessions() else { return };
    let dir = tempfile::tempdir().unwrap();
    let session = copy(&sessions, "podcasts", dir.path());
    resume(&session, &["Query 4:"], &["by_date = sorted(episode_index)"]);
    assert_eq!(session.names("dropped"), ["line_stream", "scratch", "search_blob"]);
    resume(&session, &["Query 5:"], &[]);
    let lines = session.last_transcript();
    assert!(output(&lines, 0).contains("search_blob: was not saved: too large to save: 7784109 bytes"));
}

#[test]
fn an_interrupted_query_is_told_of_and_kept_apart() {
    let Some(sessions) = foreign_sessions() else { return };
    let dir = tempfile::tempdir().unwrap();
    let session = copy(&sessions, "interrupted", dir.path());
    let before = session.state();
    let told = [
        "interrupted after 2 steps",
        "Now square each prime and add them up.",
        "total = sum(squares)",
    ];
    resume(&session, &told, &["print(total == sum(p * p for p in primes))"]);
    check_resumed(&before, &session);
    let after = session.state();
    let rows = after["interrupted"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["query"], before["pending_query"]);
    assert_eq!(rows[0]["outcome"], json!("interrupted"));
    assert!(output(&session.last_transcript(), 2).contains("True"));
    assert_eq!(after["code_log"][4]["q"], json!(1), "numbered by completed queries");
}

#[test]
fn a_session_of_version_1_resumes_and_becomes_version_2() {
    let Some(sessions) = foreign_sessions() else { return };
    let dir = tempfile::tempdir().unwrap();
    let session = copy(&sessions, "legacy_v1", dir.path());
    let before = session.state();
    assert_eq!(before["version"], json!(1));
    resume(
        &session,
        &["Query 1: Split the first twelve primes"],
        &["print(len(primes))"],
    );
    check_resumed(&before, &session);
    assert!(session.state()["queries"][0].get("log_file").is_none());
}

#[test]
fn structured_finals_and_errors_come_back() {
    let Some(sessions) = foreign_sessions() else { return };
    for (name, told, check) in [
        ("structured", "The Trail of Pixels", "print(verdict['movie'], rows)"),
        ("finals", "Query 17: Return the odd value: date", "print(Point(1, 2).y)"),
        ("errors", "Spend all the money you have.", "print(long_line[:3], spent)"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let session = copy(&sessions, name, dir.path());
        let before = session.state();
        resume(&session, &[told], &[check]);
        check_resumed(&before, &session);
        let lines = session.last_transcript();
        assert_eq!(
            session::steps(&lines, true)[2]["hasError"],
            json!(false),
            "{name}: {}",
            output(&lines, 2)
        );
    }
}
