//! The overlay comes off without a trace, whatever was told in whatever order.

use super::{LiveEvent, LiveNews, LiveRun, Phase};
use crate::model::{
    AgentEnd, BodyRef, Cost, Event, Final, Label, LedgerEntry, Line, LineKind, LogFacts, LogId, LogState, Outcome,
    Session, SessionFacts, StepKind, StepLine, Timings, Usage,
};
use proptest::prelude::*;

fn news(run_id: &str, parent: Option<&str>, time: i64, news: LiveNews) -> Event {
    Event::Live(LiveEvent::Agent {
        run_id: run_id.into(),
        parent: parent.map(Into::into),
        time,
        news,
    })
}

fn began() -> Event {
    Event::Live(LiveEvent::Began {
        query: "how many?".into(),
        time: 10,
        resumes: false,
    })
}

fn replied(tokens: u64) -> LiveNews {
    LiveNews::Replied {
        code: Some("x = 1".into()),
        usage: Some(Usage {
            total: tokens,
            ..Usage::default()
        }),
        cost: Cost::Known(5),
    }
}

fn line(offset: u64, run_id: &str, parent: Option<&str>, time: i64, kind: LineKind) -> Line {
    Line {
        at: BodyRef {
            log: LogId(0),
            line: offset + 1,
            offset,
            len: 1,
        },
        run_id: run_id.into(),
        parent: parent.map(Into::into),
        depth: u32::from(parent.is_some()),
        time: Some(time),
        kind,
    }
}

fn step(number: u64, from: i64, to: i64) -> LineKind {
    LineKind::Step(StepLine {
        number: Some(number),
        executed: true,
        failed: false,
        usage: Some(Usage {
            total: 100,
            ..Usage::default()
        }),
        cost: Cost::Known(5),
        timings: Timings {
            call_start: Some(from),
            call_end: Some(from),
            exec_start: Some(from),
            exec_end: Some(to),
        },
        code_digest: number,
        no_code: false,
        task: None,
    })
}

/// A session with one answered query, and a pending one whose transcript has begun.
fn on_disk() -> Vec<Event> {
    let facts = SessionFacts {
        pending: Some("how many?".into()),
        ..SessionFacts::default()
    };
    let ledger = vec![LedgerEntry {
        query: "first".into(),
        result: Final::None,
        log_file: Some("logs/other.jsonl".into()),
        run_id: Some("other".into()),
    }];
    let other = LogFacts {
        id: LogId(1),
        path: "logs/other.jsonl".into(),
        state: LogState::Found,
        queries: vec![0],
    };
    let mut of_other = line(0, "other", None, 5, LineKind::Start);
    of_other.at.log = LogId(1);
    vec![
        Event::Session(facts),
        Event::State {
            ledger,
            code: Vec::new(),
            memory: Vec::new(),
            interrupted: Vec::new(),
        },
        Event::Log(LogFacts {
            id: LogId(0),
            path: "logs/run.jsonl".into(),
            state: LogState::Stray,
            queries: Vec::new(),
        }),
        Event::Log(other),
        Event::Lines(vec![
            of_other,
            line(0, "root", None, 20, LineKind::Start),
            line(1, "root", None, 40, step(1, 22, 40)),
        ]),
        Event::LogRead {
            log: LogId(0),
            unreadable: 0,
        },
    ]
}

fn session(events: impl IntoIterator<Item = Event>) -> Session {
    let mut session = Session::default();
    events.into_iter().for_each(|event| session.apply(event));
    session.settle();
    session
}

#[test]
fn the_card_of_a_query_is_there_before_any_file_speaks_of_it() {
    let session = session([began()]);
    let query = session.queries.last().unwrap();
    assert_eq!((query.label, query.text.as_str()), (Label::Pending, "how many?"));
    assert_eq!(query.outcome, Outcome::Running);
    assert_eq!(query.run.totals.cost.to_string(), "$0", "nothing was called yet");
    assert!(session.live_of(query).is_some());
}

#[test]
fn steps_in_flight_and_new_agents_join_what_is_on_disk() {
    let mut session = session(on_disk().into_iter().chain([
        began(),
        news("root", None, 20, LiveNews::Started("how many?".into())),
        news("root", None, 41, LiveNews::Calling(2)),
        news("root", None, 42, LiveNews::Text("let me".into())),
    ]));
    let run = &session.queries.last().unwrap().run;
    let kinds: Vec<_> = run.root().unwrap().steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::Reply, StepKind::InFlight]);
    assert_eq!(run.totals.steps, 1, "a reply counts when it is there");
    assert_eq!(session.live().unwrap().step("root", 2).unwrap().text.text(), "let me");

    session.apply(news("root", None, 50, replied(7)));
    session.apply(news("child", Some("root"), 60, LiveNews::Started("count".into())));
    session.settle();
    let run = &session.queries.last().unwrap().run;
    assert_eq!((run.totals.steps, run.totals.usage.total), (2, 107));
    let child = run.agents.last().unwrap();
    assert_eq!(
        (child.task.as_str(), child.depth, child.parent_step),
        ("count", 1, Some(1))
    );
    let live = session.live().unwrap();
    assert_eq!(live.phase("root"), Some(Phase::Awaiting(1)));

    // The child's start is on disk before its parent's step is: still under the step in flight.
    session.apply(Event::Lines(vec![line(2, "child", Some("root"), 60, LineKind::Start)]));
    session.settle();
    let run = &session.queries.last().unwrap().run;
    assert_eq!(run.agents.len(), 2);
    assert_eq!(run.agents.last().unwrap().parent_step, Some(1));
    assert_eq!(
        run.root()
            .unwrap()
            .steps
            .iter()
            .map(|step| step.children.len())
            .sum::<usize>(),
        1
    );
}

