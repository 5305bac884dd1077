//! Several processes, and processes that die, ask in one session: real ones, of this test's own program.

use crate::desk::{builder, model};
use crate::shell::{asking, command};
use fast_rlm::observe::Outcome;
use fast_rlm::store::{At, Storage};
use fast_rlm::{Client, Config};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Set in the other processes, with the name that they ask under and the directory.
const ASKS: &str = "LAB_CASES_ASKS_IN";
const SENDS: usize = 5;

/// Answers each query with its own words.
fn echoing(dir: &Path, config: Config) -> Client {
    let echo = model(&json!({"rules": [
        {"when": {}, "at_end": "last", "replies": [{"code": "mine = context"}, {"code": "FINAL([context, mine])"}]},
    ]}));
    builder(dir).config(config.primary_agent("m")).build(echo).unwrap()
}

/// Not a case: what the other processes do.
#[tokio::test]
async fn asks_when_it_is_told_to() {
    let Ok(told) = std::env::var(ASKS) else { return };
    let (name, dir) = told.split_once(':').unwrap();
    let client = echoing(Path::new(dir), Config::default().wait(Duration::from_secs(120)));
    let session = client.open_session("shared").unwrap();
    for number in 0..SENDS {
        let query = format!("{name}{number}");
        let output = session.send(query.as_str()).await.unwrap();
        assert_eq!(output.value, json!([query, query]), "its own answer");
    }
}

fn other(test: &str, variable: &str, value: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(variable, value);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[tokio::test]
async fn case_21_two_processes_send_to_one_session_and_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let client = echoing(dir.path(), Config::default());
    let session = client.create_named("shared").unwrap();
    let ask = |name: &str| {
        other(
            "writers::asks_when_it_is_told_to",
            ASKS,
            &format!("{name}:{}", dir.path().display()),
        )
    };
    for mut child in [ask("a"), ask("b")] {
        assert!(child.wait().unwrap().success());
    }
    let turns = session.turns().unwrap();
    assert!(turns.iter().all(|turn| turn.outcome == Some(Outcome::Ok)), "{turns:?}");
    let mut asked: Vec<_> = turns.iter().map(|turn| turn.query.clone()).collect();
    asked.sort();
    let mut expected: Vec<_> = ["a", "b"]
        .iter()
        .flat_map(|name| (0..SENDS).map(move |number| format!("{name}{number}")))
        .collect();
    expected.sort();
    assert_eq!(asked, expected);
    let ledger = session.queries().unwrap();
    assert!(ledger.len() == 2 * SENDS && ledger.iter().all(|row| row.value == json!([row.query, row.query])));
    let history = session.history().unwrap();
    assert!(
        history.windows(2).all(|pair| pair[0].role != pair[1].role),
        "{history:?}"
    );
    let report = session.replay(None, &mut fast_rlm::NoSink).await.unwrap();
    assert!(report.faithful() && report.state_equal == Some(true), "{report:#?}");
}

#[tokio::test]
async fn case_21_without_waiting_the_second_is_told_that_the_session_is_busy() {
    let dir = tempfile::tempdir().unwrap();
    let slow = model(&json!({"replies": [{"code": "FINAL('late')", "delay": 600}]}));
    let first = builder(dir.path()).build(slow).unwrap();
    let session = first.create_named("shared").unwrap();
    let mut stream = session.stream("go").unwrap();
    // It holds the session once it tells of anything.
    stream.next().await.unwrap();
    let second = echoing(dir.path(), Config::default()).open_session("shared").unwrap();
    let refused = second.send("now").await.unwrap_err();
    assert!(refused.is_busy(), "{refused}");
    assert!(
        refused.to_string().contains(&std::process::id().to_string()),
        "names the holder: {refused}"
    );
    stream.cancel();
    assert!(stream.finish().await.unwrap_err().is_cancelled());
    assert_eq!(second.send("now").await.unwrap().value, json!(["now", "now"]));
}

