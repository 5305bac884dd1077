//! Two runs, step by step: aligned by what their code does, so that one inserted step does not shift the rest.

use super::recorded::{ASK, RecordedStep, Recording};
use crate::model::{Pair, align, program_text};
use crate::store::Digest;
use crate::store::payload::{LeafCall, Written};
use crate::text::plural;
use serde::Serialize;
use serde_json::Value;

/// Characters of a value that a row shows.
const SHOWN: usize = 300;

/// One side of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepSide {
    /// The turn, 0-based.
    pub turn: u32,
    /// The step, 0-based.
    pub step: u32,
    /// Its code.
    pub code: String,
}

/// A row of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "row", rename_all = "snake_case")]
pub enum DiffRow {
    /// The same code with the same results.
    Same {
        /// In the first session.
        a: StepSide,
        /// In the second.
        b: StepSide,
        /// What differs all the same: comments or layout.
        note: Option<String>,
    },
    /// The code differs, or one side has no such step.
    Plan {
        /// In the first session.
        a: Option<StepSide>,
        /// In the second.
        b: Option<StepSide>,
    },
    /// The same code, and the first thing that came out differently.
    Output {
        /// In the first session.
        a: StepSide,
        /// In the second.
        b: StepSide,
        /// What: `call llm_query`, `output`, `exception`, `value of x`.
        what: String,
        /// What it was in the first.
        was: String,
        /// What it is in the second.
        is: String,
    },
}

impl DiffRow {
    /// The same on both sides.
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same { .. })
    }
}

/// A comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunDiff {
    /// Its rows, in order.
    pub rows: Vec<DiffRow>,
    /// Nothing differs.
    pub identical: bool,
}

impl RunDiff {
    /// The comparison in one line, for people.
    pub fn verdict(&self) -> String {
        let different = self.rows.iter().filter(|row| !row.is_same()).count();
        match different {
            0 => format!("identical: {}", plural(self.rows.len() as u128, "step", "steps")),
            n => format!("{n} of {} steps differ", self.rows.len()),
        }
    }
}

/// A step with its place.
struct Placed<'a> {
    turn: u32,
    number: u32,
    step: &'a RecordedStep,
    /// FINAL, where the step gave it.
    result: Option<&'a Value>,
    program: Digest,
}

impl Placed<'_> {
    fn side(&self) -> StepSide {
        StepSide {
            turn: self.turn,
            step: self.number,
            code: self.step.code.clone().unwrap_or_default(),
        }
    }
}

/// Compares all steps of two sessions.
pub fn diff(a: &Recording, b: &Recording) -> RunDiff {
    let (a, b) = (placed(a), placed(b));
    let programs = |steps: &[Placed<'_>]| steps.iter().map(|placed| placed.program).collect::<Vec<_>>();
    let row = |pair| match pair {
        Pair::Equal(left, right) => a.get(left).zip(b.get(right)).map(|(a, b)| compared(a, b)),
        Pair::Different(left, right) => Some(DiffRow::Plan {
            a: left.and_then(|at| a.get(at)).map(Placed::side),
            b: right.and_then(|at| b.get(at)).map(Placed::side),
        }),
    };
    let rows: Vec<_> = align(&programs(&a), &programs(&b))
        .into_iter()
        .filter_map(row)
        .collect();
    RunDiff {
        identical: rows.iter().all(DiffRow::is_same),
        rows,
    }
}

fn placed(recording: &Recording) -> Vec<Placed<'_>> {
    let steps = recording.turns.iter().flat_map(|turn| {
        let numbered = turn.steps.iter().zip(0..);
        let last = turn.steps.len();
        numbered.map(move |(step, number): (_, u32)| Placed {
            turn: turn.number,
            number,
            step,
            result: turn.result.as_ref().filter(|_| number as usize + 1 == last),
            program: program(step),
        })
    });
    steps.collect()
}

fn program(step: &RecordedStep) -> Digest {
    let code = step.code.as_deref().unwrap_or_default();
    step.tree.unwrap_or_else(|| Digest::of(program_text(code).as_bytes()))
}

fn compared(a: &Placed<'_>, b: &Placed<'_>) -> DiffRow {
    let found = difference(a.step, b.step).or_else(|| results(a.result, b.result));
    let (a, b) = (a.side(), b.side());
    match found {
        Some((what, was, is)) => DiffRow::Output {
            a,
            b,
            what,
            was: cut(was),
            is: cut(is),
        },
        None => DiffRow::Same {
            note: (a.code != b.code).then(|| "comments or layout differ".into()),
            a,
            b,
        },
    }
}

fn cut(text: String) -> String {
    text.chars().take(SHOWN).collect()
}

/// What came out differently first: a leaf call, the exception, the output, a value.
fn difference(a: &RecordedStep, b: &RecordedStep) -> Option<(String, String, String)> {
    calls(a, b).or_else(|| answers(a, b)).or_else(|| endings(a, b))
}

