//! Whether a step that was run again came out as recorded.

use super::host::Consumed;
use super::report::Mismatch;
use crate::engine::redacted_value;
use crate::repl::{StepOutcome, Sweep, SweptPickle};
use crate::store::Digest;
use crate::store::payload::{StepEnded, Written};
use crate::text::secret::Secrets;
use serde_json::Value;
use std::collections::HashMap;

/// Characters of a value or text that a mismatch shows.
const SHOWN: usize = 300;
/// A preview of so many characters may be cut: it does not tell two values apart.
const WHOLE_PREVIEW: usize = 1_900;

/// A name's value after a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) digest: Option<Digest>,
    type_name: String,
    preview: String,
}

/// The names of a REPL, as its sweeps tell of them.
#[derive(Debug, Default)]
pub(super) struct Names(pub(super) HashMap<String, Seen>);

impl Names {
    /// Takes a sweep; what it leaves out has not changed.
    pub(super) fn take(&mut self, sweep: &Sweep) {
        let before = std::mem::take(&mut self.0);
        for swept in &sweep.variables {
            let digest = match &swept.pickle {
                SweptPickle::Changed(pickle) => Some(Digest::of(pickle)),
                SweptPickle::Unchanged => before.get(&swept.name).and_then(|seen| seen.digest),
            };
            let seen = Seen {
                digest,
                type_name: swept.type_name.clone(),
                preview: swept.preview.clone(),
            };
            self.0.insert(swept.name.clone(), seen);
        }
        for function in &sweep.functions {
            let digest = Some(Digest::of(function.source.as_bytes()));
            let seen = Seen {
                digest,
                type_name: "function".into(),
                preview: String::new(),
            };
            self.0.insert(function.name.clone(), seen);
        }
    }
}

/// A step's two sides.
pub(super) struct Sides<'a> {
    pub(super) turn: u32,
    pub(super) step: u32,
    /// How it ended when it was recorded.
    pub(super) recorded: Option<&'a StepEnded>,
    pub(super) outcome: &'a StepOutcome,
    /// Its values; `None` where they are not compared.
    pub(super) names: Option<&'a Names>,
    pub(super) consumed: &'a Consumed,
    pub(super) secrets: &'a Secrets,
}

