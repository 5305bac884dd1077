//! The sessions of a directory, for lists.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::disk::files::FileIdentity;
use crate::disk::logs::LOGS_DIRECTORY;
use crate::disk::state_file::{STATE_FILE, StateHead, read_head};
use crate::model::{Label, Outcome, Time, Totals};
use crate::store::{IMPORTING, SessionRow, Store};
use crate::text::cut;

use super::lineage::name;
use super::recorded::open_question;
use super::scan::readers;
use super::session::{name_of, unix_ms};
use super::{OpenError, OpenOptions, Paid, Spent, Stop, read_session};

/// A session as a list shows it. Texts are raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its directory.
    pub path: PathBuf,
    /// Its name: the directory's.
    pub name: String,
    /// Completed queries.
    pub queries: u64,
    /// The query that has no FINAL yet, cut.
    pub pending: Option<String>,
    /// The question whose answer that query waits for.
    pub waits: Option<String>,
    /// The last completed query, cut.
    pub last_query: Option<String>,
    /// When it was last written to.
    pub last_activity: Option<Time>,
    /// The session it was forked from.
    pub parent: Option<String>,
    /// Whether its state.json can be read.
    pub health: Health,
}

/// Whether a state.json can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It can.
    Good,
    /// Why not.
    Damaged(String),
    /// Why its directory cannot be entered: nobody can tell whether a state.json is there.
    Closed(String),
}

impl Health {
    /// It cannot be read after all; what was known of it already stays.
    pub fn spoil(&mut self, why: String) {
        if *self == Self::Good {
            *self = Self::Damaged(why);
        }
    }

    /// Why it cannot be read.
    pub fn trouble(&self) -> Option<&str> {
        match self {
            Self::Good => None,
            Self::Damaged(why) | Self::Closed(why) => Some(why),
        }
    }

    /// A state.json is there, whatever it holds.
    pub fn is_session(&self) -> bool {
        !matches!(self, Self::Closed(_))
    }
}

/// Cells of a query in a list.
const QUERY: usize = 1_024;

/// A run's end without FINAL, as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEnd {
    /// In an error.
    Failed,
    /// At a limit.
    Limit,
    /// A person stopped it.
    Cancelled,
}

impl BadEnd {
    fn of(outcome: &Outcome) -> Option<Self> {
        match outcome {
            Outcome::Error(_) => Some(Self::Failed),
            Outcome::Limit(_) => Some(Self::Limit),
            Outcome::Cancelled => Some(Self::Cancelled),
            _ => None,
        }
    }

    /// For people: after "its last query".
    pub fn words(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Limit => "hit a limit",
            Self::Cancelled => "was cancelled",
        }
    }
}

/// What the runs of a session come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionTotals {
    /// Completed queries.
    pub queries: u64,
    /// Sum over completed queries.
    pub completed: Totals,
    /// Runs without FINAL, a pending one included.
    pub lost_runs: u64,
    /// Sum over those.
    pub lost: Totals,
    /// How its last run ended, where that was badly.
    pub last_end: Option<BadEnd>,
    /// What that run was asked, cut: state.json lists it where nobody reads that far.
    pub unanswered: Option<String>,
    /// The last instant that a transcript has: files can be newer, as copies are.
    pub last_activity: Option<Time>,
    /// What it adds to the sum over the directory: a branch not what it took over.
    pub spent: Spent,
    /// Every transcript was read.
    pub complete: bool,
}

/// The sessions of a storage directory: those that lie in it, and the one that keeps its files in it itself.
pub fn list_stored(dir: &Path, stop: &Stop) -> Vec<SessionSummary> {
    list(stored(dir), dir, stop)
}

/// Their directories.
pub(super) fn stored(dir: &Path) -> Vec<PathBuf> {
    let own = matches!(holds_state(dir), Ok(true)).then(|| dir.to_owned());
    own.into_iter().chain(candidates(dir)).collect()
}

/// The sessions that lie in a directory, the last active one first. Fast on thousands: only the heads of their
/// state.json are read, on all cores.
pub fn list_sessions(dir: &Path, stop: &Stop) -> Vec<SessionSummary> {
    list(candidates(dir), dir, stop)
}

