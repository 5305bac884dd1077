use proptest::prelude::*;

use super::*;
use crate::model::tests::{Log, during, executed};
use crate::model::{Session, StepLine, Timings};

fn timeline(log: &Log) -> Timeline {
    Timeline::of_run(&log.session().queries[0].run)
}

#[test]
fn calls_and_executions_are_segments() {
    let mut log = Log::new(0);
    let timings = Timings {
        call_start: Some(10),
        call_end: None,
        exec_start: Some(20),
        exec_end: Some(30),
    };
    log.start("r", None, 0).step(
        "r",
        StepLine {
            timings,
            ..executed(1, "a")
        },
        31,
    );
    let rows = timeline(&log).rows;
    let segment = |activity, from, to| Segment {
        step: 0,
        activity,
        from,
        to,
    };
    assert_eq!(
        rows[0].segments,
        [segment(Activity::Call, 10, 20), segment(Activity::Exec, 20, 30)]
    );
    assert_eq!((rows[0].span, rows[0].steps, rows[0].skewed), (Some((0, 31)), 1, false));
}

#[test]
fn skewed_clocks_give_length_zero_and_a_mark() {
    let mut log = Log::new(0);
    log.start("r", None, 100)
        .step("r", during(1, "a", i64::MAX, i64::MIN), 1)
        .start("kid", Some("r"), 5);
    let rows = timeline(&log).rows;
    assert_eq!(rows[0].segments[0].from, rows[0].segments[0].to);
    assert!(rows[0].skewed);
    assert_eq!((length(i64::MIN, i64::MAX), length(i64::MAX, i64::MIN)), (u64::MAX, 0));
}

#[test]
fn parallel_groups_are_siblings_of_one_step_that_overlap() {
    let mut log = Log::new(0);
    log.start("r", None, 0);
    for (kid, from, to) in [
        ("a", 1, 5),
        ("b", 2, 6),
        ("c", 6, 7),
        ("d", 8, 20),
        ("e", 9, 10),
        ("f", 11, 12),
    ] {
        log.start(kid, Some("r"), from).end(kid, None, to);
    }
    log.step("r", during(1, "x", 0, 30), 30);
    let groups = timeline(&log).groups;
    assert_eq!(
        groups,
        [vec![AgentId(1), AgentId(2)], vec![AgentId(4), AgentId(5), AgentId(6)]]
    );
}

#[test]
fn long_gaps_are_folded() {
    let axis = Axis::new([(1_000, 1_100), (1_050, 1_200), (1_210, 1_300), (90_000, 90_100)]);
    assert_eq!(axis.len(), 400);
    let breaks: Vec<Break> = axis.breaks().collect();
    assert_eq!(
        breaks,
        [Break {
            at: 300,
            from: 1_300,
            to: 90_000
        }]
    );
    assert_eq!(
        [0, 1_000, 1_250, 50_000, 90_050, 99_999].map(|time| axis.position(time)),
        [0, 0, 250, 300, 350, 400]
    );
    assert_eq!(
        [0, 250, 350, 9_999].map(|at| axis.time_at(at)),
        [Some(1_000), Some(1_250), Some(90_050), Some(90_100)]
    );
    assert!(Axis::new([]).is_empty() && Axis::default().time_at(0).is_none());
}

#[test]
fn a_session_has_one_axis() {
    let mut session = Session::default();
    for (id, from) in [(0, 0), (1, 1_000_000)] {
        let mut log = Log::new(id);
        log.start("r", None, from).end("r", None, from + 100);
        log.events(&[]).into_iter().for_each(|event| session.apply(event));
    }
    session.settle();
    let all = SessionTimeline::of_session(&session);
    assert_eq!((all.runs.len(), all.axis.len(), all.axis.breaks().count()), (2, 200, 1));
}

proptest! {
    #[test]
    fn the_axis_never_goes_back(spans in prop::collection::vec((any::<i64>(), any::<i64>()), 0..20), mut times in prop::collection::vec(any::<i64>(), 2)) {
        let axis = Axis::new(spans);
        times.sort_unstable();
        prop_assert!(axis.position(times[0]) <= axis.position(times[1]));
        prop_assert!(axis.position(times[1]) <= axis.len());
    }
}

#[test]
fn an_instant_years_away_is_drawn_at_the_edge_and_named() {
    const YEAR_0: i64 = -62_167_219_200_000;
    const YEAR_9999: i64 = 253_402_300_799_000;
    const NOW: i64 = 1_795_956_211_000;
    let mut log = Log::new(0);
    log.start("r", None, NOW)
        .step("r", during(1, "a", NOW + 10, NOW + 20), NOW + 21)
        .step("r", during(2, "b", YEAR_0, YEAR_9999), NOW + 30)
        .start("kid", Some("r"), YEAR_9999)
        .end("r", None, NOW + 40);
    let session = log.session();
    let timeline = timeline(&log);
    assert_eq!(timeline.span, Some((NOW, NOW + 40)));
    let segments = &timeline.rows[0].segments;
    assert_eq!((segments[1].from, segments[1].to), (NOW, NOW + 40));
    assert_eq!(timeline.rows[1].span, Some((NOW + 40, NOW + 40)));
    assert!(timeline.rows[0].skewed);
    let told: Vec<_> = session.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told.iter()
            .any(|what| what.contains("0000-01-01 00:00:00 UTC is years away")),
        "{told:?}"
    );
    // What was recorded is kept with the step.
    assert_eq!(
        session.queries[0].run.agents[0].steps[1].timings.exec_end,
        Some(YEAR_9999)
    );
}
