//! How much was said in a model call: measured where the text lies, without keeping it.

use crate::store::payload::ModelCall;
use memchr::memmem::Finder;
use serde::de::{Deserialize, Deserializer, Visitor};
use std::sync::LazyLock;

/// What stands in the first message between the preamble and the probe.
const PROBE_HEADING: &str = "A first step has run already";

/// The length of a text, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Length {
    all: u64,
    /// Before the probe; `None` where none follows.
    preamble: Option<u64>,
}

impl Length {
    fn of(text: &str) -> Self {
        static HEADING: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(PROBE_HEADING));
        let before = |at: usize| text.get(..at).map(count);
        Self {
            all: count(text),
            preamble: HEADING.find(text.as_bytes()).and_then(before),
        }
    }
}

fn count(text: &str) -> u64 {
    text.chars().count() as u64
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Measure;

        impl Visitor<'_> for Measure {
            type Value = Length;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E>(self, text: &str) -> Result<Length, E> {
                Ok(Length::of(text))
            }
        }

        deserializer.deserialize_str(Measure)
    }
}

/// How much was said in a call, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spoken {
    /// The resume preamble, where the first of the messages has one.
    preamble: u64,
    /// The messages since the reply before it.
    added: u64,
    reply: u64,
}

impl Spoken {
    /// Of the messages that were added, and the reply to them.
    pub(super) fn new(added: impl Iterator<Item = Length>, reply: Length) -> Self {
        let (mut preamble, mut all) = (None, 0);
        for message in added {
            preamble.get_or_insert(message.preamble.unwrap_or_default());
            all += message.all;
        }
        Self {
            preamble: preamble.unwrap_or_default(),
            added: all,
            reply: reply.all,
        }
    }

    /// Of a call whose texts are there.
    pub(super) fn of(call: &ModelCall) -> Self {
        let added = call.added.iter().map(|message| Length::of(&message.text));
        Self::new(added, Length::of(&call.reply))
    }
}

/// Characters of preamble that a turn's root was told, and of everything that it was told: each call is told all before
/// it.
pub(super) fn told(calls: impl IntoIterator<Item = Spoken>) -> (u64, u64) {
    let (mut own, mut so_far) = (None, 0);
    let (mut preamble, mut all) = (0, 0);
    for call in calls {
        let own = *own.get_or_insert(call.preamble);
        so_far += call.added;
        (preamble, all) = (preamble + own, all + so_far);
        so_far += call.reply;
    }
    (preamble, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_measured_in_characters_where_they_lie() {
        let length: Length = serde_json::from_str(r#""日本\n\u00e9 A first step has run already""#).unwrap();
        assert_eq!(length, Length::of("日本\né A first step has run already"));
        assert_eq!((length.all, length.preamble), (33, Some(5)));
        assert!(serde_json::from_str::<Length>("7").is_err());
    }

    #[test]
    fn each_call_is_told_all_before_it() {
        let call = |preamble, added, reply| Spoken { preamble, added, reply };
        assert_eq!(told([]), (0, 0));
        // 10, then 10 + 2 + 5; the preamble stands at the start of both.
        assert_eq!(told([call(4, 10, 2), call(0, 5, 1)]), (8, 27));
    }
}
