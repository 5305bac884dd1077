//! What a model answered, what that took, and what it cost.

use super::request::RequestHash;
use crate::model;
use std::time::Duration;

/// Where a cost comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CostSource {
    /// Nobody knows.
    #[default]
    Unknown,
    /// The provider stated it.
    Provider,
    /// Tokens times the price table.
    Table,
}

/// The tokens and the cost of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the conversation, cached ones included.
    pub prompt_tokens: u64,
    /// Tokens the model produced, reasoning included.
    pub completion_tokens: u64,
    /// The provider's own sum where it counts more than prompt plus completion, else these.
    pub total_tokens: u64,
    /// Prompt tokens that the provider had cached.
    pub cached_tokens: u64,
    /// Completion tokens that were reasoning.
    pub reasoning_tokens: u64,
    /// Billionths of a US dollar; `None` when unknown, `Some(0)` only for what really cost nothing.
    pub cost_nano: Option<i64>,
    /// Of a cost that is unknown as a whole, what is known; else 0.
    pub part_nano: i64,
    /// Where `cost_nano` comes from.
    pub cost_source: CostSource,
    /// Whether the provider reported usage that can be used; else every count is 0 because none is known.
    pub reported: bool,
}

impl Usage {
    /// As every figure of it is told, whoever reports it: tokens are known where both prompt and completion are, and not
    /// all of them are 0; else none is, and a stated cost of 0 is none either. No total is less than its parts.
    pub(super) fn sound(self) -> Self {
        let parts = self.prompt_tokens.saturating_add(self.completion_tokens);
        if self.reported && parts > 0 {
            return Self {
                total_tokens: self.total_tokens.max(parts),
                ..self
            };
        }
        // Servers that count nothing write 0 there, too.
        if self.cost_source == CostSource::Provider && self.cost_nano == Some(0) {
            return Self::default();
        }
        Self {
            cost_nano: self.cost_nano,
            part_nano: self.part_nano,
            cost_source: self.cost_source,
            ..Self::default()
        }
    }

    /// Both together; a cost is known where both are, and a part of it where one is.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let cost = self.cost().plus(other.cost());
        Self {
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
            total_tokens: self.total_tokens.saturating_add(other.total_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            cost_nano: cost.whole(),
            part_nano: cost.part().unwrap_or_default(),
            cost_source: other.cost_source,
            reported: self.reported && other.reported,
        }
    }

    /// What is there of two, together.
    pub(crate) fn both(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.plus(&other)),
            (one, other) => one.or(other),
        }
    }

    /// Its tokens in the model's terms; `None` where the provider reported none.
    pub fn tokens(&self) -> Option<model::Usage> {
        self.reported.then_some(model::Usage {
            prompt: self.prompt_tokens,
            completion: self.completion_tokens,
            total: self.total_tokens,
            cached: self.cached_tokens,
            reasoning: self.reasoning_tokens,
        })
    }

    /// Its cost in the model's terms.
    pub fn cost(&self) -> model::Cost {
        match (self.cost_nano, self.part_nano) {
            (Some(nano), _) => model::Cost::Known(nano),
            (None, part) => model::Cost::of_part(part),
        }
    }
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Stop,
    /// It ran into a token limit: the text is cut.
    Length,
    /// The provider's filter stopped it.
    ContentFilter,
    /// Another reason, in the provider's word.
    Other(String),
    /// The provider named none.
    Unstated,
}

impl Finish {
    /// The provider's word as one of ours.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "stop" | "end_turn" | "eos" => Self::Stop,
            "length" | "max_tokens" => Self::Length,
            "content_filter" => Self::ContentFilter,
            other => Self::Other(other.chars().take(64).collect()),
        }
    }

    /// The word for records: `stop`, `length`, `content_filter`, the provider's own, or nothing.
    #[must_use]
    pub fn as_word(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::Other(word) => word,
            Self::Unstated => "",
        }
    }
}

/// When things happened in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Timings {
    /// The start, in milliseconds since 1970 (UTC).
    pub started_unix_ms: i64,
    /// From the start to the first delta; `None` when there was none.
    pub first_delta: Option<Duration>,
    /// From the start to the end, waits included.
    pub total: Duration,
    /// How much of it was waiting between attempts.
    pub waited: Duration,
}

/// A model's whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The text: all text deltas joined.
    pub text: String,
    /// The reasoning: all reasoning deltas joined; empty when the model showed none.
    pub reasoning: String,
    /// Tokens and cost.
    pub usage: Usage,
    /// Why it stopped.
    pub finish: Finish,
    /// How long it took.
    pub timings: Timings,
    /// How many attempts it took: 1 when nothing failed.
    pub attempts: u32,
    /// What was asked.
    pub request_hash: RequestHash,
    /// The model that the provider says answered, when it says so.
    pub served_by: Option<String>,
    /// The provider's id of the reply, when it gives one.
    pub id: Option<String>,
}
