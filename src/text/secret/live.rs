//! Redacting text that comes in pieces: what may be the beginning of a secret is held back until it is known.

use super::forms::{Decode, ENCODINGS};
use super::{Secret, Secrets};
use std::borrow::Cow;
use std::sync::Arc;

/// The longest an encoder makes of one character: two `\uXXXX`, whose backslashes may be escaped again.
const LONGEST_ENCODED: usize = 22;

/// Redacts a stream of text. Nothing is held back that cannot be the beginning of a secret, so that output without one
/// is shown as it comes.
#[derive(Debug)]
pub struct LiveRedactor {
    secrets: Secrets,
    held: String,
    hidden: bool,
}

impl LiveRedactor {
    /// At the beginning of a stream.
    #[must_use]
    pub fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            held: String::new(),
            hidden: false,
        }
    }

    /// Takes the next piece and gives what can be shown now.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let known = self.secrets.snapshot();
        let cut = undecided(&known, &self.held);
        let rest = self.held.split_off(cut);
        let shown = std::mem::replace(&mut self.held, rest);
        self.redact(&shown)
    }

    /// Takes a piece before which some of the stream is missing: what was held, and what may be the end of a secret, is
    /// left out.
    pub fn push_after_gap(&mut self, piece: &str) -> String {
        self.held.clear();
        let longest = self.secrets.snapshot().iter().map(|secret| secret.longest()).max();
        let lost = ceil(piece, longest.unwrap_or_default().saturating_sub(1));
        self.push(piece.get(lost..).unwrap_or_default())
    }

    /// What is left at the end of the stream.
    pub fn finish(&mut self) -> String {
        let shown = std::mem::take(&mut self.held);
        self.redact(&shown)
    }

    /// Whether a secret was taken out so far.
    #[must_use]
    pub fn has_hidden(&self) -> bool {
        self.hidden
    }

    fn redact(&mut self, shown: &str) -> String {
        let redacted = self.secrets.redact(shown);
        self.hidden |= matches!(redacted, Cow::Owned(_));
        redacted.into_owned()
    }
}

/// Where the part of `text` begins of which more text would decide whether it holds a secret.
fn undecided(secrets: &[Arc<Secret>], text: &str) -> usize {
    let begins = secrets.iter().filter_map(|secret| secret.first_beginning(text));
    let mut cut = begins.min().unwrap_or(text.len());
    if cut == text.len() {
        return cut;
    }
    // A secret that ends behind the cut is not cut in two: it waits, too.
    let spans: Vec<_> = secrets.iter().flat_map(|secret| secret.find(text.as_bytes())).collect();
    while let Some(span) = spans.iter().find(|span| span.start < cut && cut < span.end) {
        cut = span.start;
    }
    cut
}

/// The first place for a character at or after `at`.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

impl Secret {
    /// Bytes of its longest form, or a few more.
    fn longest(&self) -> usize {
        self.value
            .chars()
            .count()
            .saturating_mul(LONGEST_ENCODED)
            .max(self.value.len() * 2 + 4)
    }

    /// The first place at which `text` may go on to be a form of the secret.
    fn first_beginning(&self, text: &str) -> Option<usize> {
        self.first_in_tail(text, |rest| self.begins_with(rest))
    }

    /// The first place from which on the rest of `text` is such, among those at which a form can begin that goes on.
    pub(super) fn first_in_tail(&self, text: &str, is_such: impl Fn(&[u8]) -> bool) -> Option<usize> {
        let from = ceil(text, text.len().saturating_sub(self.longest()));
        let tail = text.get(from..)?;
        let found = |(at, _): &(usize, char)| tail.get(*at..).is_some_and(|rest| is_such(rest.as_bytes()));
        tail.char_indices().find(found).map(|(at, _)| from + at)
    }

    /// Whether `text` is the beginning of a form, and not a whole one.
    fn begins_with(&self, text: &[u8]) -> bool {
        let is_beginning_of = |form: &str| form.len() > text.len() && form.as_bytes().starts_with(text);
        is_beginning_of(&self.value)
            || self.base64.iter().any(|core| is_beginning_of(core))
            || self.given_at_end(text).is_some()
    }

