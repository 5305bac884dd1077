//! Prices per token, for providers that do not state a cost.
//!
//! The table ships in `assets/pricing.toml`; a file of the same form overrides it entry by entry.

use super::cost::dollars;
use super::reply::{CostSource, Usage};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// What one model's tokens cost, in nano-dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "prices, like { input = \"1.25\", output = \"10\" }"
)]
pub struct Price {
    /// Prompt tokens.
    #[serde(deserialize_with = "dollars")]
    pub input: i64,
    /// Prompt tokens that the provider had cached; as `input` when absent.
    #[serde(default, deserialize_with = "some_dollars")]
    pub cached: Option<i64>,
    /// Prompt tokens that the provider put into its cache; as `input` when absent.
    #[serde(default, deserialize_with = "some_dollars")]
    pub cache_write: Option<i64>,
    /// Completion tokens, reasoning included.
    #[serde(deserialize_with = "dollars")]
    pub output: i64,
}

impl Price {
    /// What these tokens cost, in nano-dollars, rounded half up; `None` when it does not fit.
    #[must_use]
    pub fn cost_nano(&self, usage: &Usage) -> Option<i64> {
        self.cost_with_writes(usage, 0)
    }

    /// The same, where `written` of the prompt tokens went into the provider's cache.
    pub(super) fn cost_with_writes(&self, usage: &Usage, written: u64) -> Option<i64> {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        let written = written.min(usage.prompt_tokens - cached);
        let parts = [
            (usage.prompt_tokens - cached - written, self.input),
            (cached, self.cached.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
            (usage.completion_tokens, self.output),
        ];
        let sum: i128 = parts
            .iter()
            .map(|(tokens, price)| i128::from(*tokens) * i128::from(*price))
            .sum();
        i64::try_from((sum + 500_000) / 1_000_000).ok()
    }
}

/// Prices by model name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PricingTable {
    models: BTreeMap<String, Price>,
}

/// A price file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("price table: {0}")]
pub struct PricingError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    models: BTreeMap<String, Price>,
}

impl PricingTable {
    /// The table that ships with the program.
    #[must_use]
    pub fn builtin() -> Self {
        // A test reads the shipped file, so an empty table can never ship.
        Self::from_toml(include_str!("../../assets/pricing.toml")).unwrap_or_default()
    }

    /// A table from the text of a price file.
    ///
    /// # Errors
    ///
    /// [`PricingError`] with line and column.
    pub fn from_toml(text: &str) -> Result<Self, PricingError> {
        let file: File = toml::from_str(text).map_err(|error| PricingError(crate::text::toml_fault(text, &error)))?;
        Ok(Self { models: file.models })
    }

    /// Takes over every entry of `other`.
    pub fn merge(&mut self, other: Self) {
        self.models.extend(other.models);
    }

    /// Sets the price of one model.
    pub fn set(&mut self, model: impl Into<String>, price: Price) {
        self.models.insert(model.into(), price);
    }

    /// The price of `model`: under its own name, else without a date at the end, else without `vendor/` before it.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<Price> {
        let bare = model.rsplit_once('/').map_or(model, |(_, name)| name);
        [model, without_date(model), bare, without_date(bare)]
            .iter()
            .find_map(|name| self.models.get(*name))
            .copied()
    }

    /// Completes `usage` from the table when the provider reported tokens but no cost.
    pub fn complete(&self, model: &str, usage: &mut Usage) {
        self.complete_with_writes(model, usage, 0);
    }

    /// The same, where `written` of the prompt tokens went into the provider's cache.
    pub(super) fn complete_with_writes(&self, model: &str, usage: &mut Usage, written: u64) {
        if usage.cost_nano.is_some() || !usage.reported {
            return;
        }
        if let Some(cost) = self
            .price(model)
            .and_then(|price| price.cost_with_writes(usage, written))
        {
            usage.cost_nano = Some(cost);
            usage.cost_source = CostSource::Table;
        }
    }
}

/// `gpt-5-2025-08-07` and `claude-sonnet-4-20250514` are `gpt-5` and `claude-sonnet-4` on a day.
fn without_date(model: &str) -> &str {
    let name = model.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let date = model.strip_prefix(name).unwrap_or("");
    let cut = date.match_indices('-').map(|(at, _)| at).find(|at| {
        let digits: Vec<usize> = date.split_at(*at).1.split('-').skip(1).map(str::len).collect();
        digits == [8] || digits == [4, 2, 2]
    });
    cut.and_then(|at| model.split_at_checked(name.len() + at))
        .map_or(model, |(name, _)| name)
}

