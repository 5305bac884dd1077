use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::super::hidden::{Class, class};
use super::super::width::cluster_width;
use super::*;

fn block(raw: &str) -> String {
    SafeText::block(raw).as_str().to_owned()
}

/// What a terminal could act on, or a reader not see.
fn flaws(text: &str) -> Vec<String> {
    let hidden = text.chars().filter(|c| *c != '\n' && class(*c) == Class::Hidden);
    let tags = text.chars().filter(|c| ('\u{E0000}'..='\u{E0FFF}').contains(c));
    let hidden = hidden.filter(|c| !tags.clone().any(|tag| tag == *c));
    let empty = text
        .graphemes(true)
        .filter(|cluster| *cluster != "\n" && cluster_width(cluster) == 0);
    let tall = text
        .graphemes(true)
        .filter(|cluster| cluster.chars().filter(|c| class(*c) == Class::Combining).count() > 48);
    hidden
        .map(|c| format!("{c:?}"))
        .chain(empty.chain(tall).map(|cluster| format!("{cluster:?}")))
        .collect()
}

#[test]
fn escape_sequences_are_seen_not_obeyed() {
    assert_eq!(block("\x1b]0;owned\x07"), "␛]0;owned␇");
    assert_eq!(block("\x1b]8;;http://x\x1b\\click"), "␛]8;;http://x␛\\click");
    assert_eq!(block("\x1b[6n\x1bc\x1b[2J"), "␛[6n␛c␛[2J");
    assert_eq!(block("\x1bP1$r"), "␛P1$r");
    assert_eq!(
        block("\u{9b}6n\u{90}q\u{9c}\u{85}"),
        "‹U+009B›6n‹U+0090›q‹U+009C›‹U+0085›"
    );
    assert_eq!(block("a\x00b\x08c\x7fd"), "a␀b␈c␡d");
}

#[test]
fn only_complete_colours_are_dropped() {
    assert_eq!(block("\x1b[31mred\x1b[0m \x1b[38;2;1:2;3mx\x1b[m\u{9b}1my"), "red xy");
    assert_eq!(block("\x1b[31"), "␛[31");
    assert_eq!(block("\x1b[?31m"), "␛[?31m");
    assert_eq!(
        block("\x1b[\x1b[0m31mx"),
        "␛[31mx",
        "what remains does not become a sequence"
    );
    for shown in [SafeText::raw, SafeText::line] {
        assert_eq!(shown("\x1b[31mred\x1b[0m\u{9b}1m").as_str(), "␛[31mred␛[0m‹U+009B›1m");
    }
}

#[test]
fn lines_restart_as_on_a_terminal() {
    assert_eq!(block("10%\r55%\r100%\r\nnext"), "100%\nnext");
    assert_eq!(block("downloading\rdone"), "doneloading");
    assert_eq!(block("\x1b[32mab\rc\x1b[0m"), "cb");
    assert_eq!(block("a\r\r\nb\r"), "a\nb");
    assert_eq!(SafeText::raw("a\rb\r\nc").as_str(), "a␍b\nc");
}

#[test]
fn tabs_expand_to_columns() {
    assert_eq!(
        block("a\tb\n\tc\n日\tx\nabcd\te\t\tf"),
        "a   b\n    c\n日  x\nabcd    e       f"
    );
}

#[test]
fn one_line_shows_its_newlines() {
    assert_eq!(SafeText::line("a\r\nb\nc\td").as_str(), "a⏎b⏎c   d");
    assert_eq!(SafeText::line("run x\rall is well").as_str(), "run x⏎all is well");
}

