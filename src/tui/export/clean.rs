//! The one gate that every exported text passes: sanitised unless raw text was asked for, and with secrets masked.

use super::{secrets, strings};
use crate::text::secret::Secrets;
use crate::text::{SafeText, Shared};
use crate::tui::body::{most_shown, most_shown_of};
use std::borrow::Cow;
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
    /// A value that was registered as a secret.
    Registered,
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
            Self::Registered => "registered secret",
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
    /// How many; for registered ones, in how many texts.
    pub count: u64,
}

/// Text of one line with every secret masked: the registered ones, and what looks like one.
pub fn masked(text: &str, secrets: &Secrets) -> String {
    Cleaner::new(false, secrets.clone()).line(text, "")
}

/// The part of a step that programs printed.
pub(super) const OUTPUT: &str = "output";

/// Cleans text, and remembers what it masked where.
pub(super) struct Cleaner {
    raw: bool,
    secrets: Secrets,
    place: String,
    masked: BTreeMap<(String, SecretKind), u64>,
}

impl Cleaner {
    pub(super) fn new(raw: bool, secrets: Secrets) -> Self {
        Self {
            raw,
            secrets,
            place: String::new(),
            masked: BTreeMap::new(),
        }
    }

    /// Names the place that the next texts come from.
    pub(super) fn at(&mut self, place: impl Into<String>) {
        self.place = place.into();
    }

    /// Text of several lines; `part` is what it is of the place (`output`). A long one is changed where it is, if at all.
    pub(super) fn block(&mut self, text: String, part: &str) -> Shared {
        let most = most_shown(&text);
        self.block_within(text, part, most)
    }

    /// The same, of one of several texts that are `all` bytes together.
    pub(super) fn block_of(&mut self, text: String, part: &str, all: usize) -> Shared {
        let most = most_shown_of(&text, all);
        self.block_within(text, part, most)
    }

    fn block_within(&mut self, text: String, part: &str, most: usize) -> Shared {
        let text = self.shown(text.into(), part, most);
        let masked = self.changed(&text, part);
        masked.map_or(text, Shared::from)
    }

    /// As on screen, where marks can make a huge text too long; what was recorded is let go of. Colours that a program
    /// printed are left out of its output; anywhere else they are a part of the text, and there is no other way to see them.
    fn shown(&self, text: Shared, part: &str, most: usize) -> Shared {
        let safe = match part {
            _ if self.raw => return text,
            OUTPUT => SafeText::of_kept_within(&text, most),
            _ => SafeText::raw_of_kept_within(&text, most),
        };
        safe.0.shared().clone()
    }

    /// JSON: its strings are texts of several lines; masking sees it whole, since names tell secrets too.
    pub(super) fn json(&mut self, text: &str, part: &str) -> String {
        if self.raw {
            return self.mask(text, part);
        }
        let safe = strings::map(text, |string| SafeText::raw(string).as_str().to_owned());
        self.mask(&safe, part)
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
        self.changed(text, part).unwrap_or_else(|| text.to_owned())
    }

    /// The text with its secrets masked, if there are any in it.
    fn changed(&mut self, text: &str, part: &str) -> Option<String> {
        let known = self.secrets.redact(text);
        if matches!(known, Cow::Owned(_)) {
            self.count(SecretKind::Registered, part);
        }
        let found = secrets::find(&known);
        if found.is_empty() {
            return match known {
                Cow::Owned(redacted) => Some(redacted),
                Cow::Borrowed(_) => None,
            };
        }
        let mut out = String::with_capacity(known.len());
        let mut kept = 0;
        for found in found {
            self.count(found.kind, part);
            out.push_str(known.get(kept..found.bytes.start).unwrap_or_default());
            out.push_str(&format!("[masked: {}]", found.kind.name()));
            kept = found.bytes.end;
        }
        out.push_str(known.get(kept..).unwrap_or_default());
        Some(out)
    }

    fn count(&mut self, kind: SecretKind, part: &str) {
        let place = format!("{} {part}", self.place).trim().to_owned();
        *self.masked.entry((place, kind)).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_reported_without_their_value() {
        let mut cleaner = Cleaner::new(false, Secrets::default());
        cleaner.at("Q1 step 2");
        let text = cleaner.block(
            "use sk-abcdefghijklmnop1234 and sk-zyxwvutsrqponmlk9876 now".into(),
            "code",
        );
        assert_eq!(text.as_str(), "use [masked: API key] and [masked: API key] now");
        let masked = cleaner.masked();
        assert_eq!(masked[0].place, "Q1 step 2 code");
        assert_eq!((masked[0].kind, masked[0].count), (SecretKind::ApiKey, 2));
    }

    #[test]
    fn raw_text_is_masked_too() {
        let mut cleaner = Cleaner::new(true, Secrets::default());
        assert_eq!(
            cleaner.block("\u{1b}[1mpassword='hunter2'".into(), "").as_str(),
            "\u{1b}[1mpassword='[masked: named secret]'"
        );
    }

    #[test]
    fn what_nothing_can_colour_keeps_its_marks() {
        let mut cleaner = Cleaner::new(false, Secrets::default());
        let red = "\u{1b}[31mred\u{9b}0m";
        assert_eq!(cleaner.json(r#"["\u009b31m"]"#, "FINAL"), "[\"‹U+009B›31m\"]");
        assert_eq!(cleaner.line(red, "name"), "␛[31mred‹U+009B›0m");
        assert_eq!(cleaner.block(red.into(), "query").as_str(), "␛[31mred‹U+009B›0m");
        assert_eq!(cleaner.block(red.into(), OUTPUT).as_str(), "red");
    }
}
