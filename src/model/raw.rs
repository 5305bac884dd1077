//! What events said: applied in any order, kept until derived, and where needed to derive again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::code_log::CodeKey;
use super::lines::AllLines;
use super::live::Grafted;
use super::provenance::NameCache;
use super::{
    CodeEntry, Event, InterruptedEntry, Label, LedgerEntry, Line, LiveRun, LogFacts, LogId, LogState, MemoryRecord,
    OpenCall, Problem, Session,
};

/// Raw facts behind a [`Session`]. What is big moves into the session's queries when it settles and back when the
/// layout changes; nothing of it is kept twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Raw {
    pub(super) lines: AllLines,
    /// A ledger that has not been laid out yet.
    pub(super) ledger: Option<Vec<LedgerEntry>>,
    /// `code_log`; its entries lie in the queries while the session is settled.
    pub(super) code: Vec<CodeEntry>,
    pub(super) code_keys: Vec<CodeKey>,
    /// For each query, where in `code` its entries belong.
    pub(super) code_places: Vec<Vec<usize>>,
    pub(super) memory: Vec<MemoryRecord>,
    pub(super) names: NameCache,
    /// The places of `code_log` for which memory was arranged.
    pub(super) bound: Option<Vec<(Label, Vec<usize>)>>,
    pub(super) interrupted: Vec<InterruptedEntry>,
    /// Problems that were reported by events.
    pub(super) reported: BTreeSet<Problem>,
    /// Problems that were found while deriving a transcript's run.
    pub(super) found: BTreeMap<LogId, Vec<Problem>>,
    pub(super) writer: bool,
    /// Calls that are paid and stand in no transcript yet.
    pub(super) open_calls: Vec<OpenCall>,
    /// The run that is alive in this program.
    pub(super) live: Option<LiveRun>,
    /// What of it stands in the queries now.
    pub(super) grafted: Option<Grafted>,
    /// For each transcript of one query that query's index.
    pub(super) owners: HashMap<LogId, usize>,
    /// Transcripts with new lines.
    pub(super) grown: BTreeSet<LogId>,
    /// Something else changed than lines: runs are to be laid out again.
    pub(super) relay: bool,
    /// Something was applied since the session was settled.
    pub(super) changed: bool,
}

impl Session {
    /// Takes one event. Derived fields are stale until [`Session::settle`].
    ///
    /// The order of events makes no difference, but for those that replace or forget what an earlier one said.
    pub fn apply(&mut self, event: Event) {
        if let Event::Live(event) = event {
            return self.take_live(event);
        }
        self.raw.changed = true;
        self.raw.relay |= !matches!(
            event,
            Event::Lines(_) | Event::LogRead { .. } | Event::Problem(_) | Event::OpenCalls(_)
        );
        match event {
            Event::Session(facts) => self.facts = facts,
            Event::State {
                ledger,
                code,
                memory,
                interrupted,
            } => {
                self.raw.ledger = Some(ledger);
                self.raw.code_keys = super::code_log::keys(&code);
                self.raw.code = code;
                self.raw.code_places.clear();
                self.raw.memory = memory;
                self.raw.bound = None;
                self.raw.interrupted = interrupted;
            }
            Event::Log(facts) => self.take_log(facts),
            Event::Lines(lines) => self.take_lines(lines),
            Event::LogRead { log, unreadable } => {
                let lines = self.raw.lines.of_mut(log);
                (lines.read, lines.dirty) = (Some(unreadable), true);
                self.raw.grown.insert(log);
            }
            Event::LogReset(log) => {
                self.raw.lines.reset(log);
                self.raw.reported.retain(|problem| problem.log != Some(log));
            }
            Event::Problem(problem) => {
                self.raw.reported.insert(problem);
            }
            Event::Resolved(problem) => {
                self.raw.reported.remove(&problem);
            }
            Event::OpenCalls(calls) => self.raw.open_calls = calls,
            Event::Writer { alive } => self.raw.writer = alive,
            Event::Lineage(lineage) => self.lineage = lineage,
            Event::Live(event) => self.take_live(event),
        }
    }

    /// Lines come in batches of one transcript.
    fn take_lines(&mut self, lines: Vec<Line>) {
        let mut lines = lines.into_iter().peekable();
        while let Some(first) = lines.next() {
            let log = first.at.log;
            self.raw.grown.insert(log);
            let known = self.raw.lines.of_mut(log);
            known.reserve(lines.len() + 1);
            known.push(first);
            while let Some(line) = lines.next_if(|line| line.at.log == log) {
                known.push(line);
            }
        }
    }

    /// Keeps `logs` addressable by id: ids that are not announced yet get a placeholder.
    fn take_log(&mut self, facts: LogFacts) {
        while self.logs.len() <= facts.id.0 as usize {
            let id = LogId(u32::try_from(self.logs.len()).unwrap_or(u32::MAX));
            let state = LogState::Missing(Vec::new());
            self.logs.push(LogFacts {
                id,
                path: String::new(),
                state,
                queries: Vec::new(),
            });
        }
        let place = facts.id.0 as usize;
        if let Some(slot) = self.logs.get_mut(place) {
            *slot = facts;
        }
    }
}

impl Raw {
    /// Takes entries of `code_log` back from where [`Raw::code_places`] says they went.
    pub(super) fn restore_code(&mut self, taken: Vec<Vec<CodeEntry>>) {
        let places = std::mem::take(&mut self.code_places);
        if places.is_empty() {
            return;
        }
        let mut in_place: Vec<Option<CodeEntry>> = vec![None; self.code_keys.len()];
        for (place, entry) in places.into_iter().flatten().zip(taken.into_iter().flatten()) {
            if let Some(slot) = in_place.get_mut(place) {
                *slot = Some(entry);
            }
        }
        self.code = in_place.into_iter().flatten().collect();
    }
}