#[test]
fn bidi_and_invisible_characters_are_named() {
    assert_eq!(block("a\u{202E}b\u{2066}c\u{2069}"), "a‹U+202E›b‹U+2066›c‹U+2069›");
    assert_eq!(
        block("pass\u{200B}word\u{FEFF}\u{2060}\u{AD}"),
        "pass‹U+200B›word‹U+FEFF›‹U+2060›‹U+00AD›"
    );
    assert_eq!(block("a\u{200C}b\u{200D}c"), "a‹U+200C›b‹U+200D›c");
    assert_eq!(block("x\u{2028}y\u{2029}z"), "x‹U+2028›y‹U+2029›z");
    assert_eq!(block("hi\u{E0041}\u{E0042}\u{FE0F}"), "hi‹U+E0041›‹U+E0042›‹U+FE0F›");
    assert_eq!(block("😀\u{FE0F}\u{FE0F}\u{E0100}"), "😀\u{FE0F}‹U+FE0F›‹U+E0100›");
}

#[test]
fn writing_stays_intact() {
    for honest in [
        "שָׁלוֹם עולם",
        "السَّلَامُ عَلَيْكُمْ",
        "می\u{200C}خواهم",
        "ක\u{DCA}\u{200D}ය",
        "র\u{200D}\u{9CD}য\u{9BE}ব",
        "ന\u{D4D}\u{200D}",
        "क्षत्रिय",
        "é ö x\u{301}\u{323}",
        "日本語 한국어 ｆｕｌｌ",
        "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}",
        "葛\u{E0100}",
        "👩\u{200D}👩\u{200D}👧\u{200D}👦 👍🏽 🇫🇷 ❤\u{FE0F} 1\u{FE0F}\u{20E3} 🏳\u{FE0F}\u{200D}🌈 👩🏽\u{200D}🚀 🏴\u{200D}☠\u{FE0F}",
        "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    ] {
        assert_eq!(block(honest), honest);
    }
}

#[test]
fn marks_need_a_base_and_have_an_end() {
    assert_eq!(block("\u{301}a\n\u{301}"), "◌\u{301}a\n◌\u{301}");
    let zalgo = format!("a{}b", "\u{301}".repeat(200));
    assert_eq!(block(&zalgo), format!("a{}‹+184›b", "\u{301}".repeat(16)));
    assert_eq!(block("\u{1161}\u{11A8}"), "‹U+1161›‹U+11A8›");
}

#[test]
fn every_character_leaves_something_to_see() {
    for code in (0..=0x3FFFF).chain(0xE0000..=0xE0FFF) {
        let Some(c) = char::from_u32(code) else { continue };
        let safe = block(&format!("{c}\n a{c}\n{c}{c}b"));
        assert_eq!(flaws(&safe), Vec::<String>::new(), "U+{code:04X}");
    }
}

#[test]
fn large_texts_take_linear_time() {
    // A quadratic pass over any of these would take minutes.
    let bars: String = (0..100_000).map(|n| format!("{n}%\r")).collect();
    assert_eq!(block(&bars), "99999%");
    assert_eq!(
        block(&"\u{301}".repeat(300_000)).chars().count(),
        "◌‹+299984›".chars().count() + 16
    );
    assert_eq!(block(&"\x1b[".repeat(200_000)).chars().count(), 400_000);
    assert_eq!(block(&"\t".repeat(200_000)).len(), 800_000);
}

proptest! {
    #[test]
    fn what_is_cut_is_as_safe_as_the_whole(raw in hostile(), most in 0usize..80) {
        let kept: Shared = raw.as_str().into();
        for (safe, cut) in [SafeText::of_kept_within(&kept, most), SafeText::raw_of_kept_within(&kept, most)] {
            prop_assert_eq!(flaws(safe.as_str()), Vec::<String>::new());
            prop_assert!(cut == safe.as_str().contains("…[cut: "));
        }
    }

    #[test]
    fn nothing_acts_and_nothing_hides(raw in hostile()) {
        for safe in [SafeText::block(&raw), SafeText::raw(&raw), SafeText::line(&raw)] {
            prop_assert_eq!(flaws(safe.as_str()), Vec::<String>::new());
        }
        prop_assert!(!SafeText::line(&raw).as_str().contains('\n'));
    }

    #[test]
    fn every_character_has_its_place_in_the_safe_text(raw in hostile()) {
        let raw = raw.replace('\r', "");
        let (safe, places) = SafeText::placed(&raw);
        prop_assert_eq!(&safe, &SafeText::raw(&raw));
        let ends = raw.char_indices().map(|(at, _)| at).chain([raw.len()]);
        let placed: Vec<usize> = ends.map(|at| places.of(at)).collect();
        prop_assert!(placed.is_sorted() && placed.iter().all(|at| safe.as_str().is_char_boundary(*at)));
        prop_assert_eq!((placed[0], *placed.last().unwrap()), (0, safe.as_str().len()));
    }

    #[test]
    fn sanitising_twice_changes_nothing(raw in hostile()) {
        let once = SafeText::block(&raw);
        prop_assert_eq!(SafeText::block(once.as_str()), once);
        let once = SafeText::raw(&raw);
        prop_assert_eq!(SafeText::raw(once.as_str()), once);
        let once = SafeText::line(&raw);
        prop_assert_eq!(SafeText::line(once.as_str()), once);
    }
}

