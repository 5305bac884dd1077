//! A comparison in one line.

use super::{DiffRow, DiffStep, Difference, RunDiff};

impl RunDiff {
    /// The comparison in one line: `identical`, or what differs first and how many steps do.
    pub fn verdict(&self, a: &[DiffStep], b: &[DiffStep]) -> String {
        let Some(first) = self.first_difference().and_then(|index| self.rows.get(index)) else {
            return self.agreement();
        };
        let name = |steps: &[DiffStep], index: usize| steps.get(index).map_or("?", |step| &step.name).to_owned();
        let begins = match first {
            DiffRow::Plan {
                a: Some(left),
                b: Some(_),
            } => format!("the code differs at {}", name(a, *left)),
            DiffRow::Plan { a: Some(left), b: None } => format!("only the left has {}", name(a, *left)),
            DiffRow::Plan {
                a: None,
                b: Some(right),
            } => format!("only the right has {}", name(b, *right)),
            DiffRow::Output { a: left, first, .. } => format!("{} at {}", first.named(), name(a, *left)),
            DiffRow::Plan { a: None, b: None } | DiffRow::Same { .. } => String::new(),
        };
        let (differ, all) = (self.differing(), self.rows.len());
        format!("{begins}; {differ} of {all} rows differ; {}", final_values(a, b))
    }

    /// How many rows are not the same.
    pub fn differing(&self) -> usize {
        let same = self
            .rows
            .iter()
            .filter(|row| matches!(row, DiffRow::Same { .. }))
            .count();
        self.rows.len() - same
    }

    fn agreement(&self) -> String {
        let comments = |row: &&DiffRow| matches!(row, DiffRow::Same { comment_only: true, .. });
        match (self.rows.len(), self.rows.iter().filter(comments).count()) {
            (0, _) => "identical: neither has a step".into(),
            (1, 0) => "identical in its one step".into(),
            (all, 0) => format!("identical in all {all} steps"),
            (_, 1) => "identical but for comments in one step".into(),
            (_, some) => format!("identical but for comments in {some} steps"),
        }
    }
}

impl Difference {
    /// In a few words, for the beginning of a sentence.
    pub fn named(&self) -> String {
        match self {
            Self::Call { number, call } => format!("call {} ({call}) differs", number + 1),
            Self::Output => "the output differs".into(),
            Self::Failed => "one side raised".into(),
            Self::Value => "FINAL differs".into(),
        }
    }
}

fn final_values(a: &[DiffStep], b: &[DiffStep]) -> &'static str {
    let last = |steps: &[DiffStep]| steps.iter().rev().find_map(|step| step.value.clone());
    match (last(a), last(b)) {
        (None, None) => "neither has a FINAL",
        (Some(_), None) => "only the left has a FINAL",
        (None, Some(_)) => "only the right has a FINAL",
        (Some(one), Some(other)) if one == other => "the FINALs are equal",
        (Some(_), Some(_)) => "the FINALs differ",
    }
}
