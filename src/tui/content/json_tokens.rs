//! Colours of JSON, in one linear pass over its bytes.

use crate::tui::theme::Role;
use crate::tui::widgets::StyleSpan;

/// The spans of JSON text; of other text whatever looks like JSON.
pub(super) fn spans(text: &str) -> Vec<StyleSpan> {
    let bytes = text.as_bytes();
    let (mut spans, mut at) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        let (len, role) = match byte {
            b'"' => string(rest),
            b'-' | b'0'..=b'9' => (
                run(rest, |byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)),
                Role::CodeNumber,
            ),
            b'a'..=b'z' => (run(rest, |byte| byte.is_ascii_alphanumeric()), Role::CodeConstant),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => (1, Role::CodeOperator),
            _ => (1, Role::Text),
        };
        if role != Role::Text {
            spans.push(StyleSpan {
                bytes: at..at + len,
                role,
            });
        }
        at += len;
    }
    spans
}

fn run(rest: &[u8], of: impl Fn(u8) -> bool) -> usize {
    rest.iter().take_while(|byte| of(**byte)).count()
}

/// Length of a string (within its line, so that a torn one does not colour everything), and whether it is a key.
fn string(rest: &[u8]) -> (usize, Role) {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return (at, Role::CodeString),
            b'"' => {
                let after = rest.get(at + 1..).unwrap_or_default();
                let key = after.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
                return (at + 1, if key { Role::CodeKey } else { Role::CodeString });
            }
            _ => at += 1,
        }
    }
    (rest.len(), Role::CodeString)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_values_and_brackets_differ() {
        let text = r#"{"a": ["b", -1.5e3, true]}"#;
        let parts: Vec<_> = spans(text)
            .into_iter()
            .filter(|span| span.role != Role::CodeOperator)
            .map(|span| (text.get(span.bytes).unwrap(), span.role))
            .collect();
        let expected = [
            ("\"a\"", Role::CodeKey),
            ("\"b\"", Role::CodeString),
            ("-1.5e3", Role::CodeNumber),
            ("true", Role::CodeConstant),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn a_torn_string_ends_with_its_line() {
        let text = "\"a\n1 \"\\";
        let ends: Vec<_> = spans(text).iter().map(|span| span.bytes.clone()).collect();
        assert_eq!(ends, [0..2, 3..4, 5..7]);
    }
}
