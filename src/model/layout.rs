//! Which run is which query: completed queries in ledger order, runs without FINAL at their place in time, the
//! pending one last.

use std::collections::HashMap;

use super::code_log::{CodeKey, Segment, own_suffix};
use super::code_run::run_of_code;
use super::ending::{TASK_CUT, is_cut, lost_outcome};
use super::lines::AllLines;
use super::lost::{self, Lost};
use super::parts::{Links, Parts, Share};
use super::strays::Strays;
use super::{
    CodeEntry, Final, InterruptedEntry, Label, Link, LogFacts, LogId, LogState, Outcome, Query, Run, SessionFacts,
    TargetKind, Time,
};

/// Everything that decides the layout.
pub(super) struct Known<'a> {
    pub(super) facts: &'a SessionFacts,
    pub(super) logs: &'a [LogFacts],
    pub(super) lines: &'a AllLines,
    pub(super) interrupted: &'a [InterruptedEntry],
    pub(super) keys: &'a [CodeKey],
    pub(super) code: &'a [CodeEntry],
    pub(super) writer: bool,
}

/// A query with the indices of its entries in `code_log`.
pub(super) struct Placed {
    pub(super) query: Query,
    pub(super) code: Vec<usize>,
}

/// Lays out all runs. `completed` are the ledger's queries without their runs; `runs` has a run for every transcript
/// that is there.
pub(super) fn lay_out(
    known: &Known<'_>,
    completed: Vec<Query>,
    segments: Vec<Segment>,
    mut runs: HashMap<LogId, Run>,
) -> Vec<Placed> {
    let mut strays = Strays::new(known.logs, completed.len(), &runs, known.lines);
    let mut parts = Parts::new(segments, completed.len());
    let links = Links::new(known.logs, &completed);
    let mut placed: Vec<Placed> = Vec::with_capacity(completed.len());
    for (index, query) in completed.into_iter().enumerate() {
        placed.push(known.place_completed(index, query, &links, &mut parts, &mut strays, &mut runs));
    }
    let starts: Vec<_> = placed.iter().map(|placed| placed.query.started).collect();
    let pending = known.facts.pending.is_some();
    let lost = lost::collect(parts.rest(), known.keys, known.interrupted, &mut strays, &runs, pending);
    let mut lost = lost::order(lost, &starts, &runs);
    let pending = pending.then(|| known.take_pending(&mut lost, &starts));
    let mut all = interleave(placed, lost, |number, lost| {
        known.place_lost(Label::Lost(number), lost, &mut runs)
    });
    if let Some(pending) = pending {
        all.push(known.place_lost(Label::Pending, pending, &mut runs));
    }
    if known.facts.bare {
        name_by_result(&mut all);
    }
    all
}

/// Without a ledger, what has a FINAL is a completed query.
fn name_by_result(all: &mut [Placed]) {
    let (mut completed, mut lost) = (0, 0);
    for placed in all {
        let query = &mut placed.query;
        let (number, label): (&mut u32, fn(u32) -> Label) = match query.result {
            Final::Unset => (&mut lost, Label::Lost),
            _ => (&mut completed, Label::Completed),
        };
        *number += 1;
        query.label = label(*number);
    }
}

/// Puts lost runs, ordered by slot, between completed queries, and counts them from 1.
fn interleave(completed: Vec<Placed>, lost: Vec<Lost>, mut place: impl FnMut(u32, Lost) -> Placed) -> Vec<Placed> {
    let mut all = Vec::with_capacity(completed.len() + lost.len());
    let mut lost = lost.into_iter().peekable();
    let mut number = 0;
    for (slot, completed) in completed.into_iter().enumerate() {
        while let Some(earlier) = lost.next_if(|lost| lost.slot <= slot) {
            number += 1;
            all.push(place(number, earlier));
        }
        all.push(completed);
    }
    for later in lost {
        number += 1;
        all.push(place(number, later));
    }
    all
}

