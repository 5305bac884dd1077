//! Calls that the event log has and no transcript: of a step in flight, or one that was cut.

use super::*;
use crate::model::{Cost, Totals, Usage};
use crate::store::payload::{ModelCall, Outcome, StepEnded, TurnEnded, TurnStarted};
use crate::store::{Fact, NewEvent, NewSession, SessionWriter, Storage};

const PENDING: &str = r#"{"version":2,"queries":[],"pending_query":"q"}"#;
const CUT: &str = r#"{"version":2,"queries":[],"interrupted":[{"query":"q","run_id":"r","outcome":"interrupted"}]}"#;

fn log_of(dir: &Path) -> SessionWriter {
    let store = Storage::dir(dir).open().unwrap();
    let id = store.events.create_session(&NewSession::in_root(0)).unwrap().id;
    let writer = SessionWriter::take_over(&store, &id).unwrap();
    let started = TurnStarted {
        run_id: "r".into(),
        ..TurnStarted::default()
    };
    writer.append(vec![NewEvent::of_turn(0, 1, started.into())]).unwrap();
    writer
}

fn call(step: u32, tokens: u64, nano: i64) -> NewEvent {
    let call = ModelCall {
        run_id: "r".into(),
        usage: Some(Usage {
            total: tokens,
            prompt: tokens,
            ..Usage::default()
        }),
        cost: Cost::Known(nano),
        ..ModelCall::default()
    };
    NewEvent::of_step(0, step, 2, Fact::from(call))
}

/// A session whose log has these calls, opened and read.
fn opened(state: &str, logs: &[(&str, &str)], calls: Vec<NewEvent>) -> (Watched, SessionWriter) {
    let mut watched = Watched::new(state, logs);
    let writer = log_of(watched.dir.path());
    writer.append(calls).unwrap();
    let Opened::Session { events, source } = open(watched.dir.path(), &options()).unwrap() else {
        panic!("a session");
    };
    (watched.session, watched.source) = (Session::default(), source);
    watched.take(events);
    let mut scanned = Vec::new();
    watched
        .source
        .scan(&Stop::default(), &mut |events| scanned.extend(events));
    watched.take(scanned);
    (watched, writer)
}

fn sums(totals: &Totals) -> (u64, u64, String) {
    (totals.steps, totals.usage.total, totals.cost.to_string())
}

#[test]
fn a_call_whose_step_was_cut_is_paid() {
    let start = "{\"run_id\":\"r\",\"event_type\":\"agent_start\"}\n";
    for (logs, what) in [(vec![("a.jsonl", start)], "begun"), (Vec::new(), "nothing written")] {
        let (watched, _writer) = opened(PENDING, &logs, vec![call(0, 1_595, 1_003_400)]);
        let run = &watched.session.queries[0].run;
        assert_eq!(sums(&run.totals), (0, 1_595, "$0.001".into()), "{what}");
        assert_eq!(sums(&run.root().unwrap().subtree), sums(&run.totals), "{what}");
        assert_eq!(sums(&watched.session.lost), sums(&run.totals), "{what}");
        let listed = session_totals(watched.dir.path(), &options(), &Stop::default())
            .unwrap()
            .unwrap();
        assert_eq!(sums(&listed.lost), sums(&run.totals), "{what}");
    }
}

#[test]
fn a_call_counts_once_when_its_step_is_written_down() {
    let step = |number: u64| line("r", number).replace("\"total_tokens\":10", "\"total_tokens\":10,\"cost\":0.5");
    let (mut watched, writer) = opened(PENDING, &[("a.jsonl", &step(1))], vec![call(0, 10, 500_000_000)]);
    let total = |watched: &Watched| sums(&watched.session.queries[0].run.totals);
    assert_eq!(total(&watched), (1, 10, "$0.50".into()));
    writer.append(vec![call(1, 7, 250_000_000)]).unwrap();
    assert!(watched.refresh());
    assert_eq!(total(&watched), (1, 17, "$0.75".into()), "in flight");
    watched.append("logs/a.jsonl", &step(2));
    assert!(watched.refresh());
    assert_eq!(total(&watched), (2, 20, "$1.00".into()), "as the transcript has it");
}

