//! The order of events makes no difference, and settling bit by bit comes to the same as settling once.

use proptest::prelude::*;

use super::*;

/// What screens see of a session.
fn seen(session: &Session) -> (Vec<Query>, Memory, Vec<LogFacts>, Vec<Problem>, Totals, Totals, bool) {
    (
        session.queries.clone(),
        session.memory.clone(),
        session.logs.clone(),
        session.problems.clone(),
        session.completed,
        session.lost,
        session.complete,
    )
}

fn steps_of(run: &'static str) -> impl Strategy<Value = StepLine> {
    let code = prop::sample::select(vec!["a = 1", "b = 2", "c = 3", ""]);
    (0u64..4, code, any::<(bool, bool)>(), 0i64..90, 0i64..30).prop_map(
        move |(number, code, (ran, failed), from, length)| {
            let line = during(number, code, from, from + length - 5);
            StepLine {
                executed: ran,
                failed,
                task: (number == 0).then(|| run.to_owned()),
                ..line
            }
        },
    )
}

fn lines() -> impl Strategy<Value = Vec<(&'static str, Option<&'static str>, Option<Time>, LineKind)>> {
    let run = prop::sample::select(vec!["r", "a", "b", "c"]);
    let parent = prop::option::of(prop::sample::select(vec!["r", "a", "b", "gone"]));
    let kind = prop_oneof![
        2 => Just(LineKind::Start),
        1 => Just(LineKind::End(AgentEnd::default())),
        1 => Just(LineKind::Final(text("x"))),
        1 => Just(LineKind::Unknown("odd".into())),
        5 => steps_of("task").prop_map(LineKind::Step),
    ];
    prop::collection::vec((run, parent, prop::option::of(0i64..100), kind), 0..14)
}

/// A session of two queries and three transcripts, one of them a stray, cut into many events.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let code = (0u64..3, 0u64..4, prop::sample::select(vec!["a = 1", "b = 2", "c = 3"]))
        .prop_map(|(q, step, text)| code(q, step, text));
    (
        prop::collection::vec(lines(), 3),
        prop::collection::vec(code, 0..8),
        any::<(bool, bool)>(),
    )
        .prop_map(|(logs, code, (is_pending, alive))| {
            let mut events = vec![
                state(vec![query("one", Some("r")), query("two", None)], code),
                Event::Writer { alive },
            ];
            events.extend(is_pending.then(|| pending("three")));
            for (id, lines) in (0..).zip(logs) {
                let mut log = Log::new(id);
                for (run, parent, time, kind) in lines {
                    log.line(run, parent, time, kind);
                }
                // Bit by bit first, then all of it again with the end of the transcript.
                let mut announced = log.events(if id == 0 { &[0] } else { &[] });
                let rest = announced.split_off(1);
                events.extend(announced);
                events.extend(log.lines.chunks(2).map(|lines| Event::Lines(lines.to_vec())));
                events.extend(rest);
            }
            events
        })
}

proptest! {
    #[test]
    fn any_order_of_events_builds_the_same(
        (events, shuffled) in events().prop_flat_map(|events| (Just(events.clone()), Just(events).prop_shuffle()))
    ) {
        prop_assert_eq!(seen(&settled(events)), seen(&settled(shuffled)));
    }

    #[test]
    fn settling_after_every_event_builds_the_same(events in events()) {
        let mut session = Session::default();
        for event in events.clone() {
            session.apply(event);
            session.settle();
        }
        prop_assert_eq!(seen(&session), seen(&settled(events)));
    }
}

#[test]
fn a_transcript_that_was_replaced_is_forgotten() {
    let mut log = Log::new(0);
    log.start("old", None, 0)
        .step("old", executed(1, "a"), 1)
        .step("old", executed(1, "b"), 2);
    let mut session = log.session();
    let unreadable = Problem {
        kind: ProblemKind::Unreadable,
        log: Some(LogId(0)),
        line: Some(9),
        byte: None,
        what: "x".into(),
    };
    session.apply(Event::Problem(unreadable));
    session.settle();
    assert_eq!(session.problems.len(), 2);
    let mut new = Log::new(0);
    new.start("new", None, 5);
    session.apply(Event::LogReset(LogId(0)));
    session.apply(Event::Lines(new.lines.clone()));
    session.settle();
    assert_eq!(session.queries[0].run.agents[0].run_id, "new");
    assert_eq!(
        (session.problems.len(), session.complete, session.lost.steps),
        (0, false, 0)
    );
}

#[test]
fn state_that_is_read_again_replaces_itself() {
    let mut session = settled([state(vec![query("one", None)], vec![code(0, 1, "a"), code(1, 1, "b")])]);
    assert_eq!(names(&session), "Q1:one X1:");
    session.apply(state(
        vec![query("one", None), query("two", None)],
        vec![code(0, 1, "a"), code(1, 1, "b"), code(1, 2, "c")],
    ));
    session.settle();
    assert_eq!(names(&session), "Q1:one Q2:two");
    assert_eq!(session.queries[1].code.len(), 2);
    session.apply(Event::Writer { alive: true });
    session.settle();
    assert_eq!(
        (session.queries[0].code.len(), session.queries[1].code.len()),
        (1, 2),
        "code survives settling again"
    );
}

#[test]
fn time_that_runs_backwards_is_marked_and_shown_as_it_was_recorded() {
    let mut log = Log::new(0);
    log.start("r", None, 100_000)
        .step("r", during(1, "a", 100_000, 101_000), 101_000)
        .step("r", during(2, "b", 95_000, 96_000), 96_000)
        .step("r", during(3, "c", 90_000, 91_000), 91_000)
        .answer("r", 10_000);
    let session = log.session();
    let clock = session
        .problems
        .iter()
        .filter(|problem| problem.kind == ProblemKind::Clock);
    let told: Vec<&str> = clock.map(|problem| problem.what.as_str()).collect();
    assert_eq!(
        told,
        ["time runs backwards in agent 'r': 3 times, by 1m 20s at most; shown as it was recorded"]
    );
    let run = &session.queries[0].run;
    assert!(timeline::Timeline::of_run(run).rows[0].skewed);
    assert_eq!(run.span, Some((10_000, 101_000)));
    let mut forwards = Log::new(0);
    forwards
        .start("r", None, 0)
        .step("r", during(1, "a", 0, 10), 10)
        .step("r", during(2, "b", 10, 20), 20)
        .answer("r", 20);
    let problems = forwards.session().problems;
    assert!(
        problems.iter().all(|problem| problem.kind != ProblemKind::Clock),
        "{problems:?}"
    );
}
