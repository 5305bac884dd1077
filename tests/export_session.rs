//! Exports of a real session's files, through the source that reads them.
// The lints exempt test functions only; what they share may fail as they do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

use fast_rlm::model::Session;
use fast_rlm::source::{OpenOptions, Opened, Source, Stop, open};
use fast_rlm::text::secret::Secrets;
use fast_rlm::tui::export::{Format, Options, Report, Scope, save, write};
use std::ops::ControlFlow;
use std::path::Path;

fn demo() -> (Session, Source) {
    let target = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo"));
    let options = OpenOptions {
        use_cache: false,
        ..OpenOptions::default()
    };
    let Opened::Session { mut events, source } = open(target, &options).unwrap() else {
        panic!("the demo is one session");
    };
    source.scan(&Stop::default(), &mut |more| events.extend(more));
    let mut session = Session::default();
    events.into_iter().for_each(|event| session.apply(event));
    session.settle();
    (session, source)
}

fn options(format: Format, scope: Scope) -> Options {
    Options {
        format,
        scope,
        raw: false,
        utc: true,
        secrets: Secrets::default(),
    }
}

fn export(format: Format, scope: Scope) -> (String, Report) {
    let (session, mut source) = demo();
    let mut out = Vec::new();
    let go_on = &mut |_| ControlFlow::Continue(());
    let report = write(&session, &mut source, &options(format, scope), &mut out, go_on).unwrap();
    (String::from_utf8(out).unwrap(), report)
}

/// Every step's code in the demo's transcripts.
fn codes() -> Vec<String> {
    let logs = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo/logs")).unwrap();
    let logs = logs.map(|log| log.unwrap().path());
    let text: String = logs
        .filter(|log| log.extension().is_some_and(|kind| kind == "jsonl"))
        .map(|log| std::fs::read_to_string(log).unwrap())
        .collect();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines
        .filter_map(|line| line.get("code").and_then(|code| code.as_str()).map(str::to_owned))
        .collect()
}

#[test]
fn json_has_every_step_of_the_session_as_it_was_recorded() {
    let (text, report) = export(Format::Json, Scope::Session);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let runs = json["runs"].as_array().unwrap();
    let steps = runs.iter().flat_map(|run| run["agents"].as_array().unwrap());
    let steps: Vec<_> = steps.flat_map(|agent| agent["steps"].as_array().unwrap()).collect();
    let replies = steps.iter().filter(|step| step["probe"] == false).count() as u64;
    let mut exported: Vec<_> = steps
        .iter()
        .map(|step| step["code"].as_str().unwrap().to_owned())
        .collect();
    let mut recorded = codes();
    exported.sort();
    recorded.sort();
    assert_eq!(exported, recorded);
    assert_eq!((report.steps, report.unreadable), (replies, 0));
    assert_eq!(report.masked, []);
}

#[test]
fn one_run_is_exported_alone() {
    let (text, _) = export(Format::Markdown, Scope::Run(1));
    assert!(
        text.contains("## Q2") && !text.contains("## Q1") && !text.contains("## Memory"),
        "{text}"
    );
    assert!(text.contains("On which nights was the light out"));
}

#[test]
fn html_tells_the_whole_session() {
    let (text, _) = export(Format::Html, Scope::Session);
    for words in [
        "<h2>Q6</h2>",
        "<h2>X1</h2>",
        "<h2>P</h2>",
        "<h2>Memory</h2>",
        "灯台の光に助けられました",
        "👨‍👩‍👧",
    ] {
        assert!(text.contains(words), "{words}");
    }
    assert!(!text.contains("<script"));
}

#[cfg(unix)]
#[test]
fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (session, mut source) = demo();
    let dir = tempfile::tempdir().unwrap();
    let options = options(Format::Html, Scope::Session);
    let saved = save(&session, &mut source, &options, dir.path(), &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(saved.path, dir.path().join("demo.html"));
    assert_eq!(saved.path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}