#[test]
fn a_run_that_a_later_query_left_behind_keeps_what_it_cost() {
    let (watched, writer) = opened(CUT, &[], vec![call(0, 5, 1_000_000)]);
    assert_eq!(sums(&watched.session.lost), (0, 5, "$0.001".into()));
    let ended = |outcome| TurnEnded {
        outcome,
        ..TurnEnded::default()
    };
    let closed = ended(Outcome::Interrupted);
    writer.append(vec![NewEvent::of_turn(0, 3, closed.into())]).unwrap();
    let totals = session_totals(watched.dir.path(), &options(), &Stop::default())
        .unwrap()
        .unwrap();
    assert_eq!(sums(&totals.lost), (0, 5, "$0.001".into()));
    let failed = NewEvent::of_turn(0, 4, ended(Outcome::Error).into()).numbered(2);
    writer.append(vec![failed]).unwrap();
    let totals = session_totals(watched.dir.path(), &options(), &Stop::default())
        .unwrap()
        .unwrap();
    assert_eq!(totals.lost.usage.total, 0, "its transcript has the rest");
}

#[test]
fn a_run_that_was_cut_in_its_first_call_is_not_called_free() {
    let start = "{\"run_id\":\"r\",\"event_type\":\"agent_start\"}\n";
    let watched = Watched::new(PENDING, &[("a.jsonl", start)]);
    assert_eq!(sums(&watched.session.lost), (0, 0, "unknown".into()));
}

#[test]
fn what_may_have_been_asked_when_a_run_was_cut_is_unknown() {
    let step = line("r", 1).replace("\"total_tokens\":10", "\"total_tokens\":10,\"cost\":0.5");
    let ended = NewEvent::of_step(0, 0, 3, StepEnded::default().into());
    let (watched, writer) = opened(PENDING, &[("a.jsonl", &step)], vec![call(0, 10, 500_000_000), ended]);
    assert_eq!(sums(&watched.session.lost), (1, 10, "$0.50 + 1 unknown".into()));
    // Who opens it for writing writes the call down.
    let cut = ModelCall {
        run_id: "r".into(),
        error: Some("its process ended".into()),
        cost: Cost::Unknown,
        ..ModelCall::default()
    };
    let cut = NewEvent::of_turn(0, 4, Fact::from(cut)).numbered(9);
    writer.append(vec![cut]).unwrap();
    let lost = || {
        sums(
            &session_totals(watched.dir.path(), &options(), &Stop::default())
                .unwrap()
                .unwrap()
                .lost,
        )
    };
    assert_eq!(lost(), (1, 10, "$0.50 + 1 unknown".into()));
    // It goes on, and is cut in a step: its call is known.
    writer.append(vec![call(1, 7, 250_000_000)]).unwrap();
    assert_eq!(lost(), (1, 17, "$0.75 + 1 unknown".into()));
}

#[test]
fn sub_agents_that_were_cut_may_have_asked() {
    let sub = |id: &str, rest: &str| format!("{{\"run_id\":\"{id}\",\"parent_run_id\":\"r\",\"depth\":1,{rest}}}\n");
    let probe = "\"event_type\":\"execution_result\",\"step\":0,\"code\":\"p\",\"output\":\"o\"";
    let lines = [
        "{\"run_id\":\"r\",\"event_type\":\"agent_start\"}\n".to_owned(),
        sub("asked", "\"event_type\":\"agent_start\""),
        sub("asked", probe),
        sub("begun", "\"event_type\":\"agent_start\""),
        sub("ended", probe),
        sub("ended", "\"event_type\":\"agent_end\""),
    ];
    let (watched, _writer) = opened(PENDING, &[("a.jsonl", &lines.concat())], vec![call(0, 10, 500_000_000)]);
    assert_eq!(sums(&watched.session.lost), (0, 10, "$0.50 + 1 unknown".into()));
}
