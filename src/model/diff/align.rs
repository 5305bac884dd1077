//! Pairing the steps of two runs: the longest common subsequence of equal programs, and what lies between, in order.

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};
use std::collections::HashMap;
use std::hash::Hash;
use std::iter::repeat;
use std::time::Instant;

/// Steps that stand in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// With the same program.
    Equal(usize, usize),
    /// With another one, or without a step on one side.
    Different(Option<usize>, Option<usize>),
}

/// Pairs the steps of two runs by their programs, or by what stands for them: equal keys are equal programs.
pub fn align<K: Hash + Eq>(a: &[K], b: &[K]) -> Vec<Pair> {
    operations(a, b, None).into_iter().flat_map(pairs).collect()
}

/// What turns one sequence into the other. After `deadline` the rest is aligned more coarsely.
pub fn operations<K: Hash + Eq>(a: &[K], b: &[K], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut numbers = HashMap::new();
    let a = numbered(a, &mut numbers);
    let b = numbered(b, &mut numbers);
    aligned(a.as_slice(), b.as_slice(), deadline)
}

/// Equal keys as equal numbers: the algorithm is built for one type, not again for each kind of key.
fn numbered<'k, K: Hash + Eq>(keys: &'k [K], numbers: &mut HashMap<&'k K, usize>) -> Vec<usize> {
    let mut number = |key| {
        let next = numbers.len();
        *numbers.entry(key).or_insert(next)
    };
    keys.iter().map(&mut number).collect()
}

fn aligned(a: &[usize], b: &[usize], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut hook = Compact::new(Replace::new(Capture::new()), a, b);
    let Ok(()) = myers::diff_deadline(&mut hook, a, 0..a.len(), b, 0..b.len(), deadline);
    hook.into_inner().into_inner().into_ops()
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
