//! What the cards' bars are measured against: the largest and the dearest run. Kept until the model changes.

use crate::model::{Query, Session};
use crate::tui::theme::Role;
use crate::tui::widgets::Share;

/// The largest figures of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scale {
    tokens: u64,
    nano: i128,
}

/// What a card's bar shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CardBar {
    /// Its length.
    pub(super) share: Share,
    /// Its colour.
    pub(super) role: Role,
    /// Its cost is not known at all: drawn as a pattern.
    pub(super) patterned: bool,
}

impl Scale {
    /// Looks at every run once.
    pub(super) fn of(session: &Session) -> Self {
        session.queries.iter().fold(Self::default(), |scale, query| {
            let totals = &query.run.totals;
            Self {
                tokens: scale.tokens.max(totals.usage.total),
                nano: scale.nano.max(totals.cost.nano),
            }
        })
    }

    /// The bar of a run.
    pub(super) fn bar(&self, query: &Query) -> CardBar {
        let totals = &query.run.totals;
        let patterned = totals.cost.is_unknown();
        let nothing = query.run.agents.is_empty() && query.link.log().is_none();
        if nothing || !totals.tokens_known() {
            return CardBar {
                share: Share::Unknown,
                role: Role::Unknown,
                patterned,
            };
        }
        CardBar {
            share: Share::Of {
                part: totals.usage.total,
                whole: self.tokens,
            },
            role: if patterned {
                Role::Unknown
            } else {
                Role::cost(self.ratio(totals.cost.nano))
            },
            patterned,
        }
    }

    fn ratio(&self, nano: i128) -> f64 {
        if self.nano <= 0 {
            return 0.0;
        }
        (nano.max(0) as f64 / self.nano as f64).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_compared_with_the_dearest_and_never_divide_by_nothing() {
        let scale = Scale {
            tokens: 10,
            nano: 1_000,
        };
        assert_eq!(
            [0, 400, 1_000, 5_000, -3].map(|nano| scale.ratio(nano)),
            [0.0, 0.4, 1.0, 1.0, 0.0]
        );
        assert_eq!(Scale::default().ratio(7), 0.0);
    }
}
