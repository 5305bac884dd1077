//! The transcripts of a session and their ids, which stay the same while the session is followed.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::disk::files::FileIdentity;
use crate::disk::logs::{LogFile, LogFinder, Sought};
use crate::model::{Event, LedgerEntry, LogFacts, LogId, LogState, Problem};

/// How far a transcript was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ReadMark {
    /// Where reading goes on.
    pub(super) next: u64,
    /// Lines before that.
    pub(super) lines: u64,
    /// Lines that could not be read.
    pub(super) unreadable: u64,
    /// The file as it was then.
    pub(super) file: Option<LogFile>,
    /// Digest of the file's first bytes: tells a rewritten file.
    pub(super) head: u64,
    /// The problem that was reported for a torn last line.
    pub(super) torn: Option<Problem>,
}

/// One transcript, or the place of one that is missing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LogEntry {
    pub(super) facts: LogFacts,
    /// `None` while it is missing.
    pub(super) file: Option<LogFile>,
    /// `None` until it is read.
    pub(super) mark: Option<ReadMark>,
}

/// A link as queries have it: `log_file` and `run_id`.
type LinkKey = (String, Option<String>);

/// All transcripts, by id.
#[derive(Debug, Default)]
pub(super) struct LogTable {
    pub(super) entries: Vec<LogEntry>,
    by_path: HashMap<PathBuf, LogId>,
    by_identity: HashMap<FileIdentity, LogId>,
    missing: HashMap<LinkKey, LogId>,
}

/// A transcript as it was found this time.
struct Finding {
    file: Option<LogFile>,
    state: LogState,
    queries: Vec<usize>,
    link: Option<LinkKey>,
}

impl LogTable {
    /// Looks for all transcripts again; what changed, as events.
    pub(super) fn update(&mut self, finder: &mut LogFinder, ledger: &[LedgerEntry]) -> Vec<Event> {
        let findings = find_all(finder, ledger);
        let mut events = Vec::new();
        let mut present = vec![false; self.entries.len()];
        for finding in findings {
            let id = self.id_of(&finding);
            let place = id.0 as usize;
            present.resize(present.len().max(place + 1), false);
            if let Some(seen) = present.get_mut(place) {
                *seen = true;
            }
            events.extend(self.put(id, finding));
        }
        for (place, _) in present.iter().enumerate().filter(|(_, seen)| !**seen) {
            events.extend(self.retire(place));
        }
        events
    }

    /// A single transcript, without a session.
    pub(super) fn single(file: LogFile) -> (Self, Vec<Event>) {
        let mut table = Self::default();
        let finding = Finding {
            file: Some(file),
            state: LogState::Found,
            queries: Vec::new(),
            link: None,
        };
        let id = table.id_of(&finding);
        let events = table.put(id, finding).into_iter().collect();
        (table, events)
    }

    pub(super) fn get(&self, id: LogId) -> Option<&LogEntry> {
        self.entries.get(id.0 as usize)
    }

    pub(super) fn get_mut(&mut self, id: LogId) -> Option<&mut LogEntry> {
        self.entries.get_mut(id.0 as usize)
    }

    /// The id of a finding: that of its path, of the same file under another path, of the link that missed it, or a
    /// new one.
    fn id_of(&mut self, finding: &Finding) -> LogId {
        let next = LogId(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        let of_link = finding.link.as_ref().and_then(|link| self.missing.get(link)).copied();
        let Some(file) = &finding.file else {
            let Some(link) = finding.link.clone() else { return next };
            return *self.missing.entry(link).or_insert(next);
        };
        let known = self
            .by_path
            .get(&file.path)
            .or_else(|| self.by_identity.get(&file.identity))
            .copied();
        let id = known.or(of_link).unwrap_or(next);
        self.by_path.insert(file.path.clone(), id);
        self.by_identity.insert(file.identity.clone(), id);
        id
    }

    fn put(&mut self, id: LogId, finding: Finding) -> Option<Event> {
        let path = match (&finding.file, &finding.link) {
            (Some(file), _) => file.path.to_string_lossy().into_owned(),
            (None, Some((log_file, _))) => log_file.clone(),
            (None, None) => String::new(),
        };
        let facts = LogFacts {
            id,
            path,
            state: finding.state,
            queries: finding.queries,
        };
        let Some(entry) = self.get_mut(id) else {
            self.entries.push(LogEntry {
                facts: facts.clone(),
                file: finding.file,
                mark: None,
            });
            return Some(Event::Log(facts));
        };
        if finding.file.is_some() || entry.file.is_none() {
            entry.file = finding.file;
        }
        let changed = entry.facts != facts;
        entry.facts = facts.clone();
        changed.then_some(Event::Log(facts))
    }

    /// A transcript that is not there any more, or a link that nobody has any more.
    fn retire(&mut self, place: usize) -> Vec<Event> {
        let Some(entry) = self.entries.get_mut(place) else {
            return Vec::new();
        };
        let gone = LogState::Missing(Vec::new());
        if entry.facts.state == gone && entry.file.is_none() {
            return Vec::new();
        }
        entry.facts.state = gone;
        entry.facts.queries.clear();
        let mut events = vec![Event::Log(entry.facts.clone())];
        if entry.file.take().is_some() {
            entry.mark = None;
            events.push(Event::LogReset(entry.facts.id));
        }
        events
    }
}

/// Linked transcripts in ledger order, each once, then those that no query links.
fn find_all(finder: &mut LogFinder, ledger: &[LedgerEntry]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut by_identity: HashMap<FileIdentity, usize> = HashMap::new();
    let mut by_link: HashMap<LinkKey, usize> = HashMap::new();
    for (index, entry) in ledger.iter().enumerate() {
        let Some(log_file) = entry.log_file.clone().filter(|link| !link.is_empty()) else {
            continue;
        };
        let link = (log_file, entry.run_id.clone());
        let place = match by_link.get(&link) {
            Some(place) => *place,
            None => {
                let finding = of_link(finder.seek(&link.0, link.1.as_deref()), link.clone());
                let identity = finding.file.as_ref().map(|file| file.identity.clone());
                let new = findings.len();
                let place = identity.map_or(new, |identity| *by_identity.entry(identity).or_insert(new));
                if place == new {
                    findings.push(finding);
                }
                by_link.insert(link, place);
                place
            }
        };
        if let Some(finding) = findings.get_mut(place) {
            finding.queries.push(index);
        }
    }
    let strays = finder
        .all()
        .into_iter()
        // An empty file holds no run: neither of a query that links it nor of one that nobody knows.
        .filter(|file| file.size > 0 && !by_identity.contains_key(&file.identity));
    findings.extend(strays.map(|file| Finding {
        file: Some(file),
        state: LogState::Stray,
        queries: Vec::new(),
        link: None,
    }));
    findings
}

fn of_link(sought: Sought, link: LinkKey) -> Finding {
    let (file, state) = match sought {
        Sought::Linked(file) => (Some(file), LogState::Found),
        Sought::Moved(file) => (Some(file), LogState::Moved),
        Sought::Missing(tried) => (None, LogState::Missing(tried)),
    };
    Finding {
        file,
        state,
        queries: Vec::new(),
        link: Some(link),
    }
}
