//! Questions in the box: answered, settled in another way, longer than their place.

use super::*;

#[test]
fn a_question_takes_the_box_and_the_draft_waits_beneath() {
    let mut bench = Bench::new();
    bench.type_in("draft");
    let question = Question {
        id: 3,
        label: "Q2 asks".into(),
        text: "Which?".into(),
        options: vec!["red".into(), "green".into()],
        free: true,
    };
    bench.input.ask(question.clone(), &bench.world.ctx());
    bench.later(1000);
    bench.type_in("blue");
    bench.keys(&["enter"]);
    let answer = |text: &str| Said::Answer {
        id: 3,
        text: text.into(),
    };
    assert_eq!(bench.said, [answer("blue")]);
    assert_eq!(bench.text(), "draft");
    let strict = Question {
        free: false,
        id: 4,
        ..question
    };
    bench.input.ask(strict, &bench.world.ctx());
    bench.later(1000);
    bench.keys(&["enter", "g", "enter"]);
    assert_eq!(bench.said.len(), 2);
    assert!(matches!(&bench.said[1], Said::Answer { id: 4, text } if text == "green"));
}

/// A question that has its options only.
fn strict(text: &str) -> Question {
    Question {
        id: 5,
        label: "Q2 asks".into(),
        text: text.into(),
        options: vec!["red".into(), "green".into()],
        free: false,
    }
}

#[test]
fn what_answers_a_question_that_is_gone_becomes_no_query_unseen() {
    let mut bench = Bench::new();
    bench.type_in("draft");
    bench.input.ask(strict("Which?"), &bench.world.ctx());
    bench.later(1000);
    bench.keys(&["g"]);
    bench
        .input
        .overtake(SafeText::literal("the question was answered elsewhere"));
    assert_eq!(bench.input.asked(), None);
    assert!(frames::shown(&mut bench, 80, 22).contains("the question was answered elsewhere"));
    bench.keys(&["enter"]);
    assert!(bench.said.is_empty(), "{:?}", bench.said);
    assert_eq!(bench.text(), "draft");
    bench.keys(&["enter"]);
    assert!(matches!(&bench.said[..], [Said::Send(request)] if request.text == "draft"));
}

#[test]
fn nothing_is_said_of_a_question_where_there_was_none() {
    let mut bench = Bench::new();
    bench.type_in("draft");
    bench.input.overtake(SafeText::literal("the run ended"));
    bench.keys(&["enter"]);
    assert_eq!(bench.said.len(), 1);
}

#[test]
fn a_question_longer_than_its_place_is_read_to_its_end() {
    let lines: Vec<String> = (0..60).map(|n| format!("line {n} of the question")).collect();
    let mut bench = Bench::new();
    bench.input.ask(strict(&lines.join("\n")), &bench.world.ctx());
    let mut seen = String::new();
    for _ in 0..30 {
        let frame = frames::shown(&mut bench, 80, 14);
        assert!(frame.contains("1 red") && frame.contains("2 green"), "{frame}");
        seen += &frame;
        bench.keys(&["pagedown"]);
    }
    for line in &lines {
        assert!(seen.contains(line.as_str()), "{line}");
    }
    assert!(frames::shown(&mut bench, 80, 14).contains(" above, 0 below"));
    for _ in 0..30 {
        bench.keys(&["pageup"]);
    }
    assert!(frames::shown(&mut bench, 80, 14).contains("line 0 of the question"));
}
