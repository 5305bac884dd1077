//! How runs without an entry in the ledger ended.

use rstest::rstest;

use super::*;

fn last(end: Option<AgentEnd>, pending_text: Option<&str>, alive: bool) -> Query {
    let mut log = Log::new(0);
    log.start("r", None, 0).step("r", executed(1, "a"), 1);
    if let Some(end) = end {
        log.line("r", None, Some(2), LineKind::End(end));
    }
    let mut events = log.events(&[]);
    events.extend(pending_text.map(pending));
    events.push(Event::Writer { alive });
    settled(events).queries.pop().unwrap()
}

fn end(outcome: Option<&str>, error: Option<&str>, limit: Option<&str>) -> AgentEnd {
    AgentEnd {
        outcome: outcome.map(Into::into),
        error: error.map(Into::into),
        limit: limit.map(Into::into),
        unanswered: Vec::new(),
    }
}

#[rstest]
#[case(end(Some("error"), Some("boom"), None), Outcome::Error("boom".into()))]
#[case(end(Some("limit"), None, Some("max_calls")), Outcome::Limit("max_calls".into()))]
#[case(end(Some("cancelled"), None, None), Outcome::Cancelled)]
#[case(end(Some("parked"), None, None), Outcome::Parked(String::new()))]
#[case(end(None, Some("boom"), None), Outcome::Error("boom".into()))]
#[case(end(None, None, None), Outcome::Lost)]
#[case(end(Some("something new"), None, None), Outcome::Lost)]
fn as_recorded(#[case] recorded: AgentEnd, #[case] outcome: Outcome) {
    assert_eq!(last(Some(recorded), None, false).outcome, outcome);
}

#[test]
fn inferred_where_nothing_was_recorded() {
    assert_eq!(last(None, None, false).outcome, Outcome::Lost);
    assert_eq!(last(None, Some("q"), false).outcome, Outcome::Interrupted);
    let running = last(None, Some("q"), true);
    assert_eq!((running.label, running.outcome), (Label::Pending, Outcome::Running));
    assert_eq!(
        last(Some(end(Some("limit"), None, Some("budget"))), Some("q"), true).outcome,
        Outcome::Limit("budget".into())
    );
}

#[test]
fn a_pending_query_whose_question_is_open_waits_unless_somebody_works_on_it() {
    let of = |pending: Option<&str>, alive: bool| {
        let mut log = Log::new(0);
        log.start("r", None, 0).step("r", executed(1, "a"), 1);
        let mut events = log.events(&[]);
        events.push(Event::Session(SessionFacts {
            pending: pending.map(Into::into),
            waits: Some("Which day?".into()),
            ..SessionFacts::default()
        }));
        events.push(Event::Writer { alive });
        settled(events).queries.pop().unwrap().outcome
    };
    assert_eq!(of(Some("q"), false), Outcome::Parked("Which day?".into()));
    assert_eq!(of(Some("q"), true), Outcome::Running);
    assert_eq!(of(None, false), Outcome::Lost);
}

#[test]
fn an_answer_outside_of_the_ledger_is_no_completed_query() {
    let mut log = Log::new(0);
    log.start("r", None, 0).answer("r", 1);
    let session = log.session();
    assert_eq!(
        (session.queries[0].label, &session.queries[0].outcome),
        (Label::Lost(1), &Outcome::Done)
    );
    assert_eq!((session.completed_count(), structure_problems(&session)), (0, 1));
}

#[test]
fn texts_that_their_writer_cut_are_known() {
    let long = format!("{}...[truncated]", "é".repeat(4_000));
    let session = settled([state(vec![query(&long, None), query("...[truncated]", None)], vec![])]);
    assert!(session.queries[0].text_cut && !session.queries[1].text_cut);
    let facts = SessionFacts {
        pending: Some(long),
        pending_full: Some("whole".into()),
        ..SessionFacts::default()
    };
    let session = settled([Event::Session(facts)]);
    assert_eq!(
        (session.queries[0].text.as_str(), session.queries[0].text_cut),
        ("whole", false)
    );
}
