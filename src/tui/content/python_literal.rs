//! Pretty-printed Python literals: what a remembered value looks like.
//!
//! Works on what `repr` wrote, also when a writer cut it: what is there is laid out, and the cut is marked. Text
//! that is no literal (prose, tables, reprs of other objects) is left to be shown as it is.

use super::Rendered;
use super::literal_grammar::check;
use super::literal_layout::Layout;
use super::literal_token::tokenize;
use crate::text::SafeText;
use crate::tui::theme::Role;

/// Longer text is shown as it is.
const MAX_BYTES: usize = 256 * 1024;
/// `repr` previews are cut at this many characters.
const PREVIEW_CHARS: usize = 2_000;
/// What an existing writer appends where it cut a preview, before the number of characters.
const CUT_MARK: &str = "...[truncated, ";

/// Lays out `repr` for `width` cells; `None` when it is no Python literal. The text pane wraps what is too long.
pub fn pretty(repr: &str, width: usize) -> Option<Rendered> {
    if repr.len() > MAX_BYTES {
        return None;
    }
    let (body, cut) = split_cut(repr);
    let safe = SafeText::block(body);
    let tokens = tokenize(safe.as_str())?;
    let literal = check(safe.as_str(), &tokens)?;
    let may_be_torn = cut.is_some() || repr.chars().count() >= PREVIEW_CHARS;
    if tokens.list.is_empty() || (literal.torn && !may_be_torn) {
        return None;
    }
    let mut layout = Layout::new(safe.as_str(), &tokens, &literal, width);
    layout.print();
    let mut out = layout.out;
    if literal.torn || cut.is_some() {
        out.push(" …", Role::Dim);
        out.newline();
        out.push(&cut_note(cut), Role::Dim);
    }
    Some(out.finish())
}

/// Splits the mark off that says how long the whole was.
fn split_cut(repr: &str) -> (&str, Option<&str>) {
    let found = repr.rsplit_once(CUT_MARK);
    let chars = found.and_then(|(body, tail)| Some((body, tail.strip_suffix(" chars total]")?)));
    match chars {
        Some((body, chars)) if chars.bytes().all(|byte| byte.is_ascii_digit()) => (body, Some(chars)),
        _ => (repr, None),
    }
}

fn cut_note(chars: Option<&str>) -> String {
    match chars.and_then(|chars| chars.parse().ok()) {
        Some(chars) => format!("cut here: the whole has {} characters", crate::text::count(chars)),
        None => "cut here".into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rendered::parts;
    use super::*;

    fn lines(repr: &str, width: usize) -> String {
        pretty(repr, width).unwrap().text.as_str().to_owned()
    }

    #[test]
    fn short_literals_stay_on_one_line() {
        assert_eq!(lines("{'a':1,'b':[2,3]}", 40), "{'a': 1, 'b': [2, 3]}");
        assert_eq!(lines("(1,)", 40), "(1,)");
        assert_eq!(lines("datetime.date(2020,1,1)", 40), "datetime.date(2020, 1, 1)");
        assert_eq!(lines("None", 40), "None");
        assert_eq!(lines("(1+2j)", 40), "(1+2j)");
    }

    #[test]
    fn long_ones_break_where_they_must() {
        let repr = "{'Ada Vogel': ['ep23 says little', 'ep08 says more'], 'Bo': {'x': (1, 2)}}";
        assert_eq!(
            lines(repr, 40),
            "{\n  'Ada Vogel': [\n    'ep23 says little',\n    'ep08 says more'\n  ],\n  'Bo': {'x': (1, 2)}\n}"
        );
    }

    #[test]
    fn short_items_share_lines() {
        let numbers = lines("[1, 3, 7, 8, 10, 14, 16, 17, 18, 21, 23, 28]", 20);
        assert_eq!(numbers, "[\n  1, 3, 7, 8, 10,\n  14, 16, 17, 18,\n  21, 23, 28\n]");
    }

    #[test]
    fn strings_of_several_lines_are_shown_in_lines() {
        assert_eq!(
            lines(r"'one line here\nand two\n'", 20),
            "'one line here\\n\n and two\\n'"
        );
    }

    #[test]
    fn a_cut_is_marked_and_says_how_long_the_whole_was() {
        let cut = "[{'Ada': ['a', 'b...[truncated, 55962 chars total]";
        let shown = lines(cut, 60);
        assert!(shown.starts_with("[\n"), "{shown}");
        assert!(
            shown.ends_with("'b …\ncut here: the whole has 55,962 characters"),
            "{shown}"
        );
    }

    #[test]
    fn other_text_is_left_alone() {
        for text in [
            "",
            "hello world",
            "EpisodeRef(ep01, Chen Petrov)",
            "<class 'x'>",
            "[1, 2",
            "   a  b\n0  1  2",
        ] {
            assert_eq!(pretty(text, 40), None, "{text}");
        }
    }

    #[test]
    fn classes_tell_keys_from_strings() {
        let styled = pretty("{'a': 'b', 2: None}", 40).unwrap();
        let mut parts = parts(styled.text.as_str(), &styled.highlights);
        parts.retain(|(_, role)| *role != Role::CodeOperator);
        let expected = [
            ("'a'", Role::CodeKey),
            ("'b'", Role::CodeString),
            ("2", Role::CodeKey),
            ("None", Role::CodeConstant),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn depth_is_bounded_by_the_width() {
        let repr = "[".repeat(60_000) + &"]".repeat(60_000);
        let styled = pretty(&repr, 40).unwrap();
        assert!(styled.text.lines().all(|line| line.len() <= 64));
    }

    proptest! {
        #[test]
        fn nothing_but_space_is_added_or_lost(repr in "[\\[\\](){}a-c'\", :=\\\\n0-9é字.+-]{0,60}", width in 0usize..40) {
            if let Some(styled) = pretty(&repr, width) {
                let strip = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
                prop_assert_eq!(strip(styled.text.as_str()), strip(&repr));
            }
        }
    }
}
