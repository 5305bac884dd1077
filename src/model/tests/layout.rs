//! Which run is which query.

use super::*;

/// A transcript of one root with these steps, and a FINAL if it has one.
fn run(id: u32, root: &str, codes: &[&str], from: Time, answered: bool) -> Log {
    let mut log = Log::new(id);
    log.start(root, None, from)
        .step(root, probe(&format!("task of {root}")), from + 1);
    for (number, code) in (1..).zip(codes) {
        log.step(root, executed(number, code), from + 1 + number as i64);
    }
    if answered {
        log.answer(root, from + 50);
    }
    log
}

#[test]
fn a_failed_run_shares_the_q_of_the_next() {
    let (failed, done) = (run(0, "f", &["a", "b"], 0, false), run(1, "d", &["a", "c"], 100, true));
    let last = run(2, "p", &["e"], 200, false);
    let ledger = vec![query("first", Some("d"))];
    let codes = vec![
        code(0, 1, "a"),
        code(0, 2, "b"),
        code(0, 1, "a"),
        code(0, 2, "c"),
        code(1, 1, "e"),
    ];
    let mut events = vec![pending("second"), state(ledger, codes)];
    events.extend([failed.events(&[]), done.events(&[0]), last.events(&[])].concat());
    let session = settled(events);
    assert_eq!(names(&session), "X1:task of f Q1:first P:second");
    let logs: Vec<Option<LogId>> = session.queries.iter().map(|query| query.run.log).collect();
    assert_eq!(logs, [Some(LogId(0)), Some(LogId(1)), Some(LogId(2))]);
    let lengths: Vec<usize> = session.queries.iter().map(|query| query.code.len()).collect();
    assert_eq!(lengths, [2, 2, 1]);
    assert_eq!((session.completed.steps, session.lost.steps), (2, 3));
    assert_eq!(session.queries[0].link, Link::Attached(LogId(0)));
}

#[test]
fn a_run_that_rises_on_from_a_failed_one_is_cut_by_its_transcript() {
    // The second run's first reply had no code, so its first entry is step 2: numbers alone do not split.
    let mut done = Log::new(1);
    done.start("d", None, 100)
        .step("d", executed(1, ""), 101)
        .step("d", executed(2, "c"), 102)
        .answer("d", 103);
    let failed = run(0, "f", &["a"], 0, false);
    let codes = vec![code(0, 1, "a"), code(0, 2, "c")];
    let mut events = vec![state(vec![query("first", Some("d"))], codes)];
    events.extend([failed.events(&[]), done.events(&[0])].concat());
    let session = settled(events);
    assert_eq!(names(&session), "X1:task of f Q1:first");
    assert_eq!(session.queries[1].code, [code(0, 2, "c")]);
    assert_eq!(session.queries[0].code, [code(0, 1, "a")]);
}

#[test]
fn lost_runs_without_transcripts_come_from_code_log() {
    let codes = vec![code(0, 1, "a"), code(0, 1, "b"), code(1, 1, "c"), code(1, 2, "d")];
    let session = settled([pending("two"), state(vec![query("one", None)], codes)]);
    assert_eq!(names(&session), "X1: Q1:one P:two");
    let steps: Vec<u64> = session.queries.iter().map(|query| query.run.totals.steps).collect();
    assert_eq!(steps, [1, 1, 2]);
    assert_eq!(session.queries[1].run.totals.cost.to_string(), "unknown");
    assert_eq!(
        session.queries[1].run.root().unwrap().steps[0].code.as_deref(),
        Some("b")
    );
    assert!(session.queries[1].run.complete);
}

#[test]
fn time_places_runs_that_left_no_code() {
    let (first, second) = (run(0, "a", &["a"], 100, true), run(1, "b", &["b"], 300, true));
    let strays = [
        run(2, "x", &[], 50, false),
        run(3, "y", &[], 200, false),
        run(4, "z", &[], 400, false),
    ];
    let ledger = vec![query("one", Some("a")), query("two", Some("b"))];
    let mut events = vec![state(ledger, vec![code(0, 1, "a"), code(1, 1, "b")])];
    events.extend([first.events(&[0]), second.events(&[1])].concat());
    events.extend(strays.iter().flat_map(|log| log.events(&[])));
    assert_eq!(
        names(&settled(events)),
        "X1:task of x Q1:one X2:task of y Q2:two X3:task of z"
    );
}

#[test]
fn a_missing_transcript_leaves_what_code_log_has() {
    let tried = vec!["logs/d.jsonl: not there".to_owned()];
    let facts = LogFacts {
        id: LogId(0),
        path: String::new(),
        state: LogState::Missing(tried.clone()),
        queries: vec![0],
    };
    let session = settled([
        state(vec![query("one", Some("d"))], vec![code(0, 1, "a")]),
        Event::Log(facts),
    ]);
    let only = &session.queries[0];
    assert_eq!(
        (&only.link, only.run.totals.steps, only.run.complete),
        (&Link::Missing(tried), 1, true)
    );
    assert_eq!(only.run.root().unwrap().run_id, "d");
    assert!(
        session
            .problems
            .iter()
            .any(|problem| problem.kind == ProblemKind::MissingLog)
    );
}

