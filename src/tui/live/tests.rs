//! The machine, transition by transition.

mod phases;

use super::machine::Machine;
use super::order::{Ending, Found, Told};
use super::words::{In, Out, State};
use crate::model::{Cost, LiveEvent, LiveNews, Usage};
use crate::tui::effect::Token;
use crate::tui::widgets::prompt::{Question, Request, Settings, Standing};
use proptest::prelude::*;
use std::time::Duration;

fn settings() -> Settings {
    Settings {
        model: Some("m".into()),
        max_money_nano: 100,
        ..Settings::default()
    }
}

fn send() -> In {
    let request = Request {
        text: "how many?".into(),
        file: None,
    };
    In::Send(request, settings())
}

fn news(run_id: &str, parent: Option<&str>, news: LiveNews) -> LiveEvent {
    LiveEvent::Agent {
        run_id: run_id.into(),
        parent: parent.map(str::to_owned),
        time: 0,
        news,
    }
}

fn root(what: LiveNews) -> LiveEvent {
    news("root", None, what)
}

fn child(what: LiveNews) -> LiveEvent {
    news("child", Some("root"), what)
}

fn replied(nano: i64) -> LiveNews {
    LiveNews::Replied {
        code: Some("x".into()),
        usage: Some(Usage {
            total: 10,
            ..Usage::default()
        }),
        cost: Cost::Known(nano),
    }
}

fn question(id: u64) -> Question {
    Question {
        id,
        text: "sure?".into(),
        options: vec!["yes".into(), "no".into()],
        free: false,
        label: String::new(),
    }
}

fn answer(id: u64) -> In {
    In::Answer {
        id,
        text: "yes".into(),
        settings: settings(),
    }
}

/// A machine after these inputs, a second apart, and what the last one brought.
fn after(inputs: impl IntoIterator<Item = In>) -> (Machine, Vec<Out>) {
    let (mut machine, mut out) = (Machine::default(), Vec::new());
    for (second, input) in (0..).zip(inputs) {
        out = machine.take(input, Duration::from_secs(second), 0);
    }
    (machine, out)
}

/// What is told of the first run.
fn told(told: Told) -> In {
    In::Told(Token(1), told)
}

fn live(event: LiveEvent) -> In {
    told(Told::Live(vec![event]))
}

fn ended(ending: Ending) -> In {
    told(Told::Ended(ending))
}

fn limit(name: &str) -> Ending {
    Ending::Limit {
        name: name.into(),
        error: format!("stopped by limit {name}"),
    }
}

#[test]
fn a_query_goes_to_the_engine_and_into_the_model_at_once() {
    let (_, out) = after([send()]);
    assert!(matches!(
        out.as_slice(),
        [Out::Live(LiveEvent::Began { resumes: false, .. }), Out::Start(order)] if order.token == Token(1) && order.stretch == 1 && order.answers.is_none()
    ));
}

#[test]
fn what_cannot_be_asked_goes_back_into_the_box() {
    for inputs in [
        vec![send(), send()],
        vec![
            In::Found(Found {
                foreign: false,
                parked: Some(question(7)),
                models: None,
            }),
            send(),
        ],
        vec![send(), ended(Ending::Refused("busy".into()))],
    ] {
        let (_, out) = after(inputs);
        assert!(out.iter().any(|out| matches!(out, Out::Refuse(_))), "{out:?}");
    }
}

#[test]
fn news_of_another_run_are_late() {
    for input in [
        In::Told(Token(0), Told::Live(vec![root(LiveNews::Calling(1))])),
        In::Told(Token(2), Told::Ended(Ending::Answered)),
    ] {
        let (machine, out) = after([send(), input]);
        assert_eq!((machine.state(), out.len()), (&State::Submitting, 0));
    }
    let (machine, out) = after([send(), ended(Ending::Answered), live(root(LiveNews::Calling(1)))]);
    assert_eq!((machine.state(), out.len()), (&State::Done, 0));
}

#[test]
fn durable_news_have_the_files_read_at_once_and_texts_do_not() {
    let nudges = |event| after([send(), live(event)]).1.contains(&Out::Nudge);
    assert!(
        nudges(root(LiveNews::Kept(1)))
            && nudges(child(LiveNews::Started("t".into())))
            && nudges(child(LiveNews::Ended))
    );
    assert!(!nudges(root(LiveNews::Text("a".into()))) && !nudges(root(LiveNews::Calling(1))));
    assert!(after([send(), ended(Ending::Answered)]).1.contains(&Out::Nudge));
}

