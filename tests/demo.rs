//! The demo session is what the engine makes of its story, has something of everything in it, and goes on.
#![cfg(feature = "engine")]
// The lints exempt test functions only; what they share may fail as they do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

#[path = "../examples/record_demo/demo/mod.rs"]
mod demo;

use fast_rlm::model::{Cost, Final, FinalShape, MemoryKind, Outcome, Session};
use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::source::{OpenOptions, Opened, Stop, open};
use fast_rlm::store::StoreRows;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

fn committed() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo"))
}

/// What two recordings share: everything but instants, ids, and the order in which agents beside each other wrote.
fn shape(name: &str, text: &str) -> Vec<Value> {
    if name.ends_with(".query") {
        return vec![text.into()];
    }
    if name.ends_with(".sql") {
        return rows(text);
    }
    let mut values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for value in &mut values {
        let map = value.as_object_mut().unwrap();
        for passing in ["time", "timestamps", "run_id", "parent_run_id"] {
            map.shift_remove(passing);
        }
        for key in ["queries", "interrupted", "code_log"] {
            let rows = map.get_mut(key).and_then(Value::as_array_mut);
            for row in rows.into_iter().flatten() {
                row.as_object_mut().unwrap().shift_remove("run_id");
            }
        }
    }
    if name != "state.json" {
        values.sort_by_key(ToString::to_string);
    }
    values
}

/// Of each row of a store what two recordings share: of an event its kind, turn and step, of a binding its name and
/// place; how many there are of the others.
fn rows(text: &str) -> Vec<Value> {
    let row = |line: &str| {
        let (table, values) = line.split_once(" VALUES (").unwrap();
        let values: Vec<&str> = values.split(", ").collect();
        match table.split(' ').nth(2).unwrap() {
            "event" => {
                let [.., turn, step] = values.as_slice() else {
                    panic!("{line}")
                };
                format!("event {} {turn} {step}", values[4])
            }
            "binding" => format!("binding {:?}", &values[1..5]),
            other => other.to_owned(),
        }
    };
    let mut rows: Vec<String> = text.lines().map(row).collect();
    rows.sort();
    rows.into_iter().map(Value::from).collect()
}

#[test]
fn recording_the_demo_again_gives_the_same_session() {
    let recorded = demo::record(demo::Pace::AtOnce).unwrap();
    for (name, text) in &recorded {
        let found = std::fs::read_to_string(committed().join(name)).unwrap_or_default();
        let (found, made) = (shape(name, &found), shape(name, text));
        let differs = made.iter().zip(&found).find(|(made, found)| made != found);
        assert!(
            differs.is_none() && made.len() == found.len(),
            "{name} differs: run `cargo run --release --example record_demo`; {differs:?}"
        );
    }
    let logs = std::fs::read_dir(committed().join("logs")).unwrap();
    assert_eq!(
        logs.count(),
        recorded.keys().filter(|name| name.starts_with("logs/")).count(),
        "assets/demo/logs holds a file that was not recorded"
    );
}

/// The way of `--demo`: a copy goes on, asked with the script that comes with it.
#[test]
fn a_copy_of_the_demo_answers_follow_ups_offline() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(committed().join("state.json"), dir.path().join("state.json")).unwrap();
    let settings = Settings {
        script_delays: false,
        ..Settings::default()
    };
    let model = Arc::new(Scripted::open(&committed().join("model.yaml"), &settings).unwrap());
    let session = fast_rlm::Session::open(dir.path(), None).unwrap();
    let before = session.queries().unwrap().len();
    let session = session.config(fast_rlm::Config::default().provider(model));
    for question in ["What does he say about the turnips?", "And what about zeppelins?"] {
        let answer = session.query(question).unwrap().text().into_owned();
        assert!(answer.starts_with("## What the keeper wrote about"), "{answer}");
        assert!(
            answer.contains("| 1908-02 |") && answer.contains("entries speak of it"),
            "{answer}"
        );
    }
    let answers = session.queries().unwrap();
    assert_eq!(answers.len(), before + 2);
    assert!(answers[before].value.to_string().contains("a crate of turnips"));
    assert!(answers[before + 1].value.to_string().contains("went without saying"));
}

