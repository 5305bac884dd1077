//! The steps of recorded runs, read whole, to be compared.

use std::path::Path;

use crate::model::{DiffStep, Final, Query, RunDiff, Session, Step, StepKind};

use super::recorded::Cells;
use super::{OpenError, OpenOptions, Opened, Source, Stop, open};

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// What it is: `Q3`, or a session's name. Raw.
    pub name: String,
    /// Its root's steps.
    pub steps: Vec<DiffStep>,
    /// Steps whose text could not be read: compared as empty.
    pub unreadable: usize,
}

/// Two sides, compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The left one.
    pub left: Side,
    /// The right one.
    pub right: Side,
    /// How they differ.
    pub diff: RunDiff,
}

impl Comparison {
    /// Compares two sides.
    pub fn of(mut left: Side, mut right: Side) -> Self {
        let knows_calls = |side: &Side| side.steps.iter().any(|step| !step.calls.is_empty());
        if knows_calls(&left) != knows_calls(&right) {
            // One side has no record of its calls: that it made others is not known.
            let both = left.steps.iter_mut().chain(&mut right.steps);
            both.for_each(|step| step.calls.clear());
        }
        let diff = RunDiff::of(&left.steps, &right.steps);
        Self { left, right, diff }
    }

    /// In one line.
    pub fn verdict(&self) -> String {
        self.diff.verdict(&self.left.steps, &self.right.steps)
    }
}

impl Source {
    /// Compares two of the session's runs by their root's steps.
    pub fn compare_runs(&self, left: &Query, right: &Query, stop: &Stop) -> Comparison {
        let cells = self.cells();
        let side = |query: &Query| {
            let mut side = Side {
                name: query.label.to_string(),
                ..Side::default()
            };
            self.read_run(query, "", &cells, &mut side, stop);
            side
        };
        Comparison::of(side(left), side(right))
    }

    /// The root steps of one run; the side is called `name`.
    pub fn side_of_run(&self, query: &Query, name: String, stop: &Stop) -> Side {
        let mut side = Side {
            name,
            ..Side::default()
        };
        self.read_run(query, "", &self.cells(), &mut side, stop);
        side
    }

    /// The root steps of all runs of the session, in order.
    pub fn side_of_session(&self, session: &Session, stop: &Stop) -> Side {
        let mut side = Side {
            name: session.facts.name.clone(),
            ..Side::default()
        };
        let cells = self.cells();
        for query in &session.queries {
            self.read_run(query, &format!("{} ", query.label), &cells, &mut side, stop);
        }
        side
    }

    fn read_run(&self, query: &Query, prefix: &str, cells: &Cells, side: &mut Side, stop: &Stop) {
        let Some(root) = query.run.root() else { return };
        let steps = root.steps.iter().filter(|step| step.kind == StepKind::Reply);
        let began = side.steps.len();
        for step in steps.take_while(|_| !stop.is_stopped()) {
            let mut compared = self.read_step(step, &mut side.unreadable);
            compared.name = format!("{prefix}{}", step.label());
            if !cells.is_empty() {
                compared.calls = cells.of(&root.run_id, step.number);
            }
            side.steps.push(compared);
        }
        if let Some(last) = side.steps.get_mut(began..).and_then(<[DiffStep]>::last_mut) {
            last.value = value(&query.result);
        }
    }

    fn read_step(&self, step: &Step, unreadable: &mut usize) -> DiffStep {
        let mut read = DiffStep {
            code: step.code.clone().unwrap_or_default(),
            failed: step.failed,
            ..DiffStep::default()
        };
        for at in [step.body, step.twin].into_iter().flatten() {
            match self.body(at) {
                Ok(body) => {
                    let fill = |text: &mut String, more: String| {
                        if text.is_empty() {
                            *text = more;
                        }
                    };
                    fill(&mut read.code, body.code);
                    fill(&mut read.output, body.output);
                }
                Err(_) => *unreadable += 1,
            }
        }
        read
    }
}

fn value(result: &Final) -> Option<String> {
    match result {
        Final::Unset => None,
        Final::None | Final::Null => Some("None".into()),
        Final::Value { text, .. } => Some(text.clone()),
    }
}

/// Opens a session and reads all of it.
///
/// # Errors
/// As [`open`]; [`OpenError`] also when there are several sessions.
pub fn read_session(path: &Path, options: &OpenOptions, stop: &Stop) -> Result<Option<(Session, Source)>, OpenError> {
    let Opened::Session { events, source } = open(path, options)? else {
        return Ok(None);
    };
    let mut session = Session::default();
    events.into_iter().for_each(|event| session.apply(event));
    source.scan(stop, &mut |events| {
        events.into_iter().for_each(|event| session.apply(event))
    });
    session.settle();
    Ok(Some((session, source)))
}
