//! The JSON of the chat completions API. Whatever a server may leave out or write differently is optional here.

use crate::provider::cost::parse_nano_dollars;
use crate::provider::counted::count;
use crate::provider::http::fields;
use crate::provider::reply::{CostSource, Usage};
use crate::provider::request::{Message, Request};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// How servers differ in what they want to be asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// Whether the reply is to come in pieces.
    pub(super) streams: bool,
    /// OpenRouter states the cost of a call, but only on request; others reject the question.
    pub(super) asks_for_cost: bool,
    /// OpenAI's newer models know the token limit by another name, since it counts reasoning too.
    pub(super) counts_reasoning: bool,
}

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    messages: &'a [Message],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Include>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Include>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Include {
    Usage { include_usage: bool },
    Cost { include: bool },
}

pub(super) fn request_body(request: &Request, dialect: Dialect) -> Vec<u8> {
    let limit = request.limits.max_completion_tokens;
    let body = RequestBody {
        model: &request.model,
        messages: &request.messages,
        stream: dialect.streams,
        stream_options: dialect.streams.then_some(Include::Usage { include_usage: true }),
        usage: dialect.asks_for_cost.then_some(Include::Cost { include: true }),
        max_tokens: limit.filter(|_| !dialect.counts_reasoning),
        max_completion_tokens: limit.filter(|_| dialect.counts_reasoning),
    };
    // Strings and numbers only: there is nothing in it that could fail to be written.
    serde_json::to_vec(&body).unwrap_or_default()
}

/// One event of a stream, or a whole reply that was not streamed.
#[derive(Deserialize)]
pub(super) struct Chunk {
    #[serde(default)]
    pub(super) choices: Option<Vec<Choice>>,
    #[serde(default)]
    pub(super) usage: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) error: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(default)]
    delta: Option<Said>,
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
}

impl Choice {
    pub(super) fn said(&self) -> Option<&Said> {
        self.delta.as_ref().or(self.message.as_ref())
    }
}

#[derive(Deserialize)]
pub(super) struct Said {
    #[serde(default)]
    content: Option<Content>,
    /// OpenRouter's and most others' name for it.
    #[serde(default)]
    reasoning: Option<Content>,
    /// DeepSeek's name for the same; some servers send both.
    #[serde(default)]
    reasoning_content: Option<Content>,
    /// OpenAI's models put a refusal here instead of into the content.
    #[serde(default)]
    refusal: Option<Content>,
}

impl Said {
    pub(super) fn text(&self) -> Cow<'_, str> {
        first_said([&self.content, &self.refusal])
    }

    pub(super) fn reasoning(&self) -> Cow<'_, str> {
        first_said([&self.reasoning, &self.reasoning_content])
    }
}

fn first_said(fields: [&Option<Content>; 2]) -> Cow<'_, str> {
    fields
        .into_iter()
        .flatten()
        .map(Content::text)
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

/// A string, or a list of typed parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
    Unknown(IgnoredAny),
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
}

impl Content {
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => parts.iter().filter_map(|part| part.text.as_deref()).collect(),
            Self::Unknown(_) => Cow::Borrowed(""),
        }
    }
}

#[derive(Deserialize)]
struct UsageBody {
    #[serde(default)]
    prompt_tokens: Option<Box<RawValue>>,
    #[serde(default)]
    completion_tokens: Option<Box<RawValue>>,
    #[serde(default)]
    total_tokens: Option<Box<RawValue>>,
    #[serde(default)]
    prompt_tokens_details: Option<Box<RawValue>>,
    #[serde(default)]
    completion_tokens_details: Option<Box<RawValue>>,
    /// DeepSeek's name for the cached tokens.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<Box<RawValue>>,
    #[serde(default)]
    cost: Option<Box<RawValue>>,
    #[serde(default)]
    is_byok: Option<Box<RawValue>>,
    #[serde(default)]
    cost_details: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<Box<RawValue>>,
    #[serde(default)]
    reasoning_tokens: Option<Box<RawValue>>,
    #[serde(default)]
    upstream_inference_cost: Option<Box<RawValue>>,
}

/// Reads a usage object. Every number is read on its own, so that one that makes no sense spoils no other, and costs from
/// their digits, so that no float rounds them. `None` when it is no object.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    let body: UsageBody = fields(raw)?;
    let prompt = details(body.prompt_tokens_details.as_deref());
    let completion = details(body.completion_tokens_details.as_deref());
    let prompt_tokens = count(body.prompt_tokens.as_deref());
    let completion_tokens = count(body.completion_tokens.as_deref());
    let cost_nano = cost(&body);
    let cached = count(prompt.cached_tokens.or(body.prompt_cache_hit_tokens).as_deref());
    Some(Usage {
        prompt_tokens: prompt_tokens.unwrap_or_default(),
        completion_tokens: completion_tokens.unwrap_or_default(),
        total_tokens: count(body.total_tokens.as_deref()).unwrap_or_default(),
        // A part of the prompt: no more than there is of it, whatever is said.
        cached_tokens: cached.unwrap_or_default().min(prompt_tokens.unwrap_or_default()),
        reasoning_tokens: count(completion.reasoning_tokens.as_deref()).unwrap_or_default(),
        cost_nano,
        part_nano: 0,
        cost_source: if cost_nano.is_some() {
            CostSource::Provider
        } else {
            CostSource::Unknown
        },
        reported: prompt_tokens.is_some() && completion_tokens.is_some(),
    })
}

