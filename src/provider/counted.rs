//! Counts of tokens, as servers write them.

use serde_json::Value;
use serde_json::value::RawValue;

/// A count: `7`, `7.0` or `"7"`. `None` for anything else (negative, of parts, a word, more than fits): unknown, not 0.
pub(super) fn count(raw: Option<&RawValue>) -> Option<u64> {
    of_text(raw?.get())
}

/// The same of a value that was read.
pub(super) fn count_of(value: &Value) -> Option<u64> {
    of_text(&value.to_string())
}

fn of_text(text: &str) -> Option<u64> {
    let text = text.trim_matches('"');
    text.strip_suffix(".0").unwrap_or(text).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Usage;

    fn read(json: &str) -> Option<u64> {
        count(Some(&RawValue::from_string(json.to_owned()).unwrap()))
    }

    #[test]
    fn what_is_no_count_is_unknown() {
        for (json, expected) in [
            ("7", 7),
            ("7.0", 7),
            ("\"7\"", 7),
            ("0", 0),
            ("9007199254740993", 9_007_199_254_740_993),
        ] {
            assert_eq!(read(json), Some(expected), "{json}");
        }
        let odd = [
            "-5",
            "10.5",
            "1000000000000000000000000000000",
            "null",
            "\"x\"",
            "[7]",
            "{}",
            "true",
            "-0.5",
            "\"\"",
        ];
        for json in odd {
            assert_eq!(read(json), None, "{json}");
        }
        assert_eq!(count(None), None);
    }

    #[test]
    fn tokens_are_known_together_or_not_at_all() {
        let said = |prompt_tokens, completion_tokens, total_tokens, reported| {
            let usage = Usage {
                prompt_tokens,
                completion_tokens,
                total_tokens,
                reported,
                cost_nano: Some(9),
                ..Usage::default()
            };
            let sound = usage.sound();
            assert_eq!(sound.cost_nano, Some(9));
            (
                sound.prompt_tokens,
                sound.completion_tokens,
                sound.total_tokens,
                sound.reported,
            )
        };
        assert_eq!(said(100, 10, 110, true), (100, 10, 110, true));
        assert_eq!(
            said(100, 10, 7, true),
            (100, 10, 110, true),
            "no total is less than its parts"
        );
        assert_eq!(
            said(100, 10, 150, true),
            (100, 10, 150, true),
            "some count reasoning apart"
        );
        assert_eq!(said(100, 0, 0, true), (100, 0, 100, true));
        assert_eq!(said(0, 0, 0, true), (0, 0, 0, false));
        assert_eq!(said(0, 0, 110, true), (0, 0, 0, false));
        assert_eq!(said(100, 0, 100, false), (0, 0, 0, false));
        assert_eq!(said(u64::MAX, 5, 0, true), (u64::MAX, 5, u64::MAX, true));
    }
}
