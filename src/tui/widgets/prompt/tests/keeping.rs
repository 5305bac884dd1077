//! Drafts and settings outlive the program: real files, in a state directory of their own.

use super::*;
use crate::source::drafts::{Kept, Piece};

/// Answers a load as if this had been kept.
fn loaded(kept: Result<Kept, &'static str>) -> Bench {
    let mut bench = Bench::new();
    let session = Some("/nonexistent/session".into());
    (bench.input.keeping, bench.input.home.session) = (Keeping::new(session.clone()), session);
    bench.give(&Input::Opened);
    let token = loading(&bench);
    bench.effects.clear();
    let kept: Loaded = kept.map_err(SafeText::literal);
    let result = Ok(Reply::Worked(Box::new(kept)));
    bench.give(&Input::Answer(&Answer { token, result }));
    bench
}

fn loading(bench: &Bench) -> Token {
    let work = bench.effects.iter().find_map(|effect| match effect {
        Effect::Work { token, work } if work.name == "load drafts" => Some(*token),
        _ => None,
    });
    work.unwrap()
}

fn kept() -> Kept {
    Kept {
        draft: vec![
            Piece::Text("see ".into()),
            Piece::Pasted("x\n".repeat(50)),
            Piece::File("/d/a.csv".into()),
        ],
        earlier: vec![vec![Piece::Text("asked before".into())]],
    }
}

fn saves(bench: &Bench) -> usize {
    let is_save = |effect: &&Effect| matches!(effect, Effect::Work { work, .. } if work.name == "keep drafts");
    bench.effects.iter().filter(is_save).count()
}

#[test]
fn what_was_kept_is_there_again_with_its_chips() {
    let mut bench = loaded(Ok(kept()));
    let labels: Vec<_> = bench.input.draft.content().chips().map(|chip| chip.label()).collect();
    assert_eq!(labels, ["[pasted 50 lines]", "[a.csv]"]);
    bench.keys(&["ctrl-c", "up", "up"]);
    assert_eq!(bench.text(), "asked before");
}

#[test]
fn what_was_written_meanwhile_is_not_overwritten() {
    let mut bench = Bench::new();
    bench.input.keeping = Keeping::new(Some("/nonexistent".into()));
    bench.give(&Input::Opened);
    let token = loading(&bench);
    bench.type_in("fresh");
    let kept: Loaded = Ok(kept());
    let result = Ok(Reply::Worked(Box::new(kept)));
    bench.give(&Input::Answer(&Answer { token, result }));
    assert_eq!(bench.text(), "fresh");
    bench.keys(&["up"]);
    assert!(bench.text().starts_with("see "));
}

#[test]
fn drafts_are_saved_after_a_pause_one_save_at_a_time() {
    let mut bench = loaded(Ok(Kept::default()));
    bench.type_in("ab");
    bench.give(&Input::Frame);
    assert_eq!(saves(&bench), 0, "not yet");
    let asked = bench
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::FrameAt(at) if *at > bench.world.now));
    assert!(asked);
    bench.later(500);
    bench.give(&Input::Frame);
    bench.type_in("c");
    bench.later(500);
    bench.give(&Input::Frame);
    assert_eq!(saves(&bench), 1, "the first is still going on");
}

#[test]
fn leaving_saves_at_once_and_an_idle_box_asks_for_nothing() {
    let mut bench = loaded(Ok(Kept::default()));
    bench.give(&Input::Frame);
    assert!(bench.effects.is_empty(), "{:?}", bench.effects);
    bench.type_in("ab");
    bench.keys(&["esc"]);
    assert_eq!(saves(&bench), 1);
}

#[test]
fn what_cannot_be_understood_is_said_and_not_overwritten() {
    let mut bench = loaded(Err("damaged"));
    assert_eq!(bench.notices(), "damaged");
    bench.type_in("ab");
    bench.keys(&["esc"]);
    assert_eq!(saves(&bench), 0);
}

#[test]
fn settings_are_saved_in_the_configuration_with_its_comments() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("rlm_config.yaml");
    std::fs::write(&config, "# mine\nmax_depth: 3 # deep\nother: [1]\n").unwrap();
    let mut bench = Bench::new();
    bench.input.home.config = Some(config.clone());
    bench.keys(&["ctrl-o", "down", "down", "ctrl-u"]);
    bench.type_in("1.5");
    bench.keys(&["tab", "backspace", "5", "down", "space", "ctrl-s"]);
    bench.work();
    assert_eq!(
        std::fs::read_to_string(&config).unwrap(),
        "# mine\nmax_depth: 5 # deep\nother: [1]\nprimary_agent: \"z-ai/glm-5\"\nmax_money_spent: 1.5\n\
         add_session_code_to_context: false\n"
    );
    assert!(bench.notices().starts_with("saved in "), "{}", bench.notices());
    assert_eq!(bench.input.settings().max_money_nano, 1_500_000_000);
}

#[test]
fn wrong_settings_are_not_taken() {
    let mut bench = Bench::new();
    bench.keys(&["ctrl-o", "down", "down"]);
    bench.type_in("x");
    bench.keys(&["enter"]);
    assert!(bench.said.is_empty() && matches!(bench.input.over, Over::Dialog(_)));
    bench.keys(&["esc"]);
    assert_eq!(bench.input.settings().max_money_nano, 200_000_000);
}
