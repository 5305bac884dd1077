//! Writing and sending: what is sent, what is never sent, and that no draft is lost.

use super::*;
use crossterm::event::KeyEventKind;
use proptest::prelude::*;

#[test]
fn enter_sends_and_other_keys_make_new_lines() {
    let mut bench = Bench::new();
    bench.type_in("one");
    bench.keys(&["alt-enter"]);
    bench.type_in("two");
    bench.keys(&["ctrl-j"]);
    bench.type_in("three");
    bench.keys(&["enter", "enter"]);
    assert_eq!(bench.sent(), ["one\ntwo\nthree"]);
    assert_eq!(bench.text(), "");
}

#[test]
fn every_printable_key_types() {
    let mut bench = Bench::new();
    let all: String = (' '..='~').chain("äß中👍".chars()).collect();
    bench.type_in(&all);
    assert_eq!(bench.text(), all);
}

#[test]
fn text_is_sent_as_it_was_typed_and_shown_safely() {
    let mut bench = Bench::new();
    bench.give(&Input::Paste("\x1b[31mred\x1b[201~\x07 \u{202e}x\r\ny"));
    bench.keys(&["enter"]);
    assert_eq!(bench.sent(), ["\x1b[31mred\x1b[201~\x07 \u{202e}x\ny"]);
}

#[test]
fn a_release_types_nothing() {
    let mut bench = Bench::new();
    let mut key = KeyEvent::from(KeyCode::Char('x'));
    key.kind = KeyEventKind::Release;
    assert!(!bench.press_at_once(key));
    assert_eq!(bench.text(), "");
}

#[test]
fn a_paste_without_brackets_sends_nothing() {
    let mut bench = Bench::new();
    bench.type_in("look: ");
    bench.later(200);
    bench.burst("a\n\tb\n");
    assert!(bench.sent().is_empty());
    assert_eq!(bench.text(), "look: a\n\tb\n");
    bench.keys(&["ctrl-_"]);
    assert_eq!(bench.text(), "look: ");
    bench.keys(&["alt-/", "enter"]);
    assert_eq!(bench.sent(), ["look: a\n\tb\n"]);
}

#[test]
fn what_follows_a_paste_with_a_closing_bracket_in_it_sends_nothing() {
    let mut bench = Bench::new();
    bench.give(&Input::Paste("first"));
    bench.burst(" rest\nmore\n");
    assert!(bench.sent().is_empty());
    bench.keys(&["ctrl-_"]);
    assert_eq!(bench.text(), "");
}

#[test]
fn ten_megabytes_are_a_chip_with_and_without_brackets() {
    let text = "0123456789abcde\n".repeat(10 << 16);
    let mut bench = Bench::new();
    bench.give(&Input::Paste(&text));
    assert_eq!(bench.input.draft.content().len(), 3);
    bench.keys(&["enter"]);
    assert!(bench.sent()[0] == text);
    bench.keys(&["ctrl-_", "backspace"]);
    assert_eq!(bench.text(), "");
    bench.later(200);
    bench.burst(&text[..1 << 20]);
    assert!(bench.text() == text[..1 << 20]);
    assert_eq!(bench.input.draft.content().len(), 3);
    assert_eq!(bench.said.len(), 1);
}

#[test]
fn esc_keeps_the_draft_and_interrupt_clears_it_to_be_undone() {
    let mut bench = Bench::new();
    bench.type_in("draft");
    bench.keys(&["esc"]);
    assert_eq!(
        (bench.said.last(), bench.input.is_focused()),
        (Some(&Said::Leave), false)
    );
    bench.type_in("x");
    assert_eq!(bench.text(), "draft");
    bench.input.focus(true);
    assert!(bench.press("ctrl-c"));
    assert_eq!(bench.text(), "");
    assert!(!bench.press("ctrl-c"), "with nothing to clear it is not the box's");
    bench.keys(&["ctrl-_"]);
    assert_eq!(bench.text(), "draft");
    bench.keys(&["ctrl-c", "up"]);
    assert_eq!(bench.text(), "draft");
}

