//! The list of hits: grouped by run, in the order of the session, whatever order they arrive in.

use super::hit::{Hit, Part, Spot};
use crate::tui::screens::{Place, QueryKey};

/// Hits that are kept; a list of more helps nobody.
const MOST: usize = 10_000;

/// One row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A run's heading, by one of its hits, and its number of matches.
    Run(usize, usize),
    /// The heading of memory, and its number of matches.
    Memory(usize),
    /// A hit.
    Hit(usize),
}

/// Hits, sorted, with the rows that show them.
#[derive(Debug, Default)]
pub(super) struct Results {
    hits: Vec<Hit>,
    rows: Vec<Row>,
    runs: usize,
}

/// What orders the list, and tells equal hits.
type Key<'a> = (usize, Option<(u32, Option<usize>)>, Part, &'a str);

fn key(hit: &Hit) -> Key<'_> {
    match &hit.spot {
        Spot::Run { order, place, .. } => {
            let place = place.map(|Place { agent, step }| (agent.0, step));
            (*order, place, hit.part, hit.title.as_str())
        }
        Spot::Memory { name } => (usize::MAX, None, hit.part, name),
    }
}

/// Matches of hits: a text may have several.
fn matches(hits: &[Hit]) -> usize {
    hits.iter().fold(0, |sum, hit| sum.saturating_add(hit.count))
}

/// The group a hit belongs to.
fn group(hit: &Hit) -> usize {
    key(hit).0
}

impl Results {
    /// Takes more hits; of equal ones the first stays.
    pub(super) fn add(&mut self, hits: Vec<Hit>) {
        if hits.is_empty() {
            return;
        }
        self.hits.extend(hits);
        self.hits.sort_by(|a, b| key(a).cmp(&key(b)));
        self.hits.dedup_by(|a, b| key(a) == key(b));
        self.hits.truncate(MOST);
        self.lay_out();
    }

    fn lay_out(&mut self) {
        self.rows.clear();
        self.runs = 0;
        let mut at = 0;
        for hits in self.hits.chunk_by(|a, b| group(a) == group(b)) {
            let of_run = hits.first().is_some_and(|hit| hit.spot.label().is_some());
            self.runs += usize::from(of_run);
            let matches = matches(hits);
            self.rows.push(if of_run {
                Row::Run(at, matches)
            } else {
                Row::Memory(matches)
            });
            self.rows.extend((at..at + hits.len()).map(Row::Hit));
            at += hits.len();
        }
    }

    /// Matches in all texts.
    pub(super) fn matches(&self) -> usize {
        matches(&self.hits)
    }

    /// Texts with matches.
    pub(super) fn len(&self) -> usize {
        self.hits.len()
    }

    /// There may be more hits than are kept.
    pub(super) fn is_full(&self) -> bool {
        self.hits.len() >= MOST
    }

    /// Runs that have some.
    pub(super) fn runs(&self) -> usize {
        self.runs
    }

    /// Rows.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// A row.
    pub(super) fn row(&self, index: usize) -> Option<Row> {
        self.rows.get(index).copied()
    }

    /// A hit, by its index.
    pub(super) fn hit(&self, index: usize) -> Option<&Hit> {
        self.hits.get(index)
    }

    /// The hit that a row shows; the first of a heading's run.
    pub(super) fn hit_of(&self, row: usize) -> Option<&Hit> {
        match self.row(row)? {
            Row::Run(hit, _) | Row::Hit(hit) => self.hit(hit),
            Row::Memory(_) => None,
        }
    }

    /// The run that a row is about.
    pub(super) fn run_of(&self, row: usize) -> Option<QueryKey> {
        match &self.hit_of(row)?.spot {
            Spot::Run { query, .. } => Some(*query),
            Spot::Memory { .. } => None,
        }
    }

    /// The row that shows the same hit as `row` of an earlier state did: it may have moved since.
    pub(super) fn row_of(&self, hit: &Hit) -> Option<usize> {
        let index = self.hits.binary_search_by(|other| key(other).cmp(&key(hit))).ok()?;
        self.rows.iter().position(|row| *row == Row::Hit(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AgentId, Label};
    use crate::text::SafeText;

    fn hit(order: usize, step: usize) -> Hit {
        let query = QueryKey {
            label: Label::Completed(order as u32 + 1),
            log: None,
        };
        let place = Some(Place {
            agent: AgentId(0),
            step: Some(step),
        });
        Hit {
            spot: Spot::Run { query, order, place },
            part: Part::Code,
            title: SafeText::literal("step"),
            before: SafeText::default(),
            found: SafeText::default(),
            after: SafeText::default(),
            count: 1,
        }
    }

    #[test]
    fn hits_stand_in_the_order_of_the_session_under_their_run() {
        let mut results = Results::default();
        results.add(vec![hit(1, 0), hit(0, 3)]);
        results.add(vec![hit(0, 1), hit(1, 0)]);
        assert_eq!(
            results.rows(),
            [Row::Run(0, 2), Row::Hit(0), Row::Hit(1), Row::Run(2, 1), Row::Hit(2)]
        );
        assert_eq!((results.len(), results.runs(), results.matches()), (3, 2, 3));
        assert_eq!(results.run_of(3).unwrap().label, Label::Completed(2));
    }

    #[test]
    fn a_hit_is_found_again_after_others_came_before_it() {
        let mut results = Results::default();
        results.add(vec![hit(1, 0)]);
        let selected = results.hit_of(1).unwrap().clone();
        results.add(vec![hit(0, 0), hit(0, 1)]);
        assert_eq!(results.row_of(&selected), Some(4));
    }

    #[test]
    fn every_match_of_a_text_counts() {
        let mut results = Results::default();
        results.add(vec![
            Hit { count: 4, ..hit(0, 1) },
            hit(0, 3),
            Hit { count: 2, ..hit(1, 1) },
        ]);
        assert_eq!(results.matches(), 7);
        assert_eq!(
            (results.row(0), results.row(3)),
            (Some(Row::Run(0, 5)), Some(Row::Run(2, 2)))
        );
    }

    #[test]
    fn a_flood_of_hits_is_kept_in_part() {
        let mut results = Results::default();
        results.add((0..MOST + 5).map(|step| hit(0, step)).collect());
        assert!(results.is_full());
        assert_eq!(results.len(), MOST);
    }

    #[test]
    fn memory_stands_last_under_a_heading_of_its_own() {
        let mut memory = hit(0, 0);
        memory.spot = Spot::Memory { name: "herd".into() };
        let mut results = Results::default();
        results.add(vec![memory, hit(7, 0)]);
        assert_eq!(
            results.rows(),
            [Row::Run(0, 1), Row::Hit(0), Row::Memory(1), Row::Hit(1)]
        );
        assert_eq!(results.hit_of(2), None);
    }
}