pub(super) fn list(candidates: Vec<PathBuf>, dir: &Path, stop: &Stop) -> Vec<SessionSummary> {
    let parents = lineage(dir);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let work = || {
        while let Some(path) = candidates.get(next.fetch_add(1, Ordering::Relaxed)) {
            if stop.is_stopped() {
                return;
            }
            let summary = summary(path, &parents);
            found
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .push(summary);
        }
    };
    thread::scope(|scope| {
        for _ in 1..readers().min(candidates.len()) {
            // Where the system gives no more threads, this one does it all.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_by(|a, b| b.last_activity.cmp(&a.last_activity).then_with(|| a.path.cmp(&b.path)));
    found
}

/// Directories with a state.json, or of which nobody can tell, each once, whatever links lead there, but for those that
/// are imported right now. One directory is one session: the files of a copy can be links to those of another.
fn candidates(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let whole = |entry: &std::fs::DirEntry| !entry.file_name().to_string_lossy().starts_with(IMPORTING);
    let mut paths: Vec<PathBuf> = entries.filter(whole).map(|entry| entry.path()).collect();
    paths.sort_unstable();
    let mut seen = HashMap::new();
    for path in paths {
        let directory = std::fs::metadata(&path).ok().filter(Metadata::is_dir);
        if let Some(metadata) = directory.filter(|_| holds_state(&path).unwrap_or(true)) {
            seen.entry(FileIdentity::of(&path, &metadata)).or_insert(path);
        }
    }
    seen.into_values().collect()
}

/// Whether a directory has a state.json: one that leads nowhere, or is no file, has its row with what is wrong.
fn holds_state(dir: &Path) -> io::Result<bool> {
    match dir.join(STATE_FILE).symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn head_of(dir: &Path, state: &Path) -> (StateHead, Health) {
    if let Err(error) = holds_state(dir) {
        let why = OpenError::of_io(dir, error).to_string();
        return (StateHead::default(), Health::Closed(why));
    }
    match read_head(state) {
        Ok(head) => (head, Health::Good),
        Err(error) => (StateHead::default(), Health::Damaged(error.to_string())),
    }
}

pub(super) fn summary(path: &Path, parents: &HashMap<String, String>) -> SessionSummary {
    let state = path.join(STATE_FILE);
    let (head, health) = head_of(path, &state);
    let name = name_of(path);
    SessionSummary {
        path: path.to_owned(),
        queries: head.queries,
        last_query: head.last_query,
        last_activity: last_activity(path, &state, head.pending.is_some()),
        // The log is opened for those few only.
        waits: head.pending.as_ref().and_then(|_| open_question(path)),
        pending: head.pending,
        parent: parents.get(&name).cloned(),
        name,
        health,
    }
}

/// The newest of state.json and, while a query runs, of its transcripts.
fn last_activity(path: &Path, state: &Path, pending: bool) -> Option<Time> {
    let logs = pending.then(|| newest_log(path)).flatten();
    logs.into_iter().chain(written(state)).max()
}

/// When a transcript of a session was last written to.
pub(super) fn newest_log(path: &Path) -> Option<Time> {
    let logs = std::fs::read_dir(path.join(LOGS_DIRECTORY)).ok()?;
    logs.flatten().filter_map(|entry| written(&entry.path())).max()
}

fn written(path: &Path) -> Option<Time> {
    unix_ms(std::fs::metadata(path).ok()?.modified().ok()?)
}

/// Which session was forked from which, where a store says so.
pub(super) fn lineage(dir: &Path) -> HashMap<String, String> {
    if !dir.join("events.db").is_file() {
        return HashMap::new();
    }
    let Ok(store) = Store::open_read_only(dir) else {
        return HashMap::new();
    };
    let rows = store.events.sessions().unwrap_or_default();
    let names: HashMap<&str, String> = rows.iter().map(|row| (row.id.as_str(), name(row, &store))).collect();
    let parent = |row: &SessionRow| names.get(row.parent.as_deref()?).cloned();
    rows.iter()
        .filter_map(|row| Some((name(row, &store), parent(row)?)))
        .collect()
}

/// Tokens and cost of a session: scanned, or from the cache. `None` when it is none, or after `stop`.
///
/// # Errors
/// When it cannot be opened.
pub fn session_totals(path: &Path, options: &OpenOptions, stop: &Stop) -> Result<Option<SessionTotals>, OpenError> {
    totals_once(path, options, &mut Paid::default(), stop)
}

/// The same of a session in a list, each of whose steps counts once in [`SessionTotals::spent`].
///
/// # Errors
/// As [`session_totals`].
pub fn totals_once(
    path: &Path,
    options: &OpenOptions,
    paid: &mut Paid,
    stop: &Stop,
) -> Result<Option<SessionTotals>, OpenError> {
    let Some((session, _)) = read_session(path, options, stop)? else {
        return Ok(None);
    };
    let lost = session
        .queries
        .iter()
        .filter(|query| !matches!(query.label, Label::Completed(_)));
    let last = session.queries.last();
    let last_end = last.and_then(|query| BadEnd::of(&query.outcome));
    let totals = (!stop.is_stopped()).then(|| SessionTotals {
        queries: session.completed_count() as u64,
        completed: session.completed,
        lost_runs: lost.count() as u64,
        lost: session.lost,
        last_end,
        unanswered: last_end.and(last).map(|query| cut(&query.text, QUERY).0.to_owned()),
        spent: paid.add(&name_of(path), &session),
        last_activity: session.queries.iter().filter_map(|query| Some(query.run.span?.1)).max(),
        complete: session.complete,
    });
    Ok(totals)
}