/// For an account that brings its own key to the upstream provider, `cost` is only the fee.
fn cost(body: &UsageBody) -> Option<i64> {
    let stated = dollars(body.cost.as_deref());
    if body.is_byok.as_ref().is_none_or(|byok| byok.get() != "true") {
        return stated;
    }
    let upstream = dollars(details(body.cost_details.as_deref()).upstream_inference_cost.as_deref())?;
    upstream.checked_add(stated.unwrap_or(0))
}

fn details(raw: Option<&RawValue>) -> Details {
    raw.and_then(fields).unwrap_or_default()
}

fn dollars(raw: Option<&RawValue>) -> Option<i64> {
    parse_nano_dollars(raw?.get().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Usage {
        usage(&RawValue::from_string(json.to_owned()).unwrap()).unwrap()
    }

    #[test]
    fn costs_are_exact_and_byok_adds_the_upstream() {
        assert_eq!(read(r#"{"cost": 0.0000378}"#).cost_nano, Some(37_800));
        assert_eq!(read(r#"{"cost": "4e-9"}"#).cost_nano, Some(4));
        assert_eq!(read(r#"{"cost": 0}"#).cost_nano, Some(0));
        for unknown in [
            r#"{"cost": null}"#,
            "{}",
            r#"{"cost": -1}"#,
            r#"{"cost": {}}"#,
            r#"{"is_byok": true, "cost": 1}"#,
        ] {
            assert_eq!(read(unknown).cost_nano, None, "{unknown}");
        }
        let upstream = r#""cost": 0.05, "cost_details": {"upstream_inference_cost": 0.95}"#;
        assert_eq!(
            read(&format!(r#"{{"is_byok": true, {upstream}}}"#)).cost_nano,
            Some(1_000_000_000)
        );
        assert_eq!(
            read(&format!(r#"{{"is_byok": false, {upstream}}}"#)).cost_nano,
            Some(50_000_000)
        );
    }

    #[test]
    fn one_wrong_number_spoils_no_other() {
        let usage = read(
            r#"{"prompt_tokens": 7, "completion_tokens": -3, "total_tokens": "x", "prompt_tokens_details": 5,
                "prompt_cache_hit_tokens": "4", "completion_tokens_details": {"reasoning_tokens": 2.0, "cached_tokens": []}}"#,
        );
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (7, 0));
        assert_eq!((usage.cached_tokens, usage.reasoning_tokens), (4, 2));
        assert!(!usage.reported, "what was completed is not known");
        assert_eq!(super::usage(&RawValue::from_string("[1]".to_owned()).unwrap()), None);
    }

    #[test]
    fn content_comes_as_text_or_parts_and_unknown_kinds_are_empty() {
        let said = |json: &str| serde_json::from_str::<Said>(json).unwrap();
        assert_eq!(
            said(r#"{"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}"#).text(),
            "ab"
        );
        assert_eq!(said(r#"{"content": null, "refusal": "no"}"#).text(), "no");
        assert_eq!(said(r#"{"content": {"a": 1}}"#).text(), "");
        assert_eq!(said(r#"{"reasoning": "r", "reasoning_content": "r"}"#).reasoning(), "r");
        assert_eq!(said(r#"{"reasoning": "", "reasoning_content": "c"}"#).reasoning(), "c");
    }

    #[test]
    fn servers_are_asked_in_their_dialect() {
        let plain = Dialect {
            streams: true,
            asks_for_cost: false,
            counts_reasoning: false,
        };
        let mut request = Request::new("m", vec![Message::user("hi")]);
        let body = |request: &Request, dialect| String::from_utf8(request_body(request, dialect)).unwrap();
        assert_eq!(
            body(&request, plain),
            r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}"#
        );
        assert!(
            body(
                &request,
                Dialect {
                    streams: false,
                    ..plain
                }
            )
            .ends_with(r#"],"stream":false}"#)
        );
        request.limits.max_completion_tokens = Some(9);
        let openrouter = body(
            &request,
            Dialect {
                asks_for_cost: true,
                ..plain
            },
        );
        assert!(
            openrouter.ends_with(r#""usage":{"include":true},"max_tokens":9}"#),
            "{openrouter}"
        );
        let openai = body(
            &request,
            Dialect {
                counts_reasoning: true,
                ..plain
            },
        );
        assert!(openai.ends_with(r#","max_completion_tokens":9}"#), "{openai}");
    }
}
