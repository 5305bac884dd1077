//! The cassette: recorded leaf calls, served again in place of calling.

use std::collections::HashMap;
use std::collections::VecDeque;

use super::payload::{CellOutcome, LeafCall};
use super::{Digest, Fact, StoredEvent};

/// What a cassette has for a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Served {
    /// A recorded cell, now consumed.
    Cell(Box<LeafCall>),
    /// The cell was too large to be kept whole: it is not served, and not consumed.
    Truncated {
        /// Bytes of its JSON.
        bytes: u64,
        /// The cap at which it was cut; a recording with a larger one would serve it.
        cap: u64,
    },
    /// No cell of this input is left.
    Missing {
        /// The input of the first unconsumed cell of the same call, for the report.
        expected: Option<Digest>,
    },
}

/// Recorded cells of one run, served by (call, input), first unconsumed first: concurrent calls may finish in another
/// order than they were recorded in.
#[derive(Clone, Debug, Default)]
pub struct Cassette {
    cells: Vec<LeafCall>,
    consumed: Vec<bool>,
    waiting: HashMap<(String, Option<Digest>), VecDeque<usize>>,
}

impl Cassette {
    /// A cassette of `cells` in their recorded order. Those that were stopped have nothing to serve.
    pub fn new(cells: impl IntoIterator<Item = LeafCall>) -> Self {
        let mut cassette = Self::default();
        for cell in cells.into_iter().filter(|cell| cell.outcome != CellOutcome::Stopped) {
            let key = (cell.call.clone(), cell.input);
            cassette.waiting.entry(key).or_default().push_back(cassette.cells.len());
            cassette.cells.push(cell);
            cassette.consumed.push(false);
        }
        cassette
    }

    /// The cells among `events` that the run `run_id` called.
    pub fn of_run(events: &[StoredEvent], run_id: &str) -> Self {
        let of_run = |event: &StoredEvent| match &event.fact {
            Fact::LeafCall(cell) if cell.run_id == run_id => Some(cell.clone()),
            _ => None,
        };
        Self::new(events.iter().filter_map(of_run))
    }

    /// Serves the first unconsumed cell of `call` with this input.
    pub fn serve(&mut self, call: &str, input: Digest) -> Served {
        let key = (call.to_owned(), Some(input));
        let Some((index, cell)) = self.first_waiting(&key) else {
            return Served::Missing {
                expected: self.first_unconsumed(call),
            };
        };
        if let CellOutcome::Truncated { bytes, cap, .. } = cell.outcome {
            return Served::Truncated { bytes, cap };
        }
        if let Some(queue) = self.waiting.get_mut(&key) {
            queue.pop_front();
        }
        if let Some(consumed) = self.consumed.get_mut(index) {
            *consumed = true;
        }
        Served::Cell(Box::new(cell))
    }

    fn first_waiting(&self, key: &(String, Option<Digest>)) -> Option<(usize, LeafCall)> {
        let index = *self.waiting.get(key)?.front()?;
        Some((index, self.cells.get(index)?.clone()))
    }

    fn first_unconsumed(&self, call: &str) -> Option<Digest> {
        self.unconsumed()
            .find(|cell| cell.call == call)
            .and_then(|cell| cell.input)
    }

    /// Cells that were not served yet, in recorded order.
    pub fn unconsumed(&self) -> impl Iterator<Item = &LeafCall> {
        self.cells
            .iter()
            .zip(&self.consumed)
            .filter(|(_, consumed)| !**consumed)
            .map(|(cell, _)| cell)
    }

    /// How many cells there are.
    pub fn total(&self) -> usize {
        self.cells.len()
    }

    /// How many were served.
    pub fn consumed(&self) -> usize {
        self.consumed.iter().filter(|consumed| **consumed).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cell(call: &str, input: &str, result: &str) -> LeafCall {
        LeafCall {
            call: call.into(),
            input: Some(Digest::of(input.as_bytes())),
            outcome: CellOutcome::Returned(json!(result)),
            ..LeafCall::default()
        }
    }

    fn served(cassette: &mut Cassette, call: &str, input: &str) -> Option<CellOutcome> {
        match cassette.serve(call, Digest::of(input.as_bytes())) {
            Served::Cell(cell) => Some(cell.outcome),
            _ => None,
        }
    }

    #[test]
    fn equal_calls_are_served_in_recorded_order_and_once() {
        let mut cassette = Cassette::new([cell("f", "x", "1"), cell("f", "y", "2"), cell("f", "x", "3")]);
        assert_eq!(served(&mut cassette, "f", "y"), Some(CellOutcome::Returned(json!("2"))));
        assert_eq!(served(&mut cassette, "f", "x"), Some(CellOutcome::Returned(json!("1"))));
        assert_eq!(cassette.unconsumed().count(), 1);
        assert_eq!(served(&mut cassette, "f", "x"), Some(CellOutcome::Returned(json!("3"))));
        assert_eq!(served(&mut cassette, "f", "x"), None);
        assert_eq!((cassette.consumed(), cassette.total()), (3, 3));
    }

    #[test]
    fn another_input_or_call_is_missing_and_names_what_was_expected() {
        let mut cassette = Cassette::new([cell("f", "x", "1")]);
        let expected = Some(Digest::of(b"x"));
        assert_eq!(cassette.serve("f", Digest::of(b"z")), Served::Missing { expected });
        assert_eq!(
            cassette.serve("g", Digest::of(b"x")),
            Served::Missing { expected: None }
        );
        assert_eq!(cassette.consumed(), 0);
    }

    #[test]
    fn a_truncated_cell_is_never_served() {
        let outcome = CellOutcome::Truncated {
            head: "\"a".into(),
            bytes: 10,
            cap: 5,
        };
        let mut cassette = Cassette::new([LeafCall {
            outcome,
            ..cell("f", "x", "")
        }]);
        assert_eq!(
            cassette.serve("f", Digest::of(b"x")),
            Served::Truncated { bytes: 10, cap: 5 }
        );
        assert_eq!(cassette.unconsumed().count(), 1);
    }
}
