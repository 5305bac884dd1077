//! Problems found while deriving: bounded, so that a file of 200,000 oddities stays readable.

use std::collections::HashMap;

use super::{BodyRef, LogId, Problem, ProblemKind};

/// Problems of one kind that are listed one by one; the rest is counted.
const LISTED: u64 = 1_000;

/// Characters of an id that are quoted.
const QUOTED: usize = 60;

/// Problems of one transcript, or of the session.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    log: Option<LogId>,
    problems: Vec<Problem>,
    counts: HashMap<ProblemKind, u64>,
}

impl Findings {
    pub(super) fn of(log: LogId) -> Self {
        Self {
            log: Some(log),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, kind: ProblemKind, at: Option<BodyRef>, what: impl FnOnce() -> String) {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        if *count <= LISTED {
            self.problems.push(Problem {
                kind,
                log: at.map(|at| at.log).or(self.log),
                line: at.map(|at| at.line),
                byte: at.map(|at| at.offset),
                what: what(),
            });
        }
    }

    /// The problems, with a line that counts those that are not listed.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        for (kind, count) in self.counts {
            if count > LISTED {
                self.problems.push(Problem {
                    kind,
                    log: self.log,
                    line: None,
                    byte: None,
                    what: format!("{} more of this kind are not listed", count - LISTED),
                });
            }
        }
        self.problems
    }
}

/// An id as messages quote it: whole, or its beginning.
pub(super) fn quoted(id: &str) -> String {
    match id.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("'{}…'", id.get(..end).unwrap_or_default()),
        None => format!("'{id}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_listed_in_part_and_counted_in_full() {
        let mut findings = Findings::of(LogId(1));
        (0..1_500).for_each(|n| findings.add(ProblemKind::Clock, None, || n.to_string()));
        findings.add(ProblemKind::Structure, None, || "one".into());
        let problems = findings.finish();
        assert_eq!(problems.len(), 1_002);
        assert!(problems.iter().any(|problem| problem.what.starts_with("500 more")));
    }

    #[test]
    fn long_ids_are_cut_between_characters() {
        assert_eq!(quoted("ab"), "'ab'");
        assert_eq!(quoted(&"é".repeat(500)).chars().count(), 63);
    }
}
