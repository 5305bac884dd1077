//! Queries cut by the death of their process: a real one, of this test's own program.

use crate::desk::{Counter, builder, scripted};
use async_trait::async_trait;
use fast_rlm::provider::{CallError, Cancel, CostExpectation, DeltaSink, Provider, Reply, Request};
use fast_rlm::repl::{HostError, HostTool};
use fast_rlm::{Client, Tool};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Set in the process that is to die, with the directory and how.
const DIES: &str = "LAB_CASES_DIES_IN";

/// Ends its process when it is called with 4.
#[derive(Debug)]
struct Deadly(Counter);

#[async_trait]
impl Tool for Deadly {
    fn describe(&self) -> HostTool {
        self.0.describe()
    }

    async fn call(&self, args: &[Value], kwargs: &Value) -> Result<Value, HostError> {
        if args[0] == 4 {
            std::process::abort();
        }
        self.0.call(args, kwargs).await
    }
}

/// Ends its process when it is asked.
#[derive(Debug)]
struct DeadlyModel;

#[async_trait]
impl Provider for DeadlyModel {
    async fn call(&self, _: &Request, _: &mut dyn DeltaSink, _: &Cancel) -> Result<Reply, CallError> {
        std::process::abort()
    }

    fn label(&self) -> String {
        "deadly".into()
    }

    fn cost_expectation(&self, _: &str) -> CostExpectation {
        CostExpectation::Unknown
    }
}

/// Not a case: what the dying process does.
#[tokio::test]
async fn dies_when_it_is_told_to() {
    let Ok(told) = std::env::var(DIES) else { return };
    let (how, dir) = told.split_once(':').unwrap();
    let builder = builder(Path::new(dir)).tool(Deadly(Counter::default()));
    let client = match how {
        "model" => builder.build(Arc::new(DeadlyModel)),
        _ => builder.build(scripted(&[
            "a = tool(1)",
            "b = tool(2)",
            "c = tool(3)\nd = tool(4)",
            "FINAL(0)",
        ])),
    };
    client
        .unwrap()
        .create_named("cut")
        .unwrap()
        .send("first")
        .await
        .unwrap();
}

fn die(how: &str, dir: &Path) {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", "crashes::dies_when_it_is_told_to"]);
    let ended = command.env(DIES, format!("{how}:{}", dir.display())).output().unwrap();
    assert!(!ended.status.success());
}

fn after(dir: &Path, auto: bool, steps: &[&str]) -> (Client, Counter) {
    let counter = Counter::default();
    let client = builder(dir)
        .tool(counter.clone())
        .auto_resume(auto)
        .build(scripted(steps))
        .unwrap();
    (client, counter)
}

#[tokio::test]
async fn case_76_a_cut_query_is_finished_from_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    die("tool", dir.path());
    let (client, counter) = after(dir.path(), false, &["FINAL([a['x'], b['x'], c['x'], d['x']])"]);
    let session = client.open_session("cut").unwrap();
    let cut = session.interrupted().unwrap().unwrap();
    assert_eq!(
        (cut.turn, cut.completed, cut.in_flight, cut.query.as_str()),
        (0, 2, true, "first")
    );
    let notices = Arc::new(Mutex::new(Vec::new()));
    let heard = notices.clone();
    let watched = session.clone().watch(move |event: fast_rlm::RunEvent| {
        if let fast_rlm::What::Notice(text) = event.what {
            heard.lock().unwrap().push(text);
        }
    });
    assert_eq!(watched.resume().await.unwrap().value, json!([1, 2, 3, 4]));
    assert_eq!(counter.count(), 1, "only the call that had not been recorded");
    let notices = notices.lock().unwrap().join("\n");
    assert!(notices.contains("made a second time"), "{notices}");
    assert!(session.interrupted().unwrap().is_none());
    let roles: Vec<_> = session
        .history()
        .unwrap()
        .into_iter()
        .map(|message| message.role)
        .collect();
    assert_eq!(roles.len(), 8);
    assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
    let report = session.replay(None, &mut fast_rlm::NoSink).await.unwrap();
    assert!(report.faithful(), "{report:#?}");
}

