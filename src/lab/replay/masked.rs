//! Variables of the environment whose values are in no record, and were not given again: the recorded code is run with
//! what stands for them, and may come out differently.

use super::report::{Masked, Mismatch};
use super::stubs::recorded_env;
use crate::repl::RestoreSet;
use crate::store::payload::TurnStarted;

/// What reads variables without naming them.
const READERS: [&str; 3] = ["environ", "getenv", "environb"];

/// The variables of a turn that have no value, and the steps so far that read them.
pub(super) struct Absent {
    names: Vec<String>,
    /// Functions of earlier queries, with those of the variables that they read.
    functions: Vec<(String, Vec<String>)>,
    seen: Vec<Masked>,
}

impl Absent {
    /// Of a turn that is run again with these values at hand, from a namespace with these functions.
    pub(super) fn of(started: &TurnStarted, at_hand: &[(String, String)], restore: &RestoreSet) -> Self {
        let is_missing = |name: &&str| !at_hand.iter().any(|(known, _)| known == name);
        let mut absent = Self {
            names: recorded_env(started).filter(is_missing).map(str::to_owned).collect(),
            functions: Vec::new(),
            seen: Vec::new(),
        };
        let reads = |(name, source): &(String, String)| (name.clone(), absent.read_by(source));
        let functions = restore.functions.iter().map(reads);
        absent.functions = functions.filter(|(_, names)| !names.is_empty()).collect();
        absent
    }

    /// A step of the root, or of a sub-agent that it started, is run again.
    pub(super) fn see(&mut self, turn: u32, step: u32, code: &str) {
        let names = self.read_by(code);
        let known = self.seen.iter().any(|seen| seen.step == step && seen.names == names);
        if !names.is_empty() && !known {
            self.seen.push(Masked { turn, step, names });
        }
    }

    /// What it saw.
    pub(super) fn seen(&self) -> &[Masked] {
        &self.seen
    }

    /// A mismatch with what may be its reason.
    pub(super) fn explain(&self, mismatch: Mismatch) -> Mismatch {
        let here = self.seen.iter().rev().find(|seen| seen.step == mismatch.step);
        match here.or(self.seen.last()) {
            None => mismatch,
            Some(seen) => Mismatch {
                what: format!("{} ({seen})", mismatch.what),
                ..mismatch
            },
        }
    }

    /// The variables that a piece of code reads, as far as its text tells.
    fn read_by(&self, code: &str) -> Vec<String> {
        if self.names.is_empty() {
            return Vec::new();
        }
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let words: Vec<&str> = code.split(|c| !is_name(c)).collect();
        let called = self.functions.iter().filter(|(name, _)| words.contains(&name.as_str()));
        let called: Vec<&String> = called.flat_map(|(_, names)| names).collect();
        let is_named = |name: &&String| words.contains(&name.as_str()) || called.contains(name);
        let named: Vec<String> = self.names.iter().filter(is_named).cloned().collect();
        match named.is_empty() && READERS.iter().any(|reader| words.contains(reader)) {
            true => self.names.clone(),
            false => named,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn absent(at_hand: &[&str]) -> Absent {
        let started = TurnStarted {
            settings: json!({"env": ["TOKEN", "PIN", "GIVEN"]}),
            ..TurnStarted::default()
        };
        let at_hand: Vec<_> = at_hand
            .iter()
            .map(|name| ((*name).to_owned(), "value".to_owned()))
            .collect();
        let restore = RestoreSet {
            functions: vec![
                ("pin".into(), "def pin(): return os.environ['PIN']".into()),
                ("pure".into(), "def pure(): return 1".into()),
            ],
            ..RestoreSet::default()
        };
        Absent::of(&started, &at_hand, &restore)
    }

    #[test]
    fn code_that_reads_what_is_missing_is_seen_by_its_words() {
        let absent = absent(&["GIVEN"]);
        let read = |code: &str| absent.read_by(code).join(" ");
        assert_eq!(read("x = os.environ['TOKEN'][:3]"), "TOKEN");
        assert_eq!(read("print(len(dict(os.environ)))"), "TOKEN PIN");
        assert_eq!(read("os.getenv('TOK' + 'EN')"), "TOKEN PIN");
        assert_eq!(read("y = pin() + pure()"), "PIN");
        for other in ["x = pure()", "TOKENS = 1", "pinned = 2", "GIVEN"] {
            assert_eq!(read(other), "", "{other}");
        }
    }

    #[test]
    fn a_mismatch_names_the_step_that_read_it_before() {
        let mut absent = absent(&["GIVEN"]);
        let mismatch = |step| Mismatch {
            turn: 0,
            step,
            what: "output".into(),
            expected: "a".into(),
            got: "b".into(),
        };
        assert_eq!(absent.explain(mismatch(0)).what, "output", "nothing was read");
        absent.see(0, 1, "t = os.environ['TOKEN']");
        absent.see(0, 1, "t = os.environ['TOKEN']");
        absent.see(0, 2, "print(len(t))");
        assert_eq!(absent.seen().len(), 1);
        let told = "output (step 2 reads TOKEN, whose value is in no record: give it again, with --env TOKEN=VALUE)";
        assert_eq!(absent.explain(mismatch(2)).what, told);
    }
}
