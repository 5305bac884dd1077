//! What a session says of itself: state.json, its lock, its name, as events.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::disk::files::{FileIdentity, modified_nanos, open_regular, read_at};
use crate::disk::lock;
use crate::disk::state_file::{STATE_FILE, StateError, StateFile, read_state};
use crate::model::{Event, LedgerEntry, Problem, ProblemKind, SessionFacts, TargetKind};

use super::open_calls::OpenCalls;
use super::recorded::open_question;

/// Bytes of a query's whole text that are read.
const QUERY_CAP: u64 = 64 << 20;

/// Tells one state of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp(Option<(FileIdentity, u64, i128)>);

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        let metadata = std::fs::metadata(path).ok();
        Self(metadata.map(|seen| (FileIdentity::of(path, &seen), seen.len(), modified_nanos(&seen))))
    }

    /// Of a file with something in it; an empty one is as good as none.
    pub(super) fn of_filled(path: &Path) -> Self {
        let stamp = Self::of(path);
        Self(stamp.0.filter(|(_, size, _)| *size > 0))
    }

    pub(super) fn exists(&self) -> bool {
        self.0.is_some()
    }
}

/// The session as it was last read.
#[derive(Debug)]
pub(super) struct SessionState {
    pub(super) facts: SessionFacts,
    pub(super) ledger: Vec<LedgerEntry>,
    stamp: Option<Stamp>,
    /// Problems of state.json that were reported.
    problems: Vec<Problem>,
    writer: Option<String>,
    open_calls: OpenCalls,
}

impl SessionState {
    pub(super) fn new(target: TargetKind, name: String, dir: String) -> Self {
        let facts = SessionFacts {
            target,
            name,
            dir,
            ..SessionFacts::default()
        };
        Self {
            facts,
            ledger: Vec::new(),
            stamp: None,
            problems: Vec::new(),
            writer: None,
            open_calls: OpenCalls::default(),
        }
    }

    /// Reads state.json for the first time.
    pub(super) fn open(&mut self, dir: &Path) -> Result<Vec<Event>, StateError> {
        let path = dir.join(STATE_FILE);
        self.stamp = Some(Stamp::of(&path));
        let state = read_state(&path)?;
        Ok(self.take(state, dir))
    }

    /// A directory in which nothing is yet.
    pub(super) fn open_empty(&mut self, dir: &Path) -> Vec<Event> {
        self.stamp = Some(Stamp::of(&dir.join(STATE_FILE)));
        vec![Event::Session(self.facts.clone())]
    }

    /// A directory with transcripts and no state.json.
    pub(super) fn open_without(&mut self, dir: &Path) -> Vec<Event> {
        self.stamp = Some(Stamp::of(&dir.join(STATE_FILE)));
        let mut events = vec![Event::Session(self.facts.clone())];
        if !self.facts.bare {
            events.extend(self.report(vec![state_problem(format!(
                "no {STATE_FILE}: only transcripts are shown"
            ))]));
        }
        events
    }

    /// Reads state.json again if it changed. What was shown stays while it cannot be read.
    pub(super) fn refresh(&mut self, dir: &Path) -> Option<Vec<Event>> {
        let path = dir.join(STATE_FILE);
        let stamp = Stamp::of(&path);
        if self.stamp.as_ref() == Some(&stamp) {
            return None;
        }
        let was_there = self.stamp.as_ref().is_some_and(Stamp::exists);
        let is_there = stamp.exists();
        self.stamp = Some(stamp);
        Some(match read_state(&path) {
            Ok(state) => self.take(state, dir),
            Err(_) if !is_there && !was_there => Vec::new(),
            Err(_) if !is_there => self.report(vec![state_problem(format!(
                "{STATE_FILE} is gone; what was read before is shown"
            ))]),
            Err(error) => self.report(vec![state_problem(format!("{error}; what was read before is shown"))]),
        })
    }

