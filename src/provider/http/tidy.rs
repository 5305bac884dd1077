//! Oddities in the JSON of servers that do no harm: half a character, where they cut one in two; a key that is there twice.

use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;

/// What half a character becomes.
const REPLACEMENT: &str = r"\ufffd";
/// Bytes of `\uXXXX`.
const UNIT: usize = 6;

/// The JSON with every half of a surrogate pair that stands alone replaced: it has no meaning, and no reader takes it.
pub(super) fn whole_characters(json: &str) -> Cow<'_, str> {
    let mut tidy = String::new();
    let (mut done, mut at) = (0, 0);
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let (taken, is_half) = escape(json.get(at..).unwrap_or_default());
        if is_half {
            tidy.push_str(json.get(done..at).unwrap_or_default());
            tidy.push_str(REPLACEMENT);
            done = at + taken;
        }
        at += taken;
    }
    match done {
        0 => Cow::Borrowed(json),
        _ => Cow::Owned(tidy + json.get(done..).unwrap_or_default()),
    }
}

/// Bytes of the escape that `text` begins with, and whether it is half a character.
fn escape(text: &str) -> (usize, bool) {
    let second = || text.get(UNIT..).and_then(unit);
    match (unit(text), text.as_bytes().get(1)) {
        (Some(0xD800..=0xDBFF), _) if matches!(second(), Some(0xDC00..=0xDFFF)) => (2 * UNIT, false),
        (Some(unit), _) => (UNIT, matches!(unit, 0xD800..=0xDFFF)),
        // A character of more bytes is no escape, and looked at as text.
        (None, Some(byte)) if byte.is_ascii() => (2, false),
        (None, _) => (1, false),
    }
}

fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// Reads JSON; of a key that is there twice, the last counts.
pub(in crate::provider) fn read<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    serde_json::from_str(json).or_else(|error| {
        let once = serde_json::from_str::<Value>(json).map(|value| value.to_string());
        once.and_then(|once| serde_json::from_str(&once)).map_err(|_| error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_are_replaced_and_whole_ones_stay() {
        for (json, tidy) in [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ude00!""#, "\u{fffd}!"),
            (r#""a\uD83D\ud83d\ude00\n""#, "a\u{fffd}😀\n"),
            (r#""\\ud83d""#, r"\ud83d"),
            (r#""\\\ud83dé""#, "\\\u{fffd}é"),
        ] {
            let read: String = serde_json::from_str(&whole_characters(json)).unwrap();
            assert_eq!(read, tidy, "{json}");
        }
        for whole in ["{}", r#""\u00e9\ud83d\ude00\\""#, r#""\é"#, "\\", r"\u", r"\u12é4"] {
            assert!(matches!(whole_characters(whole), Cow::Borrowed(_)), "{whole}");
        }
    }

    #[test]
    fn the_last_of_two_keys_counts() {
        #[derive(serde::Deserialize)]
        struct Counts {
            a: u64,
        }
        assert_eq!(read::<Counts>(r#"{"a": 1, "a": 2}"#).unwrap().a, 2);
        let error = read::<Counts>(r#"{"a": 1, "a": "x"}"#).err().unwrap().to_string();
        assert!(error.contains("duplicate field"), "{error}");
    }
}