/// Strings of pieces that are dangerous in combination.
fn hostile() -> impl Strategy<Value = String> {
    const PIECES: &str = "\\PC|[\x00-\x1f\x7f-\u{9f}]|\x1b\\[[0-9;]{0,3}m?|[\u{200b}-\u{200f}\u{2028}-\u{202e}]|\
        \u{301}{1,20}|[\u{fe00}\u{fe0e}\u{fe0f}\u{e0100}]|👩\u{200d}?|[🏴🇫🇷日葛]|[\u{e0061}-\u{e007f}]|\
        [\u{1100}-\u{1102}\u{1161}\u{1162}\u{11a8}가각]|[کم\u{200c}\u{200d}\u{64b}क\u{94d}র\u{9cd}\u{d4e}\u{605}]|\r|\n|\t|[ab ]";
    proptest::string::string_regex(&format!("({PIECES}){{0,30}}")).expect("a valid pattern")
}

#[test]
fn a_kept_text_that_is_clean_is_shared() {
    for clean in ["as it is\nline by line", "שלום, 世界 👍"] {
        let raw: Shared = clean.into();
        assert!(raw.is(SafeText::of_kept(&raw).shared()), "{clean}");
    }
    let raw: Shared = "not\x07so".into();
    assert_eq!(SafeText::of_kept(&raw), SafeText::block(&raw));
}

#[test]
fn a_long_line_does_not_restart_and_shows_what_would_have_hidden_it() {
    let long = "x".repeat(70_000);
    assert_eq!(block(&format!("{long}\rend")), format!("{long}␍end"));
    // A short one does, whatever comes over it.
    assert_eq!(block(&format!("short\r{long}")), long);
    assert_eq!(block(&format!("10%\r{long}\rend")), format!("{long}␍end"));
    assert_eq!(block("long before\rab\rc"), "cbng before");
}

#[test]
fn what_marks_make_too_long_shows_its_start_and_its_end() {
    let raw: Shared = ("a".to_owned() + &"\u{202E}".repeat(2_000_000) + "b").into();
    let (safe, cut) = SafeText::of_kept_within(&raw, 3_000_000);
    assert!(cut);
    let (head, tail) = safe.as_str().split_once("…[cut: 6,000,002 bytes in all]…").unwrap();
    assert!(head.starts_with("a‹U+202E›") && head.ends_with('›') && tail.ends_with("‹U+202E›b"));
    assert!((2_999_900..3_000_100).contains(&head.len()), "{}", head.len());
    let (whole, cut) = SafeText::of_kept_within(&raw, 30_000_000);
    assert_eq!((whole, cut), (SafeText::block(&raw), false));
}

proptest! {
    #[test]
    fn safe_texts_below_one_another_are_safe(texts in proptest::collection::vec("\\PC{0,12}|[\u{300}\u{200d}\u{fe0f}👍]{0,3}", 0..4)) {
        let texts: Vec<SafeText> = texts.iter().map(|text| SafeText::block(text)).collect();
        let below = SafeText::below(&texts);
        prop_assert_eq!(SafeText::block(below.as_str()), below);
    }
}
