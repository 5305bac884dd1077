//! JSON that is printed, which may be on a terminal.

use super::hidden::{Class, class};
use std::borrow::Cow;
use std::fmt::Write;

/// The same JSON, with everything escaped that would act on a terminal or hide on it: C1 controls and DEL, which JSON
/// leaves as they are, bidi controls, characters without a width. Such characters stand in strings only.
///
/// ```
/// use fast_rlm::text::shown_json;
///
/// assert_eq!(shown_json("[\"\u{9b}31m\u{202e}ä\"]"), "[\"\\u009b31m\\u202eä\"]");
/// ```
pub fn shown_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(hides) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match hides(c) {
            true => escape(&mut shown, c),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

fn hides(c: char) -> bool {
    match class(c) {
        // The others of C0 are escaped already, but for the newlines between values.
        Class::Hidden => c >= '\u{7f}',
        Class::Joiner => true,
        // The forms of emoji.
        Class::Selector => !matches!(c, '\u{FE0E}' | '\u{FE0F}'),
        _ => false,
    }
}

fn escape(shown: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Strings take everything.
        let _ = write!(shown, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_the_same_and_nothing_in_it_acts() {
        let text: String = (0..=0x10_FFFF).filter_map(char::from_u32).collect();
        let value = serde_json::json!([{text.as_str(): text.as_str()}, 1.5]);
        let json = serde_json::to_string_pretty(&value).unwrap();
        let shown = shown_json(&json);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        let acts = |c: &char| c.is_control() && *c != '\n' || "\u{202e}\u{200b}\u{200d}\u{feff}\u{e0041}".contains(*c);
        assert_eq!(shown.chars().find(acts), None);
        assert!(matches!(shown_json("{\"é\": \"❤️\"}"), Cow::Borrowed(_)));
    }
}
