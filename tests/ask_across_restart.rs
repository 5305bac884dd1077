//! A question that nobody is there to answer parks its query; the answer goes on with it in another process, and no
//! call that had finished is made again. (lab-cases 70, 71, 72, 74.)
#![cfg(feature = "engine")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

use fast_rlm::disk::lock::SessionLock;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The root asks a sub-agent once, then the person twice, then ends with all three answers.
const SCRIPT: &str = r#"
rules:
  - name: helper
    when: {depth: 1}
    replies:
      - code: FINAL("from the helper")
  - name: next
    when: {depth: 0, first: "Again"}
    replies:
      - code: FINAL(kept)
  - name: root
    when: {depth: 0, first: "Book"}
    replies:
      - code: |
          kept = 1
      - code: |
          found = await llm_query("find a flight", instruction="Find one.")
          day = await ask("Which day?")
          sure = await ask("Book it?", options=["yes", "no"])
          print(found, day, sure)
      - code: FINAL([kept, found, day, sure])
"#;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("script.yaml"), SCRIPT).unwrap();
        Self { dir }
    }

    fn session(&self) -> PathBuf {
        self.dir.path().join("runs/trip")
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm"));
        command.current_dir(self.dir.path()).args(args).output().unwrap()
    }

    fn query(&self, text: &str) -> Output {
        let model = format!("scripted:{}", self.dir.path().join("script.yaml").display());
        self.run(&[
            text,
            "--primary-agent",
            &model,
            "--session-dir",
            "runs",
            "--session-id",
            "trip",
            "-q",
        ])
    }

    fn answer(&self, text: &str) -> Output {
        self.run(&["answer", "runs/trip", text])
    }

    fn state(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.session().join("state.json")).unwrap()).unwrap()
    }

    /// Sub-agents that the transcript shows.
    fn helpers(&self) -> usize {
        let logs = std::fs::read_dir(self.session().join("logs")).unwrap();
        let text: String = logs
            .map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap())
            .collect();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .filter(|line| line["depth"] == 1 && line["event_type"] == "agent_start")
            .count()
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn two_questions_each_answered_by_another_process() {
    let place = Place::new();
    let parked = place.query("Book a flight");
    assert_eq!(code(&parked), 75, "{}", stderr(&parked));
    assert!(stderr(&parked).contains("Which day?"), "{}", stderr(&parked));
    assert!(stderr(&parked).contains("fast-rlm answer"), "{}", stderr(&parked));
    assert_eq!(place.state()["pending_query"], "Book a flight");
    assert_eq!(place.helpers(), 1);

    let again = place.answer("monday");
    assert_eq!(code(&again), 75, "{}", stderr(&again));
    assert!(stderr(&again).contains("Book it?"), "{}", stderr(&again));

    let done = place.answer("yes");
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    let value: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(value, serde_json::json!([1, "from the helper", "monday", "yes"]));
    assert_eq!(place.helpers(), 1, "the finished call is served, not made again");

    let state = place.state();
    assert_eq!(state["pending_query"], Value::Null);
    assert_eq!(state["queries"][0]["final"], value);
    let steps: Vec<_> = state["code_log"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["step"].as_u64().unwrap())
        .collect();
    assert_eq!(steps, [1, 2, 3]);

    let next = place.query("Again");
    assert_eq!(String::from_utf8_lossy(&next.stdout), "1\n", "{}", stderr(&next));
}

#[test]
fn a_parked_session_takes_no_other_query_and_no_wrong_answer() {
    let place = Place::new();
    assert_eq!(code(&place.query("Book a flight")), 75);
    let refused = place.query("Again");
    assert_eq!(code(&refused), 75);
    assert!(
        stderr(&refused).contains("waits for an answer: Which day?"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(code(&place.answer("monday")), 75);
    let wrong = place.answer("perhaps");
    assert_eq!(code(&wrong), 2);
    assert!(stderr(&wrong).contains("yes | no"), "{}", stderr(&wrong));
    assert_eq!(code(&place.answer("no")), 0);
    let nothing = place.answer("no");
    assert_eq!(code(&nothing), 2);
    assert!(stderr(&nothing).contains("does not wait"), "{}", stderr(&nothing));
}

/// What came of two answers to the first question, given while another process has the session.
fn overtaken(place: &Place, words: [&str; 2]) -> [Output; 2] {
    assert_eq!(code(&place.query("Book a flight")), 75);
    let lock = SessionLock::acquire(&place.session(), Duration::ZERO).unwrap();
    let both = words.map(|word| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fast-rlm"));
        command.current_dir(place.dir.path());
        command.args(["answer", "runs/trip", word, "--wait", "60"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    // Until they have looked at what is asked.
    std::thread::sleep(Duration::from_secs(3));
    drop(lock);
    both.map(|child| child.wait_with_output().unwrap())
}

#[test]
fn an_answer_that_was_overtaken_is_none_to_the_next_question() {
    let place = Place::new();
    let mut both = overtaken(&place, ["monday", "wednesday"]);
    both.sort_by_key(code);
    assert_eq!(both.each_ref().map(code), [2, 75], "{both:?}");
    let (refused, first) = (stderr(&both[0]), stderr(&both[1]));
    assert!(
        refused.contains("open no more") && refused.contains("Book it?"),
        "{refused}"
    );
    assert!(first.contains("Book it?"), "{first}");
    assert_eq!(code(&place.answer("yes")), 0);

    let place = Place::new();
    let mut both = overtaken(&place, ["monday", "--drop"]);
    both.sort_by_key(|ran| code(ran) != 2);
    assert!(stderr(&both[0]).contains("open no more"), "{both:?}");
    // Whichever came first.
    assert!([0, 75].contains(&code(&both[1])), "{both:?}");
}

#[test]
fn a_dropped_question_closes_its_query() {
    let place = Place::new();
    assert_eq!(code(&place.query("Book a flight")), 75);
    let dropped = place.run(&["answer", "runs/trip", "--drop"]);
    assert_eq!(code(&dropped), 0, "{}", stderr(&dropped));
    let state = place.state();
    assert_eq!(state["pending_query"], Value::Null);
    assert_eq!(state["interrupted"][0]["outcome"], "cancelled");
    let next = place.query("Again");
    assert_eq!(String::from_utf8_lossy(&next.stdout), "1\n", "{}", stderr(&next));
}

#[test]
fn asking_what_waits_changes_no_byte() {
    let place = Place::new();
    assert_eq!(code(&place.query("Book a flight")), 75);
    let runs = place.dir.path().join("runs");
    let before = files(&runs);
    let waiting = fast_rlm::engine::waiting(&place.session()).unwrap().unwrap();
    assert_eq!(waiting.text, "Which day?");
    // SQLite's own companions come and go with connections.
    let kept = |files: Vec<(PathBuf, Vec<u8>)>| -> Vec<_> {
        let companion = |path: &str| path.ends_with("-shm") || path.ends_with("-wal");
        let kept = files
            .into_iter()
            .filter(|(path, _)| !companion(&path.to_string_lossy()));
        kept.collect()
    };
    assert!(kept(before) == kept(files(&runs)), "reading changed a file");
}

#[test]
fn without_a_session_nobody_can_answer_later() {
    let place = Place::new();
    let model = format!("scripted:{}", place.dir.path().join("script.yaml").display());
    let output = place.run(&["Book a flight", "--primary-agent", &model, "-q"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
}