impl Sides<'_> {
    /// How many values were compared by description only; or the first mismatch.
    pub(super) fn compare(&self) -> Result<usize, Mismatch> {
        if let Some(missing) = &self.consumed.missing {
            let expected = missing
                .expected
                .map_or("no such call".into(), |digest| format!("input {digest}"));
            return self.mismatch(
                &format!("call {}", missing.call),
                expected,
                format!("input {}", missing.got),
            );
        }
        let weak = usize::from(self.exception()?) + usize::from(self.output()?);
        self.written()?;
        Ok(weak + self.values()?)
    }

    /// FINAL as it came out against what it was: whether it was compared weakly, or the mismatch.
    pub(super) fn result(&self, expected: &Value) -> Result<bool, Mismatch> {
        let got = self.outcome.final_value.as_ref();
        let got = got.map(|value| redacted_value(value.value.clone(), self.secrets).to_string());
        let expected = expected.to_string();
        self.texts("FINAL", &expected, got.as_deref().unwrap_or("none"))
    }

    fn mismatch<T>(&self, what: &str, expected: String, got: String) -> Result<T, Mismatch> {
        let cut = |text: String| text.chars().take(SHOWN).collect();
        Err(Mismatch {
            turn: self.turn,
            step: self.step,
            what: what.into(),
            expected: cut(expected),
            got: cut(got),
        })
    }

    /// Texts that differ in addresses alone are as good as equal, but weakly; so are those computed from what had a
    /// secret taken out.
    fn texts(&self, what: &str, expected: &str, got: &str) -> Result<bool, Mismatch> {
        match expected == got {
            true => Ok(false),
            false if self.consumed.redacted || without_addresses(expected) == without_addresses(got) => Ok(true),
            false => self.mismatch(what, expected.into(), got.into()),
        }
    }

    fn exception(&self) -> Result<bool, Mismatch> {
        let raised = self.recorded.and_then(|ended| ended.exception.as_ref());
        // Tracebacks tell of frames that a replay does not have: tools are not run.
        let expected = raised.map(|raised| raised.message.clone());
        let got = self.outcome.error.as_ref().map(|error| {
            let last = error.text.lines().last().unwrap_or_default();
            self.secrets.redact(last).into_owned()
        });
        let word = |text: Option<String>| text.unwrap_or_else(|| "none".into());
        self.texts("exception", &word(expected), &word(got))
    }

    fn output(&self) -> Result<bool, Mismatch> {
        let Some(ended) = self.recorded.filter(|ended| !ended.output.is_empty()) else {
            return Ok(false);
        };
        let traceback = ended.exception.as_ref().map(|raised| raised.traceback.as_str());
        let printed = self.secrets.redact(&self.outcome.output.text).into_owned();
        let shown = Shown::of(&ended.output);
        let expected = without_end(shown.text, traceback.unwrap_or_default());
        let refused = self.outcome.final_value.is_some() && expected.starts_with(printed.trim_end_matches('\n'));
        match shown.cut {
            _ if refused => Ok(false),
            true if traceback.is_some() || printed.ends_with(shown.text) => Ok(false),
            true => self.mismatch("output", shown.text.into(), printed),
            false => self.texts(
                "output",
                expected.trim_end_matches('\n'),
                printed.trim_end_matches('\n'),
            ),
        }
    }

    fn written(&self) -> Result<(), Mismatch> {
        let Some(ended) = self.recorded else {
            return Ok(());
        };
        let mut expected: Vec<&str> = ended.written.iter().map(|written| written.name.as_str()).collect();
        let mut got: Vec<&str> = self.outcome.written.iter().map(String::as_str).collect();
        expected.sort_unstable();
        got.sort_unstable();
        match expected == got {
            true => Ok(()),
            false => self.mismatch("names", expected.join(", "), got.join(", ")),
        }
    }

    fn values(&self) -> Result<usize, Mismatch> {
        // A sub-agent's values are not kept.
        let Some(names) = self.names else { return Ok(0) };
        let written = self.recorded.iter().flat_map(|ended| &ended.written);
        written.map(|written| self.value(names, written).map(usize::from)).sum()
    }

    fn value(&self, names: &Names, written: &Written) -> Result<bool, Mismatch> {
        let Some(seen) = names.0.get(&written.name) else {
            // Not saved then either: there is nothing to compare.
            return match written.digest {
                None => Ok(true),
                Some(_) if self.consumed.redacted => Ok(true),
                Some(digest) => self.mismatch(
                    &value_of(written),
                    digest.to_string(),
                    "no value that can be saved".into(),
                ),
            };
        };
        if written.digest.is_some() && written.digest == seen.digest {
            return Ok(false);
        }
        let described = written.type_name == seen.type_name
            && written.preview.chars().count() < WHOLE_PREVIEW
            && without_addresses(&written.preview) == without_addresses(&seen.preview);
        match described || self.consumed.redacted || written.digest.is_none() {
            true => Ok(true),
            false => self.mismatch(&value_of(written), written.preview.clone(), seen.preview.clone()),
        }
    }
}

fn value_of(written: &Written) -> String {
    format!("value of {}", written.name)
}

/// An output as the model was shown it, without its mark.
struct Shown<'a> {
    text: &'a str,
    /// Only its end is there.
    cut: bool,
}

impl<'a> Shown<'a> {
    fn of(output: &'a str) -> Self {
        if let Some(text) = output.strip_prefix("[FULL OUTPUT SHOWN]... ") {
            return Self { text, cut: false };
        }
        match output
            .strip_prefix("[TRUNCATED: Last ")
            .and_then(|rest| rest.split_once(" chars shown].. "))
        {
            Some((_, text)) => Self { text, cut: true },
            None if output == "[EMPTY OUTPUT]" => Self { text: "", cut: false },
            None => Self {
                text: output,
                cut: false,
            },
        }
    }
}

fn without_end<'a>(text: &'a str, end: &str) -> &'a str {
    text.strip_suffix(end).unwrap_or(text)
}

/// `<Thing at 0x7f12>` and `<Thing at 0x7f34>` are the same to a reader.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str("0x_");
        plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_outputs_are_no_part_of_them() {
        assert_eq!(Shown::of("[FULL OUTPUT SHOWN]... a").text, "a");
        assert!(Shown::of("[TRUNCATED: Last 3 chars shown].. abc").cut);
        assert_eq!(Shown::of("[EMPTY OUTPUT]").text, "");
    }

    #[test]
    fn addresses_are_not_compared() {
        assert_eq!(
            without_addresses("<A at 0x1f> 0xg"),
            without_addresses("<A at 0x2e> 0xg")
        );
        assert_ne!(without_addresses("<A at 0x1f>"), without_addresses("<B at 0x1f>"));
    }
}
