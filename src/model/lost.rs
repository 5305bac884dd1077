//! Runs without FINAL: from unlinked transcripts, unclaimed parts of `code_log` and the writer's own record, each
//! once, at its place between the completed queries.

use std::collections::HashMap;

use super::code_log::{CodeKey, Segment};
use super::strays::{Strays, started};
use super::{Final, InterruptedEntry, LogId, Run, Time};

/// A run that no entry of the ledger stands for.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost {
    pub(super) log: Option<LogId>,
    /// Its parts of `code_log`.
    pub(super) segments: Vec<Segment>,
    /// Its entry in `interrupted`.
    pub(super) recorded: Option<usize>,
    /// Completed queries before it.
    pub(super) slot: usize,
    /// First sign of it.
    pub(super) time: Option<Time>,
}

/// Collects lost runs. `segments` are those that no completed query owns, in file order; one of the runs may be that of
/// a `pending` query.
pub(super) fn collect(
    segments: Vec<Segment>,
    keys: &[CodeKey],
    interrupted: &[InterruptedEntry],
    strays: &mut Strays<'_>,
    runs: &HashMap<LogId, Run>,
    pending: bool,
) -> Vec<Lost> {
    let mut all: Vec<Lost> = Vec::new();
    let mut by_run: HashMap<String, usize> = HashMap::new();
    for (index, entry) in interrupted.iter().enumerate() {
        let log = strays.claim_recorded(entry);
        if let Some(run_id) = &entry.run_id {
            by_run.entry(run_id.clone()).or_insert(all.len());
        }
        all.push(Lost {
            log,
            recorded: Some(index),
            ..Lost::default()
        });
    }
    for segment in segments {
        let known = segment.run_id.as_ref().and_then(|run_id| by_run.get(run_id));
        if let Some(lost) = known.and_then(|index| all.get_mut(*index)) {
            lost.segments.push(segment);
            continue;
        }
        let part = keys.get(segment.range.clone()).unwrap_or_default();
        let log = strays.claim(segment.run_id.as_deref(), part, runs, |_| true);
        if let Some(run_id) = &segment.run_id {
            by_run.insert(run_id.clone(), all.len());
        }
        all.push(Lost {
            log,
            segments: vec![segment],
            ..Lost::default()
        });
    }
    all.extend(strays.claim_rest().into_iter().map(|log| Lost {
        log: Some(log),
        ..Lost::default()
    }));
    name_by_text(&mut all, interrupted, runs);
    name_by_count(&mut all, interrupted, runs, pending);
    all
}

/// A record that names neither run nor transcript (its query was pending in a session that another program wrote) is
/// that of the run that was given its text, where there is one.
fn name_by_text(all: &mut Vec<Lost>, interrupted: &[InterruptedEntry], runs: &HashMap<LogId, Run>) {
    for (index, entry) in interrupted.iter().enumerate() {
        if entry.run_id.is_some() || entry.log_file.is_some() {
            continue;
        }
        let task = |lost: &Lost| runs.get(&lost.log?)?.root().map(|root| root.task.as_str());
        let is_its = |lost: &Lost| lost.recorded.is_none() && task(lost).is_some_and(|task| begins(&entry.query, task));
        // The last one: a query that was interrupted twice was pending for the last time.
        if let Some(run) = all.iter().rposition(is_its) {
            join(all, run, index);
        }
    }
}

/// The run at `run` is that of the record `index`, which stands alone so far.
fn join(all: &mut Vec<Lost>, run: usize, index: usize) {
    if let (Some(bare), Some(run)) = (all.iter().position(|lost| is_bare(lost, index)), all.get_mut(run)) {
        run.recorded = Some(index);
        all.remove(bare);
    }
}

fn is_bare(lost: &Lost, index: usize) -> bool {
    lost.recorded == Some(index) && lost.log.is_none() && lost.segments.is_empty()
}

