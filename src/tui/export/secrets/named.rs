//! Values that are named as secrets: `password = "…"`, `"api_key": "…"`, `PASSWORD=…`, `password: …`, however often the
//! text around was quoted, and whatever colours stand between.

use super::{Found, SecretKind, run};
use std::ops::Range;

/// Names whose values are secrets, and the fewest characters that such a value has.
const NAMES: [(&str, usize); 9] = [
    ("password", 4),
    ("passwd", 4),
    ("passphrase", 6),
    ("secret", 8),
    ("api_key", 8),
    ("api-key", 8),
    ("apikey", 8),
    ("access_token", 8),
    ("auth_token", 8),
];

/// Bytes that are searched for names at a time.
const PIECE: usize = 1 << 20;

/// Bytes that a name has at most.
const LONGEST_NAME: usize = 16;

/// Bytes that a value has at most: where a quote never closes, no more is looked at.
const LONGEST_VALUE: usize = 16 << 10;

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    // A copy of all of it would be as large as the text.
    for start in (0..text.len()).step_by(PIECE) {
        let end = text.len().min(start + PIECE + LONGEST_NAME);
        let piece = text.as_bytes().get(start..end).unwrap_or_default().to_ascii_lowercase();
        for (name, least) in NAMES {
            let places = memchr::memmem::find_iter(&piece, name).take_while(|at| *at < PIECE);
            for bytes in places.filter_map(|at| value_after(text, start + at + name.len(), name)) {
                if bytes.len() >= least {
                    found.push(Found {
                        bytes,
                        kind: SecretKind::NamedValue,
                    });
                }
            }
        }
    }
}

/// The literal that is assigned to the name which ends at `at`; `None` for code, types and empty values.
fn value_after(text: &str, at: usize, name: &str) -> Option<Range<usize>> {
    let closed = run(text, past_colours(text, at), |c| matches!(c, '"' | '\'' | '\\')).end;
    let spaced = past_colours(text, run(text, closed, |c| c == ' ').end);
    let sign = text.get(spaced..)?.chars().next().filter(|c| matches!(c, '=' | ':'))?;
    let signed = past_colours(text, spaced + sign.len_utf8());
    let value = past_colours(text, run(text, signed, |c| c == ' ').end);
    let opened = run(text, value, |c| c == '\\').end;
    let bytes = match text.get(opened..)?.chars().next() {
        Some(quote @ ('"' | '\'')) => quoted(text, opened + 1, quote, opened - value),
        _ => bare(text, value, sign, value == signed)?,
    };
    let literal = text.get(bytes.clone())?;
    (!is_placeholder(literal, name)).then_some(bytes)
}

/// The value that a quote opened. Where the text around was quoted itself, the quote has backslashes, and what it quotes has
/// more: `\"` is closed by `\"`, not by `\\\"`. A string that holds another as it is (a `repr`, in the other quotes) has
/// them, too, and its quotes have none: a quote that something follows which cannot follow a value closes none.
fn quoted(text: &str, start: usize, quote: char, backslashes: usize) -> Range<usize> {
    let (mut before, mut end) = (0, start);
    let rest = text.get(start..).unwrap_or_default();
    for (at, c) in rest
        .char_indices()
        .take_while(|(at, c)| *c != '\n' && *at < LONGEST_VALUE)
    {
        let level = 2 * (backslashes + 1);
        if c == quote && before % level == backslashes && (before <= backslashes || may_follow(rest, at + 1)) {
            return start..start + at - backslashes.min(before);
        }
        before = if c == '\\' { before + 1 } else { 0 };
        end = start + at + c.len_utf8();
    }
    start..end
}

/// Whether a value can end at `at`.
fn may_follow(text: &str, at: usize) -> bool {
    let next = text.get(at..).and_then(|rest| rest.chars().next());
    next.is_none_or(|c| c.is_whitespace() || ",;:&)]}\\\"'".contains(c))
}

/// A value without quotes. Behind a colon stand types and prose, too: there, and apart from its sign, it is one only if no
/// word looks so.
fn bare(text: &str, start: usize, sign: char, joined: bool) -> Option<Range<usize>> {
    let bytes = run(text, start, |c| {
        !c.is_whitespace()
            && !matches!(
                c,
                ',' | ';' | '&' | '"' | '\'' | ')' | '}' | '=' | '\\' | '␛' | '\u{1b}'
            )
    });
    let literal = text.get(bytes.clone())?;
    let is_code = literal.contains(['(', '[', '{', '.']);
    let is_mixed = literal.contains(|c: char| c.is_ascii_digit()) && literal.contains(char::is_alphabetic);
    let is_value = (sign == '=' && joined) || (sign == ':' && is_mixed);
    (is_value && !is_code).then_some(bytes)
}

