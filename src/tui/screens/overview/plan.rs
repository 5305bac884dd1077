//! How high each card is and where it lies. All cards are alike, so that ten thousand cost nothing; where a few leave
//! room, each gets the lines that its own text needs.

use super::ending::Ending;
use super::head::rows;
use super::live;
use crate::model::{Query, Session};
use ratatui::layout::Rect;

/// How cards are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// With a border.
    Boxed,
    /// Lines under each other.
    Compact,
}

/// Lines of text of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// For the query.
    pub(super) query: u16,
    /// For the FINAL.
    pub(super) answer: u16,
}

const ONE_EACH: Lines = Lines { query: 1, answer: 1 };
/// The most lines of each, however much room there is.
const MOST: Lines = Lines { query: 3, answer: 12 };
/// More cards than this never get room of their own.
const FEW: usize = 24;
/// Left of a card's border: the spine.
pub(super) const SPINE: u16 = 4;

/// Where the cards of a session lie in an area of some size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) look: Look,
    /// There is a line for the bar.
    pub(super) bar: bool,
    cards: usize,
    /// Lines of each card, where they differ.
    own: Option<Vec<Lines>>,
}

impl Plan {
    /// Lays out the cards of a session in an area.
    pub(super) fn new(session: &Session, area: Rect) -> Self {
        let roomy = area.width >= 56 && area.height >= 12;
        let mut plan = Self {
            look: if roomy { Look::Boxed } else { Look::Compact },
            bar: area.height >= 4,
            cards: session.queries.len(),
            own: None,
        };
        if plan.cards <= FEW && roomy {
            plan.own = plan.spread(session, area);
        }
        plan
    }

    /// Gives spare rows to the texts that need them: the answers first, a line at a time, from the top.
    fn spread(&self, session: &Session, area: Rect) -> Option<Vec<Lines>> {
        let mut spare = usize::from(area.height).checked_sub(self.total())?;
        let cells = usize::from(self.text_width(area.width));
        let needs: Vec<Lines> = session
            .queries
            .iter()
            .map(|query| needs(session, query, cells))
            .collect();
        let mut own = vec![ONE_EACH; self.cards];
        while spare > 0 {
            let before = spare;
            for (lines, needs) in own.iter_mut().zip(&needs) {
                let starved = [(&mut lines.answer, needs.answer), (&mut lines.query, needs.query)];
                if let Some((line, _)) = starved.into_iter().find(|(line, need)| **line < *need && spare > 0) {
                    *line += 1;
                    spare -= 1;
                }
            }
            if spare == before {
                break;
            }
        }
        Some(own)
    }

    /// Cells of a card's text in a list of this width.
    pub(super) fn text_width(&self, width: u16) -> u16 {
        match self.look {
            Look::Boxed => width.saturating_sub(SPINE + 4),
            Look::Compact => width.saturating_sub(2),
        }
    }

    /// Lines of a card's texts.
    pub(super) fn lines(&self, index: usize) -> Lines {
        let own = self.own.as_ref().and_then(|own| own.get(index).copied());
        own.unwrap_or(ONE_EACH)
    }

    /// Rows of a card.
    pub(super) fn height(&self, index: usize) -> u16 {
        let lines = self.lines(index);
        self.chrome() + lines.query + lines.answer
    }

    /// Rows of a card beside its texts: its first line, its bar, its border.
    fn chrome(&self) -> u16 {
        1 + u16::from(self.bar) + u16::from(self.look == Look::Boxed)
    }

    /// The first row of a card.
    pub(super) fn row_of(&self, index: usize) -> usize {
        match &self.own {
            None => index.min(self.cards) * usize::from(self.height(0)),
            Some(_) => (0..index.min(self.cards))
                .map(|index| usize::from(self.height(index)))
                .sum(),
        }
    }

    /// The card at a row; the last one below the end.
    pub(super) fn card_at(&self, row: usize) -> usize {
        let last = self.cards.saturating_sub(1);
        match &self.own {
            None => (row / usize::from(self.height(0))).min(last),
            Some(_) => (1..self.cards)
                .take_while(|index| self.row_of(*index) <= row)
                .last()
                .unwrap_or(0),
        }
    }

    /// Rows of all cards.
    pub(super) fn total(&self) -> usize {
        self.row_of(self.cards)
    }
}

/// Lines that the texts of a card would take.
fn needs(session: &Session, query: &Query, cells: usize) -> Lines {
    let lines = |raw: &str, most: u16, cells: usize| {
        let rows = rows(raw, cells, most.into()).len();
        u16::try_from(rows).unwrap_or(most).clamp(1, most)
    };
    Lines {
        query: lines(&query.text, MOST.query, cells),
        answer: match session.live_of(query) {
            // As many as it may come to need: a card that grew with every line would never be still.
            Some(_) => live::LINES,
            None => lines(Ending::of(query).text, MOST.answer, cells.saturating_sub(2)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan(cards: usize, own: Option<Vec<Lines>>) -> Plan {
        Plan {
            look: Look::Boxed,
            bar: true,
            cards,
            own,
        }
    }

    proptest! {
        #[test]
        fn every_row_belongs_to_the_card_that_begins_at_or_before_it(
            own in proptest::option::of(proptest::collection::vec((1u16..4, 1u16..5), 1..20)),
            cards in 1usize..20,
        ) {
            let own: Option<Vec<_>> = own.map(|own| {
                own.into_iter().map(|(query, answer)| Lines { query, answer }).collect()
            });
            let plan = plan(own.as_ref().map_or(cards, Vec::len), own);
            for row in 0..plan.total() {
                let card = plan.card_at(row);
                prop_assert!(plan.row_of(card) <= row);
                prop_assert!(row < plan.row_of(card) + usize::from(plan.height(card)));
            }
            prop_assert_eq!(plan.card_at(usize::MAX), plan.cards - 1);
        }
    }
}