#[test]
fn an_older_run_that_was_interrupted_is_another_one() {
    let session = session(
        on_disk()
            .into_iter()
            .chain([began(), news("new", None, 90, LiveNews::Started("how many?".into()))]),
    );
    let labels: Vec<_> = session.queries.iter().map(|query| query.label).collect();
    assert_eq!(labels, [Label::Completed(1), Label::Pending, Label::Pending]);
    let old = session.queries.get(1).unwrap();
    assert!(session.live_of(old).is_none() && old.outcome == Outcome::Interrupted);
}

#[test]
fn a_session_that_is_left_keeps_its_run() {
    let mut session = session([began(), news("root", None, 20, LiveNews::Calling(1))]);
    let mut live = session.leave_live().unwrap();
    session.settle();
    assert!(session.queries.is_empty());
    live.apply(LiveEvent::Now(99));
    session.apply(Event::Live(LiveEvent::Back(Box::new(live))));
    session.settle();
    assert_eq!(session.live().unwrap().now, 99);
    assert_eq!(session.queries.len(), 1);
}

/// Any news of one of four agents.
fn any_news() -> impl Strategy<Value = LiveEvent> {
    let what = prop_oneof![
        Just(LiveNews::Started("task".into())),
        (0u64..4).prop_map(LiveNews::Calling),
        Just(LiveNews::Text("a".into())),
        Just(LiveNews::Output("b".into())),
        (0u64..9).prop_map(replied),
        (0u64..4).prop_map(LiveNews::Kept),
        any::<bool>().prop_map(LiveNews::Asks),
        Just(LiveNews::Ended),
    ];
    let names = prop::sample::select(vec!["root", "a", "b", "c"]);
    let parents = prop::sample::select(vec![None, Some("root"), Some("a"), Some("c"), Some("nobody")]);
    (names, parents, 0i64..200, what).prop_map(|(run_id, parent, time, news)| LiveEvent::Agent {
        run_id: run_id.into(),
        parent: parent.map(Into::into),
        time,
        news,
    })
}

/// Lines of disk that may arrive at any moment.
fn later_lines() -> Vec<Event> {
    let lines = [
        line(2, "a", Some("root"), 60, LineKind::Start),
        line(3, "a", Some("root"), 70, step(1, 61, 70)),
        line(4, "a", Some("root"), 71, LineKind::End(AgentEnd::default())),
        line(5, "root", None, 80, step(2, 50, 80)),
    ];
    lines.into_iter().map(|line| Event::Lines(vec![line])).collect()
}

proptest! {
    #[test]
    fn what_is_left_at_the_end_is_what_is_on_disk(
        told in prop::collection::vec((any_news(), any::<bool>()), 0..40),
        lines in Just(later_lines()).prop_shuffle(),
    ) {
        let expected = session(on_disk().into_iter().chain(lines.clone()));
        let mut session = session(on_disk());
        session.apply(began());
        let mut lines = lines.into_iter();
        for (event, settle) in told {
            session.apply(Event::Live(event));
            if settle {
                lines.next().into_iter().for_each(|line| session.apply(line));
                session.settle();
                for query in &session.queries {
                    let agents = query.run.agents.len();
                    let hung = query.run.agents.iter().flat_map(|agent| &agent.steps).flat_map(|step| &step.children);
                    prop_assert!(hung.clone().count() <= agents);
                    prop_assert!(hung.clone().all(|child| (child.0 as usize) < agents));
                }
            }
        }
        lines.for_each(|line| session.apply(line));
        session.apply(Event::Live(LiveEvent::Over));
        session.settle();
        prop_assert_eq!(&session.queries, &expected.queries);
        prop_assert_eq!(session.lost, expected.lost);
        prop_assert!(session.live().is_none());
    }
}

#[test]
fn late_news_of_a_run_that_is_over_change_nothing() {
    let mut session = session(on_disk());
    let before = session.queries.clone();
    session.apply(news("root", None, 99, LiveNews::Calling(9)));
    session.settle();
    assert_eq!(session.queries, before);
    assert_eq!(LiveRun::default().agents().len(), 0);
}
