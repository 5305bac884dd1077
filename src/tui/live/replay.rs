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
    /// Recorded steps whose text or end is lost.
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
            cells => format!(
                ", {} of {} served",
                self.served,
                plural(cells as u128, "leaf call", "leaf calls")
            ),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn verdict() -> Verdict {
        Verdict {
            faithful: true,
            steps: 4,
            cells: 3,
            served: 3,
            state_equal: Some(true),
            ..Verdict::default()
        }
    }

    #[test]
    fn verdicts_are_told_in_a_line() {
        let weak = Verdict {
            weak: 1,
            cells: 0,
            served: 0,
            state_equal: None,
            ..verdict()
        };
        let unserved = Verdict {
            faithful: false,
            unserved: vec![(2, "llm_query".into())],
            ..verdict()
        };
        let missing = Verdict {
            faithful: false,
            missing: 1,
            ..verdict()
        };
        let diverged = Verdict {
            faithful: false,
            mismatch: Some(Mismatch {
                step: 2,
                what: "output".into(),
                ..Mismatch::default()
            }),
            ..verdict()
        };
        for (verdict, words) in [
            (
                verdict(),
                "faithful: 4 steps as recorded, 3 of 3 leaf calls served, memory equal",
            ),
            (
                weak,
                "faithful: 4 steps as recorded, no leaf calls, 1 value compared by type only",
            ),
            (
                unserved,
                "1 recorded call was not made again, the first: llm_query in step 2",
            ),
            (missing, "the code of 1 step is lost: not all could be run again"),
            (diverged, "step 2: output is not as recorded"),
        ] {
            assert_eq!(verdict.words(), words);
        }
    }

    fn any_news() -> impl Strategy<Value = ReplayNews> {
        prop_oneof![
            Just(ReplayNews::Preparing("Python".into())),
            (1u64..5).prop_map(ReplayNews::Began),
            (1u64..5, any::<bool>()).prop_map(|(step, well)| ReplayNews::Ended(step, well)),
            Just(ReplayNews::Done(Box::new(verdict()))),
        ]
    }

    proptest! {
        /// After its end nothing changes any more, whatever comes late.
        #[test]
        fn the_end_is_the_end(news in proptest::collection::vec(any_news(), 0..20), stops_at in 0usize..20) {
            let mut replaying = Replaying::default();
            for (at, news) in news.into_iter().enumerate() {
                if at == stops_at {
                    replaying.stop();
                }
                let before = replaying.clone();
                replaying.take(news);
                if !before.is_running() {
                    prop_assert_eq!(&replaying, &before);
                }
            }
        }
    }
}
