use super::*;
use proptest::prelude::*;

/// An editor with a text, `|` where the caret is.
fn editor(text: &str) -> Editor {
    let at = text.find('|').unwrap();
    let mut editor = Editor::default();
    editor.reset(Content::from(text.replace('|', "").as_str()));
    editor.go_to(at);
    editor
}

/// As for [`editor`]: what stands there, with the caret.
fn shown(editor: &Editor) -> String {
    let mut text = editor.content().text().to_owned();
    text.insert(editor.caret(), '|');
    text
}

fn type_in(editor: &mut Editor, text: &str) {
    text.chars().for_each(|c| {
        editor.type_char(c, false);
    });
}

#[test]
fn motion_is_by_whole_characters_words_and_lines() {
    for (before, reach, after) in [
        ("a👩‍👩‍👧|b", Reach::Before, "a|👩‍👩‍👧b"),
        ("a|e\u{301}b", Reach::After, "ae\u{301}|b"),
        ("one two_2 |", Reach::WordBefore, "one |two_2 "),
        ("one| two, x", Reach::WordAfter, "one two|, x"),
        ("a\nb|c\nd", Reach::LineStart, "a\n|bc\nd"),
        ("a\nb|c\nd", Reach::LineEnd, "a\nbc|\nd"),
        ("a\nb|", Reach::Start, "|a\nb"),
        ("|a\nb", Reach::End, "a\nb|"),
        ("|", Reach::Before, "|"),
        ("|", Reach::WordAfter, "|"),
    ] {
        let mut editor = editor(before);
        editor.go(reach);
        assert_eq!(shown(&editor), after, "{before} {reach:?}");
    }
}

#[test]
fn killing_and_yanking() {
    let mut editor = editor("one two| three\nfour");
    editor.kill(Reach::LineEnd);
    assert_eq!(shown(&editor), "one two|\nfour");
    editor.kill(Reach::LineEnd);
    assert_eq!(shown(&editor), "one two|four");
    editor.kill(Reach::WordBefore);
    editor.yank();
    editor.yank();
    assert_eq!(shown(&editor), "one twotwo|four");
}

#[test]
fn typing_is_undone_word_by_word_and_deleting_at_once() {
    let mut editor = Editor::default();
    type_in(&mut editor, "one two");
    editor.erase(Reach::Before);
    editor.erase(Reach::Before);
    let mut seen = Vec::new();
    while editor.undo() {
        seen.push(shown(&editor));
    }
    assert_eq!(seen, ["one two|", "one |", "|"]);
    while editor.redo() {}
    assert_eq!(shown(&editor), "one t|");
}

#[test]
fn a_paste_is_one_edit_and_a_long_one_a_chip() {
    let long = "line\n".repeat(1_234);
    let mut editor = editor("a |b");
    editor.paste(&long);
    assert_eq!(editor.content().plain(), format!("a {long}b"));
    assert_eq!(editor.content().chips().next().unwrap().label(), "[pasted 1,234 lines]");
    editor.erase(Reach::Before);
    assert_eq!(shown(&editor), "a |b");
    editor.undo();
    editor.undo();
    assert_eq!(shown(&editor), "a |b");
}

#[test]
fn a_chip_is_unfolded_as_a_whole() {
    let long = "line\n".repeat(20);
    let mut editor = Editor::default();
    editor.paste(&long);
    assert!(editor.unfold());
    assert_eq!(editor.content().text(), long);
    assert!(!editor.unfold());
    editor.undo();
    assert_eq!(editor.content().chips().count(), 1);
    let mut editor = Editor::default();
    editor.paste(&"x".repeat(MOST + 1));
    assert!(!editor.unfold());
}

#[test]
fn killing_and_yanking_over_and_over_stays_within_bounds() {
    let mut editor = editor("some text|");
    for _ in 0..40 {
        editor.kill(Reach::Start);
        editor.yank();
        editor.yank();
    }
    assert!(editor.content().len() <= MOST);
    while editor.undo() {}
    assert_eq!(editor.content().text(), "some text");
}

#[test]
fn a_burst_of_keys_is_one_edit_apart_from_the_word_before_it() {
    let mut editor = Editor::default();
    type_in(&mut editor, "word");
    type_in(&mut editor, "x");
    "yz\nlines".chars().for_each(|c| {
        editor.type_char(c, true);
    });
    assert_eq!(shown(&editor), "wordxyz\nlines|");
    editor.undo();
    assert_eq!(shown(&editor), "word|");
    editor.undo();
    assert_eq!(shown(&editor), "|");
}

#[test]
fn a_burst_in_pieces_is_one_edit() {
    let mut editor = Editor::default();
    for piece in ["xyz", "\nline", "s"] {
        piece.chars().enumerate().for_each(|(n, c)| {
            editor.type_char(c, n > 0);
        });
    }
    editor.type_char('!', true);
    assert_eq!(shown(&editor), "xyz\nlines!|");
    editor.undo();
    assert_eq!(shown(&editor), "|");
}

#[test]
fn a_long_burst_is_folded_and_grows_by_what_follows() {
    let mut editor = Editor::default();
    "y".repeat(FOLD_BYTES + 1).chars().for_each(|c| {
        editor.type_char(c, true);
    });
    assert!(editor.burst_is_folded());
    editor.add_to_burst("rest");
    assert_eq!(editor.content().plain().len(), FOLD_BYTES + 5);
    editor.undo();
    assert_eq!(shown(&editor), "|");
    editor.redo();
    assert_eq!(editor.content().plain().len(), FOLD_BYTES + 5);
}

const REACHES: [Reach; 8] = [
    Reach::Before,
    Reach::After,
    Reach::WordBefore,
    Reach::WordAfter,
    Reach::LineStart,
    Reach::LineEnd,
    Reach::Start,
    Reach::End,
];

proptest! {
    #[test]
    fn whatever_is_done_can_be_undone_and_done_again(
        start in "(\\PC|[ \\n]|👩‍👧|\u{301}){0,8}",
        edits in proptest::collection::vec((0usize..9, 0usize..8, "(\\PC|[ \\n]|\u{200d}|\u{301}|👩){0,3}"), 0..24),
    ) {
        let mut editor = Editor::default();
        editor.reset(Content::from(start.as_str()));
        let begun = editor.content().clone();
        for (kind, reach, text) in edits {
            match kind {
                0 | 1 => type_in(&mut editor, &text),
                2 => text.chars().for_each(|c| { editor.type_char(c, true); }),
                3 => drop(editor.paste(&text)),
                4 => drop(editor.paste(&text.repeat(1_000))),
                5 => editor.erase(REACHES[reach]),
                6 => editor.kill(REACHES[reach]),
                7 => editor.yank(),
                _ => editor.go(REACHES[reach]),
            }
            prop_assert_eq!(editor.content().settled(editor.caret()), editor.caret());
        }
        let done = editor.content().clone();
        while editor.undo() {}
        prop_assert_eq!(editor.content(), &begun);
        while editor.redo() {}
        prop_assert_eq!(editor.content(), &done);
    }
}
