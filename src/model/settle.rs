//! Deriving what screens show. Only transcripts that changed are derived again; everything else moves over.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::derive::derive_all;
use super::layout::{Known, Placed, lay_out};
use super::live::Grafted;
use super::refresh::owners;
use super::{
    Final, Label, LedgerEntry, Link, LogFacts, LogId, LogState, Outcome, Problem, ProblemKind, Query, Run, Session,
    TargetKind, Totals, code_log, ending, memory_order, provenance,
};

impl Session {
    /// Derives everything that screens show from what was applied; work is proportional to what changed. Does nothing
    /// when nothing was applied.
    pub fn settle(&mut self) {
        if !std::mem::take(&mut self.raw.changed) {
            return;
        }
        self.take_graft_off();
        if !self.refresh() {
            self.lay_out_again();
        }
        self.graft();
        self.count_open_calls();
        self.sum_up();
        self.collect_problems();
    }

    fn lay_out_again(&mut self) {
        let (completed, kept) = self.take_apart();
        let runs = self.derive_runs(kept);
        let known = Known {
            facts: &self.facts,
            logs: &self.logs,
            lines: &self.raw.lines,
            interrupted: &self.raw.interrupted,
            keys: &self.raw.code_keys,
            code: &self.raw.code,
            writer: self.raw.writer,
        };
        let placed = lay_out(&known, completed, code_log::split(&self.raw.code), runs);
        self.bind_memory(&placed);
        self.put_together(placed);
        self.raw.owners = owners(&self.queries);
    }

    /// Takes the settled queries apart: the completed ones without their runs, and all runs by transcript.
    fn take_apart(&mut self) -> (Vec<Query>, HashMap<LogId, Run>) {
        let (mut shells, mut kept, mut code) = (Vec::new(), HashMap::new(), Vec::new());
        for mut query in std::mem::take(&mut self.queries) {
            let run = std::mem::take(&mut query.run);
            if let Some(log) = run.log {
                // A transcript that several queries share was split: it is derived again.
                if kept.insert(log, run).is_some() {
                    self.raw.lines.of_mut(log).dirty = true;
                }
            }
            code.push(std::mem::take(&mut query.code));
            shells.push(query);
        }
        self.raw.restore_code(code);
        let completed = match self.raw.ledger.take() {
            Some(ledger) => ledger
                .into_iter()
                .zip(1..)
                .map(|(entry, number)| shell(entry, number))
                .collect(),
            None => {
                let of_ledger = self.facts.target == TargetKind::Session;
                shells.retain(|query| of_ledger && query.label.is_completed());
                shells
            }
        };
        (completed, kept)
    }

    /// The run of every transcript that is there.
    fn derive_runs(&mut self, mut kept: HashMap<LogId, Run>) -> HashMap<LogId, Run> {
        let (mut runs, mut stale) = (HashMap::new(), Vec::new());
        for facts in self
            .logs
            .iter()
            .filter(|facts| !matches!(facts.state, LogState::Missing(_)))
        {
            let lines = self.raw.lines.of_mut(facts.id);
            match kept.remove(&facts.id) {
                Some(mut run) if !lines.dirty && !run.is_from_code() => {
                    run.lead_with(None);
                    runs.insert(facts.id, run);
                }
                _ => {
                    lines.tidy();
                    lines.dirty = false;
                    stale.push(facts.id);
                }
            }
        }
        let known = &self.raw.lines;
        let stale: Vec<_> = stale.into_iter().filter_map(|id| Some((id, known.of(id)?))).collect();
        for (id, run, problems) in derive_all(&stale) {
            self.raw.found.insert(id, problems);
            runs.insert(id, run);
        }
        runs
    }

    /// Arranges memory, when state.json was read again or runs changed places.
    fn bind_memory(&mut self, placed: &[Placed]) {
        let places: Vec<(Label, Vec<usize>)> = placed
            .iter()
            .map(|placed| (placed.query.label, placed.code.clone()))
            .collect();
        if self.raw.bound.as_ref() == Some(&places) {
            return;
        }
        let steps = placed
            .iter()
            .enumerate()
            .flat_map(|(index, placed)| placed.code.iter().map(move |place| (*place, index, placed.query.label)));
        let wanted: HashSet<&str> = self.raw.memory.iter().map(|record| record.name.as_str()).collect();
        let (names, code) = (&mut self.raw.names, &self.raw.code);
        let bindings = provenance::last_bindings(names, &wanted, steps, code, &self.raw.code_keys);
        self.memory = memory_order::arrange(&self.raw.memory, &bindings);
        self.raw.bound = Some(places);
    }