    /// How many characters of the value the text gives before it ends, encoded or not; `None` where it goes on with
    /// something else, or has all of the value.
    pub(super) fn given_at_end(&self, text: &[u8]) -> Option<usize> {
        let given = ENCODINGS.iter().map(|(mark, decode)| self.given(text, *mark, *decode));
        given.max().flatten()
    }

    fn given(&self, text: &[u8], mark: u8, decode: Decode) -> Option<usize> {
        let (mut rest, mut open) = (text, None);
        for (number, expected) in self.value.chars().enumerate() {
            let decoded = decode(rest);
            // More text could make another character of it, or one at all.
            if matches!(decoded, None | Some(('\\', _))) && rest.first() == Some(&mark) && rest.len() < LONGEST_ENCODED
            {
                open = Some(number);
            }
            let mut literal = [0; 4];
            let literal = expected.encode_utf8(&mut literal).as_bytes();
            let taken = match decoded {
                Some((decoded, taken)) if decoded == expected => taken,
                _ if rest.starts_with(literal) => literal.len(),
                _ if rest.is_empty() => return Some(number),
                _ => return open,
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    fn secrets(value: &str) -> Secrets {
        let secrets = Secrets::default();
        secrets.register("KEY", value).unwrap();
        secrets
    }

    #[test]
    fn text_that_begins_no_secret_is_shown_at_once() {
        let mut live = LiveRedactor::new(secrets("hunter2-hunter2"));
        assert_eq!(live.push("step 1 of 9\n"), "step 1 of 9\n");
        assert_eq!(live.push("the hun"), "the ");
        assert_eq!(live.push("ters\n"), "hunters\n");
        assert_eq!(live.push("hunter2-"), "");
        assert_eq!(live.finish(), "hunter2-", "it was none after all");
    }

    #[test]
    fn a_secret_in_two_pieces_is_replaced_once() {
        let mut live = LiveRedactor::new(secrets("hunter2-hunter2"));
        let shown = [live.push("a hunter2"), live.push("-hunter2 b"), live.finish()].concat();
        assert_eq!(shown, "a [secret KEY] b");
    }

    #[test]
    fn a_gap_takes_what_may_be_the_end_of_a_secret() {
        let mut live = LiveRedactor::new(secrets("hunter2-hunter2"));
        assert_eq!(live.push("hunter"), "");
        let long = format!("-hunter2{}end", ".".repeat(400));
        let shown = live.push_after_gap(&long) + &live.finish();
        assert!(shown.ends_with("end") && !shown.contains("hunter"), "{shown}");
        let mut nothing_to_hide = LiveRedactor::new(Secrets::default());
        assert_eq!(nothing_to_hide.push_after_gap("all of it"), "all of it");
    }

    #[test]
    fn a_value_that_overlaps_itself_is_the_same_in_pieces() {
        let secrets = secrets("0\u{1f44d} Aa\\  ");
        secrets.register("OTHER", "babbabbab").unwrap();
        let text = "0\u{1f44d} Aa\\  babbabbabbabbabbab";
        let mut live = LiveRedactor::new(secrets.clone());
        let shown = live.push(text) + &live.finish();
        assert_eq!(shown, "[secret KEY][secret OTHER]");
        assert_eq!(shown, secrets.redact(text));
    }

    proptest! {
        /// However a text is cut up, it shows what it would show whole.
        #[test]
        fn pieces_are_redacted_like_the_whole(
            value in "[ -~é👍]{8,16}", other in "[ab]{8,9}", words in "[ab é\\\\%]{0,12}",
            form in 0usize..5, cuts in prop::collection::vec(0usize..80, 0..8),
        ) {
            let secrets = secrets(&value);
            secrets.register("OTHER", &other).unwrap();
            let json = serde_json::to_string(&value).unwrap();
            let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let units: String = value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let forms = [value.clone(), json, percent, units, STANDARD.encode(&value)];
            let text = format!("{words}{}{other}{words}{other}", forms[form]);
            let mut live = LiveRedactor::new(secrets.clone());
            let mut shown = String::new();
            let mut ends: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at)).collect();
            ends.extend([0, text.len()]);
            ends.sort_unstable();
            for pair in ends.windows(2) {
                shown.push_str(&live.push(text.get(pair[0]..pair[1]).unwrap_or_default()));
            }
            shown.push_str(&live.finish());
            prop_assert_eq!(shown, secrets.redact(&text).into_owned());
        }
    }
}
