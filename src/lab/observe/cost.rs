//! What a session cost, by model.

use super::turns::{root_calls, sub_agents};
use crate::lab::Recording;
use crate::lab::reading::Reading;
use crate::model::{Cost, Usage};
use crate::provider::{PricingTable, Usage as CallUsage};
use crate::store::{Store, StoreError};
use std::collections::BTreeMap;

/// Where a cost comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostBasis {
    /// Every call reported it.
    Reported,
    /// The price table was used for some.
    Estimated,
}

/// What one model cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCost {
    /// The model.
    pub model: String,
    /// Its calls, of sub-agents one each.
    pub calls: u64,
    /// Their tokens.
    pub usage: Usage,
    /// Nano-dollars; `None` when the price of any call is unknown, never 0 then.
    pub nano: Option<i128>,
    /// Where the cost comes from.
    pub basis: CostBasis,
}

/// [`model_costs`] of a session's log, of which nothing else is read.
///
/// # Errors
///
/// Those of the store.
pub fn read_model_costs(store: &Store, session: &str, pricing: &PricingTable) -> Result<Vec<ModelCost>, StoreError> {
    Ok(model_costs(&Reading::COST.read(store, session)?, pricing))
}

/// One row a model, by name. A reported cost beats the table.
pub fn model_costs(recording: &Recording, pricing: &PricingTable) -> Vec<ModelCost> {
    let mut rows: BTreeMap<String, ModelCost> = BTreeMap::new();
    let mut add = |model: &str, usage: Option<Usage>, cost: Cost| {
        let row = rows.entry(model.to_owned()).or_insert_with(|| ModelCost {
            model: model.to_owned(),
            calls: 0,
            usage: Usage::default(),
            nano: Some(0),
            basis: CostBasis::Reported,
        });
        row.add(usage, cost, pricing);
    };
    for turn in &recording.turns {
        let asked = root_calls(turn).into_iter().filter(|call| call.was_asked());
        asked.for_each(|call| add(&call.model, call.usage, call.cost));
        let model = turn.started.sub_model.as_ref().unwrap_or(&turn.started.model);
        sub_agents(turn)
            .into_iter()
            .for_each(|cell| add(model, cell.usage, cell.cost));
    }
    rows.into_values().collect()
}

impl ModelCost {
    fn add(&mut self, usage: Option<Usage>, cost: Cost, pricing: &PricingTable) {
        self.calls += 1;
        let used = usage.unwrap_or_default();
        self.usage.prompt = self.usage.prompt.saturating_add(used.prompt);
        self.usage.completion = self.usage.completion.saturating_add(used.completion);
        self.usage.total = self.usage.total.saturating_add(used.total);
        self.usage.cached = self.usage.cached.saturating_add(used.cached);
        self.usage.reasoning = self.usage.reasoning.saturating_add(used.reasoning);
        let nano = match (cost, usage) {
            (Cost::Known(nano), _) => Some(nano),
            (_, Some(usage)) => {
                self.basis = CostBasis::Estimated;
                pricing
                    .price(&self.model)
                    .and_then(|price| price.cost_nano(&tokens(usage)))
            }
            (_, None) => None,
        };
        self.nano = self.nano.zip(nano).map(|(sum, nano)| sum + i128::from(nano));
    }
}

fn tokens(usage: Usage) -> CallUsage {
    CallUsage {
        prompt_tokens: usage.prompt,
        completion_tokens: usage.completion,
        total_tokens: usage.total,
        cached_tokens: usage.cached,
        reasoning_tokens: usage.reasoning,
        reported: true,
        ..CallUsage::default()
    }
}