/// The way of `u` in `--demo`: the query that was cut goes on in a copy with its log.
#[test]
fn the_interrupted_query_of_the_demo_goes_on_to_its_letter() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("logs")).unwrap();
    std::fs::copy(committed().join("state.json"), dir.path().join("state.json")).unwrap();
    for log in std::fs::read_dir(committed().join("logs")).unwrap().flatten() {
        std::fs::copy(log.path(), dir.path().join("logs").join(log.file_name())).unwrap();
    }
    let rows = |name: &str| std::fs::read_to_string(committed().join(name)).unwrap();
    let rows = StoreRows {
        events: rows("events.sql"),
        flow: rows("flow.sql"),
    };
    rows.write(dir.path()).unwrap();
    let settings = Settings {
        script_delays: false,
        ..Settings::default()
    };
    let model = Arc::new(Scripted::open(&committed().join("model.yaml"), &settings).unwrap());
    let session = fast_rlm::Session::open(dir.path(), None).unwrap();
    let session = session.config(fast_rlm::Config::default().provider(model));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let letter = runtime.block_on(session.resume()).unwrap().text().into_owned();
    assert!(letter.starts_with("To the Lighthouse Board\n\nGentlemen,"), "{letter}");
    assert!(
        letter.contains("**a guard for the lantern panes**. It would have saved 110 of them")
            && letter.contains("- a bolt on the goat's pen, 21 minutes"),
        "{letter}"
    );
}

fn session() -> Session {
    let options = OpenOptions {
        use_cache: false,
        ..OpenOptions::default()
    };
    let Opened::Session { mut events, source } = open(committed(), &options).unwrap() else {
        panic!("the demo is one session");
    };
    source.scan(&Stop::default(), &mut |more| events.extend(more));
    let mut session = Session::default();
    events.into_iter().for_each(|event| session.apply(event));
    session.settle();
    session
}

#[test]
fn every_run_stands_at_its_place_in_time() {
    let session = session();
    let labels: Vec<_> = session.queries.iter().map(|query| query.label.to_string()).collect();
    assert_eq!(labels, ["Q1", "Q2", "X1", "Q3", "Q4", "Q5", "Q6", "P"]);
    let outcome = |place: usize| &session.queries[place].outcome;
    assert!(
        matches!(outcome(2), Outcome::Limit(what) if what.contains("max_calls_per_subagent")),
        "{:?}",
        outcome(2)
    );
    assert_eq!(*outcome(7), Outcome::Interrupted);
    assert_eq!(session.problems, []);
}

#[test]
fn something_of_everything_is_in_it() {
    let session = session();
    let runs: Vec<_> = session.queries.iter().map(|query| &query.run).collect();
    let steps: Vec<_> = runs
        .iter()
        .flat_map(|run| &run.agents)
        .flat_map(|agent| &agent.steps)
        .collect();
    assert_eq!(runs.iter().map(|run| run.max_depth).max(), Some(2));
    assert!(
        steps.iter().any(|step| step.children.len() > 3),
        "sub-agents side by side"
    );
    assert!(steps.iter().any(|step| step.failed) && steps.iter().any(|step| step.cost == Cost::Unknown));
    let costs: Vec<_> = runs.iter().map(|run| run.totals.cost.to_string()).collect();
    assert_eq!((costs[1].as_str(), costs[3].as_str()), ("$0", "unknown"));
    assert!(costs[0].ends_with(" + 3 unknown"), "{}", costs[0]);
    let shape = |place: usize| match &session.queries[place].result {
        Final::Value { shape, .. } => Some(*shape),
        _ => None,
    };
    assert_eq!(
        [shape(0), shape(1), shape(5)],
        [FinalShape::Text, FinalShape::List, FinalShape::Object].map(Some)
    );
    let memory = &session.memory.entries;
    let kinds = |kind| memory.iter().filter(|entry| entry.kind == kind).count();
    assert_eq!((kinds(MemoryKind::Function), kinds(MemoryKind::Dropped)), (4, 3));
    assert!(
        memory
            .iter()
            .any(|entry| entry.committed && entry.note.is_some() && entry.comment.is_some())
    );
}
