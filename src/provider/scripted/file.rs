//! The script file: its form, and where in it a mistake is.

use super::pattern::When;
use super::scalar::{Fault, Time, UsageSpec};
use crate::disk::advice::on_named;
use crate::disk::whole::read_text;
use crate::provider::pricing::Price;
use crate::text::parse_fault;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::path::Path;

/// Most of a script that is read: recorded sessions name scripts, too.
const LARGEST: u64 = 64 << 20;

/// A script that has been read.
#[derive(Clone, Debug)]
pub struct Script {
    /// The file's name, for messages.
    pub(super) name: String,
    pub(super) content: Content,
}

/// A script that cannot be read; the message begins with `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}{}: {reason}", place(*.line, *.column))]
pub struct ScriptError {
    /// The file.
    pub name: String,
    /// The line, from 1; 0 when the file could not be opened.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// What is wrong.
    pub reason: String,
}

fn place(line: u64, column: u64) -> String {
    if line == 0 {
        String::new()
    } else {
        format!(":{line}:{column}")
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    #[serde(default)]
    pub(super) defaults: Defaults,
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
    #[serde(default)]
    pub(super) replies: Vec<Written>,
}

/// What holds for every reply that does not say otherwise.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Defaults {
    #[serde(default)]
    pub(super) delay: Option<Time>,
    #[serde(default)]
    pub(super) stream: Option<Stream>,
    #[serde(default)]
    pub(super) usage: Option<UsageSpec>,
    #[serde(default)]
    pub(super) prices: Option<Price>,
}

/// How a reply is cut into deltas.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stream {
    pub(super) chars: std::num::NonZeroUsize,
    #[serde(default)]
    pub(super) every: Time,
}

/// Replies for the conversations that match.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) when: When,
    #[serde(deserialize_with = "at_least_one")]
    pub(super) replies: Vec<Written>,
    #[serde(default)]
    pub(super) at_end: AtEnd,
}

/// What a rule does when a conversation has had all its replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AtEnd {
    #[default]
    Fail,
    /// The last reply again.
    Last,
    /// All of them again.
    Again,
}

/// One reply as written.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) usage: Option<UsageSpec>,
    pub(super) finish: Option<String>,
    pub(super) delay: Option<Time>,
    pub(super) stream: Option<Stream>,
    /// What the attempts before the last run into, one each.
    pub(super) fails: Vec<Fault>,
    /// What every attempt after them runs into, instead of giving the text.
    pub(super) error: Option<Fault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMap {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    say: Option<String>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    usage: Option<UsageSpec>,
    #[serde(default)]
    finish: Option<String>,
    #[serde(default)]
    delay: Option<Time>,
    #[serde(default)]
    stream: Option<Stream>,
    #[serde(default)]
    fails: Vec<Fault>,
    #[serde(default)]
    error: Option<Fault>,
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor)
    }
}

struct WrittenVisitor;

impl<'de> Visitor<'de> for WrittenVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a reply with text, or say and code, or an error")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
        Ok(Written {
            text: text.to_owned(),
            ..Written::default()
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Written, A::Error> {
        let map = WrittenMap::deserialize(MapAccessDeserializer::new(map))?;
        let text = spoken(map.text, map.say, map.code).map_err(A::Error::custom)?;
        if text.is_none() && map.error.is_none() && map.reasoning.is_none() {
            return Err(A::Error::custom("a reply needs text, say, code or an error"));
        }
        Ok(Written {
            text: text.unwrap_or_default(),
            reasoning: map.reasoning.unwrap_or_default(),
            usage: map.usage,
            finish: map.finish,
            delay: map.delay,
            stream: map.stream,
            fails: map.fails,
            error: map.error,
        })
    }
}

/// The text, or what is said followed by the code as a block that the engine runs.
fn spoken(text: Option<String>, say: Option<String>, code: Option<String>) -> Result<Option<String>, &'static str> {
    let block = code.map(|code| fenced(code.trim_matches('\n')));
    match (text, say, block) {
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
            Err("text is the whole reply: write either text, or say and code")
        }
        (None, Some(say), Some(block)) => Ok(Some(format!("{}\n\n{block}", say.trim_end_matches('\n')))),
        (text, say, block) => Ok(text.or(say).or(block)),
    }
}

/// `code` as a block that the engine runs; its fence is longer than any in the code.
fn fenced(code: &str) -> String {
    let marks = |line: &str| line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
    let longest = code.lines().map(marks).max().unwrap_or_default();
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    format!("{fence}repl\n{code}\n{fence}")
}

fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Written>, D::Error> {
    let replies = Vec::deserialize(deserializer)?;
    if replies.is_empty() {
        Err(D::Error::custom("a rule needs at least one reply"))
    } else {
        Ok(replies)
    }
}

impl Script {
    /// Reads a file: JSON when its name ends in `.json`, else YAML.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] with the place in the file.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let name = path.display().to_string();
        let text = read_text(path, LARGEST).map_err(|error| ScriptError {
            name: name.clone(),
            line: 0,
            column: 0,
            reason: format!("cannot read the script: {error}; {}", on_named(&error)),
        })?;
        if path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
        {
            Self::from_json(&name, &text)
        } else {
            Self::from_yaml(&name, &text)
        }
    }

    /// Reads YAML; `name` is for messages.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] with the place in the text.
    pub fn from_yaml(name: &str, text: &str) -> Result<Self, ScriptError> {
        let error = |error: serde_saphyr::Error| {
            let error = error.without_snippet();
            let (line, column) = error.location().map_or((1, 1), |place| (place.line(), place.column()));
            ScriptError {
                name: name.to_owned(),
                line,
                column,
                reason: reason(&error.to_string()),
            }
        };
        Self::checked(name, yaml(text).map_err(error)?)
    }

    /// Reads JSON; `name` is for messages.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] with the place in the text.
    pub fn from_json(name: &str, text: &str) -> Result<Self, ScriptError> {
        let error = |error: serde_json::Error| ScriptError {
            name: name.to_owned(),
            line: error.line() as u64,
            column: error.column() as u64,
            reason: reason(&error.to_string()),
        };
        Self::checked(name, serde_json::from_str(text).map_err(error)?)
    }

    fn checked(name: &str, content: Content) -> Result<Self, ScriptError> {
        let name = name.to_owned();
        if content.rules.is_empty() && content.replies.is_empty() {
            let reason = "a script needs rules or replies".to_owned();
            return Err(ScriptError {
                name,
                line: 1,
                column: 1,
                reason,
            });
        }
        Ok(Self { name, content })
    }
}

/// Only `true` and `false` are booleans: a model that is asked YES or NO must be able to say so without quotes.
fn yaml<T: DeserializeOwned>(text: &str) -> Result<T, serde_saphyr::Error> {
    serde_saphyr::from_str_with_options(text, serde_saphyr::options! { strict_booleans: true })
}

/// The message without the place, which is said before it.
fn reason(message: &str) -> String {
    let message = parse_fault(message);
    message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |(reason, _)| reason)
        .to_owned()
}
