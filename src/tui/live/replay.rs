//! A replay as a screen sees it: news come in, step by step, and a verdict at the end. Plain data, in builds without an
//! engine, too.

use crate::text::plural;
use std::collections::BTreeMap;

/// What came out differently from what was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// The step, as screens number it.
    pub step: u64,
    /// What: `call llm_query`, `output`, `value of x`.
    pub what: String,
    /// As recorded. Raw.
    pub expected: String,
    /// As it came out. Raw.
    pub got: String,
}

/// What a replay came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Everything came out as recorded.
    pub faithful: bool,
    /// Steps that were run again.
    pub steps: usize,
    /// Recorded leaf calls.
    pub cells: usize,
    /// Those that were made again, and served.
    pub served: usize,
    /// Recorded leaf calls that were not made again: step and name.
    pub unserved: Vec<(u64, String)>,
    /// Recorded steps whose text is lost.
    pub missing: usize,
    /// Values that could only be compared by type and description.
    pub weak: usize,
    /// The names at the end are those of state.json, where that could be told.
    pub state_equal: Option<bool>,
    /// The first mismatch; nothing was run after it.
    pub mismatch: Option<Mismatch>,
}

/// News of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayNews {
    /// Python is made ready; a line about how far it is.
    Preparing(String),
    /// This step, as screens number it, is about to be run again.
    Began(u64),
    /// It was run again, and came out as recorded or not.
    Ended(u64, bool),
    /// That was all.
    Done(Box<Verdict>),
}

/// How a replay stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Python is made ready, with a line about how far it is.
    #[default]
    Starting,
    /// As `Starting`, with words.
    Preparing(String),
    /// This step is run again.
    Running(u64),
    /// A person stopped it.
    Stopped,
    /// It could not be done: why.
    Refused(String),
    /// It was done.
    Done(Box<Verdict>),
}

/// A replay: how it stands, and which steps came out as recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaying {
    standing: Standing,
    marks: BTreeMap<u64, bool>,
}

impl Replaying {
    /// How it stands.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// It goes on.
    pub fn is_running(&self) -> bool {
        matches!(
            self.standing,
            Standing::Starting | Standing::Preparing(_) | Standing::Running(_)
        )
    }

    /// Whether a step came out as recorded; `None` before it was run again.
    pub fn mark(&self, step: u64) -> Option<bool> {
        self.marks.get(&step).copied()
    }

    /// The step that is run again just now.
    pub fn current(&self) -> Option<u64> {
        match self.standing {
            Standing::Running(step) => Some(step),
            _ => None,
        }
    }

    /// The first mismatch, once it is known.
    pub fn mismatch(&self) -> Option<&Mismatch> {
        match &self.standing {
            Standing::Done(verdict) => verdict.mismatch.as_ref(),
            _ => None,
        }
    }

    /// Takes news; those of a replay that has ended are late.
    pub fn take(&mut self, news: ReplayNews) {
        if !self.is_running() {
            return;
        }
        self.standing = match news {
            ReplayNews::Preparing(line) => Standing::Preparing(line),
            ReplayNews::Began(step) => Standing::Running(step),
            ReplayNews::Ended(step, faithful) => {
                self.marks.insert(step, faithful);
                return;
            }
            ReplayNews::Done(verdict) => {
                if let Some(mismatch) = &verdict.mismatch {
                    self.marks.insert(mismatch.step, false);
                }
                Standing::Done(verdict)
            }
        };
    }

    /// A person stops it.
    pub fn stop(&mut self) {
        if self.is_running() {
            self.standing = Standing::Stopped;
        }
    }

    /// It cannot be done.
    pub fn refuse(&mut self, why: &str) {
        if self.is_running() {
            self.standing = Standing::Refused(why.to_owned());
        }
    }
}

impl Verdict {
    /// In one line, without a mark.
    pub fn words(&self) -> String {
        match &self.mismatch {
            Some(mismatch) => format!("step {}: {} is not as recorded", mismatch.step, mismatch.what),
            None if !self.faithful => self.unfaithful(),
            None => self.faithful_words(),
        }
    }

    fn unfaithful(&self) -> String {
        if self.missing > 0 {
            let lost = plural(self.missing as u128, "step", "steps");
            return format!("the code of {lost} is lost: not all could be run again");
        }
        let calls = plural(self.unserved.len() as u128, "recorded call was", "recorded calls were");
        match self.unserved.first() {
            Some((step, call)) => format!("{calls} not made again, the first: {call} in step {step}"),
            None => format!("{calls} not made again"),
        }
    }

    fn faithful_words(&self) -> String {
        let mut words = format!("faithful: {} as recorded", plural(self.steps as u128, "step", "steps"));
        words.push_str(&match self.cells {
            0 => ", no leaf calls".to_owned(),
            cells => format!(", {} of {} served", self.served, plural(cells as u128, "leaf call", "leaf calls")),
        });
        if self.weak > 0 {
            let values = plural(self.weak as u128, "value", "values");
            words.push_str(&format!(", {values} compared by type only"));
        }
        if self.state_equal == Some(true) {
            words.push_str(", memory equal");
        }
        words
    }
}

impl Mismatch {
    /// The whole explanation, for people.
    pub fn explained(&self) -> String {
        let why = match self.what.as_str() {
            what if what.starts_with("call ") => {
                "Run again, the step made another leaf call than the one on the record, or made it with another input."
            }
            "output" => "Run again, the step printed something else.",
            "exception" => "Run again, the step ended with another exception, or with none.",
            "FINAL" => "Run again, the step gave another answer.",
            what if what.starts_with("state.json") => {
                "The names at the end are not those of state.json: another program may have changed it."
            }
            what if what.starts_with("value of ") => "Run again, the step bound the name to another value.",
            _ => "Run again, the step did something else.",
        };
        format!(
            "{why} Nothing was run after it.\n\nrecorded:\n{}\n\nrun again:\n{}",
            self.expected, self.got
        )
    }
}
