//! Which characters act on the terminal or hide in a text, and where such a character is honest.
//!
//! Ranges follow the Unicode Character Database (17.0): General_Category Cc and Cf, Default_Ignorable_Code_Point,
//! Bidi_Control, Prepended_Concatenation_Mark and Grapheme_Cluster_Break.

/// What a character needs before it may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing.
    Plain,
    /// A mark in its place, always: controls, bidi controls, invisible characters.
    Hidden,
    /// ZWNJ and ZWJ: honest between letters that join, and (ZWJ) in emoji sequences.
    Joiner,
    /// A variation selector: honest once, after a character that has variants.
    Selector,
    /// Takes no cell of its own and combines with the character after it.
    Prefix,
    /// Takes no cell of its own and combines with the character before it.
    Combining,
    /// A vowel or final of Hangul in parts: honest after the part it belongs to.
    HangulPart,
}

/// The class of a character. Single characters come before the ranges that surround them.
pub(super) fn class(c: char) -> Class {
    match u32::from(c) {
        0x20..=0x7E | 0xA0..=0xAC | 0xAE..=0x2FF => Class::Plain,
        0x0..=0x1F | 0x7F..=0x9F | 0xAD => Class::Hidden,
        0x200C | 0x200D => Class::Joiner,
        0x180B..=0x180D | 0x180F | 0xFE00..=0xFE0F | 0xE0100..=0xE01EF => Class::Selector,
        0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E => Class::Hidden,
        0x2060..=0x206F | 0x3164 | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0x13430..=0x1343F => Class::Hidden,
        0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF => Class::Hidden,
        code if code & 0xFFFE == 0xFFFE || (0xFDD0..=0xFDEF).contains(&code) => Class::Hidden,
        // Not assigned when the tables of cell widths were made, or of clusters: no cell, and no base to stand on. (The first is a caret, not a mark.)
        0xA8FA | 0x5C8 | 0x5C9 | 0xB53 | 0xB54 | 0x1ADE | 0x1ADF | 0x1AEC..=0x1AF0 | 0x10ECB..=0x10ECF => Class::Hidden,
        0x10EF0..=0x10EF9 | 0x11DF0 | 0x1D127 | 0x1D128 | 0x1D250..=0x1D25F | 0x1D280 | 0x1D281 => Class::Hidden,
        0x1161..=0x11FF | 0xD7B0..=0xD7FB => Class::HangulPart,
        0x605 | 0x70F | 0x890 | 0x891 | 0x8E2 | 0xD4E | 0x111C2 | 0x111C3 | 0x113D1 => Class::Prefix,
        0x1193F | 0x11941 | 0x11A84..=0x11A89 | 0x11D46 | 0x11F02 => Class::Prefix,
        _ if unicode_width::UnicodeWidthChar::width(c) == Some(0) => Class::Combining,
        _ => Class::Plain,
    }
}

/// A prefix, followed by something that takes the cell.
pub(super) fn prefix_is_honest(next: Option<char>) -> bool {
    next.is_some_and(|next| next.is_alphanumeric() && class(next) == Class::Plain)
}

/// A joiner stands where writing or an emoji sequence needs it.
pub(super) fn joiner_is_honest(joiner: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else {
        return false;
    };
    if let Some(after) = after {
        let emoji = joiner == '\u{200D}' && may_end_emoji(before) && is_pictograph(after);
        let writing = in_joining_script(before) && in_joining_script(after);
        if emoji || writing {
            return true;
        }
    }
    // A virama that shows itself, or a half form at the end of a word.
    is_virama(before)
}

/// The selector has a meaning after this character.
pub(super) fn selector_is_honest(selector: char, before: Option<char>) -> bool {
    let Some(before) = before else {
        return false;
    };
    let base = u32::from(before);
    let han = matches!(base, 0x2E80..=0x2FDF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x323AF);
    match u32::from(selector) {
        0xFE0E | 0xFE0F => has_emoji_form(before),
        0xFE00..=0xFE0D => han || matches!(base, 0x2200..=0x22FF | 0x2A00..=0x2AFF | 0x1000..=0x109F | 0x3000..=0x303F),
        0x180B..=0x180F => matches!(base, 0x1820..=0x18AA),
        _ => han,
    }
}