    fn put_together(&mut self, placed: Vec<Placed>) {
        let mut code: Vec<Option<_>> = std::mem::take(&mut self.raw.code).into_iter().map(Some).collect();
        for Placed {
            mut query,
            code: places,
        } in placed
        {
            query.code = places
                .iter()
                .filter_map(|place| code.get_mut(*place).and_then(Option::take))
                .collect();
            self.raw.code_places.push(places);
            self.queries.push(query);
        }
    }

    fn sum_up(&mut self) {
        (self.completed, self.lost) = (Totals::default(), Totals::default());
        let live = self.raw.grafted.as_ref().map(Grafted::query);
        for (index, query) in self.queries.iter_mut().enumerate() {
            // A live run has not cost anything that is not known here.
            if live != Some(index) {
                let was_cut = matches!(query.outcome, Outcome::Interrupted | Outcome::Lost);
                query.run.doubt_unmeasured(was_cut);
            }
            match query.label {
                Label::Completed(_) => self.completed.merge(&query.run.totals),
                Label::Lost(_) | Label::Pending => self.lost.merge(&query.run.totals),
            }
        }
        let read = |facts: &LogFacts| {
            matches!(facts.state, LogState::Missing(_))
                || self.raw.lines.of(facts.id).is_some_and(|lines| lines.read.is_some())
        };
        self.complete = !self.facts.seeking && self.logs.iter().all(read);
    }

    fn collect_problems(&mut self) {
        let mut all: BTreeSet<Problem> = self.raw.reported.clone();
        all.extend(self.raw.found.values().flatten().cloned());
        all.extend(self.logs.iter().filter_map(log_problem));
        all.extend(self.queries.iter().filter_map(unlinked_answer));
        all.extend(self.queries.iter().filter_map(taken_log));
        self.problems = all.into_iter().collect();
    }
}

impl Run {
    /// It was made of `code_log`, for lack of transcript lines.
    fn is_from_code(&self) -> bool {
        self.lines == 0 && !self.agents.is_empty()
    }
}

/// A completed query before its run is known.
fn shell(entry: LedgerEntry, number: u32) -> Query {
    Query {
        label: Label::Completed(number),
        text_cut: ending::is_cut(&entry.query),
        text: entry.query,
        result: entry.result,
        outcome: Outcome::Done,
        link: Link::Unlinked,
        log_file: entry.log_file,
        run_id: entry.run_id,
        run: Run::default(),
        code: Vec::new(),
        started: None,
    }
}

fn log_problem(facts: &LogFacts) -> Option<Problem> {
    let (kind, what) = match &facts.state {
        LogState::Moved => (
            ProblemKind::MovedLog,
            format!("found at {}; the link was left as it is", facts.path),
        ),
        LogState::Missing(tried) if !tried.is_empty() => (
            ProblemKind::MissingLog,
            format!("not found; tried {}", tried.join(", ")),
        ),
        _ => return None,
    };
    Some(Problem {
        kind,
        log: Some(facts.id),
        line: None,
        byte: None,
        what,
    })
}

/// Several queries link one transcript, and not each has a run of its own in it.
fn taken_log(query: &Query) -> Option<Problem> {
    let Link::Taken(log, owner) = query.link else {
        return None;
    };
    Some(Problem {
        kind: ProblemKind::Structure,
        log: Some(log),
        line: None,
        byte: None,
        what: format!(
            "{}: its log is that of {owner}; what it took itself is not known",
            query.label
        ),
    })
}

/// A run that has a FINAL but no place in the ledger: its writer died between the two.
fn unlinked_answer(query: &Query) -> Option<Problem> {
    let unlinked = matches!(query.label, Label::Lost(_) | Label::Pending) && query.result != Final::Unset;
    unlinked.then(|| Problem {
        kind: ProblemKind::Structure,
        log: query.run.log,
        line: None,
        byte: None,
        what: format!("{} has a FINAL, but no query of state.json links it", query.label),
    })
}
