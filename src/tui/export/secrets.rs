//! Finding secrets in text: keys of well-known shapes, and values that are named as secrets.
//!
//! Each finder is one pass over the text, whatever the text: what one run took is not looked at again, or it is short. A
//! finder that is unsure leaves the text alone when masking would destroy code (`password = getpass()`), and masks when a
//! literal value stands there.

mod named;

use super::SecretKind;
use std::ops::Range;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its bytes.
    pub(super) bytes: Range<usize>,
    /// What it looks like.
    pub(super) kind: SecretKind,
}

/// A key that starts with a known prefix and goes on for a while.
struct Prefix {
    start: &'static str,
    /// Fewest characters after it.
    least: usize,
    kind: SecretKind,
}

const PREFIXES: [Prefix; 14] = [
    key("sk-", 16, SecretKind::ApiKey),
    key("sk_live_", 16, SecretKind::ApiKey),
    key("rk_live_", 16, SecretKind::ApiKey),
    key("AIza", 30, SecretKind::ApiKey),
    key("gsk_", 20, SecretKind::ApiKey),
    key("hf_", 20, SecretKind::ApiKey),
    key("AKIA", 16, SecretKind::AwsKey),
    key("ASIA", 16, SecretKind::AwsKey),
    key("ghp_", 20, SecretKind::GitHubToken),
    key("gho_", 20, SecretKind::GitHubToken),
    key("ghs_", 20, SecretKind::GitHubToken),
    key("github_pat_", 20, SecretKind::GitHubToken),
    key("glpat-", 16, SecretKind::ApiKey),
    key("xoxb-", 16, SecretKind::ApiKey),
];

const fn key(start: &'static str, least: usize, kind: SecretKind) -> Prefix {
    Prefix { start, least, kind }
}

/// Every secret in `text`, in order, none overlapping another.
pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    private_keys(text, &mut found);
    for prefix in &PREFIXES {
        prefixed(text, prefix, &mut found);
    }
    bearers(text, &mut found);
    web_tokens(text, &mut found);
    named::find(text, &mut found);
    in_addresses(text, &mut found);
    found.sort_by_key(|f| (f.bytes.start, usize::MAX - f.bytes.end));
    let mut end = 0;
    found.retain(|f| {
        let apart = f.bytes.start >= end;
        end = end.max(f.bytes.end);
        apart
    });
    found
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// The bytes from `start` on that `accept` takes.
fn run(text: &str, start: usize, accept: impl Fn(char) -> bool) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    start..start + rest.find(|c| !accept(c)).unwrap_or(rest.len())
}

/// What stands before a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// It begins a word. So it does behind a written escape: in `\nsk-…`, as code, JSON and a `repr` have it, the key
    /// begins after the `n`.
    Apart,
    /// `_`: a part of a longer name, or a name and its key.
    Joined,
    Word,
}

fn before(text: &str, at: usize) -> Before {
    let head = text.get(..at).unwrap_or_default();
    match head.chars().next_back() {
        Some(c) if c.is_ascii_alphanumeric() && !ends_with_escape(head.as_bytes()) => Before::Word,
        Some('_') => Before::Joined,
        _ => Before::Apart,
    }
}

/// Whether something in it is no word: words have no digits, and fewer letters.
fn is_random(key: &str) -> bool {
    let mut parts = key.split(|c: char| !c.is_ascii_alphanumeric());
    parts.any(|part| part.len() >= 16 && part.contains(|c: char| c.is_ascii_digit()))
}

