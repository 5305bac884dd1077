use proptest::prelude::*;
use ratatui::buffer::CellWidth;

use super::*;
use crate::text::SafeText;

#[test]
fn clusters_are_as_wide_as_terminals_draw_them() {
    for (text, cells) in [
        ("a", 1),
        ("日本", 4),
        ("⚠\u{FE0F}", 2),
        ("⚠", 1),
        ("👩\u{200D}👩\u{200D}👧\u{200D}👦", 2),
        ("🇫🇷", 2),
        ("👍🏽", 2),
        ("1\u{FE0F}\u{20E3}", 2),
        ("e\u{301}", 1),
        ("\u{1112}\u{1161}\u{11AB}", 2),
        ("ｆ", 2),
        ("שלום", 4),
    ] {
        assert_eq!(cell_width(text), cells, "{text}");
    }
    assert_eq!(cell_width(&format!("a{}", "\u{301}".repeat(200))), 1);
}

#[test]
fn cuts_keep_clusters_whole() {
    assert_eq!(cut("日本語", 3), ("日", 2));
    assert_eq!(cut("abc", 9), ("abc", 3));
    assert_eq!(cut("abc\u{301}d", 3), ("abc\u{301}", 3));
    assert_eq!(cut("abc\u{301}", 2), ("ab", 2));
    assert_eq!(cut_left("日本語", 3), ("語", 2));
    assert_eq!(cut_left("a👍🏽", 1), ("", 0));
}

#[test]
fn fits_exactly() {
    assert_eq!(fit("日本語", 5), "日本…");
    assert_eq!(fit("日本語", 4), "日… ");
    assert_eq!(fit("ab", 4), "ab  ");
    assert_eq!(fit_right("ab", 4), "  ab");
    assert_eq!(fit_right("日本語", 4), " 日…");
    assert_eq!((fit("ab", 0), fit("ab", 1)), (String::new(), "…".into()));
}

#[test]
fn paths_lose_their_middle() {
    assert_eq!(middle_cut("runs/podcasts/logs/run_1.jsonl", 17), "runs/pod…_1.jsonl");
    assert_eq!(middle_cut("short", 5), "short");
    assert_eq!(middle_cut("abc", 1), "…");
    assert_eq!(middle_cut("abc", 0), "");
}

proptest! {
    #[test]
    fn cut_and_fit_hold_their_width(raw in "(\\PC|日|👩\u{200D}👧|e\u{301}|⚠\u{FE0F}|[a-z]){0,40}", cells in 0usize..21) {
        let text = SafeText::line(&raw);
        let text = text.as_str();
        let (head, used) = cut(text, cells);
        prop_assert!(used <= cells && cell_width(head) == used);
        let (tail, used) = cut_left(text, cells);
        prop_assert!(used <= cells && cell_width(tail) == used && text.ends_with(tail));
        prop_assert_eq!(cell_width(&fit(text, cells)), cells);
        prop_assert!(cell_width(&middle_cut(text, cells)) <= cells);
    }

    #[test]
    fn screens_agree_on_the_width(raw in "(\\PC|日|👩\u{200D}👧|ｶﾞ|⚠\u{FE0F}|[a-z]){0,20}") {
        let text = SafeText::line(&raw);
        for cluster in text.as_str().graphemes(true) {
            prop_assert_eq!(cluster_width(cluster), usize::from(cluster.cell_width()), "{:?}", cluster);
        }
    }
}
