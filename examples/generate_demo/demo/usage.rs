//! Tokens and money of the story's calls: an estimate from the text, so that figures fit what one reads.

use super::story::{Pricing, Step};
use serde_json::{Value, json};

/// Tokens of the system prompt.
const SYSTEM: u64 = 2_874;
/// Nano-dollars a token: prompt, cached prompt, completion.
const PRICE: [u64; 3] = [600, 110, 2_200];

/// The conversation of one agent, as long as it is by now.
pub(crate) struct Conversation {
    tokens: u64,
    cached: u64,
}

impl Conversation {
    /// It opens with the system prompt and what the probe printed.
    pub(crate) fn open(probe: &str) -> Self {
        Self {
            tokens: SYSTEM + tokens(probe),
            cached: 0,
        }
    }

    /// Usage of the call that wrote `step`; the conversation grows by it and by its output.
    pub(crate) fn call(&mut self, step: &Step, pricing: Pricing) -> Value {
        let reasoning = step.reasoning.as_deref().map_or(0, tokens);
        let completion = 9 + reasoning + tokens(&step.code);
        let (prompt, cached) = (self.tokens, self.cached);
        let mut usage = json!({
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "cached_tokens": cached,
            "reasoning_tokens": reasoning,
        });
        if let (Some(cost), Some(fields)) = (
            price(pricing, [prompt - cached, cached, completion]),
            usage.as_object_mut(),
        ) {
            fields.insert("cost".into(), cost);
        }
        // Providers cache whole blocks of what they have seen.
        self.cached = prompt / 64 * 64;
        self.tokens += completion + step.output.as_deref().map_or(24, tokens);
        usage
    }
}

fn price(pricing: Pricing, counts: [u64; 3]) -> Option<Value> {
    let nano: u64 = counts.iter().zip(PRICE).map(|(count, price)| count * price).sum();
    match pricing {
        Pricing::Priced => Some(json!(nano as f64 / 1e9)),
        Pricing::Zero => Some(json!(0)),
        Pricing::Unknown => None,
    }
}

/// Four bytes a token, give or take.
fn tokens(text: &str) -> u64 {
    text.len() as u64 / 4
}