fn some_dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    dollars(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(prompt: u64, cached: u64, completion: u64) -> Usage {
        Usage {
            prompt_tokens: prompt,
            cached_tokens: cached,
            completion_tokens: completion,
            reported: true,
            ..Usage::default()
        }
    }

    #[test]
    fn the_shipped_table_reads_and_is_found_by_every_spelling() {
        let table = PricingTable::from_toml(include_str!("../../assets/pricing.toml")).unwrap();
        assert_eq!(table, PricingTable::builtin());
        let mini = table.price("gpt-4o-mini").unwrap();
        assert_eq!(
            mini,
            Price {
                input: 150_000_000,
                cached: Some(75_000_000),
                cache_write: None,
                output: 600_000_000
            }
        );
        for name in [
            "openai/gpt-4o-mini",
            "gpt-4o-mini-2024-07-18",
            "openai/gpt-4o-mini-2024-07-18",
        ] {
            assert_eq!(table.price(name), Some(mini), "{name}");
        }
        assert_eq!(table.price("gpt-4o-mini-huge"), None);
        assert_eq!(table.price(""), None);
        assert_eq!(without_date("claude-sonnet-4-20250514"), "claude-sonnet-4");
        assert_eq!(without_date("claude-3-5"), "claude-3-5");
    }

    #[test]
    fn tokens_are_priced_exactly() {
        let table = PricingTable::from_toml("[models.m]\ninput = 1000\noutput = 1000.0\n").unwrap();
        let mut usage = tokens(1000, 0, 500);
        table.complete("m", &mut usage);
        assert_eq!(
            (usage.cost_nano, usage.cost_source),
            (Some(1_500_000_000), CostSource::Table)
        );

        let price = Price {
            input: 600_000_000,
            cached: Some(37_500_000),
            cache_write: None,
            output: 2_200_000_000,
        };
        // 10 × 600 + 20 × 37.5 + 3 × 2200 nano-dollars.
        assert_eq!(price.cost_nano(&tokens(30, 20, 3)), Some(6_000 + 750 + 6_600));
        // Of 30, 20 from the cache and 10 into it; more written than is left is what is left.
        let written = Price {
            cache_write: Some(750_000_000),
            ..price
        };
        assert_eq!(
            written.cost_with_writes(&tokens(30, 20, 3), 99),
            Some(7_500 + 750 + 6_600)
        );
        // More cached than there was: all of it was cached.
        assert_eq!(price.cost_nano(&tokens(2, 9, 0)), Some(75));
        assert_eq!(price.cost_nano(&tokens(u64::MAX, 0, u64::MAX)), None);
    }

    #[test]
    fn a_stated_cost_wins_and_an_unknown_price_stays_unknown() {
        let mut table = PricingTable::builtin();
        table.set(
            "m",
            Price {
                input: 1_000_000_000,
                cached: None,
                cache_write: None,
                output: 1_000_000_000,
            },
        );
        let mut stated = Usage {
            cost_nano: Some(0),
            cost_source: CostSource::Provider,
            ..tokens(10, 0, 10)
        };
        table.complete("m", &mut stated);
        assert_eq!((stated.cost_nano, stated.cost_source), (Some(0), CostSource::Provider));

        let mut unknown = tokens(10, 0, 10);
        table.complete("nobody/knows", &mut unknown);
        assert_eq!(unknown.cost_nano, None);

        let mut unreported = Usage::default();
        table.complete("m", &mut unreported);
        assert_eq!(unreported.cost_nano, None);
    }

    #[test]
    fn an_override_replaces_whole_entries_and_errors_name_the_line() {
        let mut table = PricingTable::builtin();
        table.merge(PricingTable::from_toml("[models.\"gpt-4o-mini\"]\ninput = \"1\"\noutput = \"2\"\n").unwrap());
        assert_eq!(
            table.price("gpt-4o-mini"),
            Some(Price {
                input: 1_000_000_000,
                cached: None,
                cache_write: None,
                output: 2_000_000_000
            })
        );

        let error = PricingTable::from_toml("[models.m]\ninput = \"cheap\"\noutput = 1\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 2") && error.contains("cheap"), "{error}");
    }
}