/// Whether what stands before ends with `\n` and its like, `\x1b`, `\u000a`, `\U0000000a`, `\012`, `%0A`, or a colour
/// sequence of which the first character may be gone.
fn ends_with_escape(head: &[u8]) -> bool {
    let ends = |sign: &[u8], digits: usize, is_digit: fn(&u8) -> bool| {
        let Some((before, last)) = head.len().checked_sub(digits).and_then(|at| head.split_at_checked(at)) else {
            return false;
        };
        before.ends_with(sign) && last.iter().all(is_digit)
    };
    let hex = u8::is_ascii_hexdigit;
    let octal: fn(&u8) -> bool = |byte| (b'0'..b'8').contains(byte);
    // `m` of colours; `K`, which tools that mark matches put behind them.
    let colour = || {
        let digits = head.strip_suffix(b"m").or_else(|| head.strip_suffix(b"K"))?;
        let end = digits
            .iter()
            .rposition(|byte| !byte.is_ascii_digit() && !b";:".contains(byte))?;
        digits.get(end)
    };
    ends(b"\\", 1, |byte| b"abefnrtv0".contains(byte))
        || ends(b"\\x", 2, hex)
        || ends(b"\\u", 4, hex)
        || ends(b"\\U", 8, hex)
        || ends(b"\\", 3, octal)
        || ends(b"%", 2, hex)
        || colour() == Some(&b'[')
}

fn prefixed(text: &str, prefix: &Prefix, found: &mut Vec<Found>) {
    let mut end = 0;
    for (at, start) in text.match_indices(prefix.start) {
        let before = before(text, at);
        if at < end || before == Before::Word {
            continue;
        }
        let bytes = run(text, at + start.len(), is_key_char);
        end = bytes.end;
        let key = text.get(bytes.clone()).unwrap_or_default();
        if bytes.len() >= prefix.least && (before == Before::Apart || is_random(key)) {
            found.push(Found {
                bytes: at..end,
                kind: prefix.kind,
            });
        }
    }
}

/// From the BEGIN line to the END line; to the end of the text where that was cut off.
fn private_keys(text: &str, found: &mut Vec<Found>) {
    const END: &str = "PRIVATE KEY-----";
    let mut from = 0;
    while let Some(begin) = text.get(from..).and_then(|rest| rest.find("-----BEGIN ")) {
        let begin = from + begin;
        let head = run(text, begin + 11, |c| {
            c.is_ascii_uppercase() || c.is_ascii_digit() || c == ' '
        });
        if !text.get(head.clone()).unwrap_or_default().ends_with("PRIVATE KEY") {
            from = head.end;
            continue;
        }
        let body = text.get(head.end..).unwrap_or_default();
        let end = body
            .find("-----END ")
            .and_then(|at| body.get(at..)?.find(END).map(|tail| head.end + at + tail + END.len()));
        from = end.unwrap_or(text.len());
        found.push(Found {
            bytes: begin..from,
            kind: SecretKind::PrivateKey,
        });
    }
}

/// `Bearer …`, the credential of an Authorization header.
fn bearers(text: &str, found: &mut Vec<Found>) {
    for word in ["Bearer ", "bearer "] {
        for (at, start) in text.match_indices(word) {
            let accept = |c: char| is_key_char(c) || matches!(c, '.' | '~' | '+' | '/' | '=');
            let bytes = run(text, at + start.len(), accept);
            if bytes.len() >= 16 {
                found.push(Found {
                    bytes,
                    kind: SecretKind::Bearer,
                });
            }
        }
    }
}

/// JSON web tokens: three parts of base64, the first of which opens an object.
fn web_tokens(text: &str, found: &mut Vec<Found>) {
    let mut end = 0;
    for (at, _) in text.match_indices("eyJ") {
        if at < end || before(text, at) == Before::Word {
            continue;
        }
        let bytes = run(text, at, |c| is_key_char(c) || c == '.');
        end = bytes.end;
        let token = text.get(bytes.clone()).unwrap_or_default();
        if bytes.len() >= 30 && token.matches('.').count() == 2 {
            found.push(Found {
                bytes,
                kind: SecretKind::WebToken,
            });
        }
    }
}