/// Behind the colours that begin at `at`: as bytes, as they are shown, and as strings write them.
fn past_colours(text: &str, mut at: usize) -> usize {
    const ESCAPES: [&str; 7] = ["\u{1b}", "␛", "\\x1b", "\\x1B", "\\033", "\\e", "\\u001b"];
    while let Some(rest) = text.get(at..) {
        let escape = ESCAPES.iter().find(|escape| rest.starts_with(**escape));
        let Some(open) = escape.and_then(|escape| rest.get(escape.len()..)?.strip_prefix('[')) else {
            break;
        };
        let last = open.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | ':'));
        let Some(behind) = last.strip_prefix(['m', 'K']) else {
            break;
        };
        at = text.len() - behind.len();
    }
    at
}

/// A value that stands for one, not one itself.
pub(super) fn is_placeholder(value: &str, name: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    lower.starts_with(['$', '<', '{', '[', '*'])
        || lower == name
        || ["none", "null", "true", "false", "string"].contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::find as all;
    use super::*;
    use rstest::rstest;

    fn masked(text: &str) -> Vec<&str> {
        all(text).into_iter().filter_map(|f| text.get(f.bytes)).collect()
    }

    #[rstest]
    #[case("password = \"hunter2!\"", "hunter2!")]
    #[case("DB_PASSWORD=hunter2", "hunter2")]
    #[case("{\"api_key\": \"0123456789\"}", "0123456789")]
    #[case(r#"{\"password\": \"hunter2\"}"#, "hunter2")]
    #[case(r#"{"password": "hun\"ter2", "user": "me"}"#, r#"hun\"ter2"#)]
    #[case(r#"{"password": "hunter\\", "user": "me"}"#, r"hunter\\")]
    #[case(r#""{\"password\": \"hun\\\"ter2\", \"user\": \"me\"}""#, r#"hun\\\"ter2"#)]
    #[case(r#"'{"password": "hun\\"ter2"}'"#, r#"hun\\"ter2"#)]
    #[case(r"{'password': 'hun\'ter2'}", r"hun\'ter2")]
    #[case(r#""password": "two\nlines""#, r"two\nlines")]
    #[case("password = \"never closed\nnext", "never closed")]
    #[case("PASSWORD=␛[33mhunter2␛[0m", "hunter2")]
    #[case("\u{1b}[36mPASSWORD\u{1b}[0m=\u{1b}[33mhunter2", "hunter2")]
    #[case(r"\x1b[36mPASSWORD\x1b[0m=\x1b[33mhunter2\x1b[0m", "hunter2")]
    #[case("x-api-key: 0123456789abcdef", "0123456789abcdef")]
    #[case("  password: hunter2", "hunter2")]
    fn named_values_are_found(#[case] text: &str, #[case] secret: &str) {
        assert_eq!(masked(text), [secret]);
    }

    #[rstest]
    #[case("password = getpass()")]
    #[case("def login(password: str, secret=None):")]
    #[case("the password: it was forgotten")]
    #[case("connect(password=password)")]
    #[case("api_key = os.environ[\"KEY\"]")]
    #[case("PASSWORD=$PASSWORD")]
    #[case("max_tokens=4096 and usage.total_tokens: 12345678")]
    fn code_is_left_alone(#[case] text: &str) {
        assert_eq!(masked(text), Vec::<&str>::new());
    }

    #[test]
    fn names_are_found_wherever_pieces_of_a_long_text_end() {
        assert!(NAMES.iter().all(|(name, _)| name.len() <= LONGEST_NAME));
        for before in PIECE - 20..PIECE + 2 {
            let text = format!("{} ACCESS_TOKEN=0123456789abcdef", "é".repeat(before / 2));
            assert_eq!(masked(&text), ["0123456789abcdef"], "{before}");
        }
    }

    #[test]
    fn quotes_that_never_close_cost_no_pass_each() {
        let text: String = (0..900).map(|n| format!("password={}'", "\\".repeat(n % 90))).collect();
        assert!(all(&text).iter().all(|found| found.bytes.len() <= LONGEST_VALUE));
        let open = format!("password='{}", "x".repeat(9 * LONGEST_VALUE));
        assert_eq!(masked(&open)[0].len(), LONGEST_VALUE);
    }
}
