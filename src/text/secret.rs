//! Secrets that must not show anywhere: a registry of values, and their removal from text in every form in which a
//! program commonly writes them (as they are, escaped as in JSON or a Python `repr`, URL-encoded, in base64).
//!
//! What is registered and what is redacted when is the business of others.

mod live;

pub use live::LiveRedactor;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::{memchr2_iter, memmem};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// The shortest value that can be protected: shorter ones would turn up by chance.
pub const MIN_SECRET_CHARS: usize = 8;

/// Why a value cannot be protected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// It is too short to be told from ordinary text.
    #[error(
        "the secret {name} is shorter than {MIN_SECRET_CHARS} characters and cannot be protected: use a longer one"
    )]
    TooShort {
        /// Its name.
        name: String,
    },
}

/// A registry of secrets. Clones share it.
#[derive(Clone, Default)]
pub struct Secrets {
    entries: Arc<RwLock<Vec<Arc<Secret>>>>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.snapshot().iter().map(|secret| &secret.name))
            .finish()
    }
}

impl Secrets {
    /// Protects `value` from now on; `name` stands in its place. Registering a pair again changes nothing.
    ///
    /// # Errors
    ///
    /// [`SecretError::TooShort`] for values under [`MIN_SECRET_CHARS`] characters.
    pub fn register(&self, name: &str, value: &str) -> Result<(), SecretError> {
        if value.chars().count() < MIN_SECRET_CHARS {
            return Err(SecretError::TooShort { name: name.to_owned() });
        }
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if !entries.iter().any(|known| known.name == name && known.value == value) {
            entries.push(Arc::new(Secret::new(name, value)));
        }
        Ok(())
    }

    /// `text` with every registered value, in any of its forms, replaced by `[secret NAME]`.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut spans: Vec<(Range<usize>, String)> = Vec::new();
        for secret in self.snapshot() {
            spans.extend(
                secret
                    .find(text.as_bytes())
                    .into_iter()
                    .map(|span| (span, secret.marker())),
            );
        }
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        spans.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        Cow::Owned(replace(text, &spans))
    }

    /// Whether a registered value is in `bytes`, in any of its forms or as a number in a pickle; its name, if so.
    #[must_use]
    pub fn find_in(&self, bytes: &[u8]) -> Option<String> {
        self.snapshot()
            .iter()
            .find(|secret| !secret.find(bytes).is_empty() || secret.is_number_in(bytes))
            .map(|secret| secret.name.clone())
    }

    fn snapshot(&self) -> Vec<Arc<Secret>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Replaces sorted spans; what overlaps a span that was replaced goes with it.
fn replace(text: &str, spans: &[(Range<usize>, String)]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut done = 0;
    for (span, marker) in spans {
        if span.start >= done {
            redacted.push_str(text.get(done..span.start).unwrap_or_default());
            redacted.push_str(marker);
        }
        done = done.max(span.end);
    }
    redacted.push_str(text.get(done..).unwrap_or_default());
    redacted
}

struct Secret {
    name: String,
    value: String,
    /// What its base64 always contains, at each of the three offsets it can have in a longer text and in both alphabets.
    base64: Vec<String>,
    /// What a pickle holds of it, where it is a number.
    numbers: Vec<Vec<u8>>,
}

impl Secret {
    fn new(name: &str, value: &str) -> Self {
        let mut base64: Vec<String> = (0..3)
            .flat_map(|offset| base64_cores(value.as_bytes(), offset))
            .collect();
        base64.sort();
        base64.dedup();
        Self {
            name: name.to_owned(),
            value: value.to_owned(),
            base64,
            numbers: value.parse().map_or_else(|_| Vec::new(), pickled),
        }
    }

    fn is_number_in(&self, bytes: &[u8]) -> bool {
        self.numbers.iter().any(|number| memmem::find(bytes, number).is_some())
    }

