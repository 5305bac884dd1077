//! Secrets that must not show anywhere: a registry of values, and their removal from text in every form in which a
//! program commonly writes them (as they are, escaped as in JSON or a Python `repr`, also twice, URL-encoded, in base64).
//!
//! What is registered and what is redacted when is the business of others.

mod cut;
mod forms;
mod live;
#[cfg(test)]
mod tests;
mod writer;

pub use live::LiveRedactor;
pub use writer::RedactingWriter;

use forms::{Decode, ENCODINGS, base64_cores, pickled};
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
    /// The keys that the environment has: every variable whose name ends as those of providers do. One that is too short
    /// to be protected is none.
    #[must_use]
    pub fn of_environment() -> Self {
        let secrets = Self::default();
        for (name, value) in std::env::vars_os() {
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
                && name.ends_with("_API_KEY")
            {
                let _ = secrets.register(name, value.trim());
            }
        }
        secrets
    }

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
                    .chain(secret.around_gaps(text))
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
        let encodings = ENCODINGS.iter();
        spans.extend(encodings.flat_map(|(mark, decode)| self.encoded(text, *mark, *decode)));
        spans
    }

    /// Places where decoding with `decode` gives the value. Each character may be encoded or not, since encoders differ
    /// in what they encode; `mark` begins every encoded one.
    fn encoded(&self, text: &[u8], mark: u8, decode: Decode) -> Vec<Range<usize>> {
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
            if let Some(length) = text
                .get(start..)
                .and_then(|rest| match_length(&self.value, rest, decode))
            {
                spans.push(start..start + length);
            }
        }
        spans
    }
}

/// Bytes that decode to `value`.
fn match_length(value: &str, text: &[u8], decode: Decode) -> Option<usize> {
    let mut length = 0;
    for expected in value.chars() {
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
