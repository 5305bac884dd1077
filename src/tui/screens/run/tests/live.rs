//! A run that goes on: what streams is seen, followed while one is at its end, and left alone while one reads.

use super::*;
use crate::model::{Cost, Event, LiveEvent, LiveNews};

fn news(run_id: &str, parent: Option<&str>, news: LiveNews) -> Event {
    Event::Live(LiveEvent::Agent {
        run_id: run_id.into(),
        parent: parent.map(str::to_owned),
        time: 1_000,
        news,
    })
}

fn root(what: LiveNews) -> Event {
    news("root", None, what)
}

fn replied() -> LiveNews {
    LiveNews::Replied {
        code: Some("for n in range(99): print(n)".into()),
        usage: None,
        cost: Cost::Unknown,
    }
}

fn lines(numbers: std::ops::Range<u32>) -> Event {
    let text: String = numbers.map(|n| format!("line {n}\n")).collect();
    root(LiveNews::Output(text))
}

/// A run whose first step's model call has begun.
fn begun() -> Session {
    let mut session = Session::default();
    let began = LiveEvent::Began {
        query: "count".into(),
        time: 0,
        resumes: false,
    };
    session.apply(Event::Live(began));
    session.apply(root(LiveNews::Started("count".into())));
    session.apply(root(LiveNews::Calling(1)));
    session.settle();
    session
}

impl Stage {
    fn tell(&mut self, event: Event) {
        self.world.session.apply(event);
        self.world.session.settle();
        self.send(&Input::ModelChanged);
    }
}

#[test]
fn a_reply_is_seen_while_it_is_written_and_its_code_while_it_runs() {
    let mut stage = Stage::new(begun(), 0);
    let frame = stage.frame(120, 30);
    assert!(
        frame.contains("waits for the model") && frame.contains("its code is still to come"),
        "{frame}"
    );
    stage.tell(root(LiveNews::Text("I will cou".into())));
    stage.tell(root(LiveNews::Text("nt".into())));
    assert!(stage.frame(120, 30).contains("I will count"));
    stage.tell(root(replied()));
    let frame = stage.frame(120, 30);
    assert!(
        frame.contains("for n in range(99)") && frame.contains("nothing printed so far"),
        "{frame}"
    );
    stage.tell(news("child", Some("root"), LiveNews::Started("count the rest".into())));
    let frame = stage.frame(120, 30);
    assert!(
        frame.contains("count the rest") && frame.contains("1 sub-agent at work"),
        "{frame}"
    );
}

#[test]
fn output_is_followed_at_its_end_and_left_alone_elsewhere() {
    let mut stage = Stage::new(begun(), 0);
    stage.tell(root(replied()));
    stage.tell(lines(0..200));
    assert!(stage.frame(120, 30).contains("line 199"));
    stage.tell(lines(200..300));
    assert!(stage.frame(120, 30).contains("line 299"));

    stage.act(Action::OutputUp);
    let before = stage.frame(120, 30);
    stage.tell(lines(300..400));
    let after = stage.frame(120, 30);
    assert!(
        !after.contains("line 399") && after.contains("line 298"),
        "{before}\n{after}"
    );

    stage.act(Action::Last);
    stage.tell(lines(400..500));
    assert!(stage.frame(120, 30).contains("line 499"));
}

proptest! {
    #[test]
    fn any_size_draws_a_run_that_goes_on(width in 0u16..40, height in 0u16..20, told in 0usize..4) {
        let mut stage = Stage::new(begun(), 0);
        let events = [
            root(LiveNews::Text("a".repeat(500))),
            root(replied()),
            lines(0..50),
            news("child", Some("root"), LiveNews::Started("c".into())),
        ];
        events.into_iter().take(told).for_each(|event| stage.tell(event));
        stage.frame(width, height);
    }
}