/// A query about a file is recorded by its question, and its run was given the file: no text tells. Where as many
/// records as runs without an end are left, the first is the first's, and so on.
fn name_by_count(all: &mut Vec<Lost>, interrupted: &[InterruptedEntry], runs: &HashMap<LogId, Run>, pending: bool) {
    let unnamed = |entry: &InterruptedEntry| entry.run_id.is_none() && entry.log_file.is_none();
    let is_left =
        |(index, entry): &(usize, &InterruptedEntry)| unnamed(entry) && all.iter().any(|lost| is_bare(lost, *index));
    let records: Vec<usize> = interrupted
        .iter()
        .enumerate()
        .filter(is_left)
        .map(|(at, _)| at)
        .collect();
    let root = |lost: &Lost| runs.get(&lost.log?)?.root();
    let is_cut = |lost: &Lost| root(lost).is_some_and(|root| root.end.is_none() && root.result == Final::Unset);
    let cut = all.iter().filter(|lost| lost.recorded.is_none() && is_cut(lost));
    let mut logs: Vec<LogId> = cut.filter_map(|lost| lost.log).collect();
    logs.sort_by_key(|log| started(runs, *log).unwrap_or(Time::MAX));
    // The last one is that of the query that is pending: it has a transcript from its beginning on.
    if logs.len() != records.len() + usize::from(pending) {
        return;
    }
    logs.truncate(records.len());
    for (index, log) in records.into_iter().zip(logs) {
        if let Some(run) = all.iter().position(|lost| lost.log == Some(log)) {
            join(all, run, index);
        }
    }
}

/// Whether `task`, one line and cut, is the beginning of a query.
fn begins(query: &str, task: &str) -> bool {
    let mut words = query.split_whitespace();
    let mut task = task.trim_end_matches('…').split_whitespace().peekable();
    let mut any = false;
    while let Some(word) = task.next() {
        let Some(of_query) = words.next() else { return false };
        // The last word may have been cut.
        let fits = of_query == word || (task.peek().is_none() && of_query.starts_with(word));
        if !fits {
            return false;
        }
        any = true;
    }
    any
}

/// Orders lost runs by their place between completed queries, whose first instants are `starts`.
pub(super) fn order(mut all: Vec<Lost>, starts: &[Option<Time>], runs: &HashMap<LogId, Run>) -> Vec<Lost> {
    let earliest_from = suffix_minima(starts);
    for lost in &mut all {
        lost.time = lost.log.and_then(|log| started(runs, log));
        lost.slot = match (lost.segments.first(), lost.time) {
            (Some(segment), _) => usize::try_from(segment.q).unwrap_or(usize::MAX).min(starts.len()),
            (None, Some(time)) => earliest_from.partition_point(|earliest| *earliest <= time),
            (None, None) => starts.len(),
        };
    }
    let (mut coded, mut timed): (Vec<Lost>, Vec<Lost>) = all.into_iter().partition(|lost| !lost.segments.is_empty());
    coded.sort_by_key(|lost| (lost.slot, lost.segments.first().map(|segment| segment.range.start)));
    timed.sort_by_key(|lost| (lost.slot, lost.time.unwrap_or(no_time(lost))));
    merge(coded, timed)
}

/// Where a run without any instant stands in its slot: a transcript that is not read yet last, a mere record first.
fn no_time(lost: &Lost) -> Time {
    if lost.log.is_some() { Time::MAX } else { Time::MIN }
}

/// `code_log` orders one list, time the other; in a slot the earlier goes first.
fn merge(coded: Vec<Lost>, timed: Vec<Lost>) -> Vec<Lost> {
    let mut merged = Vec::with_capacity(coded.len() + timed.len());
    let mut timed = timed.into_iter().peekable();
    for next in coded {
        let goes_first =
            |lost: &Lost| (lost.slot, lost.time.unwrap_or(no_time(lost))) < (next.slot, next.time.unwrap_or(Time::MIN));
        while let Some(earlier) = timed.next_if(goes_first) {
            merged.push(earlier);
        }
        merged.push(next);
    }
    merged.extend(timed);
    merged
}

/// For each query the earliest start from it on; rises, so that it can be searched.
fn suffix_minima(starts: &[Option<Time>]) -> Vec<Time> {
    let mut earliest = Time::MAX;
    let mut minima: Vec<Time> = Vec::with_capacity(starts.len());
    for start in starts.iter().rev() {
        earliest = earliest.min(start.unwrap_or(Time::MAX));
        minima.push(earliest);
    }
    minima.reverse();
    minima
}