impl Known<'_> {
    fn place_completed(
        &self,
        index: usize,
        mut query: Query,
        links: &Links<'_>,
        parts: &mut Parts,
        strays: &mut Strays<'_>,
        runs: &mut HashMap<LogId, Run>,
    ) -> Placed {
        let mut own = parts.take(index, query.run_id.as_deref());
        let facts = links.of(index);
        query.link = self.link(facts, &query, &own, strays, runs);
        let mut run = match query.link.log() {
            Some(log) if links.is_shared(log) => {
                let share = runs.get(&log).map(|run| links.share(log, index, run));
                share.map(|share| share_of(&mut query, log, share))
            }
            Some(log) => runs.remove(&log),
            None => None,
        };
        if let Some(run) = &mut run {
            run.lead_with(query.run_id.as_deref());
            self.cut_foreign(&mut own, run, parts);
        }
        self.finish(query, own, run)
    }

    fn link(
        &self,
        facts: Option<&LogFacts>,
        query: &Query,
        own: &[Segment],
        strays: &mut Strays<'_>,
        runs: &HashMap<LogId, Run>,
    ) -> Link {
        if let Some(facts) = facts {
            return link_of(facts);
        }
        if self.facts.seeking {
            return Link::Unknown;
        }
        if query.log_file.is_some() {
            return Link::Missing(Vec::new());
        }
        let part = own
            .first()
            .and_then(|segment| self.keys.get(segment.range.clone()))
            .unwrap_or_default();
        let answered = |run: &Run| run.root().is_some_and(|root| root.result != Final::Unset);
        match strays.claim(query.run_id.as_deref(), part, runs, answered) {
            Some(log) => Link::Attached(log),
            None => Link::Unlinked,
        }
    }

    /// Leaves to another run what stands before this run's own entries in its segment: replies without code are not
    /// in `code_log`, so that two runs can look like one.
    fn cut_foreign(&self, own: &mut [Segment], run: &Run, parts: &mut Parts) {
        let Some((segment, lines)) = own.first_mut().zip(run.log.and_then(|log| self.lines.of(log))) else {
            return;
        };
        let keys = self.keys.get(segment.range.clone()).unwrap_or_default();
        let suffix = own_suffix(keys, run, lines);
        if segment.run_id.is_none() && suffix > 0 && suffix < keys.len() {
            let start = segment.range.end - suffix;
            parts.give_back(Segment {
                range: segment.range.start..start,
                ..segment.clone()
            });
            segment.range.start = start;
        }
    }

    /// Gives a query its run, or what `code_log` has of it.
    fn finish(&self, mut query: Query, segments: Vec<Segment>, run: Option<Run>) -> Placed {
        let code: Vec<usize> = segments.into_iter().flat_map(|segment| segment.range).collect();
        query.run = match run {
            Some(run) if !run.agents.is_empty() || !run.complete || code.is_empty() => run,
            read => {
                let entries: Vec<CodeEntry> = code.iter().filter_map(|at| self.code.get(*at)).cloned().collect();
                let sought = !matches!(&query.link, Link::Missing(tried) if tried.is_empty());
                let known = run_of_code(query.run_id.as_deref(), &entries);
                let (log, unreadable) = read.map_or((None, 0), |read| (read.log, read.unreadable));
                Run {
                    log,
                    unreadable,
                    complete: sought,
                    ..known
                }
            }
        };
        query.run.lead_with(query.run_id.as_deref());
        query.started = query.run.span.map(|(first, _)| first);
        Placed { query, code }
    }

    /// Takes the pending run out of the lost ones: the last after the last completed query, unless its writer has
    /// recorded it as another query's.
    fn take_pending(&self, lost: &mut Vec<Lost>, starts: &[Option<Time>]) -> Lost {
        let queries = starts.len();
        // Queries of which no instant is known do not say that a run came before them.
        let is_after_all = |last: &Lost| starts.iter().skip(last.slot).all(Option::is_none);
        let is_other = |last: &Lost| {
            let entry = last.recorded.and_then(|index| self.interrupted.get(index));
            entry.is_some_and(|entry| Some(&entry.query) != self.facts.pending.as_ref())
        };
        let found = lost.pop_if(|last| is_after_all(last) && !is_other(last));
        found.unwrap_or(Lost {
            slot: queries,
            ..Lost::default()
        })
    }

    fn place_lost(&self, label: Label, lost: Lost, runs: &mut HashMap<LogId, Run>) -> Placed {
        let recorded = lost.recorded.and_then(|index| self.interrupted.get(index));
        let run = lost.log.and_then(|log| runs.remove(&log));
        let run_id = recorded.and_then(|entry| entry.run_id.clone());
        let query = Query {
            label,
            text: String::new(),
            text_cut: false,
            result: Final::Unset,
            outcome: Outcome::Lost,
            link: self.lost_link(&lost, recorded),
            log_file: recorded.and_then(|entry| entry.log_file.clone()),
            run_id: run_id.or_else(|| lost.segments.first().and_then(|segment| segment.run_id.clone())),
            run: Run::default(),
            code: Vec::new(),
            started: None,
        };
        let mut placed = self.finish(query, lost.segments, run);
        let query = &mut placed.query;
        let root = query.run.root();
        (query.text, query.text_cut) = self.lost_text(label, recorded, root.map_or("", |root| &root.task));
        query.result = root.map(|root| root.result.clone()).unwrap_or_default();
        query.outcome = lost_outcome(
            root,
            recorded,
            label == Label::Pending,
            self.writer,
            self.facts.waits.as_deref(),
        );
        query.run_id = query.run_id.take().or_else(|| root.map(|root| root.run_id.clone()));
        if self.facts.target == TargetKind::Transcript && query.result != Final::Unset {
            query.label = Label::Completed(1);
        }
        placed
    }

    fn lost_link(&self, lost: &Lost, recorded: Option<&InterruptedEntry>) -> Link {
        match lost.log {
            Some(log) if self.facts.target == TargetKind::Transcript => Link::Linked(log),
            Some(log) if is_named(lost, recorded) => Link::Linked(log),
            Some(log) => Link::Attached(log),
            None if recorded.is_some_and(|entry| entry.log_file.is_some()) => {
                Link::Missing(vec!["no transcript in logs/ has its run id or file name".into()])
            }
            None => Link::Unlinked,
        }
    }

    fn lost_text(&self, label: Label, recorded: Option<&InterruptedEntry>, task: &str) -> (String, bool) {
        if label == Label::Pending {
            if let Some(full) = &self.facts.pending_full {
                return (full.clone(), false);
            }
            let text = self.facts.pending.clone().unwrap_or_default();
            return (text.clone(), is_cut(&text));
        }
        match recorded {
            Some(entry) => (entry.query.clone(), is_cut(&entry.query)),
            None => (task.to_owned(), task.chars().count() >= TASK_CUT),
        }
    }
}

/// The session names the run: in `interrupted`, or as that of steps in `code_log`.
fn is_named(lost: &Lost, recorded: Option<&InterruptedEntry>) -> bool {
    let by_entry = recorded.is_some_and(|entry| entry.run_id.is_some() || entry.log_file.is_some());
    by_entry || lost.segments.iter().any(|segment| segment.run_id.is_some())
}

/// A query's part of a transcript. Where nothing of it is left for the query, no line was read of its run: what that took
/// is not known, which is not the same as nothing.
fn share_of(query: &mut Query, log: LogId, share: Share) -> Run {
    let Some(owner) = share.taken_by else {
        return share.run;
    };
    query.link = Link::Taken(log, owner);
    Run {
        lines: 0,
        unreadable: 0,
        ..share.run
    }
}

fn link_of(facts: &LogFacts) -> Link {
    match &facts.state {
        LogState::Found => Link::Linked(facts.id),
        LogState::Moved => Link::Moved(facts.id),
        LogState::Stray => Link::Attached(facts.id),
        LogState::Missing(tried) => Link::Missing(tried.clone()),
    }
}