    /// What stands in the value's place; without the name when that would give the value away.
    fn marker(&self) -> String {
        let marker = format!("[secret {}]", self.name);
        if marker.contains(&self.value) {
            "[…]".to_owned()
        } else {
            marker
        }
    }

    fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut spans = occurrences(text, self.value.as_bytes());
        spans.extend(self.base64.iter().flat_map(|core| occurrences(text, core.as_bytes())));
        spans.extend(self.encoded(text, b'\\', escaped));
        spans.extend(self.encoded(text, b'%', percent));
        spans
    }

    /// Places where decoding with `decode` gives the value. Each character may be encoded or not, since encoders differ
    /// in what they encode; `mark` begins every encoded one.
    fn encoded(&self, text: &[u8], mark: u8, decode: fn(&[u8]) -> Option<(char, usize)>) -> Vec<Range<usize>> {
        let mut spans: Vec<Range<usize>> = Vec::new();
        // A plus sign is a space, and has no mark.
        let any = memchr::memchr(mark, text).is_some() || mark == b'%' && self.value.contains(' ');
        let (true, Some(first)) = (any, self.value.bytes().next()) else {
            return spans;
        };
        let space = if mark == b'%' && first == b' ' {
            memchr::memchr_iter(b'+', text).collect()
        } else {
            Vec::new()
        };
        for start in memchr2_iter(first, mark, text).chain(space) {
            if let Some(length) = text.get(start..).and_then(|rest| self.match_length(rest, decode)) {
                spans.push(start..start + length);
            }
        }
        spans
    }

    fn match_length(&self, text: &[u8], decode: fn(&[u8]) -> Option<(char, usize)>) -> Option<usize> {
        let mut length = 0;
        for expected in self.value.chars() {
            let rest = text.get(length..)?;
            let mut literal = [0; 4];
            let literal = expected.encode_utf8(&mut literal).as_bytes();
            length += match decode(rest) {
                Some((decoded, taken)) if decoded == expected => taken,
                // A backslash or percent sign that stands for itself, next to others that do not.
                _ if rest.starts_with(literal) => literal.len(),
                _ => return None,
            };
        }
        Some(length)
    }
}

/// Where `needle` stands, also where it overlaps itself: those are one place, for none of it may be left over.
fn occurrences(text: &[u8], needle: &[u8]) -> Vec<Range<usize>> {
    let finder = memmem::Finder::new(needle);
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| finder.find(rest)) {
        let start = from + found;
        match spans.last_mut() {
            Some(last) if start < last.end => last.end = start + needle.len(),
            _ => spans.push(start..start + needle.len()),
        }
        from = start + 1;
    }
    spans
}

/// The base64 characters that depend on `value` alone when `offset` bytes stand before it.
fn base64_cores(value: &[u8], offset: usize) -> [String; 2] {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(value);
    // Six bits a character: those that begin inside the offset or end after the value belong to the neighbours too.
    let first = (offset * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)]
        .map(|text| text.get(first..end).unwrap_or_default().to_owned())
}

/// A number as pickles write it (protocols 2 and on), with the opcode before it: alone, its bytes turn up by chance.
fn pickled(number: u64) -> Vec<Vec<u8>> {
    let bytes = number.to_le_bytes();
    let used = bytes.len() - (number.leading_zeros() / 8) as usize;
    // A byte for the sign, where the highest bit would be taken for it.
    let signed = used + usize::from(number.leading_zeros().is_multiple_of(8));
    let mut long = vec![0x8a, u8::try_from(signed).unwrap_or(u8::MAX)];
    long.extend(bytes.iter().take(used));
    let short = i32::try_from(number).map(|number| [&b"J"[..], &number.to_le_bytes()].concat());
    [Some(long), short.ok()].into_iter().flatten().collect()
}

