//! Escapes of JSON strings: `\u00e9` is read as é, what would act on a line stays an escape.

/// The source of strings with `\uXXXX` of printable characters beyond ASCII replaced; everything else as it is.
pub(super) fn readable(source: &str) -> String {
    replace(source, |_, code| code.filter(|c| !c.is_ascii() && !c.is_control()))
}

/// The text that the source of a string (without its quotes) stands for.
pub(super) fn decoded(source: &str) -> String {
    replace(source, |escape, code| match escape.as_bytes().get(1) {
        Some(b'n') => Some('\n'),
        Some(b't') => Some('\t'),
        Some(b'r') => Some('\r'),
        Some(b'"') => Some('"'),
        Some(b'\\') => Some('\\'),
        Some(b'/') => Some('/'),
        Some(b'u') => code,
        _ => None,
    })
}

/// The source of a string holds an escaped newline.
pub(super) fn has_newline(source: &str) -> bool {
    let mut rest = source;
    while let Some((_, tail)) = rest.split_once('\\') {
        if tail.starts_with('n') {
            return true;
        }
        rest = tail.strip_prefix('\\').unwrap_or(tail);
    }
    false
}

/// Replaces escapes by what `by` makes of them; `None` keeps the escape. `by` gets the escape and, of `\u`, the
/// character (U+FFFD for half a pair).
fn replace(source: &str, by: impl Fn(&str, Option<char>) -> Option<char>) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find('\\') {
        let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(head);
        let (len, code) = escape_at(tail);
        let (escape, after) = tail.split_at_checked(len).unwrap_or((tail, ""));
        match by(escape, code) {
            Some(c) => out.push(c),
            None => out.push_str(escape),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Length of the escape at the start of `text` and, of `\u`, its character.
fn escape_at(text: &str) -> (usize, Option<char>) {
    let plain = 1 + text.chars().nth(1).map_or(0, char::len_utf8);
    let Some(first) = unit_at(text, 0) else {
        return (plain, None);
    };
    if (0xd800..0xdc00).contains(&first) {
        let pair = unit_at(text, 6).filter(|second| (0xdc00..0xe000).contains(second));
        return match pair {
            Some(second) => {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                (12, char::from_u32(code).or(Some('\u{fffd}')))
            }
            None => (6, Some('\u{fffd}')),
        };
    }
    (6, char::from_u32(first).or(Some('\u{fffd}')))
}

/// The number of a `\uXXXX` at a byte.
fn unit_at(text: &str, at: usize) -> Option<u32> {
    let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
    hex.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    u32::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_what_is_printable() {
        assert_eq!(
            readable(r#""caf\u00e9 \ud83d\ude00 \n \u001b \u0041""#),
            r#""café 😀 \n \u001b \u0041""#
        );
        assert_eq!(readable(r"\ud83d x"), "\u{fffd} x");
        assert_eq!(readable(r"\"), r"\");
    }

    #[test]
    fn decodes_text() {
        assert_eq!(decoded(r#"a\n\"b\" \\n \u00e9 \x"#), "a\n\"b\" \\n é \\x");
    }

    #[test]
    fn tells_escaped_newlines_from_escaped_backslashes() {
        assert!(has_newline(r"a\nb"));
        assert!(!has_newline(r"a\\nb"));
        assert!(has_newline(r"a\\\nb"));
    }

    proptest! {
        #[test]
        fn decodes_like_serde(text in "\\PC{0,20}|[\\n\\t\\\\\"a]{0,10}") {
            let source = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(decoded(source.get(1..source.len() - 1).unwrap()), text);
        }

        #[test]
        fn takes_anything(source in "[\\\\ud8c09néa]{0,20}") {
            let _ = (readable(&source), decoded(&source), has_newline(&source));
        }
    }
}