    fn take(&mut self, state: StateFile, dir: &Path) -> Vec<Event> {
        let StateFile {
            version,
            newer,
            ledger,
            pending,
            query_file,
            code,
            memory,
            interrupted,
            problems,
        } = state;
        let pending_full = query_file
            .filter(|_| pending.is_some())
            .and_then(|file| whole_text(dir, &file));
        self.facts = SessionFacts {
            version,
            newer,
            pending,
            pending_full,
            bare: false,
            ..std::mem::take(&mut self.facts)
        };
        self.ledger.clone_from(&ledger);
        let was_cut = interrupted
            .iter()
            .any(|entry| entry.outcome.as_deref() == Some("interrupted"));
        self.open_calls.may_be = was_cut || self.facts.pending.is_some();
        let mut events = vec![
            Event::Session(self.facts.clone()),
            Event::State {
                ledger,
                code,
                memory,
                interrupted,
            },
        ];
        events.extend(self.report(problems));
        events
    }

    /// Replaces the reported problems of state.json.
    fn report(&mut self, problems: Vec<Problem>) -> Vec<Event> {
        let solved = self
            .problems
            .iter()
            .filter(|old| !problems.contains(old))
            .cloned()
            .map(Event::Resolved);
        let fresh = problems
            .iter()
            .filter(|new| !self.problems.contains(new))
            .cloned()
            .map(Event::Problem);
        let events = solved.chain(fresh).collect();
        self.problems = problems;
        events
    }

    /// Looks what the pending query waits for; the facts, if they changed. Without a pending query the log is not even
    /// opened: most sessions have none.
    pub(super) fn look_for_question(&mut self, dir: &Path) -> Option<Event> {
        let waits = self.facts.pending.as_ref().and_then(|_| open_question(dir));
        if waits == self.facts.waits {
            return None;
        }
        self.facts.waits = waits;
        Some(Event::Session(self.facts.clone()))
    }

    /// Looks which calls the log has of runs that were cut or go on; all of them, if there are others than before.
    pub(super) fn look_for_calls(&mut self, dir: &Path) -> Option<Event> {
        self.open_calls.look(dir).map(Event::OpenCalls)
    }

    /// Looks who holds the session's lock.
    pub(super) fn look_for_writer(&mut self, dir: &Path) -> Vec<Event> {
        let holder = lock::holder(dir);
        let ours = holder.as_ref().is_some_and(|holder| holder.pid == std::process::id());
        let writer = holder.map(|holder| holder.to_string());
        if writer == self.writer {
            return Vec::new();
        }
        self.writer.clone_from(&writer);
        // A run of this program's own is no reason to keep out of the session.
        self.facts.held_by = writer.filter(|_| !ours);
        vec![
            Event::Session(self.facts.clone()),
            Event::Writer {
                alive: self.writer.is_some(),
            },
        ]
    }

    /// A writer was alive when last looked.
    pub(super) fn has_writer(&self) -> bool {
        self.writer.is_some()
    }
}

fn state_problem(what: String) -> Problem {
    Problem {
        kind: ProblemKind::State,
        log: None,
        line: None,
        byte: None,
        what,
    }
}

/// The whole text of a query from a file beside the transcripts; never from outside of the session.
pub(super) fn whole_text(dir: &Path, file: &str) -> Option<String> {
    let path = dir.join(file).canonicalize().ok()?;
    let inside = path.starts_with(dir.canonicalize().ok()?);
    inside.then(|| read_text(&path)).flatten()
}

/// A text file, as far as a query's text is read.
pub(super) fn read_text(path: &Path) -> Option<String> {
    let (file, metadata) = open_regular(path).ok()?;
    let mut bytes = vec![0; usize::try_from(metadata.len().min(QUERY_CAP)).ok()?];
    let read = read_at(&file, &mut bytes, 0).ok()?;
    bytes.truncate(read);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The name people know a directory by.
pub(crate) fn name_of(path: &Path) -> String {
    let resolved: Option<PathBuf> = path.file_name().is_none().then(|| path.canonicalize().ok()).flatten();
    let named = resolved.as_deref().unwrap_or(path);
    named
        .file_name()
        .unwrap_or(named.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// Unix milliseconds of a file's time.
pub(super) fn unix_ms(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis()).ok()
}
