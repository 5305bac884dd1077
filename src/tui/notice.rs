//! One-line messages in the footer.

use crate::text::SafeText;
use std::time::Duration;

/// How a notice is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It was done.
    Done,
    /// By the way.
    Info,
    /// It was not done, or something is wrong.
    Trouble,
}

/// A message that stays until the next key, or for some seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How it is meant.
    pub tone: Tone,
    /// One line.
    pub text: SafeText,
}

impl Notice {
    /// How long a notice stays when no key ends it.
    pub const STAYS: Duration = Duration::from_secs(6);

    /// Something was done.
    pub fn done(text: &str) -> Self {
        Self::new(Tone::Done, text)
    }

    /// By the way.
    pub fn info(text: &str) -> Self {
        Self::new(Tone::Info, text)
    }

    /// Something was not done, or is wrong.
    pub fn trouble(text: &str) -> Self {
        Self::new(Tone::Trouble, text)
    }

    fn new(tone: Tone, text: &str) -> Self {
        Self {
            tone,
            text: SafeText::line(text),
        }
    }
}