/// Decodes one backslash escape of JSON or Python.
fn escaped(text: &[u8]) -> Option<(char, usize)> {
    let rest = text.strip_prefix(b"\\")?;
    match rest.first()? {
        b'n' => Some(('\n', 2)),
        b't' => Some(('\t', 2)),
        b'r' => Some(('\r', 2)),
        b'b' => Some(('\u{8}', 2)),
        b'f' => Some(('\u{c}', 2)),
        b'x' => Some((char::from_u32(hex(rest.get(1..3)?)?)?, 4)),
        b'U' => Some((char::from_u32(hex(rest.get(1..9)?)?)?, 10)),
        b'u' => unicode_escape(rest),
        mark @ (b'"' | b'\'' | b'\\' | b'/') => Some((char::from(*mark), 2)),
        _ => None,
    }
}

/// `uXXXX`, or the two halves of a surrogate pair.
fn unicode_escape(rest: &[u8]) -> Option<(char, usize)> {
    let high = hex(rest.get(1..5)?)?;
    if let Some(single) = char::from_u32(high) {
        return Some((single, 6));
    }
    let low = hex(rest.get(5..11)?.strip_prefix(b"\\u")?)?;
    let pair = [u16::try_from(high).ok()?, u16::try_from(low).ok()?];
    let decoded = char::decode_utf16(pair).next()?.ok()?;
    Some((decoded, 12))
}

