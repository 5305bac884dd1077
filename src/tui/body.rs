//! The texts of one step, read when looked at, with their sanitised forms made off the screen's thread.

use crate::source;
use crate::text::{SafeText, Shared};

/// Bytes that texts may have on screens: marks for what is not printable, and blanks for tabs, are longer than what they
/// stand for.
const MOST_SHOWN: usize = 64 << 20;

/// Bytes that this one may have: nothing but marks is left out of what was read.
pub(super) fn most_shown(raw: &str) -> usize {
    most_shown_of(raw, raw.len())
}

/// The same of one of several texts that are `all` bytes together: what one does not need is there for another.
pub(super) fn most_shown_of(raw: &str, all: usize) -> usize {
    // What was cut when it was read is a mark longer than that.
    (MOST_SHOWN + raw.len()).saturating_sub(all).max(raw.len())
}

/// One text, as recorded and as it may be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// As recorded: for copying.
    pub raw: Shared,
    /// For screens.
    pub safe: SafeText,
}

impl Text {
    /// Sanitises `raw`; work is proportional to its length, so long texts are made off the screen's thread.
    pub fn new(raw: impl Into<Shared>) -> Self {
        let mut cut = false;
        Self::within(raw, MOST_SHOWN, &mut cut)
    }

    /// The same with at most some `most` bytes on screens; `cut` where it would have had more.
    fn within(raw: impl Into<Shared>, most: usize, cut: &mut bool) -> Self {
        let raw = raw.into();
        let (safe, is_cut) = SafeText::of_kept_within(&raw, most);
        *cut |= is_cut;
        Self { raw, safe }
    }

    /// As recorded, with what was left out as marks.
    pub fn with_marks(&self) -> SafeText {
        let (marked, _) = SafeText::raw_of_kept_within(&self.raw, most_shown(&self.raw));
        // Mostly there was nothing to leave out: that text need not be held twice.
        if marked == self.safe { self.safe.clone() } else { marked }
    }

    /// There is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
}

impl From<source::Body> for Body {
    fn from(body: source::Body) -> Self {
        let reasoning = body.reasoning.unwrap_or_default();
        let all = [&body.code, &body.output, &reasoning]
            .map(String::len)
            .iter()
            .sum::<usize>();
        let mut cut = body.cut;
        let mut text = |raw: String| {
            let most = most_shown_of(&raw, all);
            Text::within(raw, most, &mut cut)
        };
        Self {
            code: text(body.code),
            output: text(body.output),
            reasoning: text(reasoning),
            cut,
            repaired: body.repaired,
        }
    }
}

impl Body {
    /// Takes from `other` what this one lacks: a step that was logged twice may have its reasoning in one line and its
    /// output in the other.
    pub fn complete_from(&mut self, other: Body) {
        let pairs = [
            (&mut self.code, other.code),
            (&mut self.output, other.output),
            (&mut self.reasoning, other.reasoning),
        ];
        for (mine, its) in pairs {
            if mine.is_empty() {
                *mine = its;
            }
        }
        self.cut |= other.cut;
        self.repaired |= other.repaired;
    }
}

/// What a step's line holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The code that ran.
    pub code: Text,
    /// What it printed, or its error.
    pub output: Text,
    /// The model's reasoning; empty when none was recorded.
    pub reasoning: Text,
    /// Its texts are so large that the middle of one was left out.
    pub cut: bool,
    /// Something in a text was no valid text, and was repaired.
    pub repaired: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_when_it_was_read_is_cut_once_and_takes_nothing_from_the_rest() {
        let mark = "…[cut: 83,886,080 bytes in all]…";
        let output = ["x".repeat(48 << 20).as_str(), mark, "y".repeat(16 << 20).as_str()].concat();
        let code = "print('é')\tif x";
        let body = Body::from(source::Body {
            code: code.to_owned(),
            output: output.clone(),
            cut: true,
            ..source::Body::default()
        });
        assert_eq!(body.code.safe.as_str(), "print('é')  if x");
        assert!(body.output.safe.as_str() == output && body.output.with_marks().as_str() == output);
        assert!(body.cut);
    }
}