/// `https://user:password@host`.
fn in_addresses(text: &str, found: &mut Vec<Found>) {
    for (at, sign) in text.match_indices("://") {
        let place = run(text, at + sign.len(), |c| {
            !c.is_whitespace() && !matches!(c, '/' | '"' | '\'' | '<' | '>')
        });
        let Some((user, host)) = text.get(place.clone()).and_then(|whole| whole.rsplit_once('@')) else {
            continue;
        };
        let Some((name, password)) = user.split_once(':') else {
            continue;
        };
        let start = place.start + name.len() + 1;
        if !password.is_empty() && !host.is_empty() && !named::is_placeholder(password, name) {
            found.push(Found {
                bytes: start..start + password.len(),
                kind: SecretKind::NamedValue,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn masked(text: &str) -> Vec<&str> {
        find(text).into_iter().filter_map(|f| text.get(f.bytes)).collect()
    }

    #[rstest]
    #[case("key sk-abcdefghijklmnop1234, then", "sk-abcdefghijklmnop1234")]
    #[case("sk-or-v1-0123456789abcdef0123456789", "sk-or-v1-0123456789abcdef0123456789")]
    #[case("id AKIAIOSFODNN7EXAMPLE.", "AKIAIOSFODNN7EXAMPLE")]
    #[case("ghp_abcdefghijklmnopqrstuvwxyz0123", "ghp_abcdefghijklmnopqrstuvwxyz0123")]
    #[case("Authorization: Bearer abc.def-ghi_jkl~mno=", "abc.def-ghi_jkl~mno=")]
    #[case(
        "t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl x",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    )]
    #[case(r"'PATH=/bin\nsk-abcdefghijklmnop1234'", "sk-abcdefghijklmnop1234")]
    #[case(r#"{"env": "a\tAKIAIOSFODNN7EXAMPLE"}"#, "AKIAIOSFODNN7EXAMPLE")]
    #[case(r"b\x00ghp_abcdefghijklmnopqrstuvwxyz0123", "ghp_abcdefghijklmnopqrstuvwxyz0123")]
    #[case(r"\u000ask-abcdefghijklmnop1234", "sk-abcdefghijklmnop1234")]
    #[case(r"\012sk-abcdefghijklmnop1234", "sk-abcdefghijklmnop1234")]
    #[case("q=%0Ask-abcdefghijklmnop1234", "sk-abcdefghijklmnop1234")]
    #[case("[1;31msk-abcdefghijklmnop1234", "sk-abcdefghijklmnop1234")]
    #[case("␛[01;31m␛[Ksk-abcdefghijklmnop1234␛[m", "sk-abcdefghijklmnop1234")]
    #[case("my_key_sk-abcdefghijklmnop1234", "sk-abcdefghijklmnop1234")]
    #[case("TOKEN_ghp_abcdefghijklmnopqrstuvwxyz0123", "ghp_abcdefghijklmnopqrstuvwxyz0123")]
    #[case("postgres://me:s3cret@db/x", "s3cret")]
    #[case(
        "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----"
    )]
    #[case("-----BEGIN PRIVATE KEY-----\ncut off", "-----BEGIN PRIVATE KEY-----\ncut off")]
    fn secrets_are_found(#[case] text: &str, #[case] secret: &str) {
        assert_eq!(masked(text), [secret]);
    }

    #[rstest]
    #[case("task-force, risk-averse-and-very-long-word")]
    #[case("sk-short")]
    #[case("mask-abcdefghijklmnop1234 and 0x1bask-abcdefghijklmnop1234")]
    #[case("load_hf_transformers_checkpoint_from_hub, download_hf_gpt2_small_transformers_model")]
    #[case("-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----")]
    #[case("https://example.org/a@b:c")]
    #[case("the bearer of this letter")]
    fn ordinary_text_is_left_alone(#[case] text: &str) {
        assert_eq!(masked(text), Vec::<&str>::new());
    }

    proptest! {
        #[test]
        fn finds_lie_in_the_text_in_order(text in "(?s)(sk-|Bearer |password=|://|@|:|-----BEGIN |PRIVATE KEY-----|\"|[a-zé\n ]){0,40}") {
            let mut end = 0;
            for found in find(&text) {
                prop_assert!(found.bytes.start >= end && text.get(found.bytes.clone()).is_some());
                end = found.bytes.end;
            }
        }
    }
}