#[test]
fn before_its_transcript_is_read_a_query_shows_its_card() {
    let facts = LogFacts {
        id: LogId(0),
        path: "p".into(),
        state: LogState::Found,
        queries: vec![0],
    };
    let session = settled([
        state(vec![query("one", Some("d"))], vec![code(0, 1, "a")]),
        Event::Log(facts),
    ]);
    let only = &session.queries[0];
    assert_eq!(
        (only.run.complete, only.run.totals.steps, session.complete),
        (false, 0, false)
    );
    assert_eq!(only.link, Link::Linked(LogId(0)));
}

#[test]
fn an_unlinked_query_gets_the_transcript_with_its_code() {
    let done = run(0, "d", &["a", "b"], 0, true);
    let mut events = vec![state(vec![query("one", None)], vec![code(0, 1, "a"), code(0, 2, "b")])];
    events.extend(done.events(&[]));
    let session = settled(events);
    assert_eq!(
        (names(&session).as_str(), &session.queries[0].link),
        ("Q1:one", &Link::Attached(LogId(0)))
    );
}

#[test]
fn the_run_of_the_ledger_leads_a_file_of_several_roots() {
    let mut log = Log::new(0);
    log.start("other", None, 0)
        .step("other", executed(1, "x"), 1)
        .start("d", None, 2)
        .step("d", executed(1, "y"), 3);
    let mut events = vec![state(vec![query("one", Some("d"))], vec![])];
    events.extend(log.events(&[0]));
    let run = &settled(events).queries[0].run;
    assert_eq!(
        (run.root().unwrap().run_id.as_str(), run.roots.len(), run.totals.steps),
        ("d", 2, 2)
    );
    assert_eq!((run.root_steps(), run.other_roots()), (1, (1, 1)));
}

#[test]
fn queries_of_one_file_share_it_without_counting_twice() {
    let mut log = Log::new(0);
    log.start("a", None, 0)
        .step("a", executed(1, "x"), 1)
        .start("b", None, 2)
        .step("b", executed(1, "y"), 3);
    log.start("kid", Some("b"), 4)
        .step("kid", executed(1, "z"), 5)
        .start("nobody", None, 6);
    let mut events = vec![state(vec![query("one", Some("a")), query("two", Some("b"))], vec![])];
    events.extend(log.events(&[0, 1]));
    let mut session = settled(events);
    for _ in 0..2 {
        let agents: Vec<usize> = session.queries.iter().map(|query| query.run.agents.len()).collect();
        assert_eq!((agents, session.completed.steps), (vec![2, 2], 3));
        session.apply(Event::Writer { alive: true });
        session.settle();
    }
}

#[test]
fn a_query_whose_log_is_anothers_is_not_free() {
    let session_of = |ids: [Option<&str>; 2], codes: Vec<CodeEntry>| {
        let mut log = run(0, "a", &["x"], 0, true);
        log.start("b", None, 100).step("b", executed(1, "y"), 101);
        let ledger = vec![query("one", ids[0]), query("two", ids[1])];
        let mut events = vec![state(ledger, codes)];
        events.extend(log.events(&[0, 1]));
        settled(events)
    };
    for ids in [[None, None], [Some("a"), Some("a")], [Some("b"), Some("b")]] {
        let mut session = session_of(ids, vec![]);
        for _ in 0..2 {
            let (other, taken) = (&session.queries[0], &session.queries[1]);
            assert_eq!(taken.link, Link::Taken(LogId(0), Label::Completed(1)), "{ids:?}");
            assert!(taken.run.totals.cost.is_unknown() && !taken.run.totals.tokens_known());
            assert_eq!(
                (other.link.clone(), other.run.totals.steps),
                (Link::Linked(LogId(0)), 2)
            );
            let told: Vec<&Problem> = session.problems.iter().collect();
            assert!(
                told.iter()
                    .any(|problem| problem.what.contains("its log is that of Q1")),
                "{told:?}"
            );
            session.apply(Event::Writer { alive: true });
            session.settle();
        }
    }
    // What is known of its steps is shown, with a cost that is not.
    let session = session_of([Some("a"), Some("a")], vec![code(0, 1, "x"), code(1, 1, "z")]);
    let taken = &session.queries[1];
    assert_eq!((taken.run.totals.steps, taken.run.totals.cost.known), (1, 0));
    assert!(taken.run.totals.cost.is_unknown());
}

