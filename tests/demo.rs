//! The demo session is what its generator writes, byte for byte, and has something of everything in it.
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

#[path = "../examples/generate_demo/demo/mod.rs"]
mod demo;

use fast_rlm::model::{Cost, Final, FinalShape, MemoryKind, Outcome, Session};
use fast_rlm::source::{OpenOptions, Opened, Stop, open};
use std::path::Path;

fn committed() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo"))
}

#[test]
fn regenerating_the_demo_changes_nothing() {
    let files = demo::files().unwrap();
    for (name, text) in &files {
        let found = std::fs::read_to_string(committed().join(name)).unwrap();
        assert!(
            found == *text,
            "{name} differs: run `cargo run --example generate_demo`"
        );
    }
    let logs = std::fs::read_dir(committed().join("logs")).unwrap();
    assert_eq!(
        logs.count(),
        files.len() - 1,
        "assets/demo/logs holds a file that is not generated"
    );
}

#[cfg(feature = "engine")]
#[test]
fn the_script_for_follow_ups_is_one() {
    let file = format!("scripted:{}", committed().join("model.yaml").display());
    fast_rlm::provider::open(&file, &fast_rlm::provider::Settings::default()).unwrap();
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
