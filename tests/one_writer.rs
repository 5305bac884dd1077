//! One writer a session: a second one is refused and told who holds it, or waits; a dead one is never in the way.
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

use fast_rlm::store::{Kind, Select, Store};
use running::session::{Session, check_state, check_transcript};
use running::{Program, script};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

/// A script whose replies to "wait" come after a minute, and to anything else at once.
fn script_in(dir: &Path) -> PathBuf {
    let rules = json!([
        {"when": {"depth": 0, "first": "Output:\ncontext: a string of 4 characters\nwait"},
         "replies": [{"code": "kept = 'before'"}, {"code": "FINAL('late')", "delay": 60}]},
        {"when": {"depth": 0}, "replies": [
            {"code": "count = globals().get('count', 0) + 1\nmine = context"},
            {"code": "FINAL([context, mine, count])"}]},
    ]);
    script::write(dir, "script.json", &json!({"rules": rules}))
}

fn asks(dir: &Path, prompt: &str) -> Program {
    Program::asks(dir, prompt)
        .scripted(&script_in(dir))
        .session(&dir.join("session"))
}

fn session(dir: &Path) -> Session {
    Session::at(&dir.join("session"))
}

/// A process that holds the session, with one step done.
fn holder(dir: &Path) -> Child {
    let mut child = asks(dir, "wait").start();
    let state = dir.join("session/state.json");
    let deadline = Instant::now() + Duration::from_secs(60);
    let has_step = || std::fs::read_to_string(&state).is_ok_and(|text| text.contains("kept = 'before'"));
    while !has_step() {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

#[test]
fn a_second_writer_is_refused_and_told_who_holds_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = holder(dir.path());
    let before = std::fs::read(dir.path().join("session/state.json")).unwrap();
    let second = asks(dir.path(), "now").run();
    second.refused(4, &["session", &child.id().to_string()]);
    assert_eq!(second.out, "");
    assert_eq!(std::fs::read(dir.path().join("session/state.json")).unwrap(), before);

    // By any path: the lock is the directory's.
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(dir.path().join("session"), &link).unwrap();
    let script = script_in(dir.path());
    let through_link = Program::asks(dir.path(), "now").scripted(&script).session(&link).run();
    through_link.refused(4, &[&child.id().to_string()]);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_second_writer_can_wait_and_is_told_for_whom() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = holder(dir.path());
    let waits = |seconds: &str| {
        let query = asks(dir.path(), "now").option("--verbosity", "summary");
        query.option("--wait", seconds)
    };
    let id = child.id().to_string();
    let impatient = waits("0.2").run();
    impatient.refused(4, &["waiting up to", &id, "is busy"]);

    // Ctrl-C ends the waiting at once.
    let mut second = waits("600").start();
    let mut told = BufReader::new(second.stderr.take().unwrap());
    let mut said = String::new();
    told.read_line(&mut said).unwrap();
    assert!(said.contains("waiting up to"), "{said}");
    running::signal(&second, rustix::process::Signal::INT);
    told.read_to_string(&mut said).unwrap();
    assert!(said.contains("nothing of it was changed"), "{said}");
    assert_eq!(second.wait().unwrap().code(), Some(130));

    let third = waits("600").start();
    std::thread::sleep(Duration::from_millis(500));
    child.kill().unwrap();
    child.wait().unwrap();
    let answer = running::Ran::from(third.wait_with_output().unwrap()).answer();
    assert_eq!(
        serde_json::from_str::<Value>(&answer).unwrap(),
        json!(["now", "now", 1])
    );
}

#[test]
fn a_killed_writer_is_never_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = holder(dir.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(dir.path().join("session/session.lock").exists());
    let answer: Value = serde_json::from_str(&asks(dir.path(), "now").answer()).unwrap();
    assert_eq!(answer, json!(["now", "now", 1]));
    assert!(session(dir.path()).names("variables").contains(&"kept".to_owned()));
}

#[test]
fn two_processes_that_wait_for_each_other_lose_nothing() {
    const EACH: usize = 5;
    let dir = tempfile::tempdir().unwrap();
    // Until it is its turn: the program does not wait unless its caller does.
    let ask = |prompt: &str| loop {
        let ran = asks(dir.path(), prompt).run();
        if ran.code != Some(4) {
            return ran.answer();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    std::thread::scope(|scope| {
        for name in ["a", "b"] {
            let ask = &ask;
            scope.spawn(move || {
                for number in 0..EACH {
                    let prompt = format!("{name}{number}");
                    let answer: Value = serde_json::from_str(&ask(&prompt)).unwrap();
                    assert_eq!(answer[0], json!(prompt), "its own answer");
                    assert_eq!(answer[1], json!(prompt), "nothing came in between");
                }
            });
        }
    });
    check_ten(dir.path(), 2 * EACH);
}

fn check_ten(dir: &Path, count: usize) {
    let session = session(dir);
    let state = session.state();
    check_state(&state);
    let rows = state["queries"].as_array().unwrap();
    let mut asked: Vec<&str> = rows.iter().map(|row| row["query"].as_str().unwrap()).collect();
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(
            row["final"],
            json!([row["query"], row["query"], i + 1]),
            "each goes on from the one before"
        );
        check_transcript(&session.transcript(&row["log_file"]));
    }
    asked.sort_unstable();
    asked.dedup();
    assert_eq!(asked.len(), count);
    let store = Store::open_read_only(&session.dir).unwrap();
    let root = store.events.latest_session().unwrap().unwrap();
    let ends = store
        .events
        .read_all(&root.id, &Select::all().only(&[Kind::TurnEnded]))
        .unwrap();
    assert_eq!(ends.events.len(), count);
}

/// Asks so many queries of two steps each, one after the other.
fn keeps_writing(dir: &Path, queries: usize) {
    for number in 0..queries {
        assert!(asks(dir, &format!("number {number}")).answer().contains("number"));
    }
}

/// What readers of all kinds see at one instant: state.json, the log through the library, and the viewer.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    in_state: usize,
    in_log: usize,
    in_viewer: usize,
}

fn look(dir: &Path) -> Seen {
    let session = session(dir);
    let state = session.state();
    check_state(&state);
    let rows = state["queries"].as_array().unwrap();
    for row in rows {
        check_transcript(&session.transcript(&row["log_file"]));
    }
    Seen {
        in_state: rows.len(),
        in_log: ended_turns(&session.dir),
        in_viewer: viewed(&session.dir),
    }
}

/// Queries that ended, in a log that is whole: nothing skipped, numbers without gaps.
fn ended_turns(dir: &Path) -> usize {
    let store = Store::open_read_only(dir).unwrap();
    let root = store.events.latest_session().unwrap().unwrap();
    let page = store.events.read_all(&root.id, &Select::all()).unwrap();
    assert_eq!(page.skipped, []);
    for (place, event) in page.events.iter().enumerate() {
        assert_eq!(event.stream_seq, place as u64, "the log has no gaps");
    }
    page.events
        .iter()
        .filter(|event| event.fact.kind() == Kind::TurnEnded)
        .count()
}

/// Completed queries, by the viewer's JSON, which has no problems to tell.
fn viewed(dir: &Path) -> usize {
    let mut viewer = std::process::Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"));
    let output = viewer.arg(dir).args(["--json", "--no-cache"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The transcript is on disk before state.json links it.
    let mut problems = facts["problems"].as_array().unwrap().iter();
    let written_just_now = |problem: &Value| {
        problem["what"]
            .as_str()
            .unwrap()
            .ends_with("but no query of state.json links it")
    };
    assert!(problems.all(written_just_now), "{facts}");
    let queries = facts["queries"].as_array().unwrap().iter();
    queries.filter(|query| query["final"] != Value::Null).count()
}

#[test]
fn readers_see_a_whole_session_at_any_time_while_one_writes() {
    const QUERIES: usize = 6;
    let dir = tempfile::tempdir().unwrap();
    keeps_writing(dir.path(), 1);
    let mut looks = 0;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| keeps_writing(dir.path(), QUERIES));
        let mut before = look(dir.path());
        while !writer.is_finished() {
            let now = look(dir.path());
            let only_more =
                now.in_state >= before.in_state && now.in_log >= before.in_log && now.in_viewer >= before.in_viewer;
            assert!(only_more, "{now:?} after {before:?}");
            before = now;
            looks += 1;
        }
        writer.join().unwrap();
    });
    assert!(looks > 2, "{looks} looks");
    let last = look(dir.path());
    let all = QUERIES + 1;
    assert_eq!(
        last,
        Seen {
            in_state: all,
            in_log: all,
            in_viewer: all
        }
    );
}
