//! The conditions of a rule: what a conversation must look like.

use crate::provider::request::{Message, Request, Role};
use regex::{Regex, RegexBuilder};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// What a text must be like.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Contains(String),
    Equals(String),
    Regex(Regex),
    All(Vec<Pattern>),
}

impl Pattern {
    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Contains(part) => text.contains(part.as_str()),
            Self::Equals(whole) => text.trim() == whole.trim(),
            Self::Regex(regex) => regex.is_match(text),
            Self::All(patterns) => patterns.iter().all(|pattern| pattern.matches(text)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
enum PatternMap {
    Contains(String),
    Equals(String),
    Regex(String),
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PatternVisitor)
    }
}

struct PatternVisitor;

impl<'de> Visitor<'de> for PatternVisitor {
    type Value = Pattern;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text to contain, one of {contains}, {equals} or {regex}, or a list of them")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Pattern, E> {
        Ok(Pattern::Contains(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Pattern, A::Error> {
        match PatternMap::deserialize(MapAccessDeserializer::new(map))? {
            PatternMap::Contains(part) => Ok(Pattern::Contains(part)),
            PatternMap::Equals(whole) => Ok(Pattern::Equals(whole)),
            PatternMap::Regex(regex) => {
                let built = RegexBuilder::new(&regex)
                    .dot_matches_new_line(true)
                    .multi_line(true)
                    .build();
                built.map(Pattern::Regex).map_err(A::Error::custom)
            }
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Pattern, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Pattern::All)
    }
}

/// The conditions of a rule; all that are written must hold.
#[derive(Clone, Debug, Default)]
pub(super) struct When(Conditions);

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Conditions {
    #[serde(default)]
    any: Option<Pattern>,
    #[serde(default)]
    system: Option<Pattern>,
    #[serde(default)]
    first: Option<Pattern>,
    #[serde(default)]
    last: Option<Pattern>,
    #[serde(default)]
    model: Option<Pattern>,
    #[serde(default)]
    depth: Option<u32>,
    #[serde(default)]
    turn: Option<usize>,
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WhenVisitor)
    }
}

struct WhenVisitor;

impl<'de> Visitor<'de> for WhenVisitor {
    type Value = When;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text that some message contains, or any of {any, system, first, last, model, depth, turn}")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<When, E> {
        Ok(When(Conditions {
            any: Some(Pattern::Contains(text.to_owned())),
            ..Conditions::default()
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<When, A::Error> {
        Conditions::deserialize(MapAccessDeserializer::new(map)).map(When)
    }
}

impl When {
    /// Whether an agent's conversation is as described.
    pub(super) fn matches(&self, request: &Request, messages: &[Message]) -> bool {
        let Conditions {
            any,
            system,
            first,
            last,
            model,
            depth,
            turn,
        } = &self.0;
        let from = |role: Role| {
            messages
                .iter()
                .filter(move |message| message.role == role)
                .map(|message| &*message.content)
        };
        depth.is_none_or(|depth| depth == request.depth)
            && turn.is_none_or(|turn| turn == from(Role::Assistant).count())
            && holds(model, [request.model.as_str()])
            && holds(system, from(Role::System))
            && holds(first, from(Role::User).next())
            && holds(last, from(Role::User).next_back())
            && holds(any, from(Role::User).chain(from(Role::System)))
    }
}

fn holds<'a>(pattern: &Option<Pattern>, texts: impl IntoIterator<Item = &'a str>) -> bool {
    pattern
        .as_ref()
        .is_none_or(|pattern| texts.into_iter().any(|text| pattern.matches(text)))
}