#[tokio::test]
async fn case_76_the_next_query_finishes_it_first_where_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    die("tool", dir.path());
    let (client, counter) = after(dir.path(), true, &["FINAL(d['x'])", "FINAL('next')"]);
    let session = client.open_session("cut").unwrap();
    assert_eq!(session.send("second").await.unwrap().text(), "next");
    assert_eq!(counter.count(), 1);
    let finals: Vec<_> = session
        .queries()
        .unwrap()
        .into_iter()
        .map(|query| query.value)
        .collect();
    assert_eq!(finals, [json!(4), json!("next")]);
}

#[tokio::test]
async fn case_77_before_its_first_step_there_is_nothing_to_resume() {
    let dir = tempfile::tempdir().unwrap();
    die("model", dir.path());
    let (client, _) = after(dir.path(), true, &["FINAL('next')"]);
    let session = client.open_session("cut").unwrap();
    let refused = session.resume().await.unwrap_err();
    assert!(refused.to_string().contains("nothing to resume"), "{refused}");
    assert_eq!(session.send("second").await.unwrap().text(), "next");
}

#[tokio::test]
async fn case_31_a_turn_that_never_got_an_answer_is_closed_by_one_visible_word() {
    let dir = tempfile::tempdir().unwrap();
    die("model", dir.path());
    let (client, _) = after(dir.path(), false, &["FINAL('next')"]);
    let session = client.open_session("cut").unwrap();
    assert_eq!(session.send("second").await.unwrap().text(), "next");
    let history = session.history().unwrap();
    assert_eq!(
        (history[0].text.as_str(), history[1].text.as_str()),
        ("first", "(turn interrupted)")
    );
    let told = history.iter().filter(|message| message.text == "(turn interrupted)");
    assert_eq!(told.count(), 1);
    assert!(
        history.windows(2).all(|pair| pair[0].role != pair[1].role),
        "{history:?}"
    );
    assert_eq!(history.last().unwrap().role, "assistant");
}

#[tokio::test]
async fn case_78_a_new_query_tells_of_the_cut_one_which_then_cannot_go_on() {
    let dir = tempfile::tempdir().unwrap();
    die("tool", dir.path());
    let (client, counter) = after(dir.path(), false, &["FINAL('next')"]);
    let session = client.open_session("cut").unwrap();
    session.send("second").await.unwrap();
    let history = session.history().unwrap();
    let told = history
        .iter()
        .find(|message| message.text.contains("was interrupted after 2 steps"));
    assert!(told.is_some(), "{history:?}");
    assert!(history.iter().any(|message| message.text == "(turn interrupted)"));
    let refused = session.resume().await.unwrap_err().to_string();
    assert!(refused.contains("nothing to resume"), "{refused}");
    assert_eq!(counter.count(), 0);
}

#[tokio::test]
async fn case_79_looking_at_a_cut_session_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    die("tool", dir.path());
    let (client, _) = after(dir.path(), true, &[]);
    let before = crate::desk::files(dir.path());
    client.sessions().unwrap();
    let session = client.open_session("cut").unwrap();
    assert!(session.interrupted().unwrap().is_some() && session.turns().unwrap()[0].outcome.is_none());
    let listed = Command::new(env!("CARGO_BIN_EXE_fast-rlm"))
        .args(["sessions", "--json"])
        .arg(dir.path())
        .output()
        .unwrap();
    let rows: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!((&rows[0]["id"], &rows[0]["interrupted"]), (&json!("cut"), &json!(true)));
    assert_eq!(crate::desk::files(dir.path()), before);
}

#[tokio::test]
async fn a_query_that_runs_in_another_process_is_not_interrupted_before_that_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"{"replies": [{"code": "x = 1"}, {"code": "FINAL(x)", "delay": 60}]}"#;
    std::fs::write(dir.path().join("slow.json"), script).unwrap();
    let asks = crate::shell::asking("go", "scripted:slow.json", "s");
    let mut running = crate::shell::command(&asks, dir.path()).spawn().unwrap();
    let place = dir.path().join("runs/s");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !std::fs::read_to_string(place.join("state.json")).is_ok_and(|state| state.contains("x = 1")) {
        assert!(std::time::Instant::now() < deadline && running.try_wait().unwrap().is_none());
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let session = fast_rlm::Session::open(dir.path().join("runs"), Some("s")).unwrap();
    assert!(session.interrupted().unwrap().is_none() && session.is_running().unwrap());
    running.kill().unwrap();
    running.wait().unwrap();
    let cut = session.interrupted().unwrap().unwrap();
    assert_eq!((cut.completed, session.is_running().unwrap()), (1, false));
}
