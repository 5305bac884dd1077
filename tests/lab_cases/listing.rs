//! The list of sessions, as people see it.

use crate::shell::{asking, command, exits, json_of, out, program, recorded};
use fast_rlm::store::NewSession;
use serde_json::{Value, json};

#[test]
fn case_81_sessions_are_listed_filtered_and_pruned() {
    let dir = recorded();
    let store = fast_rlm::Storage::dir(dir.path().join("runs")).open().unwrap();
    store.events.create_session(&NewSession::named("empty", 1)).unwrap();
    drop(store);
    let list = |more: &[&str]| json_of(&program(&[&["sessions", "runs", "--json"], more].concat(), dir.path()));
    let ids = |rows: &Value| {
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = list(&[]);
    assert_eq!(ids(&all).len(), 2);
    let one = all.as_array().unwrap().iter().find(|row| row["id"] == "one").unwrap();
    assert_eq!(
        (&one["queries"], &one["last_query"]),
        (&json!(1), &json!("Find the whale"))
    );
    assert_eq!((&one["interrupted"], &one["waits"]), (&json!(false), &json!(false)));
    assert_eq!(ids(&list(&["--query", "WHALE"])), ["one"]);
    assert_eq!(
        ids(&list(&["--query", "whale", "--since", "2999-01-01"])),
        Vec::<String>::new()
    );
    assert_eq!(ids(&list(&["--query", "whale", "--since", "1h"])), ["one"]);
    exits(&program(&["sessions", "runs", "--since", "soon"], dir.path()), 2);
    // One that waits for an answer, and one whose process died: neither is empty.
    let ask = json!({"replies": [{"code": "y = await ask('ok?')"}]});
    std::fs::write(dir.path().join("ask.json"), ask.to_string()).unwrap();
    let asks = |session| command(&asking("Ask me", "scripted:ask.json", session), dir.path());
    exits(&asks("waits").output().unwrap(), 75);
    let cut = asks("cut").env("FAST_RLM_FAULT", "flow.write:2").output().unwrap();
    assert_eq!(cut.status.code(), None, "{cut:?}");
    let all = list(&[]);
    let flags = |id: &str| {
        let row = all.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap();
        (row["interrupted"].clone(), row["waits"].clone())
    };
    assert_eq!(flags("waits"), (json!(false), json!(true)));
    assert_eq!(flags("cut"), (json!(true), json!(false)));
    assert_eq!(flags("one"), (json!(false), json!(false)));
    let columns = out(&program(&["sessions", "runs"], dir.path()));
    let line = |id: &str| columns.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    assert!(
        line("waits").contains("waits for an answer") && line("cut").contains("interrupted"),
        "{columns}"
    );
    // One without a log counts the query that was cut, as one with a log does.
    std::fs::create_dir(dir.path().join("runs/foreign")).unwrap();
    let state = json!({"version": 2, "queries": [], "pending_query": "cut"});
    std::fs::write(dir.path().join("runs/foreign/state.json"), state.to_string()).unwrap();
    let columns = out(&program(&["sessions", "runs"], dir.path()));
    for id in ["foreign", "cut"] {
        let line = columns.lines().find(|line| line.starts_with(id)).unwrap();
        assert!(
            line.contains("0 queries + 1 without FINAL") && line.contains("interrupted"),
            "{columns}"
        );
    }
    std::fs::remove_dir_all(dir.path().join("runs/foreign")).unwrap();
    // The viewer says the same.
    let log = |target: &str| {
        let mut viewer = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
        out(&viewer.current_dir(dir.path()).arg(target).output().unwrap())
    };
    let facts = log("runs/waits");
    assert!(
        facts.contains("none: it waits for an answer: ok?") && facts.contains("+ 1 that waits for an answer"),
        "{facts}"
    );
    assert!(log("runs/cut").contains("none: interrupted"));
    assert!(log("runs").contains("(waits for an answer)"));
    assert!(
        line("one").contains("1 query") && line("one").contains("Find the whale"),
        "{columns}"
    );
    let pruned = program(&["sessions", "runs", "--prune"], dir.path());
    assert!(
        out(&pruned).contains("removed empty") && out(&pruned).contains("one"),
        "{pruned:?}"
    );
    let mut left = ids(&list(&[]));
    left.sort();
    assert_eq!(left, ["cut", "one", "waits"]);
}

#[test]
fn a_query_that_runs_is_not_called_interrupted() {
    let dir = recorded();
    let slow = json!({"replies": [{"code": "x = 1"}, {"code": "FINAL(x)", "delay": "120s"}]});
    std::fs::write(dir.path().join("slow.json"), slow.to_string()).unwrap();
    let mut asked = command(&asking("Take your time", "scripted:slow.json", "slow"), dir.path());
    let mut asked = asked.stderr(std::process::Stdio::null()).spawn().unwrap();
    let flags = || {
        let rows = json_of(&program(&["sessions", "runs", "--json"], dir.path()));
        let row = rows.as_array().unwrap().iter().find(|row| row["id"] == "slow").cloned();
        row.filter(|row| row["queries"] == 1)
            .map(|row| [row["running"].clone(), row["interrupted"].clone()])
    };
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while flags().is_none() && std::time::Instant::now() < patience {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let while_it_runs = flags();
    let columns = out(&program(&["sessions", "runs"], dir.path()));
    asked.kill().unwrap();
    asked.wait().unwrap();
    assert_eq!(while_it_runs, Some([json!(true), json!(false)]));
    assert!(
        columns.contains("  running  ") && !columns.contains("interrupted"),
        "{columns}"
    );
    assert_eq!(flags(), Some([json!(false), json!(true)]));
}

#[test]
fn last_and_the_list_know_sessions_with_a_log_of_their_own() {
    let dir = recorded();
    let script = r#"{"replies": [{"code": "FINAL('of alone')"}]}"#;
    std::fs::write(dir.path().join("alone.json"), script).unwrap();
    let model = ["--primary-agent", "scripted:alone.json"];
    exits(
        &program(
            &[&["go", "--session-dir", "runs/alone"][..], &model].concat(),
            dir.path(),
        ),
        0,
    );
    let limited = ["go", "--session-dir", "runs/limited", "--max-calls", "1"];
    std::fs::write(dir.path().join("alone.json"), r#"{"replies": [{"code": "x = 1"}]}"#).unwrap();
    exits(&program(&[&limited[..], &model].concat(), dir.path()), 3);
    let listed = json_of(&program(&["sessions", "runs", "--json"], dir.path()));
    let row = |id: &str| {
        listed
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["id"] == id)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (row("alone")["queries"].as_u64(), row("limited")["queries"].as_u64()),
        (Some(1), Some(1))
    );
    let replayed = program(&["replay", "last", "--dir", "runs", "--json"], dir.path());
    assert_eq!(
        json_of(&replayed)["report"]["plans"][0]["steps"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "{replayed:?}"
    );
}

/// A copy's files are as old as the copy.
#[test]
fn a_session_of_another_program_was_active_when_it_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let session = dir.path().join("runs/foreign");
    std::fs::create_dir_all(session.join("logs")).unwrap();
    let run =
        |event: &str, time: &str| json!({"level": 30, "time": time, "run_id": "r1", "depth": 0, "event_type": event});
    let end = run("agent_end", "2026-11-20T10:05:00.000Z");
    let lines = format!("{}\n{end}\n", run("agent_start", "2026-11-20T10:00:00.000Z"));
    std::fs::write(session.join("logs/run_2026-11-20T10-00-00-000Z.jsonl"), lines).unwrap();
    let query = json!({"query": "What?", "final": 1, "log_file": "logs/run_2026-11-20T10-00-00-000Z.jsonl"});
    let state = json!({"version": 2, "queries": [query], "pending_query": null});
    std::fs::write(session.join("state.json"), state.to_string()).unwrap();
    let rows = json_of(&program(&["sessions", "runs", "--json"], dir.path()));
    let at = rows[0]["last_activity"].as_i64().unwrap();
    assert_eq!(at, 1_795_169_100_000, "{rows}");
    let since = |day: &str| json_of(&program(&["sessions", "runs", "--json", "--since", day], dir.path()));
    assert_eq!(since("2026-11-22"), json!([]));
    assert_eq!(since("2026-11-18").as_array().unwrap().len(), 1);
}