#[test]
fn arrows_take_history_only_at_the_edges() {
    let mut bench = Bench::new();
    bench.queries(&["old", "new"]);
    bench.type_in("ab");
    bench.keys(&["alt-enter"]);
    bench.type_in("cd");
    bench.keys(&["up"]);
    assert_eq!(bench.text(), "ab\ncd");
    bench.keys(&["up"]);
    assert_eq!(bench.text(), "new");
    bench.keys(&["up", "up"]);
    assert_eq!(bench.text(), "old");
    bench.keys(&["down", "down"]);
    assert_eq!(bench.text(), "ab\ncd");
    bench.keys(&["up", "up", "up", "enter"]);
    assert_eq!(
        (bench.sent(), bench.input.draft.content().plain()),
        (vec!["old"], "ab\ncd".into())
    );
}

#[test]
fn history_is_searched_and_what_is_found_is_not_sent_yet() {
    let mut bench = Bench::new();
    bench.queries(&["Count the LETTERS", "another", "count the words"]);
    bench.type_in("draft");
    bench.keys(&["ctrl-r"]);
    bench.type_in("count");
    bench.keys(&["ctrl-r", "enter"]);
    assert_eq!((bench.text().as_str(), bench.sent().len()), ("Count the LETTERS", 0));
    bench.keys(&["ctrl-_"]);
    assert_eq!(bench.text(), "draft");
    bench.keys(&["ctrl-r", "esc"]);
    assert!(bench.input.is_focused());
    assert_eq!(bench.text(), "draft");
}

#[test]
fn nothing_is_sent_that_cannot_be_and_the_draft_stays() {
    let mut bench = Bench::new();
    bench.type_in("draft");
    for standing in [
        Standing::Blocked("held by process 7".into()),
        Standing::Running {
            what: "step 1".into(),
            since: Duration::ZERO,
        },
        Standing::Cancelling,
    ] {
        bench.input.stand(standing, &bench.world.ctx());
        bench.keys(&["enter"]);
    }
    assert!(bench.sent().is_empty());
    assert_eq!(bench.text(), "draft");
    assert!(bench.notices().contains("held by process 7"));
    bench
        .input
        .stand(Standing::Closed("read-only".into()), &bench.world.ctx());
    assert!(!bench.input.is_focused() && !bench.input.can_focus());
}

#[test]
fn without_a_model_the_settings_open_and_the_draft_waits() {
    let mut bench = Bench::new();
    bench.input.set_settings(Settings::default());
    bench.type_in("draft");
    bench.keys(&["enter"]);
    bench.type_in("my/model");
    bench.keys(&["enter", "enter"]);
    let model = |said: &Said| matches!(said, Said::Settings(settings) if settings.model.as_deref() == Some("my/model"));
    assert!(bench.said.iter().any(model));
    assert_eq!(bench.sent(), ["draft"]);
}

#[test]
fn tab_writes_suggestions_one_after_the_other_while_nothing_else_is_written() {
    let mut bench = Bench::new();
    bench.input.suggest(vec!["first?".into(), "second?".into()]);
    let mut seen = Vec::new();
    for _ in 0..3 {
        bench.keys(&["tab"]);
        seen.push(bench.text());
    }
    assert_eq!(seen, ["first?", "second?", "first?"]);
    bench.type_in(" my own");
    bench.keys(&["tab"]);
    assert_eq!(bench.text(), "first? my own");
}

#[test]
fn what_is_refused_comes_back() {
    let mut bench = Bench::new();
    bench.type_in("draft");
    bench.keys(&["enter"]);
    bench.input.refused(SafeText::literal("no such file"));
    assert_eq!(bench.text(), "draft");
}

#[test]
fn an_editor_gets_the_whole_draft_and_gives_it_back() {
    let mut bench = Bench::new();
    let long = "line\n".repeat(30);
    bench.give(&Input::Paste(&long));
    bench.keys(&["ctrl-g"]);
    assert_eq!(bench.said, [Said::Editor(long.clone())]);
    bench.input.edited(Ok("changed\nthere\n".into()), &bench.world.ctx());
    assert_eq!(bench.text(), "changed\nthere");
    bench.keys(&["ctrl-_"]);
    assert_eq!(bench.text(), long);
    bench
        .input
        .edited(Err(SafeText::literal("no editor")), &bench.world.ctx());
    assert_eq!(bench.text(), long);
}

