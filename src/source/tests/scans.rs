use super::*;
use crate::model::{Final, FinalShape, Link, LogId};

#[test]
fn a_directory_of_transcripts_is_no_damaged_session() {
    let dir = tempfile::tempdir().unwrap();
    let result =
        |run: &str| format!("{{\"run_id\":\"{run}\",\"event_type\":\"final_result\",\"result\":{{\"n\":3}}}}\n");
    for (run, ended) in [("a", true), ("b", false), ("c", true)] {
        let text = line(run, 1) + &if ended { result(run) } else { String::new() };
        fs::write(dir.path().join(format!("{run}.jsonl")), text).unwrap();
    }
    let read = || {
        read_session(dir.path(), &options(), &Stop::default())
            .unwrap()
            .unwrap()
            .0
    };
    let session = read();
    let mut labels: Vec<String> = session.queries.iter().map(|query| query.label.to_string()).collect();
    labels.sort();
    assert_eq!(labels, ["Q1", "Q2", "X1"]);
    assert_eq!(
        (session.completed_count(), session.completed.steps, session.lost.steps),
        (2, 2, 1)
    );
    assert_eq!(session.problems, []);
    // Beside its record, a session has lost its state.json.
    fs::write(dir.path().join("session.lock"), "").unwrap();
    let session = read();
    assert_eq!(session.completed_count(), 0);
    assert!(
        session
            .problems
            .iter()
            .any(|problem| problem.what.contains("no state.json"))
    );
}

#[test]
fn of_very_many_queries_the_state_is_told_before_transcripts_are_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("logs")).unwrap();
    let row = |n: usize| serde_json::json!({"query": "q", "final": n, "log_file": format!("logs/{n}.jsonl"), "run_id": format!("r{n}")});
    let rows: Vec<_> = (0..501).map(row).collect();
    let state = serde_json::json!({"version": 2, "queries": rows});
    fs::write(dir.path().join("state.json"), state.to_string()).unwrap();
    for n in 0..500 {
        fs::write(dir.path().join(format!("logs/{n}.jsonl")), line(&format!("r{n}"), 1)).unwrap();
    }
    let Opened::Session { events, source } = open(dir.path(), &options()).unwrap() else {
        panic!("a session");
    };
    let mut session = Session::default();
    events.into_iter().for_each(|event| session.apply(event));
    session.settle();
    assert_eq!((session.queries.len(), session.complete), (501, false));
    assert!(session.queries.iter().all(|query| query.link == Link::Unknown));
    source.scan(&Stop::default(), &mut |events| {
        events.into_iter().for_each(|event| session.apply(event));
    });
    session.settle();
    assert!(session.complete && session.completed.steps == 500);
    let (last, others) = session.queries.split_last().unwrap();
    assert!(others.iter().all(|query| matches!(query.link, Link::Linked(_))));
    assert!(matches!(last.link, Link::Missing(_)));
}

#[test]
fn long_transcripts_are_numbered_through_over_stretches_and_lines_of_any_length() {
    let mut text = String::new();
    let filler = "y".repeat(300_000);
    for step in 1..=70 {
        text += &line("r", step).replace("Found", &filler);
    }
    text += &line("r", 71).replace("Found", &"z".repeat(10 << 20));
    text += "null\n";
    text += &line("r", 72);
    let watched = Watched::new(STATE, &[("a.jsonl", &text)]);
    let run = &watched.session.queries[0].run;
    assert_eq!((run.totals.steps, run.unreadable, run.complete), (72, 1, true));
    let at: Vec<u64> = run.agents[0].steps.iter().map(|step| step.body.unwrap().line).collect();
    assert_eq!(at, (1..=71).chain([73]).collect::<Vec<u64>>());
    assert_eq!(watched.session.problems[0].line, Some(72));
    let last = run.agents[0].steps.last().unwrap().body.unwrap();
    assert_eq!(watched.source.body(last).unwrap().code, "x = 72");
    assert_eq!(watched.source.progress().logs_read, 1);
}

#[test]
fn bodies_are_read_as_they_are_and_told_when_they_are_gone() {
    let step = r#"{"run_id":"r","event_type":"execution_result","step":1,"code":"a\n\"b\"","output":"\ud83d\u001b[0m","reasoning":null}"#;
    let result = r#"{"run_id":"r","event_type":"final_result","result":{"a": [1]}}"#;
    let watched = Watched::new(STATE, &[("a.jsonl", &format!("{step}\n{result}\n"))]);
    let at = watched.session.queries[0].run.agents[0].steps[0].body.unwrap();
    let body = watched.source.body(at).unwrap();
    assert_eq!(
        (body.code.as_str(), body.output.as_str(), body.reasoning),
        ("a\n\"b\"", "\u{FFFD}\u{1b}[0m", None)
    );
    assert!(body.repaired && !body.cut);
    let next = crate::model::BodyRef {
        line: 2,
        offset: at.offset + at.len + 1,
        len: result.len() as u64,
        ..at
    };
    let value = Final::Value {
        shape: FinalShape::Object,
        text: r#"{"a":[1]}"#.into(),
    };
    assert_eq!(watched.source.body(next).unwrap().result, value);
    fs::write(watched.path("logs/a.jsonl"), "{}").unwrap();
    assert!(matches!(
        watched.source.body(next),
        Err(BodyError::Changed { line: 2, .. })
    ));
    fs::remove_file(watched.path("logs/a.jsonl")).unwrap();
    assert!(matches!(watched.source.body(next), Err(BodyError::Unreadable { .. })));
    let unknown = crate::model::BodyRef { log: LogId(9), ..next };
    assert!(matches!(watched.source.body(unknown), Err(BodyError::UnknownLog)));
}

#[test]
fn a_whole_query_comes_from_beside_its_transcript_and_never_from_elsewhere() {
    let watched = Watched::new(STATE, &[("a.jsonl", &line("r", 1)), ("a.query", "the whole text")]);
    assert_eq!(watched.source.whole_query(LogId(0)).as_deref(), Some("the whole text"));
    let pending = r#"{"queries":[],"pending_query":"p","query_file":"../outside"}"#;
    let watched = Watched::new(pending, &[]);
    assert_eq!(watched.session.facts.pending_full, None);
}

#[test]
fn a_stopped_scan_says_nothing_more() {
    let watched = Watched::new(STATE, &[("a.jsonl", "")]);
    watched.append("logs/a.jsonl", &line("r", 1));
    let Opened::Session { source, .. } = open(watched.dir.path(), &options()).unwrap() else {
        panic!()
    };
    let stop = Stop::default();
    stop.stop();
    source.scan(&stop, &mut |events| panic!("{events:?}"));
}
