//! The short way to settle: a transcript grew, and nothing that decides which run is which query changed. While a
//! live run's sub-agents work in a session of thousands of queries, only that one run is derived again.

use std::collections::HashMap;

use super::tree::derive_run;
use super::{Agent, LogId, Query, Run, Session, TargetKind};

impl Session {
    /// Derives the runs of the transcripts that changed, in place. False when the layout may change with them: then
    /// everything is to be laid out again (with the runs derived here).
    pub(super) fn refresh(&mut self) -> bool {
        let mut same = !std::mem::take(&mut self.raw.relay);
        let of_session = self.facts.target == TargetKind::Session;
        for log in std::mem::take(&mut self.raw.grown) {
            let owner = self.raw.owners.get(&log).and_then(|index| self.queries.get_mut(*index));
            let Some(query) = owner.filter(|query| query.run.log == Some(log) && !query.run.agents.is_empty()) else {
                same = false;
                continue;
            };
            let lines = self.raw.lines.of_mut(log);
            lines.tidy();
            let (mut run, problems) = derive_run(log, lines);
            lines.dirty = false;
            // Only the ledger's own ids lead: that of another run may have been taken from its first root.
            let recorded = query
                .run_id
                .as_deref()
                .filter(|_| of_session && query.label.is_completed());
            run.lead_with(recorded);
            same &= keeps_place(&query.run, &run);
            query.run = run;
            self.raw.found.insert(log, problems);
        }
        same
    }
}

/// For each transcript of exactly one query that query's index.
pub(super) fn owners(queries: &[Query]) -> HashMap<LogId, usize> {
    let mut owners: HashMap<LogId, Option<usize>> = HashMap::new();
    for (index, query) in queries.iter().enumerate() {
        if let Some(log) = query.run.log {
            owners
                .entry(log)
                .and_modify(|owner| *owner = None)
                .or_insert(Some(index));
        }
    }
    owners
        .into_iter()
        .filter_map(|(log, index)| Some((log, index?)))
        .collect()
}

/// Everything in a run that its place, its name, its text and its outcome depend on is as it was.
fn keeps_place(old: &Run, new: &Run) -> bool {
    let start = |run: &Run| run.span.map(|(first, _)| first);
    let roots = |run: &Run| -> Vec<String> {
        run.roots
            .iter()
            .filter_map(|id| run.agent(*id))
            .map(|root| root.run_id.clone())
            .collect()
    };
    let same_root = match (old.root(), new.root()) {
        (Some(old), Some(new)) => same_beginning(old, new),
        (old, new) => old.is_none() && new.is_none(),
    };
    same_root && start(old) == start(new) && roots(old) == roots(new)
}

fn same_beginning(old: &Agent, new: &Agent) -> bool {
    let steps = |agent: &Agent| -> Vec<_> { agent.steps.iter().map(|step| (step.number, step.body)).collect() };
    old.task == new.task && old.result == new.result && old.end == new.end && steps(old) == steps(new)
}