#[test]
fn four_fifths_of_the_money_are_said_once_and_sub_agents_count() {
    let warnings = |inputs: Vec<In>| {
        let (mut machine, mut said) = (Machine::default(), 0);
        for input in inputs {
            let out = machine.take(input, Duration::ZERO, 0);
            said += out.iter().filter(|out| matches!(out, Out::Say(_))).count();
        }
        said
    };
    let spend = |nano| live(child(replied(nano)));
    assert_eq!(warnings(vec![send(), live(root(replied(40))), spend(39)]), 0);
    assert_eq!(warnings(vec![send(), live(root(replied(40))), spend(40), spend(5)]), 1);
}

#[test]
fn money_is_raised_while_the_run_goes_on() {
    let raise = || In::Raise(settings());
    let (_, out) = after([send(), live(root(replied(90))), raise()]);
    assert!(out.contains(&Out::Allow(Token(1), 200)), "{out:?}");
    let said = out
        .iter()
        .any(|out| format!("{out:?}").contains("now; the next one $0.0000001"));
    assert!(said, "the limit of the box stays as it is: {out:?}");
    let (_, out) = after([send(), raise(), raise()]);
    assert!(out.contains(&Out::Allow(Token(1), 400)), "{out:?}");
}

#[test]
fn a_run_that_a_limit_stopped_goes_on_with_more() {
    let start = |name: &str| {
        let (machine, out) = after([send(), ended(limit(name)), In::Raise(settings())]);
        assert_eq!(*machine.state(), State::Submitting);
        out.into_iter().find_map(|out| match out {
            Out::Start(order) => Some((order.settings.max_money_nano, order.stretch, order.request.text)),
            _ => None,
        })
    };
    assert_eq!(start("max_money_spent"), Some((200, 1, "how many?".into())));
    assert_eq!(start("max_completion_tokens"), Some((100, 2, "how many?".into())));
    let (machine, out) = after([send(), ended(Ending::Answered), In::Raise(settings())]);
    assert!(matches!(
        (machine.state(), out.as_slice()),
        (State::Done, [Out::Say(_)])
    ));
}

#[test]
fn what_answered_or_resumed_a_query_that_a_limit_stopped_is_not_asked_as_one() {
    let found = In::Found(Found {
        foreign: false,
        parked: Some(question(7)),
        models: None,
    });
    for begin in [vec![found, answer(7)], vec![In::Resume(settings())]] {
        let stopped = [ended(limit("max_money_spent")), In::Raise(settings())];
        let (machine, out) = after(begin.into_iter().chain(stopped));
        assert!(!machine.can_raise() && !machine.is_running());
        let [Out::Say(told)] = out.as_slice() else {
            panic!("{out:?}")
        };
        assert!(format!("{told:?}").contains("ask it again"), "{told:?}");
    }
}

#[test]
fn a_question_turns_the_box_and_the_next_one_waits_its_turn() {
    let asked = |id| told(Told::Asked(question(id)));
    assert_eq!(after([send(), asked(1)]).1, [Out::Ask(question(1))]);
    assert_eq!(after([send(), asked(1), asked(2)]).1, []);
    let (_, out) = after([send(), asked(1), asked(2), answer(1)]);
    assert!(matches!(out.as_slice(), [Out::Answer { id: 1, .. }, Out::Ask(next)] if next.id == 2));
    let (_, out) = after([send(), asked(1), In::Cancel]);
    assert_eq!(out, [Out::Cancel(Token(1)), Out::Withdraw]);
}

#[test]
fn a_session_that_waits_asks_when_it_is_opened_and_goes_on_with_the_answer() {
    let found = || {
        In::Found(Found {
            foreign: false,
            parked: Some(question(7)),
            models: None,
        })
    };
    assert_eq!(after([found()]).1, [Out::Ask(question(7))]);
    let (_, out) = after([found(), answer(7)]);
    assert!(
        matches!(out.as_slice(), [Out::Live(LiveEvent::Began { resumes: true, .. }), Out::Start(order)] if order.request.text == "yes" && order.answers.as_deref() == Some("sure?"))
    );
    // An answer that could not be given is no query: its question comes back.
    let (_, out) = after([found(), answer(7), ended(Ending::Refused("busy".into()))]);
    assert!(out.contains(&Out::Look) && !out.iter().any(|out| matches!(out, Out::Refuse(_))));
    // What is found while a run goes on is old.
    assert_eq!(after([send(), found()]).1, []);
}

#[test]
fn only_long_runs_call_a_person_back() {
    let long = |seconds: u64| {
        let mut machine = Machine::default();
        machine.take(send(), Duration::ZERO, 0);
        let out = machine.take(ended(Ending::Answered), Duration::from_secs(seconds), 0);
        out.iter().any(|out| matches!(out, Out::Ended { long: true, .. }))
    };
    assert!(!long(9) && long(10));
}

