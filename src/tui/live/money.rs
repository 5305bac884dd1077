//! What a run may spend, and how far it is.

use crate::model::{Cost, CostSum};
use crate::text::money;

/// What a run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    tokens: u64,
    cost: CostSum,
    calls: u64,
}

impl Spent {
    /// Adds a model call.
    pub(super) fn add(&mut self, tokens: u64, cost: Cost) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost.add(cost);
        self.calls = self.calls.saturating_add(1);
    }

    /// It has reached four fifths of `limit` nano-dollars.
    pub(super) fn nears(&self, limit: i64) -> bool {
        limit > 0 && self.cost.nano.saturating_mul(5) >= i128::from(limit).saturating_mul(4)
    }

    /// `$0.12, 45k tokens`; what a run that never called a model cost is nothing.
    pub(super) fn words(&self) -> String {
        match self.calls {
            0 => "nothing was spent".into(),
            _ => {
                let spent = if self.cost.is_unknown() { "" } else { " spent" };
                format!(
                    "{}{spent}, {}",
                    self.cost.named(),
                    self.cost.with_tokens(self.tokens.into())
                )
            }
        }
    }
}

/// `$0.40`.
pub(super) fn dollars(nano: i64) -> String {
    money(i128::from(nano))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_fifths_are_near() {
        let mut spent = Spent::default();
        spent.add(10, Cost::Known(79));
        assert!(!spent.nears(100));
        spent.add(10, Cost::Known(1));
        assert!(spent.nears(100) && !spent.nears(0));
        assert_eq!(spent.words(), "$0.00000008 spent, 20 tokens");
        let mut unpriced = Spent::default();
        unpriced.add(10, Cost::Unknown);
        assert_eq!(unpriced.words(), "cost unknown, 10 tokens");
    }
}
