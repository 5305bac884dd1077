//! The texts of one step, read when looked at, with their sanitised forms made off the screen's thread.

use crate::source;
use crate::text::SafeText;
use std::sync::Arc;

/// One text, as recorded and as it may be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// As recorded: for copying.
    pub raw: Arc<str>,
    /// For screens.
    pub safe: SafeText,
}

impl Text {
    /// Sanitises `raw`; work is proportional to its length, so long texts are made off the screen's thread.
    pub fn new(raw: impl Into<Arc<str>>) -> Self {
        let raw = raw.into();
        let safe = SafeText::of_kept(&raw);
        Self { raw, safe }
    }

    /// There is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
}

impl From<source::Body> for Body {
    fn from(body: source::Body) -> Self {
        Self {
            code: Text::new(body.code),
            output: Text::new(body.output),
            reasoning: Text::new(body.reasoning.unwrap_or_default()),
            cut: body.cut,
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
    /// A text is so large that its middle was left out.
    pub cut: bool,
    /// Something in a text was no valid text, and was repaired.
    pub repaired: bool,
}