#[test]
fn the_box_says_what_goes_on() {
    let what = |inputs: Vec<In>| match after(inputs).0.standing() {
        Standing::Running { what, .. } => what,
        other => format!("{other:?}"),
    };
    assert_eq!(what(vec![send()]), "starting");
    assert_eq!(
        what(vec![send(), told(Told::Preparing("unpacking Python".into()))]),
        "unpacking Python"
    );
    let spawned = |id: &str| live(news(id, Some("root"), LiveNews::Started("t".into())));
    let helped = vec![
        send(),
        live(root(LiveNews::Calling(3))),
        live(root(replied(1))),
        spawned("a"),
        spawned("b"),
    ];
    assert_eq!(what(helped), "step 3, 2 sub-agents");
    assert_eq!(after([send(), In::Cancel]).0.standing(), Standing::Cancelling);
    assert_eq!(after([send(), ended(Ending::Answered)]).0.standing(), Standing::Ready);
}

#[test]
fn what_a_cancelled_run_cost_is_said() {
    let (_, out) = after([
        send(),
        live(root(replied(5_000_000))),
        In::Cancel,
        ended(Ending::Cancelled),
    ]);
    let said = out.iter().find_map(|out| match out {
        Out::Say(notice) => Some(notice.text.to_string()),
        _ => None,
    });
    assert_eq!(
        said.as_deref(),
        Some("cancelled: $0.005 spent, 10 tokens; every finished step is kept")
    );
}

fn any_input() -> impl Strategy<Value = In> {
    let id = 0u64..3;
    let run = prop::sample::select(vec!["root", "a", "b"]);
    let what = prop_oneof![
        Just(LiveNews::Started("t".into())),
        (0u64..3).prop_map(LiveNews::Calling),
        (0i64..60).prop_map(replied),
        Just(LiveNews::Output("o".into())),
        (0u64..3).prop_map(LiveNews::Kept),
        Just(LiveNews::Ended),
    ];
    let event = (run, what).prop_map(|(run, what)| news(run, (run != "root").then_some("root"), what));
    let ending = prop_oneof![
        Just(Ending::Answered),
        Just(Ending::Cancelled),
        Just(limit("max_money_spent")),
        Just(Ending::Failed("e".into())),
        Just(Ending::Refused("r".into())),
        id.clone().prop_map(|id| Ending::Parked(question(id))),
    ];
    let told = prop_oneof![
        Just(Told::Preparing("p".into())),
        prop::collection::vec(event, 0..4).prop_map(Told::Live),
        id.clone().prop_map(|id| Told::Asked(question(id))),
        ending.prop_map(Told::Ended),
    ];
    prop_oneof![
        Just(send()),
        id.clone().prop_map(answer),
        Just(In::Cancel),
        Just(In::Raise(settings())),
        Just(In::Tick),
        (0u64..4, told).prop_map(|(token, told)| In::Told(Token(token), told)),
        prop::option::of(id).prop_map(|id| In::Found(Found {
            foreign: false,
            parked: id.map(question),
            models: None
        })),
    ]
}

proptest! {
    #[test]
    fn one_query_at_a_time_and_every_run_ends(inputs in prop::collection::vec(any_input(), 0..60)) {
        let (mut machine, mut alive) = (Machine::default(), 0i32);
        for input in inputs {
            let was_running = machine.is_running();
            let out = machine.take(input, Duration::ZERO, 0);
            let started = out.iter().filter(|out| matches!(out, Out::Start(_))).count();
            let over = out.contains(&Out::Live(LiveEvent::Over));
            alive += i32::try_from(started).unwrap() - i32::from(over);
            prop_assert!((0..=1).contains(&alive));
            prop_assert_eq!(alive == 1, machine.is_running());
            prop_assert!(!(was_running && started > 0));
            if machine.is_running() {
                let shows = matches!(machine.standing(), Standing::Running { .. } | Standing::Cancelling);
                prop_assert!(shows);
            }
        }
    }
}

#[test]
fn a_run_that_was_cut_goes_on_unless_something_else_does() {
    let mut machine = Machine::default();
    let out = machine.take(In::Resume(settings()), Duration::ZERO, 0);
    let [Out::Live(LiveEvent::Began { resumes: true, .. }), Out::Start(order)] = out.as_slice() else {
        panic!("{out:?}");
    };
    assert!(order.resume && machine.is_running());
    let out = machine.take(In::Resume(settings()), Duration::ZERO, 0);
    assert!(matches!(out.as_slice(), [Out::Say(_)]));
    // Nothing was cut after all: it is said, and the session is looked at again.
    let out = machine.take(ended(Ending::Refused("nothing to resume".into())), Duration::ZERO, 0);
    assert!(out.contains(&Out::Look) && !machine.is_running(), "{out:?}");
}