/// Decodes one character whose UTF-8 bytes are percent-encoded; a plus sign is a space.
fn percent(text: &[u8]) -> Option<(char, usize)> {
    if text.first() == Some(&b'+') {
        return Some((' ', 1));
    }
    let mut bytes = Vec::with_capacity(4);
    while bytes.len() < 4 {
        let encoded = text.get(bytes.len() * 3..bytes.len() * 3 + 3)?.strip_prefix(b"%")?;
        bytes.push(u8::try_from(hex(encoded)?).ok()?);
        if let Ok(decoded) = std::str::from_utf8(&bytes) {
            return decoded.chars().next().map(|decoded| (decoded, bytes.len() * 3));
        }
    }
    None
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use proptest::prelude::*;

    fn secrets(value: &str) -> Secrets {
        let secrets = Secrets::default();
        secrets.register("KEY", value).unwrap();
        secrets
    }

    fn percent_encode(value: &str, keep: fn(u8) -> bool, upper: bool) -> String {
        let encode = |byte: u8| match (keep(byte), upper) {
            (true, _) => char::from(byte).to_string(),
            (false, true) => format!("%{byte:02X}"),
            (false, false) => format!("%{byte:02x}"),
        };
        value.bytes().map(encode).collect()
    }

    fn ascii_json(value: &str) -> String {
        value.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect()
    }

    #[test]
    fn a_value_that_overlaps_itself_leaves_nothing_over() {
        let secrets = secrets("babbabbab");
        assert_eq!(secrets.redact("<babbabbabbab>"), "<[secret KEY]>");
        assert_eq!(
            secrets.redact("<babbabbabbab> \\"),
            "<[secret KEY]> \\",
            "whatever else is there"
        );
        assert_eq!(secrets.redact("babbabbab babbabbab"), "[secret KEY] [secret KEY]");
    }

    #[test]
    fn short_values_are_refused_by_name_only() {
        let error = Secrets::default().register("PIN", "1234567").unwrap_err();
        assert_eq!(error, SecretError::TooShort { name: "PIN".to_owned() });
        assert!(!error.to_string().contains("1234567"));
        // Characters count, not bytes.
        assert!(Secrets::default().register("PIN", "ééééééé").is_err());
    }

    #[test]
    fn every_form_is_replaced_and_the_rest_kept() {
        let value = "p@ss \"wörd\"\\/\n👍%41";
        let json = serde_json::to_string(value).unwrap();
        let forms = [
            value.to_owned(),
            json.trim_matches('"').to_owned(),
            ascii_json(value),
            "p@ss \\\"w\\xf6rd\\\"\\\\/\\n\\U0001f44d%41".to_owned(),
            percent_encode(value, |byte| byte.is_ascii_alphanumeric(), true),
            percent_encode(value, |_| false, false),
            percent_encode(value, |byte| byte == b' ' || byte.is_ascii_alphanumeric(), true).replace(' ', "+"),
        ];
        for form in forms {
            let text = format!("a {form} b");
            assert_eq!(secrets(value).redact(&text), "a [secret KEY] b", "{form}");
        }
    }

    #[test]
    fn a_longer_secret_swallows_a_shorter_one_and_debug_shows_names() {
        let secrets = secrets("12345678");
        secrets.register("LONG", "00123456789").unwrap();
        assert_eq!(secrets.redact("x00123456789x12345678"), "x[secret LONG]x[secret KEY]");
        assert_eq!(format!("{secrets:?}"), r#"["KEY", "LONG"]"#);
        assert_eq!(secrets.find_in(b"\x80\x0400123456789"), Some("KEY".to_owned()));
        assert_eq!(secrets.find_in(b"0012345"), None);
    }

    #[test]
    fn a_number_is_found_in_a_pickle() {
        // pickle.dumps([n], 5) of CPython.
        for (value, pickle) in [
            (
                "80912734651",
                &b"\x80\x05\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94\x8a\x05\xbbY\xc6\xd6\x12a."[..],
            ),
            (
                "12345678",
                b"\x80\x05\x95\x09\x00\x00\x00\x00\x00\x00\x00]\x94JNa\xbc\x00a.",
            ),
            (
                "4294967295",
                b"\x80\x05\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94\x8a\x05\xff\xff\xff\xff\x00a.",
            ),
        ] {
            assert_eq!(secrets(value).find_in(pickle), Some("KEY".to_owned()), "{value}");
            assert_eq!(secrets("98765432").find_in(pickle), None);
        }
    }

    #[test]
    fn a_value_inside_its_own_marker_is_not_named() {
        let secrets = secrets("[secret K");
        assert_eq!(secrets.redact("a [secret KEY] b"), "a […]EY] b");
    }

    proptest! {
        #[test]
        fn no_form_survives(
            value in "[ -~é👍\\n]{8,24}", before in "[ -~é]{0,9}", after in "[ -~é]{0,9}", upper in any::<bool>(),
        ) {
            let secrets = secrets(&value);
            let json = serde_json::to_string(&value).unwrap();
            let forms = [
                value.clone(),
                json.split_at(json.len() - 1).0.replacen('"', "", 1),
                ascii_json(&value),
                percent_encode(&value, |byte| byte.is_ascii_alphanumeric(), upper),
                percent_encode(&value, |_| false, upper),
            ];
            for form in forms {
                let text = format!("{before}\n{form}\n{after}");
                let redacted = secrets.redact(&text);
                prop_assert!(!redacted.contains(&form), "{} in {}", form, redacted);
                prop_assert!(secrets.find_in(text.as_bytes()).is_some());
            }
        }

        #[test]
        fn no_base64_of_a_text_that_holds_it_survives(value in "[!-~]{8,24}", before in "[ -~é]{0,9}", after in "[ -~é]{0,9}") {
            let plain = format!("{before}{value}{after}");
            for encoded in [STANDARD.encode(&plain), URL_SAFE.encode(&plain)] {
                let secrets = secrets(&value);
                prop_assert!(secrets.find_in(encoded.as_bytes()).is_some());
                let redacted = secrets.redact(&encoded).into_owned();
                prop_assert!(redacted.contains("[secret KEY]") && redacted.len() < encoded.len() + 14, "{}", redacted);
            }
        }

        #[test]
        fn text_without_the_secret_is_left_alone(text in "[ -~é👍\\n\\\\%]{0,60}") {
            prop_assert!(matches!(secrets("never-in-there-ÿ").redact(&text), Cow::Borrowed(_)));
        }
    }
}
