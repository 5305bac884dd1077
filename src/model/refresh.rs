//! The short way to settle: a transcript grew, and nothing that decides which run is which query changed. While a
//! live run's sub-agents work in a session of thousands of queries, only that one run is derived again.

use std::collections::HashMap;

use super::tree::derive_run;
use super::{Agent, AgentEnd, BodyRef, Final, LogId, Query, Run, Session, TargetKind, Time};

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
            // Of a very large run there is no room for two.
            let old = Beginning::of(&std::mem::take(&mut query.run));
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
            same &= old == Beginning::of(&run);
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

/// Everything in a run that its place, its name, its text and its outcome depend on.
#[derive(PartialEq)]
struct Beginning {
    start: Option<Time>,
    roots: Vec<String>,
    root: Option<Root>,
}

/// What counts of the query's own root.
#[derive(PartialEq)]
struct Root {
    task: String,
    result: Final,
    end: Option<AgentEnd>,
    steps: Vec<(u64, Option<BodyRef>)>,
}

impl Beginning {
    fn of(run: &Run) -> Self {
        let roots = run.roots.iter().filter_map(|id| run.agent(*id));
        Self {
            start: run.span.map(|(first, _)| first),
            roots: roots.map(|root| root.run_id.clone()).collect(),
            root: run.root().map(Root::of),
        }
    }
}

impl Root {
    fn of(agent: &Agent) -> Self {
        Self {
            task: agent.task.clone(),
            result: agent.result.clone(),
            end: agent.end.clone(),
            steps: agent.steps.iter().map(|step| (step.number, step.body)).collect(),
        }
    }
}
