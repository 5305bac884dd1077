use std::sync::mpsc::channel;
use std::time::Duration;

use super::*;
use crate::model::{Label, Link, LogState};

#[test]
fn nothing_changed_is_nothing_told() {
    let mut watched = Watched::new(STATE, &[("a.jsonl", &line("r", 1))]);
    assert!(!watched.refresh());
    assert!(watched.session.complete);
}

#[test]
fn a_growing_transcript_is_read_on_and_a_torn_line_completes_silently() {
    let whole = line("r", 2);
    let mut watched = Watched::new(STATE, &[("a.jsonl", &format!("{}{}", line("r", 1), &whole[..50]))]);
    assert_eq!(
        (watched.steps(), watched.problems()),
        (vec![1], vec!["the last line is incomplete"])
    );
    watched.append("logs/a.jsonl", &whole[50..]);
    assert!(watched.refresh());
    assert_eq!((watched.steps(), watched.problems()), (vec![2], vec![]));
    let lines: Vec<u64> = watched.session.queries[0].run.agents[0]
        .steps
        .iter()
        .map(|step| step.body.unwrap().line)
        .collect();
    assert_eq!(lines, [1, 2]);
}

#[test]
fn a_line_without_its_newline_is_not_read_twice() {
    let whole = line("r", 1);
    let mut watched = Watched::new(STATE, &[("a.jsonl", whole.trim_end())]);
    assert_eq!(watched.steps(), [1]);
    watched.append("logs/a.jsonl", &format!("\n{}", line("r", 2)));
    watched.refresh();
    assert_eq!((watched.steps(), watched.problems()), (vec![2], vec![]));
}

#[test]
fn a_transcript_that_was_cut_or_replaced_is_read_anew() {
    let mut watched = Watched::new(STATE, &[("a.jsonl", &(line("r", 1) + &line("r", 2)))]);
    fs::write(watched.path("logs/a.jsonl"), line("r", 3)).unwrap();
    watched.refresh();
    assert_eq!(watched.steps(), [1]);
    assert_eq!(watched.session.queries[0].run.agents[0].steps[0].number, 3);
    replace(
        &watched.path("logs/a.jsonl"),
        &(line("r", 5) + &line("r", 6) + &line("r", 7)),
    );
    watched.refresh();
    assert_eq!(watched.steps(), [3]);
}

#[test]
fn an_empty_transcript_holds_no_run_whoever_looks() {
    let mut followed = Watched::new(STATE, &[("a.jsonl", &line("r", 1))]);
    fs::write(followed.path("logs/a.jsonl"), "").unwrap();
    followed.refresh();
    let opened = Watched::new(STATE, &[("a.jsonl", ""), ("stray.jsonl", "")]);
    for (watched, how) in [(&followed, "followed"), (&opened, "opened")] {
        let queries = &watched.session.queries;
        let labels: Vec<Label> = queries.iter().map(|query| query.label).collect();
        assert_eq!(labels, [Label::Completed(1)], "{how}");
        let Link::Missing(tried) = &queries[0].link else {
            panic!("{how}: {:?}", queries[0].link);
        };
        assert!(
            tried.iter().any(|place| place.ends_with("a.jsonl (it is empty)")),
            "{how}: {tried:?}"
        );
        assert_eq!(watched.session.lost, Default::default(), "{how}");
    }
    fs::write(followed.path("logs/a.jsonl"), line("r", 1)).unwrap();
    followed.refresh();
    assert_eq!(followed.steps(), [1]);
}

#[test]
fn transcripts_come_and_go() {
    let mut watched = Watched::new(STATE, &[("a.jsonl", &line("r", 1))]);
    watched.append("logs/b.jsonl", &line("stray", 1));
    watched.refresh();
    assert_eq!(watched.steps(), [1, 1], "a run that nobody links yet");
    let linked = STATE.replace(
        "]}",
        r#",{"query":"next","final":2,"log_file":"logs/b.jsonl","run_id":"stray"}]}"#,
    );
    replace(&watched.path("state.json"), &linked);
    watched.refresh();
    let labels: Vec<Label> = watched.session.queries.iter().map(|query| query.label).collect();
    assert_eq!(
        (labels, watched.steps()),
        (vec![Label::Completed(1), Label::Completed(2)], vec![1, 1])
    );
    fs::remove_file(watched.path("logs/b.jsonl")).unwrap();
    watched.refresh();
    assert_eq!(watched.steps(), [1, 0]);
    let missing =
        |facts: &crate::model::LogFacts| matches!(&facts.state, LogState::Missing(tried) if !tried.is_empty());
    assert!(watched.session.logs.iter().any(missing));
    watched.append("logs/b.jsonl", &line("stray", 1));
    watched.refresh();
    assert_eq!(watched.steps(), [1, 1], "it came back");
}

#[test]
fn a_state_that_is_broken_or_gone_leaves_what_was_shown() {
    let mut watched = Watched::new(STATE, &[("a.jsonl", &line("r", 1))]);
    fs::write(watched.path("state.json"), "{\"version\":").unwrap();
    watched.refresh();
    assert_eq!(watched.steps(), [1]);
    assert!(watched.problems()[0].contains("cut off"), "{:?}", watched.problems());
    fs::remove_file(watched.path("state.json")).unwrap();
    watched.refresh();
    assert!(watched.problems()[0].contains("is gone"), "{:?}", watched.problems());
    replace(&watched.path("state.json"), STATE);
    watched.refresh();
    assert_eq!((watched.steps(), watched.problems()), (vec![1], vec![]));
}

#[test]
fn following_tells_what_happens_until_it_is_stopped() {
    let watched = Watched::new(STATE, &[("a.jsonl", &line("r", 1))]);
    let (stop, source) = (Stop::default(), watched.source.clone());
    let (sender, told) = channel();
    let follower = {
        let stop = stop.clone();
        std::thread::spawn(move || source.follow(&stop, &mut |events| sender.send(events).unwrap()))
    };
    // Written until it is seen: following may start a moment later.
    let mut seen = Vec::new();
    let mut step = 2;
    while !seen.iter().any(|event| matches!(event, Event::Lines(_))) {
        watched.append("logs/a.jsonl", &line("r", step));
        step += 1;
        seen.extend(told.recv_timeout(Duration::from_secs(20)).expect("a change is told"));
    }
    stop.stop();
    follower.join().unwrap();
}
