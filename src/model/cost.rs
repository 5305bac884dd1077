//! What calls cost, in integer nano-dollars, and what is not known of it.

use std::fmt;

use crate::text::{compact_count, count, exact_money, money};

/// The cost of one step, as its provider reported it. Displays as `$0.41`, `unknown`, or `$0.41 + unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Cost {
    /// None was reported: unknown, never zero.
    #[default]
    Unknown,
    /// Nano-dollars; a real zero is `Known(0)`.
    Known(i64),
    /// Nano-dollars of a part, as of an attempt that failed; the rest is unknown.
    AtLeast(i64),
}

impl Cost {
    /// The exact value, for those who look closer: `$0.0472324`, or `unknown`.
    pub fn exact(&self) -> String {
        match self {
            Self::Unknown => "unknown".into(),
            Self::Known(nano) => exact_money(i128::from(*nano)),
            Self::AtLeast(nano) => format!("{} + unknown", exact_money(i128::from(*nano))),
        }
    }

    /// For lines that do not say what is unknown: `cost unknown`.
    pub fn named(&self) -> String {
        named(*self == Self::Unknown, self)
    }

    /// A part of a cost; of nothing, nothing is known.
    pub(crate) fn of_part(nano: i64) -> Self {
        match nano {
            0 => Self::Unknown,
            nano => Self::AtLeast(nano),
        }
    }

    /// Both together: what is known of either is known of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = self.nano().saturating_add(other.nano());
        match (self, other) {
            (Self::Known(_), Self::Known(_)) => Self::Known(sum),
            _ => Self::of_part(sum),
        }
    }

    /// What is known of it.
    pub fn nano(self) -> i64 {
        match self {
            Self::Unknown => 0,
            Self::Known(nano) | Self::AtLeast(nano) => nano,
        }
    }

    /// What is known of it, where that is not all.
    pub fn part(self) -> Option<i64> {
        match self {
            Self::AtLeast(nano) => Some(nano),
            Self::Unknown | Self::Known(_) => None,
        }
    }

    /// All of it, where that is known.
    pub fn whole(self) -> Option<i64> {
        match self {
            Self::Known(nano) => Some(nano),
            Self::Unknown | Self::AtLeast(_) => None,
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown"),
            Self::Known(nano) => f.write_str(&money(i128::from(*nano))),
            Self::AtLeast(nano) => write!(f, "{} + unknown", money(i128::from(*nano))),
        }
    }
}

/// A sum of costs, with the steps that reported none counted beside it. Displays as `$0.41 + 3 unknown`, `unknown`
/// when no step reported one, `$0` when there is no step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct CostSum {
    /// Nano-dollars of the steps that reported a cost, and of the known parts of the others.
    pub nano: i128,
    /// Steps that reported one.
    pub known: u64,
    /// Steps that reported none, or not all of it.
    pub unknown: u64,
}

impl CostSum {
    /// Adds one step's cost.
    pub fn add(&mut self, cost: Cost) {
        self.nano = self.nano.saturating_add(i128::from(cost.nano()));
        let counted = match cost {
            Cost::Known(_) => &mut self.known,
            Cost::Unknown | Cost::AtLeast(_) => &mut self.unknown,
        };
        *counted = counted.saturating_add(1);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.nano = self.nano.saturating_add(other.nano);
        self.known = self.known.saturating_add(other.known);
        self.unknown = self.unknown.saturating_add(other.unknown);
    }

    /// The same notation with the exact value: `$0.0472324 + 3 unknown`.
    pub fn exact(&self) -> String {
        self.notation(exact_money)
    }

    /// For lines that do not say what is unknown: `cost unknown`.
    pub fn named(&self) -> String {
        named(self.is_unknown(), self)
    }

    /// Nothing is known: there are steps, and none reported a cost or a part of it.
    pub fn is_unknown(&self) -> bool {
        self.known == 0 && self.unknown > 0 && self.nano == 0
    }

    /// Tokens of the same calls: `45.0k tokens`; `tokens unknown` where there were calls, and none reported any.
    pub fn with_tokens(&self, tokens: u128) -> String {
        match tokens == 0 && (self.known > 0 || self.unknown > 0) {
            true => "tokens unknown".into(),
            false => format!("{} tokens", compact_count(tokens)),
        }
    }