/// A vowel or final of Hangul continues a syllable of which `before` is the last part.
pub(super) fn hangul_part_is_honest(part: char, before: Option<char>) -> bool {
    let before = before.map_or(0, u32::from);
    let vowel = |code: u32| matches!(code, 0x1160..=0x11A7 | 0xD7B0..=0xD7C6);
    let open_syllable = matches!(before, 0xAC00..=0xD7A3) && (before - 0xAC00).is_multiple_of(28);
    if vowel(u32::from(part)) {
        matches!(before, 0x1100..=0x115E | 0xA960..=0xA97C) || vowel(before) || open_syllable
    } else {
        vowel(before) || matches!(before, 0x11A8..=0x11FF | 0xD7CB..=0xD7FB | 0xAC00..=0xD7A3)
    }
}

/// The flags that are spelled with invisible tag characters, after U+1F3F4: England, Scotland, Wales. No other
/// sequence of tags is in use, so that any other is a message in hiding.
pub(super) const TAG_FLAGS: [&str; 3] = [
    "\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];

/// The flag that tag characters turn into another.
pub(super) const TAG_BASE: char = '\u{1F3F4}';

fn may_end_emoji(c: char) -> bool {
    is_pictograph(c) || matches!(u32::from(c), 0xFE0F | 0x1F3FB..=0x1F3FF | 0xE007F)
}

fn is_pictograph(c: char) -> bool {
    match u32::from(c) {
        0x1F1E6..=0x1F1FF | 0x1F3FB..=0x1F3FF => false,
        0xA9 | 0xAE | 0x203C | 0x2049 | 0x2122 | 0x2139 | 0x24C2 | 0x3030 | 0x303D | 0x3297 | 0x3299 => true,
        0x2194..=0x21AA | 0x231A..=0x23FF | 0x25AA..=0x25FE | 0x2600..=0x27BF | 0x2934 | 0x2935 => true,
        0x2B05..=0x2B55 | 0x1F000..=0x1FAFF => true,
        _ => false,
    }
}

fn has_emoji_form(c: char) -> bool {
    is_pictograph(c) || matches!(c, '0'..='9' | '#' | '*')
}

/// Scripts whose letters change shape with a joiner: Arabic to N'Ko, Mandaic and extensions, the scripts of India,
/// Sri Lanka, Tibet, Myanmar and Khmer, Mongolian.
fn in_joining_script(c: char) -> bool {
    let code = u32::from(c);
    let block = matches!(code, 0x600..=0x8FF | 0x900..=0xDFF | 0xF00..=0x109F | 0x1780..=0x18AF | 0x1A20..=0x1AAF
        | 0x1B00..=0x1C4F | 0xA840..=0xA87F | 0xA8E0..=0xA8FF | 0xA980..=0xA9DF | 0xAA60..=0xAA7F
        | 0xFB50..=0xFDCF | 0xFDF0..=0xFDFF | 0xFE70..=0xFEFC | 0x10A00..=0x10AFF | 0x11000..=0x11CFF);
    block
        && match class(c) {
            Class::Plain => c.is_alphabetic(),
            other => other == Class::Combining,
        }
}

fn is_virama(c: char) -> bool {
    matches!(
        u32::from(c),
        0x94D
            | 0x9CD
            | 0xA4D
            | 0xACD
            | 0xB4D
            | 0xBCD
            | 0xC4D
            | 0xCCD
            | 0xD3B
            | 0xD3C
            | 0xD4D
            | 0xDCA
            | 0x1039
            | 0x103A
            | 0x17D2
            | 0x1A60
            | 0x1B44
            | 0xA9C0
            | 0x11046
            | 0x110B9
    )
}