#[test]
fn native_entries_name_their_runs() {
    let entry = |run: &str, step, text| CodeEntry {
        run_id: Some(run.into()),
        ..code(0, step, text)
    };
    let codes = vec![entry("f", 1, "a"), entry("d", 2, "b"), entry("d", 3, "c")];
    let failed = run(0, "f", &["a"], 0, false);
    let recorded = InterruptedEntry {
        query: "asked in vain".into(),
        run_id: Some("f".into()),
        outcome: Some("cancelled".into()),
        ..InterruptedEntry::default()
    };
    let state = Event::State {
        ledger: vec![query("one", Some("d"))],
        code: codes,
        memory: vec![],
        interrupted: vec![recorded],
    };
    let session = settled([vec![pending("new"), state], failed.events(&[])].concat());
    assert_eq!(names(&session), "X1:asked in vain Q1:one P:new");
    assert_eq!(
        (session.queries[0].outcome.clone(), session.queries[1].code.len()),
        (Outcome::Cancelled, 2)
    );
    assert!(
        session.queries[2].run.agents.is_empty(),
        "the pending run has just begun"
    );
}

/// Records of older builds name no run; of a query about a file they have the question, and its run has the file.
#[test]
fn a_record_that_names_no_run_is_that_of_the_run_without_an_end() {
    let recorded = |query: &str| InterruptedEntry {
        query: query.into(),
        outcome: Some("interrupted".into()),
        ..InterruptedEntry::default()
    };
    let state = |interrupted: &[&str]| Event::State {
        ledger: vec![query("one", Some("d"))],
        code: vec![],
        memory: vec![],
        interrupted: interrupted.iter().copied().map(recorded).collect(),
    };
    let logs = [
        run(0, "a", &["x"], 0, false),
        run(1, "b", &["y"], 10, false),
        run(3, "p", &["z"], 130, false),
    ];
    let done = run(2, "d", &["c"], 20, true);
    for (start, records, expected) in [
        (
            None,
            &["who (a.txt)", "how (b.txt)", "why"][..],
            "X1:who (a.txt) X2:how (b.txt) Q1:one X3:why",
        ),
        // One of the two has left no transcript, and nothing tells which.
        (
            Some("new"),
            &["who (a.txt)", "how (b.txt)", "why"],
            "X1:task of a X2:task of b Q1:one X3:who (a.txt) X4:how (b.txt) X5:why P:new",
        ),
        (
            Some("new"),
            &["who (a.txt)", "how (b.txt)"],
            "X1:who (a.txt) X2:how (b.txt) Q1:one P:new",
        ),
    ] {
        let mut events: Vec<Event> = start.map(pending).into_iter().chain([state(records)]).collect();
        events.extend(logs.iter().flat_map(|log| log.events(&[])));
        events.extend(done.events(&[0]));
        assert_eq!(names(&settled(events)), expected);
    }
}

#[test]
fn a_single_transcript_is_a_run_of_its_own() {
    let facts = Event::Session(SessionFacts {
        target: TargetKind::Transcript,
        ..SessionFacts::default()
    });
    for (answered, name) in [(true, "Q1:task of r"), (false, "X1:task of r")] {
        let mut session = settled([vec![facts.clone()], run(0, "r", &["a"], 0, answered).events(&[])].concat());
        assert_eq!(names(&session), name);
        session.apply(Event::Writer { alive: false });
        session.settle();
        assert_eq!(names(&session), name, "settling again changes nothing");
    }
}

#[test]
fn memory_stands_in_its_order_and_knows_where_it_was_bound() {
    let record = |name: &str, kind, comment: Option<&str>, committed| MemoryRecord {
        name: name.into(),
        kind,
        type_name: String::new(),
        text: String::new(),
        comment: comment.map(Into::into),
        note: None,
        committed,
        pickle_bytes: 0,
    };
    let variable = MemoryKind::Variable;
    let memory = vec![
        record("z", variable, None, false),
        record("b", variable, Some("why"), false),
        record("lost", MemoryKind::Dropped, None, false),
        record("Z", variable, None, false),
        record("g", MemoryKind::Function, None, false),
        record("f", MemoryKind::Function, None, false),
        record("y", variable, None, true),
    ];
    let failing = CodeEntry {
        ok: false,
        ..code(0, 3, "z = 0\nb = 0\n1 / 0")
    };
    let codes = vec![
        code(0, 1, "z = 1\ny = 2"),
        code(0, 2, "def f(): pass"),
        failing,
        code(1, 1, "y += 1"),
    ];
    let ledger = vec![query("one", None), query("two", None)];
    let session = settled([Event::State {
        ledger,
        code: codes,
        memory,
        interrupted: vec![],
    }]);
    let shown: Vec<(&str, Option<String>)> = session
        .memory
        .entries
        .iter()
        .map(|entry| {
            (
                entry.name.as_str(),
                entry.bound.map(|bound| format!("{} {}", bound.label, bound.step)),
            )
        })
        .collect();
    let at = |place: &str| Some(place.to_owned());
    assert_eq!(
        shown,
        [
            ("y", at("Q2 1")),
            ("b", at("Q1 3")),
            ("Z", None),
            ("z", at("Q1 1")),
            ("g", None),
            ("f", at("Q1 2")),
            ("lost", None)
        ]
    );
}