#[test]
fn both_characters_of_a_line_break_are_one() {
    let mut bench = Bench::new();
    bench.press("o");
    bench.burst("ne");
    for _ in 0..2 {
        bench.burst("\n");
        let feed = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
        bench.press_at_once(feed);
    }
    bench.burst("two");
    assert_eq!(bench.text(), "one\n\ntwo");
    assert!(bench.said.is_empty());
    // Each that a person types is one of its own.
    bench.keys(&["ctrl-j", "ctrl-j"]);
    assert_eq!(bench.text(), "one\n\ntwo\n\n");
}

#[derive(Clone, Debug)]
enum Do {
    Key(usize),
    Type(char),
    Fast(char),
    Paste(String),
    Wait,
    Draw(u16, u16),
    Click(u16, u16),
    Ask(bool),
}

const KEYS: [&str; 38] = [
    "enter",
    "enter",
    "alt-enter",
    "ctrl-j",
    "esc",
    "tab",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "backspace",
    "delete",
    "ctrl-a",
    "ctrl-e",
    "ctrl-k",
    "ctrl-u",
    "ctrl-w",
    "ctrl-y",
    "ctrl-_",
    "alt-/",
    "ctrl-r",
    "ctrl-g",
    "ctrl-o",
    "ctrl-c",
    "ctrl-left",
    "alt-right",
    "alt-b",
    "alt-f",
    "alt-d",
    "ctrl-s",
    "@",
    "space",
    "ctrl-up",
    "1",
    "n",
    "ctrl-d",
];

fn anything() -> impl Strategy<Value = Do> {
    prop_oneof![
        6 => (0..KEYS.len()).prop_map(Do::Key),
        3 => any::<char>().prop_map(Do::Type),
        2 => prop_oneof![any::<char>(), Just('\n'), Just('\u{301}'), Just('\u{200d}')].prop_map(Do::Fast),
        1 => "(\\PC|[ \\n]|\x1b|👩‍👧|日){0,9}".prop_map(Do::Paste),
        1 => "[a-z\\n]{3}".prop_map(|text| Do::Paste(text.repeat(900))),
        1 => Just(Do::Wait),
        2 => (0u16..60, 0u16..20).prop_map(|(width, height)| Do::Draw(width, height)),
        1 => (0u16..60, 0u16..20).prop_map(|(x, y)| Do::Click(x, y)),
        1 => any::<bool>().prop_map(Do::Ask),
    ]
}

impl Bench {
    fn does(&mut self, action: Do) {
        match action {
            Do::Key(key) => drop(self.press(KEYS[key])),
            Do::Type(c) => self.type_in(c.encode_utf8(&mut [0; 4])),
            Do::Fast(c) => self.burst(c.encode_utf8(&mut [0; 4])),
            Do::Paste(text) => drop(self.give(&Input::Paste(&text))),
            Do::Wait => {
                self.later(500);
                self.give(&Input::Frame);
                self.input.focus(true);
            }
            Do::Draw(width, height) => frames::draw_checked(self, width, height),
            Do::Click(x, y) => drop(self.give(&Input::Mouse(crate::tui::input::Mouse {
                kind: crate::tui::input::MouseKind::Press,
                at: Position { x, y },
            }))),
            Do::Ask(free) => {
                let question = Question {
                    id: self.world.now.as_millis().try_into().unwrap(),
                    label: "asks".into(),
                    text: "What?\x1b".into(),
                    options: vec!["a".into(), "b\n".into()],
                    free,
                };
                self.input.ask(question, &self.world.ctx());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_inputs_breaks_it(actions in proptest::collection::vec(anything(), 0..60)) {
        let mut bench = Bench::new();
        bench.queries(&["first", "second\nline"]);
        for action in actions {
            bench.does(action);
            let draft = &bench.input.draft;
            prop_assert_eq!(draft.content().settled(draft.caret()), draft.caret());
        }
    }

    #[test]
    fn a_newline_in_a_burst_never_sends(text in "[a-c \\n\\t]{0,40}") {
        let mut bench = Bench::new();
        bench.press("x");
        bench.burst(&text);
        prop_assert!(bench.said.is_empty());
        prop_assert_eq!(bench.text(), format!("x{text}"));
    }
}
