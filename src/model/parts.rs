//! What completed queries claim: their transcripts and their parts of `code_log`.

use std::collections::HashMap;

use super::code_log::Segment;
use super::{AgentId, Label, LogFacts, LogId, Query, Run};

/// Which transcript each completed query links.
pub(super) struct Links<'a> {
    facts: Vec<Option<&'a LogFacts>>,
    /// Transcripts that several queries link, with these in ledger order.
    shared: HashMap<LogId, Vec<Sharing>>,
}

/// One of several queries that link one transcript.
struct Sharing {
    index: usize,
    label: Label,
    run_id: Option<String>,
}

/// A query's part of a transcript that several link.
pub(super) struct Share {
    pub(super) run: Run,
    /// Nothing is left for it: what could be its own is this query's.
    pub(super) taken_by: Option<Label>,
}

impl<'a> Links<'a> {
    pub(super) fn new(logs: &'a [LogFacts], queries: &[Query]) -> Self {
        let mut facts: Vec<Option<&LogFacts>> = vec![None; queries.len()];
        for log in logs {
            for query in &log.queries {
                if let Some(slot) = facts.get_mut(*query).filter(|slot| slot.is_none()) {
                    *slot = Some(log);
                }
            }
        }
        let mut shared = HashMap::new();
        for (index, (log, query)) in facts.iter().zip(queries).enumerate() {
            if let Some(log) = log {
                shared.entry(log.id).or_insert_with(Vec::new).push(Sharing {
                    index,
                    label: query.label,
                    run_id: query.run_id.clone(),
                });
            }
        }
        shared.retain(|_, sharing: &mut Vec<Sharing>| sharing.len() > 1);
        Self { facts, shared }
    }

    /// What a query links.
    pub(super) fn of(&self, query: usize) -> Option<&'a LogFacts> {
        self.facts.get(query).copied().flatten()
    }

    /// Several queries link it.
    pub(super) fn is_shared(&self, log: LogId) -> bool {
        self.shared.contains_key(&log)
    }

    /// A query's part of a transcript that several queries link: the tree of its own root; the first query also gets
    /// the roots that no query names. Nothing is given twice.
    pub(super) fn share(&self, log: LogId, query: usize, run: &Run) -> Share {
        let sharing = self.shared.get(&log).map(Vec::as_slice).unwrap_or_default();
        let mut owners: HashMap<AgentId, &Sharing> = HashMap::new();
        let named = |one: &Sharing| one.run_id.as_deref().and_then(|run_id| run.root_of(run_id));
        for one in sharing {
            if let Some(root) = named(one) {
                owners.entry(root).or_insert(one);
            }
        }
        let owner = |root: AgentId| owners.get(&root).copied().or(sharing.first());
        let part = run.restricted(|root| owner(root).is_some_and(|owner| owner.index == query));
        if !part.agents.is_empty() || !run.complete {
            return Share::of(part);
        }
        let own = sharing.iter().find(|one| one.index == query).and_then(named);
        let taken_by = own.or(run.roots.first().copied()).and_then(owner);
        Share {
            taken_by: taken_by.map(|owner| owner.label),
            ..Share::of(part)
        }
    }
}

impl Share {
    fn of(run: Run) -> Self {
        Self { run, taken_by: None }
    }
}

/// Parts of `code_log` that wait for their run.
pub(super) struct Parts {
    segments: Vec<Option<Segment>>,
    by_run: HashMap<String, Vec<usize>>,
    /// Segments without a run's id, by `q`.
    by_q: HashMap<u64, Vec<usize>>,
    /// Given back.
    cut_off: Vec<Segment>,
}

impl Parts {
    pub(super) fn new(segments: Vec<Segment>, queries: usize) -> Self {
        let (mut by_run, mut by_q) = (HashMap::new(), HashMap::new());
        for (index, segment) in segments.iter().enumerate() {
            match &segment.run_id {
                Some(run_id) => by_run.entry(run_id.clone()).or_insert_with(Vec::new).push(index),
                None if segment.q < queries as u64 => by_q.entry(segment.q).or_insert_with(Vec::new).push(index),
                None => {}
            }
        }
        Self {
            segments: segments.into_iter().map(Some).collect(),
            by_run,
            by_q,
            cut_off: Vec::new(),
        }
    }

    /// The parts of a completed query: those of its run, else the last with its number.
    pub(super) fn take(&mut self, index: usize, run_id: Option<&str>) -> Vec<Segment> {
        let by_run = run_id.and_then(|run_id| self.by_run.remove(run_id));
        let by_q = || {
            self.by_q
                .get(&(index as u64))
                .and_then(|same| same.last())
                .map(|last| vec![*last])
        };
        let indices = by_run.or_else(by_q).unwrap_or_default();
        indices
            .into_iter()
            .filter_map(|at| self.segments.get_mut(at).and_then(Option::take))
            .collect()
    }

    /// A piece that turned out to be another run's.
    pub(super) fn give_back(&mut self, segment: Segment) {
        self.cut_off.push(segment);
    }

    /// What no completed query took, in file order.
    pub(super) fn rest(self) -> Vec<Segment> {
        let mut rest: Vec<Segment> = self.segments.into_iter().flatten().chain(self.cut_off).collect();
        rest.sort_by_key(|segment| segment.range.start);
        rest
    }
}
