//! Pairing the steps of two runs: the longest common subsequence of equal programs, and what lies between, in order.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::hash::Hash;
use std::iter::repeat;

/// Steps that stand in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// With the same program.
    Equal(usize, usize),
    /// With another one, or without a step on one side.
    Different(Option<usize>, Option<usize>),
}

/// Pairs the steps of two runs by their programs, or by what stands for them: equal keys are equal programs.
pub fn align<K: Hash + Ord>(a: &[K], b: &[K]) -> Vec<Pair> {
    let operations = capture_diff_slices(Algorithm::Myers, a, b);
    operations.into_iter().flat_map(pairs).collect()
}

fn pairs(operation: DiffOp) -> Vec<Pair> {
    match operation {
        DiffOp::Equal {
            old_index,
            new_index,
            len,
        } => (0..len).map(|n| Pair::Equal(old_index + n, new_index + n)).collect(),
        other => beside(other.old_range(), other.new_range()),
    }
}

/// What was replaced stands beside what replaced it; the rest of the longer side stands alone.
fn beside(old: std::ops::Range<usize>, new: std::ops::Range<usize>) -> Vec<Pair> {
    let rows = old.len().max(new.len());
    let old = old.map(Some).chain(repeat(None));
    let new = new.map(Some).chain(repeat(None));
    old.zip(new).take(rows).map(|(a, b)| Pair::Different(a, b)).collect()
}