fn calls(a: &RecordedStep, b: &RecordedStep) -> Option<(String, String, String)> {
    let (a, b) = (a.calls_but(ASK), b.calls_but(ASK));
    let longest = a.len().max(b.len());
    let told = |cell: Option<&LeafCall>| cell.map_or("no such call".into(), |cell| cell.outcome.to_string());
    (0..longest).find_map(|at| {
        let (a, b) = (a.get(at).copied(), b.get(at).copied());
        let same = match (a, b) {
            (Some(a), Some(b)) => a.call == b.call && a.input == b.input && a.outcome == b.outcome,
            _ => false,
        };
        let name = a.or(b).map(|cell| cell.call.as_str()).unwrap_or_default();
        (!same).then(|| (format!("call {name}"), told(a), told(b)))
    })
}

fn results(a: Option<&Value>, b: Option<&Value>) -> Option<(String, String, String)> {
    let told = |value: Option<&Value>| value.map_or("none".into(), Value::to_string);
    (a != b).then(|| ("FINAL".into(), told(a), told(b)))
}

/// Questions of two steps. An answer counts the same whether somebody was there to give it or the step had to wait.
fn answers(a: &RecordedStep, b: &RecordedStep) -> Option<(String, String, String)> {
    let (a, b) = (a.answers_in_order(), b.answers_in_order());
    let longest = a.len().max(b.len());
    (0..longest).find_map(|at| {
        let (a, b) = (a.get(at), b.get(at));
        let told = |answer: Option<&String>| answer.map_or("not asked".into(), String::clone);
        (a != b).then(|| (format!("call {ASK}"), told(a), told(b)))
    })
}

fn endings(a: &RecordedStep, b: &RecordedStep) -> Option<(String, String, String)> {
    let (Some(a), Some(b)) = (&a.ended, &b.ended) else {
        let word = |ended: bool| if ended { "ended" } else { "cut" }.to_owned();
        return (a.ended.is_some() != b.ended.is_some())
            .then(|| ("end".into(), word(a.ended.is_some()), word(b.ended.is_some())));
    };
    let raised =
        |raised: &Option<crate::store::payload::Raised>| raised.as_ref().map_or("none".into(), |r| r.message.clone());
    if raised(&a.exception) != raised(&b.exception) {
        return Some(("exception".into(), raised(&a.exception), raised(&b.exception)));
    }
    if a.exception.is_none() && a.output != b.output {
        return Some(("output".into(), a.output.clone(), b.output.clone()));
    }
    value(&a.written, &b.written)
}

fn value(a: &[Written], b: &[Written]) -> Option<(String, String, String)> {
    let other = |name: &str| b.iter().find(|written| written.name == name);
    let differs = |a: &&Written| other(&a.name).is_none_or(|b| !same_value(a, b));
    let written = a.iter().find(differs)?;
    let is = other(&written.name).map_or("not bound".into(), |b| b.preview.clone());
    Some((format!("value of {}", written.name), written.preview.clone(), is))
}

/// A value without a stable digest is compared by what describes it.
fn same_value(a: &Written, b: &Written) -> bool {
    (a.digest.is_some() && a.digest == b.digest) || (a.type_name == b.type_name && a.preview == b.preview)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::RecordedTurn;

    fn recording(codes: &[&str]) -> Recording {
        let step = |code: &&str| RecordedStep {
            code: Some((*code).to_owned()),
            ..RecordedStep::default()
        };
        Recording {
            turns: vec![RecordedTurn {
                steps: codes.iter().map(step).collect(),
                ..RecordedTurn::default()
            }],
            ..Recording::default()
        }
    }

    fn kinds(a: &[&str], b: &[&str]) -> String {
        let letter = |row: &DiffRow| match row {
            DiffRow::Same { note: None, .. } => 's',
            DiffRow::Same { .. } => 'n',
            DiffRow::Plan { a: Some(_), b: Some(_) } => 'p',
            DiffRow::Plan { a: None, .. } => '+',
            DiffRow::Plan { .. } => '-',
            DiffRow::Output { .. } => 'o',
        };
        diff(&recording(a), &recording(b)).rows.iter().map(letter).collect()
    }

    #[test]
    fn one_step_more_does_not_shift_the_rest() {
        assert_eq!(kinds(&["a", "b", "c"], &["a", "x", "b", "c"]), "s+ss");
        assert_eq!(kinds(&["a", "b", "c"], &["a", "c"]), "s-s");
        assert_eq!(kinds(&["a", "b", "c"], &["a", "x", "c"]), "sps");
        assert_eq!(kinds(&["a"], &["a", "b", "c"]), "s++");
    }

    #[test]
    fn comments_are_a_note() {
        assert_eq!(kinds(&["a  # one"], &["# two\na"]), "n");
    }
}
