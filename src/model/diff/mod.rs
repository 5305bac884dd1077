//! How two runs differ, step by step. Steps are aligned by what their code does, so that one inserted step does not
//! shift the rest; comments and layout do not count.

mod align;
mod mark;
mod verdict;

use super::program_text;
pub use align::{Pair, align, operations};
pub use mark::DiffMark;

/// A step as comparing sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffStep {
    /// Its name on screens: `step 3`.
    pub name: String,
    /// Its code, raw.
    pub code: String,
    /// What it printed, raw.
    pub output: String,
    /// Its code raised.
    pub failed: bool,
    /// Its leaf calls, in the order of starting. Both sides must know them, or none.
    pub calls: Vec<DiffCall>,
    /// FINAL, on the step that ended the run.
    pub value: Option<String>,
}

/// A leaf call as comparing sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffCall {
    /// `llm_query`, a tool's name, …
    pub call: String,
    /// What it was given.
    pub input: String,
    /// What came back.
    pub result: String,
}

/// One row of a comparison. Numbers are indices into the compared steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffRow {
    /// The same code, and the same came of it.
    Same {
        /// On the left.
        a: usize,
        /// On the right.
        b: usize,
        /// The texts differ in comments or layout only.
        comment_only: bool,
    },
    /// The code differs, or one side has no such step.
    Plan {
        /// On the left.
        a: Option<usize>,
        /// On the right.
        b: Option<usize>,
    },
    /// The same code in a different world.
    Output {
        /// On the left.
        a: usize,
        /// On the right.
        b: usize,
        /// What differs first.
        first: Difference,
    },
}

/// What differs first between two steps of the same code, in the order in which it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A leaf call: its input or its result, or only one side made it.
    Call {
        /// Which of its step, 0-based.
        number: usize,
        /// Its name.
        call: String,
    },
    /// What was printed.
    Output,
    /// One raised, the other did not.
    Failed,
    /// FINAL.
    Value,
}

/// A comparison of two runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDiff {
    /// In order.
    pub rows: Vec<DiffRow>,
}

impl RunDiff {
    /// Compares two runs by their steps.
    ///
    /// ```
    /// use fast_rlm::model::{DiffRow, DiffStep, RunDiff};
    ///
    /// let step = |code: &str| DiffStep { code: code.into(), ..DiffStep::default() };
    /// let diff = RunDiff::of(&[step("x = 1")], &[step("import re"), step("x = 1  # one")]);
    /// assert_eq!(diff.rows[0], DiffRow::Plan { a: None, b: Some(0) });
    /// assert_eq!(diff.rows[1], DiffRow::Same { a: 0, b: 1, comment_only: true });
    /// ```
    pub fn of(a: &[DiffStep], b: &[DiffStep]) -> Self {
        let programs = |steps: &[DiffStep]| steps.iter().map(|step| program_text(&step.code)).collect::<Vec<_>>();
        let rows = align(&programs(a), &programs(b)).into_iter().map(|pair| match pair {
            Pair::Equal(left, right) => match (a.get(left), b.get(right)) {
                (Some(one), Some(other)) => same_code(left, one, right, other),
                _ => DiffRow::Plan {
                    a: Some(left),
                    b: Some(right),
                },
            },
            Pair::Different(a, b) => DiffRow::Plan { a, b },
        });
        Self { rows: rows.collect() }
    }

    /// Nothing differs. Comments may.
    pub fn is_identical(&self) -> bool {
        self.rows.iter().all(|row| matches!(row, DiffRow::Same { .. }))
    }

    /// The index of the first row that is not [`DiffRow::Same`].
    pub fn first_difference(&self) -> Option<usize> {
        self.rows.iter().position(|row| !matches!(row, DiffRow::Same { .. }))
    }
}

fn same_code(a: usize, one: &DiffStep, b: usize, other: &DiffStep) -> DiffRow {
    match first_difference(one, other) {
        Some(first) => DiffRow::Output { a, b, first },
        None => DiffRow::Same {
            a,
            b,
            comment_only: one.code != other.code,
        },
    }
}

fn first_difference(one: &DiffStep, other: &DiffStep) -> Option<Difference> {
    let calls = one.calls.len().max(other.calls.len());
    let differs = |number: &usize| one.calls.get(*number) != other.calls.get(*number);
    if let Some(number) = (0..calls).find(differs) {
        let call = one.calls.get(number).or_else(|| other.calls.get(number));
        let call = call.map_or_else(String::new, |call| call.call.clone());
        return Some(Difference::Call { number, call });
    }
    if one.output != other.output {
        return Some(Difference::Output);
    }
    if one.failed != other.failed {
        return Some(Difference::Failed);
    }
    (one.value != other.value).then_some(Difference::Value)
}

#[cfg(test)]
mod tests;
