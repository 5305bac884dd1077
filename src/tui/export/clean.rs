//! The one gate that every exported text passes: sanitised unless raw text was asked for, and with secrets masked.

use super::secrets;
use crate::text::SafeText;
use std::collections::BTreeMap;

/// What a masked secret looked like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SecretKind {
    /// A provider's key (`sk-…` and its like).
    ApiKey,
    /// An AWS access key.
    AwsKey,
    /// A GitHub token.
    GitHubToken,
    /// The credential of a `Bearer` header.
    Bearer,
    /// A JSON web token.
    WebToken,
    /// A private key block.
    PrivateKey,
    /// A value that is named a password, key or token.
    NamedValue,
}

impl SecretKind {
    /// Its name in reports and marks.
    pub fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "API key",
            Self::AwsKey => "AWS key",
            Self::GitHubToken => "GitHub token",
            Self::Bearer => "bearer token",
            Self::WebToken => "web token",
            Self::PrivateKey => "private key",
            Self::NamedValue => "named secret",
        }
    }
}

/// Secrets of one kind that were masked at one place; never their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// What they looked like.
    pub kind: SecretKind,
    /// Where they stood: `Q1 step 3 output`.
    pub place: String,
    /// How many.
    pub count: u64,
}

/// Cleans text, and remembers what it masked where.
pub(super) struct Cleaner {
    raw: bool,
    place: String,
    masked: BTreeMap<(String, SecretKind), u64>,
}

impl Cleaner {
    pub(super) fn new(raw: bool) -> Self {
        Self {
            raw,
            place: String::new(),
            masked: BTreeMap::new(),
        }
    }

    /// Names the place that the next texts come from.
    pub(super) fn at(&mut self, place: impl Into<String>) {
        self.place = place.into();
    }

    /// Text of several lines; `part` is what it is of the place (`output`).
    pub(super) fn block(&mut self, text: &str, part: &str) -> String {
        if self.raw {
            return self.mask(text, part);
        }
        self.mask(SafeText::block(text).as_str(), part)
    }

    /// Text of one line.
    pub(super) fn line(&mut self, text: &str, part: &str) -> String {
        self.mask(SafeText::line(text).as_str(), part)
    }

    /// What was masked, by place and kind.
    pub(super) fn masked(&self) -> Vec<Masked> {
        let masked = self.masked.iter();
        masked
            .map(|((place, kind), count)| Masked {
                kind: *kind,
                place: place.clone(),
                count: *count,
            })
            .collect()
    }

    fn mask(&mut self, text: &str, part: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut kept = 0;
        for found in secrets::find(text) {
            let place = format!("{} {part}", self.place).trim().to_owned();
            *self.masked.entry((place, found.kind)).or_default() += 1;
            out.push_str(text.get(kept..found.bytes.start).unwrap_or_default());
            out.push_str(&format!("[masked: {}]", found.kind.name()));
            kept = found.bytes.end;
        }
        out.push_str(text.get(kept..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_reported_without_their_value() {
        let mut cleaner = Cleaner::new(false);
        cleaner.at("Q1 step 2");
        let text = cleaner.block("use sk-abcdefghijklmnop1234 and sk-zyxwvutsrqponmlk9876 now", "code");
        assert_eq!(text, "use [masked: API key] and [masked: API key] now");
        let masked = cleaner.masked();
        assert_eq!(masked[0].place, "Q1 step 2 code");
        assert_eq!((masked[0].kind, masked[0].count), (SecretKind::ApiKey, 2));
    }

    #[test]
    fn raw_text_is_masked_too() {
        let mut cleaner = Cleaner::new(true);
        assert_eq!(cleaner.block("\u{1b}[1mpassword='hunter2'", ""), "\u{1b}[1mpassword='[masked: named secret]'");
    }
}
