//! What opening, scanning, searching and looking cost the viewer, without a process around them.
//!
//! Measures the session that `BENCH_SESSION` names, else one of 50 MB that it makes in `BENCH_DIR` (default: here).

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use fast_rlm::model::{BodyRef, Session};
use fast_rlm::source::{OpenOptions, Opened, SearchPattern, Source, Stop, list_sessions, open};

static PLACE: LazyLock<Place> = LazyLock::new(Place::new);
const RUNS: usize = 20;
const STEPS: usize = 250;

fn main() {
    divan::main();
}

struct Place {
    session: PathBuf,
    _made: Option<tempfile::TempDir>,
}

impl Place {
    fn new() -> Self {
        if let Some(session) = std::env::var_os("BENCH_SESSION") {
            return Self {
                session: session.into(),
                _made: None,
            };
        }
        let made = tempfile::tempdir_in(std::env::var_os("BENCH_DIR").unwrap_or_else(|| ".".into())).unwrap();
        make_session(made.path());
        Self {
            session: made.path().to_owned(),
            _made: Some(made),
        }
    }
}

fn make_session(dir: &Path) {
    std::fs::create_dir(dir.join("logs")).unwrap();
    let output = "a line of output with some words, 1234 and a \\\"quote\\\"\\n".repeat(170);
    let mut queries = Vec::new();
    for run in 0..RUNS {
        let mut log = String::new();
        for step in 0..STEPS {
            writeln!(
                log,
                r#"{{"level":30,"time":"2026-01-01T00:00:00.{:03}Z","run_id":"r{run}","depth":0,"step":{step},"event_type":"execution_result","code":"x = {step}","output":"{output}","hasError":false,"usage":{{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1010,"cost":0.001}}}}"#,
                step % 1000
            )
            .unwrap();
        }
        std::fs::write(dir.join(format!("logs/{run}.jsonl")), log).unwrap();
        queries.push(format!(
            r#"{{"query":"q{run}","final":"f","log_file":"logs/{run}.jsonl","run_id":"r{run}"}}"#
        ));
    }
    std::fs::write(
        dir.join("state.json"),
        format!(r#"{{"version":2,"queries":[{}]}}"#, queries.join(",")),
    )
    .unwrap();
}

fn opened() -> (Session, Source) {
    let options = OpenOptions {
        use_cache: false,
        tree: None,
    };
    let Opened::Session { events, source } = open(&PLACE.session, &options).unwrap() else {
        panic!("a session is measured")
    };
    let mut session = Session::default();
    events.into_iter().for_each(|event| session.apply(event));
    (session, source)
}

fn scanned() -> (Session, Source) {
    let (mut session, source) = opened();
    source.scan(&Stop::default(), &mut |events| {
        events.into_iter().for_each(|event| session.apply(event))
    });
    session.settle();
    (session, source)
}

fn size(source: &Source) -> u64 {
    source.progress().bytes_total
}

/// Until everything that the first frame shows is known.
#[divan::bench]
fn open_session() -> Session {
    let (mut session, _) = opened();
    session.settle();
    session
}

/// Until all totals are known.
#[divan::bench]
fn scan_session(bencher: Bencher<'_, '_>) {
    let (_, source) = scanned();
    bencher.counter(BytesCount::new(size(&source))).bench(scanned);
}

#[divan::bench]
fn search_until_the_first_hit(bencher: Bencher<'_, '_>) {
    let (_, source) = scanned();
    let pattern = SearchPattern::new("some words").unwrap();
    bencher.bench(|| {
        let stop = Stop::default();
        source.search(&pattern, &stop, &mut |hits| {
            black_box(hits);
            stop.stop();
        });
    });
}

/// Nothing is found: everything is looked through.
#[divan::bench(args = ["not in there", "Not In There", "ähnlich"])]
fn search_all(bencher: Bencher<'_, '_>, text: &str) {
    let (_, source) = scanned();
    let pattern = SearchPattern::new(text).unwrap();
    bencher.counter(BytesCount::new(size(&source))).bench(|| {
        source.search(&pattern, &Stop::default(), &mut |hits| drop(black_box(hits)));
    });
}

#[divan::bench]
fn read_a_body(bencher: Bencher<'_, '_>) {
    let (session, source) = scanned();
    let mut bodies = session
        .queries
        .iter()
        .filter_map(|query| query.run.root()?.steps.last()?.body);
    let last: BodyRef = bodies.next_back().unwrap();
    bencher.bench(|| source.body(last).unwrap());
}

#[divan::bench]
fn list_2000_sessions(bencher: Bencher<'_, '_>) {
    let dir = tempfile::tempdir_in(std::env::var_os("BENCH_DIR").unwrap_or_else(|| ".".into())).unwrap();
    for number in 0..2000 {
        let session = dir.path().join(format!("s{number}"));
        std::fs::create_dir(&session).unwrap();
        let state = format!(r#"{{"version":2,"queries":[{{"query":"q{number}","final":1}}],"pending_query":null}}"#);
        std::fs::write(session.join("state.json"), state).unwrap();
    }
    bencher.bench(|| list_sessions(dir.path(), &Stop::default()));
}
