//! [`SafeText`]: the only text that widgets accept.
//!
//! Everything that comes from logs, models, the REPL, names and paths is untrusted: escape sequences, control
//! characters, bidi overrides and zero-width tricks would act on the terminal or mislead the reader. They are
//! replaced here, once, by visible marks:
//!
//! | what | mark |
//! | --- | --- |
//! | C0 controls and DEL | their control picture: `␛` `␇` `␈` `␡`; what follows an ESC stays visible: `␛]0;title␇` |
//! | C1 controls, bidi controls, invisible characters, stray joiners and selectors | their code point: `‹U+202E›` |
//! | a combining mark without a base | on a dotted circle: `◌́` |
//! | combining marks beyond the 16th on one base | their number: `‹+184›` |
//!
//! What writing needs stays: letters from right to left, combining marks, joiners between letters that join and in
//! emoji sequences, selectors after characters that have variants.

use super::count::cut_mark;
use super::hidden::{Class, class};
use super::sanitize::{Places, Sanitizer, Style, is_clean};
use super::shared::Shared;

/// Bytes that are shown of the end of a text that marks have made too long.
const END: usize = 1 << 20;

/// Text that can be sent to a terminal: lines separated by `\n`, tabs expanded, no other control character, no
/// bidi override, no zero-width trick. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SafeText(Shared);

impl SafeText {
    /// Sanitises text of several lines: `\r\n` is a newline, a lone `\r` restarts its line (what follows overwrites
    /// its beginning, as on a terminal), tabs expand to columns of 4, colour sequences (SGR) are dropped, everything
    /// else that is not printable becomes a mark.
    ///
    /// ```
    /// use fast_rlm::text::SafeText;
    ///
    /// assert_eq!(SafeText::block("\x1b[31mred\x1b[0m\x07\r\n10%\r99").as_str(), "red␇\n99%");
    /// ```
    pub fn block(raw: &str) -> Self {
        Self::sanitize(raw, Style::Block)
    }

    /// Like [`SafeText::block`], of a text that is kept: one that is clean already is not held twice.
    pub fn of_kept(raw: &Shared) -> Self {
        Self::of_kept_within(raw, usize::MAX).0
    }

    /// The same with at most some `most` bytes of it, marks having made it longer: what goes beyond is left out, all but
    /// its end, with a mark; and whether that was done.
    pub fn of_kept_within(raw: &Shared, most: usize) -> (Self, bool) {
        Self::kept(raw, Style::Block, most)
    }

    /// Like [`SafeText::raw`], as [`SafeText::of_kept_within`].
    pub fn raw_of_kept_within(raw: &Shared, most: usize) -> (Self, bool) {
        Self::kept(raw, Style::Raw, most)
    }

    fn kept(raw: &Shared, style: Style, most: usize) -> (Self, bool) {
        if is_clean(raw, style) {
            return (Self(raw.clone()), false);
        }
        let (mut safe, rest) = Sanitizer::new(raw, style).run_within(most);
        if rest.is_empty() {
            let same = safe == raw.as_str();
            return (Self(if same { raw.clone() } else { safe.into() }), false);
        }
        if rest.len() <= END {
            drop(safe);
            return (Self(Self::sanitize(raw, style).0), false);
        }
        // What comes last must not need what followed it.
        let end = safe.rfind(|c| c == '\n' || class(c) == Class::Plain);
        safe.truncate(end.map_or(0, |at| safe.ceil_char_boundary(at + 1)));
        safe.push_str(&cut_mark(raw.len() as u64));
        safe.push_str(Self::sanitize(end_of(rest, END), style).as_str());
        (Self(safe.into()), true)
    }

    /// Texts below one another.
    pub fn below(texts: &[Self]) -> Self {
        if let [text] = texts {
            return text.clone();
        }
        let texts: Vec<&str> = texts.iter().map(Self::as_str).collect();
        Self(texts.join("\n").into())
    }

    /// Like [`SafeText::block`], but nothing is left out: colour sequences and lone `\r` are shown as marks too.
    pub fn raw(raw: &str) -> Self {
        Self::sanitize(raw, Style::Raw)
    }

    /// Like [`SafeText::raw`], with where its characters went: text that is being typed is edited as it is, and shown
    /// like this.
    pub fn placed(raw: &str) -> (Self, Places) {
        if is_clean(raw, Style::Raw) {
            return (Self(raw.into()), Places::default());
        }
        let (safe, places) = Sanitizer::new(raw, Style::Raw).run_placed();
        (Self(safe.into()), places)
    }

    /// Like [`SafeText::block`], on a single line: newlines and lone `\r` become `⏎`. Nothing is left out of names, ids and
    /// titles: colour sequences are shown as marks.
    pub fn line(raw: &str) -> Self {
        Self::sanitize(raw, Style::Line)
    }

    /// The program's own words, known to be clean.
    pub fn literal(own: &'static str) -> Self {
        debug_assert_eq!(Self::block(own).as_str(), own, "the program's own words hold no marks");
        Self(own.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same, as it may be kept elsewhere.
    pub fn shared(&self) -> &Shared {
        &self.0
    }

    /// Its lines, without their newlines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.split('\n')
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn sanitize(raw: &str, style: Style) -> Self {
        if is_clean(raw, style) {
            return Self(raw.into());
        }
        Self(Sanitizer::new(raw, style).run().into())
    }
}

/// The last characters of a text: at most `most` bytes.
fn end_of(text: &str, most: usize) -> &str {
    let from = text.len().saturating_sub(most);
    let ends = (from..=text.len()).find_map(|at| text.get(at..));
    ends.unwrap_or_default()
}

impl std::fmt::Display for SafeText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for SafeText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests;