    fn notation(&self, money: impl Fn(i128) -> String) -> String {
        match (self.is_unknown(), self.unknown) {
            (true, _) => "unknown".into(),
            (false, 0) => money(self.nano),
            (false, n) => format!("{} + {} unknown", money(self.nano), count(u128::from(n))),
        }
    }
}

impl fmt::Display for CostSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.notation(money))
    }
}

fn named(unknown: bool, cost: &dyn fmt::Display) -> String {
    match unknown {
        true => format!("cost {cost}"),
        false => cost.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(costs: &[Cost]) -> CostSum {
        let mut sum = CostSum::default();
        costs.iter().for_each(|cost| sum.add(*cost));
        sum
    }

    #[test]
    fn tokens_that_nobody_reported_are_not_zero() {
        assert_eq!(sum(&[]).with_tokens(0), "0 tokens");
        assert_eq!(sum(&[Cost::Known(0)]).with_tokens(0), "tokens unknown");
        assert_eq!(sum(&[Cost::Unknown]).with_tokens(0), "tokens unknown");
        assert_eq!(sum(&[Cost::Unknown]).with_tokens(45_000), "45.0k tokens");
    }

    #[test]
    fn unknown_is_never_zero() {
        assert_eq!(sum(&[]).to_string(), "$0");
        assert_eq!(sum(&[Cost::Known(0)]).to_string(), "$0");
        assert_eq!(sum(&[Cost::Unknown; 2]).to_string(), "unknown");
        assert_eq!(sum(&[Cost::Unknown; 2]).named(), "cost unknown");
        assert_eq!(
            (Cost::Unknown.named(), Cost::Known(0).named()),
            ("cost unknown".into(), "$0".into())
        );
        assert_eq!(
            sum(&[Cost::Unknown, Cost::Known(410_000_000), Cost::Unknown]).to_string(),
            "$0.41 + 2 unknown"
        );
        assert_eq!(sum(&[Cost::Unknown, Cost::Known(0)]).to_string(), "$0 + 1 unknown");
    }

    #[test]
    fn a_part_that_is_known_is_counted_and_the_rest_is_unknown() {
        let part = Cost::Known(30_000_000).plus(Cost::Unknown);
        assert_eq!(part, Cost::AtLeast(30_000_000));
        assert_eq!(
            (part.to_string(), part.exact()),
            ("$0.03 + unknown".into(), "$0.03 + unknown".into())
        );
        assert_eq!(part.plus(Cost::Known(1)), Cost::AtLeast(30_000_001));
        assert_eq!(Cost::Known(1).plus(Cost::Known(2)), Cost::Known(3));
        assert_eq!(Cost::Unknown.plus(Cost::Unknown), Cost::Unknown);
        assert_eq!(
            Cost::Known(0).plus(Cost::Unknown),
            Cost::Unknown,
            "a part of nothing says nothing"
        );
        assert_eq!((part.whole(), Cost::Known(0).whole()), (None, Some(0)));
        assert_eq!(sum(&[part]).to_string(), "$0.03 + 1 unknown");
        assert_eq!(sum(&[part, Cost::Known(10_000_000)]).to_string(), "$0.04 + 1 unknown");
    }

    #[test]
    fn exact_values_keep_the_notation() {
        assert_eq!(
            sum(&[Cost::Unknown, Cost::Known(47_232_400)]).exact(),
            "$0.0472324 + 1 unknown"
        );
        assert_eq!(
            (Cost::Unknown.exact(), Cost::Known(4).exact()),
            ("unknown".into(), "$0.000000004".into())
        );
    }

    #[test]
    fn sums_saturate_and_merge() {
        let mut all = sum(&[Cost::Known(i64::MAX), Cost::Unknown]);
        all.merge(&CostSum {
            nano: i128::MAX,
            known: u64::MAX,
            unknown: 1,
        });
        assert_eq!(
            all,
            CostSum {
                nano: i128::MAX,
                known: u64::MAX,
                unknown: 2
            }
        );
    }
}
