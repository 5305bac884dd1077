//! Texts that were cut before they came here: the cut may go through a secret, whose beginning is then at the very end.

use super::forms::ENCODINGS;
use super::{Secret, Secrets, match_length};
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;

/// Fewer characters of a secret than this turn up by chance, and tell little.
const FEWEST: usize = 4;
/// As many characters of base64 say as much.
const FEWEST_BASE64: usize = 6;
/// Around the number of characters that the REPL left out of a long text.
const GAP: (&str, &str) = ("\n... [", " characters left out] ...\n");

impl Secrets {
    /// Like [`Secrets::redact`], of a text that may have been cut to one of these numbers of characters: where it has just
    /// so many, the beginning of a value at its end is replaced, too.
    #[must_use]
    pub fn redact_cut<'a>(&self, text: &'a str, cuts: &[usize]) -> Cow<'a, str> {
        let redacted = self.redact(text);
        // No character has more than four bytes.
        let may_be = cuts
            .iter()
            .any(|cut| (*cut..=cut.saturating_mul(4)).contains(&text.len()));
        if !may_be || !cuts.contains(&text.chars().count()) {
            return redacted;
        }
        let begins = |secret: &Secret| Some((secret.beginning_at_end(&redacted)?, secret.marker()));
        let first = self.snapshot().iter().filter_map(|secret| begins(secret)).min();
        match first {
            None => redacted,
            Some((at, marker)) => Cow::Owned(format!("{}{marker}", redacted.get(..at).unwrap_or_default())),
        }
    }
}

impl Secret {
    /// What stands of the secret around the places where the middle of a text was left out: its beginning before such a
    /// place, its end behind it.
    pub(super) fn around_gaps(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        for at in memmem::find_iter(text.as_bytes(), GAP.0) {
            let Some((before, gap)) = text.split_at_checked(at) else {
                continue;
            };
            let counted = gap
                .strip_prefix(GAP.0)
                .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
            let Some(behind) = counted.and_then(|rest| rest.strip_prefix(GAP.1)) else {
                continue;
            };
            let end = text.len() - behind.len();
            spans.extend(self.beginning_at_end(before).map(|start| start..at));
            spans.extend(self.end_at_beginning(behind.as_bytes()).map(|length| end..end + length));
        }
        spans
    }

    /// Bytes of the end of a form that the text begins with.
    fn end_at_beginning(&self, text: &[u8]) -> Option<usize> {
        let starts = |value: &str, fewest: usize| {
            let most = value.chars().count().saturating_sub(fewest);
            let starts = value.char_indices().map(|(at, _)| at);
            starts.skip(1).take(most).collect::<Vec<_>>()
        };
        let plain = starts(&self.value, FEWEST).into_iter().find_map(|at| {
            let end = self.value.get(at..)?;
            let lengths = ENCODINGS.iter();
            lengths.filter_map(|(_, decode)| match_length(end, text, *decode)).max()
        });
        let encoded = self.base64.iter().find_map(|core| {
            let mut ends = starts(core, FEWEST_BASE64).into_iter().filter_map(|at| core.get(at..));
            ends.find(|end| text.starts_with(end.as_bytes())).map(str::len)
        });
        plain.max(encoded)
    }

    /// Where the beginning of a form stands that goes on to the end of the text.
    fn beginning_at_end(&self, text: &str) -> Option<usize> {
        self.first_in_tail(text, |rest| self.is_cut_off(rest))
    }

    fn is_cut_off(&self, text: &[u8]) -> bool {
        let is_core = |core: &String| text.len() >= FEWEST_BASE64 && core.as_bytes().starts_with(text);
        self.base64.iter().any(is_core) || self.given_at_end(text) >= Some(FEWEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn a_secret_that_a_cut_goes_through_is_replaced() {
        let value = "sk-\"Ünder\\score/9876543210";
        let secrets = Secrets::default();
        secrets.register("KEY", value).unwrap();
        let json = serde_json::to_string(value).unwrap();
        let percent: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
        // Its first two characters and the last belong to what is around.
        let base64 = STANDARD.encode(format!("x{value}"));
        for form in [value, json.trim_matches('"'), &percent, &base64[2..37]] {
            for (at, _) in form.char_indices().skip(18) {
                let cut = format!("before {}", &form[..at]);
                let shown = secrets.redact_cut(&cut, &[cut.chars().count()]);
                assert_eq!(shown.len(), shown.find(']').unwrap() + 1, "{shown}");
                assert!(shown.starts_with("before ") && shown.len() < 24, "{cut} became {shown}");
            }
        }
    }

    #[test]
    fn a_middle_that_is_left_out_leaves_no_part_of_a_secret() {
        let secrets = Secrets::default();
        let value = "zebra9-\"quagga\"/okapi7";
        secrets.register("KEY", value).unwrap();
        let json = serde_json::to_string(value).unwrap();
        for form in [value, json.trim_matches('"')] {
            for at in [5, 8, 12] {
                let (start, end) = form.split_at(at);
                for (before, after) in [(start, end), (start, "other"), ("other", end)] {
                    let shown = secrets
                        .redact(&format!("a {before}\n... [12 characters left out] ...\n{after} b"))
                        .into_owned();
                    assert!(
                        !["zeb", "quag", "okapi"].iter().any(|part| shown.contains(part)),
                        "{shown}"
                    );
                    assert!(shown.starts_with("a ") && shown.ends_with(" b") && shown.contains("left out] ...\n"));
                }
            }
        }
        let other = "zeb\n... [12 characters left out] ...\npi7";
        assert_eq!(secrets.redact(other), other);
    }

    #[test]
    fn what_is_whole_or_no_secret_stays() {
        let secrets = Secrets::default();
        secrets.register("KEY", "password123").unwrap();
        assert_eq!(secrets.redact_cut("my pass", &[6, 8]), "my pass");
        assert_eq!(secrets.redact_cut("my pas", &[6]), "my pas");
        assert_eq!(secrets.redact_cut("my pass", &[9, 7]), "my [secret KEY]");
        assert_eq!(secrets.redact_cut("pass on \\d+\\w", &[13]), "pass on \\d+\\w");
    }
}