/// A query of three steps in a process of its own, with a fault; its exit code, `None` when it died.
fn query_with(dir: &Path, fault: &str) -> (Option<i32>, String) {
    let script = json!({"rules": [
        {"when": {"depth": 1}, "replies": [{"code": "FINAL('sub')"}]},
        {"when": {"depth": 0}, "replies": [
            {"code": "a = 1"}, {"code": "b = await llm_query('x')"}, {"code": "FINAL([a, b])"}]},
    ]});
    std::fs::write(dir.join("model.json"), script.to_string()).unwrap();
    let mut command = command(&asking("Count", "scripted:model.json", "one"), dir);
    let ran = command.env("FAST_RLM_FAULT", fault).output().unwrap();
    (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
}

fn opened(dir: &Path) -> fast_rlm::Session {
    Client::builder()
        .storage(Storage::dir(dir.join("runs")))
        .open()
        .unwrap()
        .open_session("one")
        .unwrap()
}

/// A session that was left by a process opens: its file is whole, its conversation valid, its steps all there.
fn check(dir: &Path) -> u64 {
    let state = std::fs::read(dir.join("runs/one/state.json"));
    if let Ok(bytes) = &state {
        serde_json::from_slice::<Value>(bytes).expect("state.json is whole");
    }
    let session = opened(dir);
    let history = session.history().unwrap();
    assert!(
        history.windows(2).all(|pair| pair[0].role != pair[1].role),
        "{history:?}"
    );
    session.turns().unwrap().first().map_or(0, |turn| turn.steps)
}

#[test]
fn case_23_killed_in_any_step_the_conversation_is_valid_and_the_next_query_goes_through() {
    // Each step passes some dozen points; every kind of them is met in one step or another.
    let mut completed = Vec::new();
    for point in (6..52).step_by(5) {
        let dir = tempfile::tempdir().unwrap();
        let (code, told) = query_with(dir.path(), &format!("*:{point}"));
        assert_eq!(code, None, "at point {point}: {told}");
        if !dir.path().join("runs/events.db").exists() || opened_rows(dir.path()) == 0 {
            continue;
        }
        completed.push(check(dir.path()));
        assert_eq!(query_with(dir.path(), "").0, Some(0), "after a kill at point {point}");
        check(dir.path());
        assert_eq!(
            opened(dir.path()).queries().unwrap().last().unwrap().value,
            json!([1, "sub"])
        );
    }
    assert!(
        completed.is_sorted(),
        "later kills lose nothing that earlier ones kept: {completed:?}"
    );
    assert!(completed.first() < completed.last(), "{completed:?}");
}

fn opened_rows(dir: &Path) -> usize {
    let store = fast_rlm::store::Store::open_read_only(&dir.join("runs"));
    store.map_or(0, |store| store.events.sessions().unwrap().len())
}

#[test]
fn case_25_a_full_disk_ends_the_query_with_an_error_and_keeps_the_step_before() {
    for point in ["events.write", "flow.write", "atomic.write"] {
        let dir = tempfile::tempdir().unwrap();
        // The point of the second step's end, wherever it is: all before it went well.
        let failed = (2..40).find_map(|count| {
            let _ = std::fs::remove_dir_all(dir.path().join("runs"));
            let (code, told) = query_with(dir.path(), &format!("{point}:{count}=full"));
            (code == Some(1) && opened_rows(dir.path()) > 0 && check(dir.path()) >= 1).then_some(told)
        });
        let told = failed.expect("a fault after the first step");
        assert!(
            told.contains("free some space") && told.contains("runs"),
            "{point}: {told}"
        );
        let session = opened(dir.path());
        // In the log; state.json may be behind it until the next query.
        let store = fast_rlm::store::Store::open_read_only(&dir.path().join("runs")).unwrap();
        let kept = store.flow.namespace("one", At::after(0, 0)).unwrap().unwrap();
        assert!(
            kept.bindings.iter().any(|binding| binding.name == "a"),
            "{point}: {kept:?}"
        );
        drop(store);
        // There is space again.
        assert_eq!(query_with(dir.path(), "").0, Some(0), "{point}");
        assert_eq!(session.queries().unwrap().last().unwrap().value, json!([1, "sub"]));
    }
}
