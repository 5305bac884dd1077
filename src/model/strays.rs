//! Transcripts that no query of the ledger links, and how to find the one that wrote a part of `code_log`.

use std::collections::HashMap;

use super::code_log::{CodeKey, may_have_written, root_keys};
use super::lines::AllLines;
use super::{InterruptedEntry, LogFacts, LogId, LogState, Run, Time};

/// Candidates that are compared in full before a part of `code_log` counts as unmatched.
const TRIES: usize = 64;

/// Unlinked transcripts in time order, each to be claimed once.
pub(super) struct Strays<'a> {
    lines: &'a AllLines,
    logs: Vec<Stray<'a>>,
    by_code: HashMap<(u64, u64), Candidates>,
    by_file: HashMap<&'a str, usize>,
    by_root: HashMap<String, usize>,
}

/// Transcripts whose root has a certain step, and how many at their front are claimed.
#[derive(Default)]
struct Candidates {
    strays: Vec<usize>,
    claimed: usize,
}

struct Stray<'a> {
    facts: &'a LogFacts,
    claimed: bool,
}

impl<'a> Strays<'a> {
    pub(super) fn new(logs: &'a [LogFacts], queries: usize, runs: &HashMap<LogId, Run>, lines: &'a AllLines) -> Self {
        let unlinked = |facts: &&LogFacts| {
            !matches!(facts.state, LogState::Missing(_)) && !facts.queries.iter().any(|query| *query < queries)
        };
        let mut unlinked: Vec<&LogFacts> = logs.iter().filter(unlinked).collect();
        unlinked.sort_by_key(|facts| (started(runs, facts.id).unwrap_or(Time::MAX), &facts.path, facts.id));
        let mut strays = Self {
            lines,
            logs: Vec::new(),
            by_code: HashMap::new(),
            by_file: HashMap::new(),
            by_root: HashMap::new(),
        };
        for (index, facts) in unlinked.into_iter().enumerate() {
            strays.by_file.entry(file_name(&facts.path)).or_insert(index);
            strays.logs.push(Stray { facts, claimed: false });
            if let Some(run) = runs.get(&facts.id) {
                strays.index(index, run, facts.id);
            }
        }
        strays
    }

    fn index(&mut self, index: usize, run: &Run, log: LogId) {
        for root in run.roots.iter().filter_map(|id| run.agent(*id)) {
            self.by_root.entry(root.run_id.clone()).or_insert(index);
        }
        for key in self.lines.of(log).into_iter().flat_map(|lines| root_keys(run, lines)) {
            self.by_code
                .entry((key.step, key.digest))
                .or_default()
                .strays
                .push(index);
        }
    }

    /// Claims the transcript that wrote these entries: the one with this root, or without an id the earliest whose
    /// root has the same code and that `accepts`.
    pub(super) fn claim(
        &mut self,
        run_id: Option<&str>,
        keys: &[CodeKey],
        runs: &HashMap<LogId, Run>,
        accepts: impl Fn(&Run) -> bool,
    ) -> Option<LogId> {
        let index = match run_id {
            Some(run_id) => *self.by_root.get(run_id)?,
            None => self.by_content(keys, runs, accepts)?,
        };
        self.take(index)
    }

    fn by_content(
        &mut self,
        keys: &[CodeKey],
        runs: &HashMap<LogId, Run>,
        accepts: impl Fn(&Run) -> bool,
    ) -> Option<usize> {
        let logs = &self.logs;
        let free = |index: usize| logs.get(index).is_some_and(|stray| !stray.claimed);
        let fits = |index: usize| {
            let id = logs.get(index).map(|stray| stray.facts.id)?;
            let (run, lines) = runs.get(&id).zip(self.lines.of(id))?;
            (accepts(run) && may_have_written(keys, run, lines)).then_some(index)
        };
        for key in keys {
            let Some(candidates) = self.by_code.get_mut(&(key.step, key.digest)) else {
                continue;
            };
            let waiting = candidates.strays.get(candidates.claimed..).unwrap_or_default();
            candidates.claimed += waiting.iter().take_while(|index| !free(**index)).count();
            let waiting = candidates.strays.get(candidates.claimed..).unwrap_or_default();
            let mut tried = waiting.iter().copied().filter(|index| free(*index)).take(TRIES);
            if let Some(found) = tried.find_map(fits) {
                return Some(found);
            }
        }
        None
    }

    /// Claims the transcript of a run that its writer recorded as interrupted: by root, else by file name.
    pub(super) fn claim_recorded(&mut self, entry: &InterruptedEntry) -> Option<LogId> {
        let by_root = entry
            .run_id
            .as_ref()
            .and_then(|run_id| self.by_root.get(run_id).copied());
        let index = by_root.or_else(|| {
            let name = file_name(entry.log_file.as_deref()?);
            self.by_file.get(name).copied()
        })?;
        self.take(index)
    }

    /// Claims what is left, in time order.
    pub(super) fn claim_rest(&mut self) -> Vec<LogId> {
        let free = self.logs.iter_mut().filter(|stray| !stray.claimed);
        free.map(|stray| {
            stray.claimed = true;
            stray.facts.id
        })
        .collect()
    }

    fn take(&mut self, index: usize) -> Option<LogId> {
        let stray = self.logs.get_mut(index).filter(|stray| !stray.claimed)?;
        stray.claimed = true;
        Some(stray.facts.id)
    }
}

/// First sign of a transcript's run.
pub(super) fn started(runs: &HashMap<LogId, Run>, log: LogId) -> Option<Time> {
    runs.get(&log).and_then(|run| run.span).map(|(first, _)| first)
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
