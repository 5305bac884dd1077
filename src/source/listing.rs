//! The sessions of a directory, followed: told once as they are, then what changes. Directories are watched where the
//! system tells of changes; a session whose files look as before is not read again, however many there are.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::disk::logs::LOGS_DIRECTORY;
use crate::disk::state_file::STATE_FILE;
use crate::model::Time;

use super::family::store_stamps;
use super::session::Stamp;
use super::sessions::{lineage, list, newest_log, stored, summary};
use super::watch::Watch;
use super::{Health, SessionSummary, Stop};

/// Directories that are watched, those of the sessions that were last active. Systems allow a user some thousands.
const WATCHED: usize = 2_000;
/// How often the others are looked at.
const UNWATCHED: Duration = Duration::from_secs(10);
/// Between looks, at least: a run writes all the time.
const PACE: Duration = Duration::from_millis(250);
/// Times as long as a look took is rested before the next: 10,000 sessions must not keep a core busy.
const REST: u32 = 20;
/// Between looks, at most.
const LONGEST: Duration = Duration::from_secs(5);
/// How long a stop may go unnoticed.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// What changed in a directory of sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Sessions that are new or look otherwise than before; all of them, the first time.
    pub rows: Vec<SessionSummary>,
    /// Directories of those that are gone.
    pub gone: Vec<PathBuf>,
    /// `rows` are all there are.
    pub all: bool,
}

/// A directory of sessions that is followed.
#[derive(Debug)]
pub struct Listing {
    dir: PathBuf,
    rows: HashMap<PathBuf, Row>,
    parents: HashMap<String, String>,
    told: Option<(Sender<()>, Receiver<()>)>,
    watch: Option<Watch>,
    tell: Sender<()>,
    /// When it was looked at last, and for how long.
    looked: Option<(Instant, Duration)>,
}

#[derive(Debug)]
struct Row {
    seen: Seen,
    summary: SessionSummary,
}

/// The files that a summary was read from, as they were then.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    state: Stamp,
    /// While a query is pending: its log and its transcripts. Not known when it was read for the first time.
    pending: Option<(Vec<Stamp>, Option<Time>)>,
}

impl Listing {
    /// Of a directory; nothing is read yet.
    pub fn of(dir: PathBuf) -> Self {
        let (tell, told) = channel();
        Self {
            dir,
            rows: HashMap::new(),
            parents: HashMap::new(),
            told: Some((tell.clone(), told)),
            watch: None,
            tell,
            looked: None,
        }
    }

    /// Sent to, it has [`Listing::next`] look at once.
    pub fn teller(&self) -> Sender<()> {
        self.tell.clone()
    }

    /// At first all sessions, then what changes as soon as something does. `None` after `stop`.
    pub fn next(&mut self, stop: &Stop) -> Option<Listed> {
        if self.looked.is_none() {
            return self.first(stop);
        }
        while self.wait(stop) {
            let changed = self.look();
            if !changed.rows.is_empty() || !changed.gone.is_empty() {
                return Some(changed);
            }
        }
        None
    }

    fn first(&mut self, stop: &Stop) -> Option<Listed> {
        let since = Instant::now();
        let mut watch = Watch::on(self.told.take()?);
        // First: what changes while it is listed is seen.
        watch.watch(HashSet::from([self.dir.clone()]));
        self.watch = Some(watch);
        self.parents = lineage(&self.dir);
        let paths = stored(&self.dir);
        let mut seen: HashMap<PathBuf, Seen> = paths.iter().map(|path| (path.clone(), Seen::of(path))).collect();
        let rows = list(paths, &self.dir, stop);
        for summary in &rows {
            let seen = seen.remove(&summary.path).unwrap_or_else(|| Seen::of(&summary.path));
            let summary = summary.clone();
            self.rows.insert(summary.path.clone(), Row { seen, summary });
        }
        self.watch_rows();
        self.looked = Some((Instant::now(), since.elapsed()));
        (!stop.is_stopped()).then_some(Listed {
            rows,
            gone: Vec::new(),
            all: true,
        })
    }

    /// Waits until something may have changed; false after `stop`.
    fn wait(&mut self, stop: &Stop) -> bool {
        let (last, took) = self.looked.unwrap_or((Instant::now(), Duration::ZERO));
        let pace = took.saturating_mul(REST).clamp(PACE, LONGEST);
        let limit = (self.rows.len() > WATCHED).then_some(UNWATCHED);
        let is_told = self.watch.as_mut().is_some_and(|watch| watch.wait(stop, limit, PACE));
        while is_told && !stop.is_stopped() && last.elapsed() < pace {
            std::thread::sleep(HEARTBEAT);
        }
        is_told && !stop.is_stopped()
    }

    fn look(&mut self) -> Listed {
        let since = Instant::now();
        let paths = stored(&self.dir);
        let there: HashSet<&PathBuf> = paths.iter().collect();
        let gone: Vec<PathBuf> = self.rows.keys().filter(|path| !there.contains(path)).cloned().collect();
        gone.iter().for_each(|path| drop(self.rows.remove(path)));
        let is_new = paths.iter().any(|path| !self.rows.contains_key(path));
        if is_new {
            self.parents = lineage(&self.dir);
        }
        let rows: Vec<SessionSummary> = paths.iter().filter_map(|path| self.look_at(path)).collect();
        let is_blind = self.watch.as_ref().is_some_and(Watch::is_blind);
        let goes_on = || self.rows.values().any(|row| row.summary.pending.is_some());
        if is_blind || !rows.is_empty() || !gone.is_empty() || goes_on() {
            self.watch_rows();
        }
        self.looked = Some((Instant::now(), since.elapsed()));
        Listed { rows, gone, all: false }
    }

    /// The summary of a session, if it is another one than before.
    fn look_at(&mut self, path: &Path) -> Option<SessionSummary> {
        let known = self.rows.get(path);
        let seen = match known.filter(|row| row.summary.pending.is_some()) {
            Some(_) => Seen::of_pending(path),
            None => Seen::of(path),
        };
        let is_closed = known.is_some_and(|row| matches!(row.summary.health, Health::Closed(_)));
        if known.is_some_and(|row| row.seen == seen) && !is_closed {
            return None;
        }
        let summary = summary(path, &self.parents);
        let is_other = known.is_none_or(|row| row.summary != summary);
        let row = Row {
            seen,
            summary: summary.clone(),
        };
        self.rows.insert(path.to_owned(), row);
        is_other.then_some(summary)
    }

    /// Watches the directory itself, and the sessions that were last active.
    fn watch_rows(&mut self) {
        let mut rows: Vec<&SessionSummary> = self.rows.values().map(|row| &row.summary).collect();
        rows.sort_unstable_by_key(|row| std::cmp::Reverse((row.pending.is_some(), row.last_activity)));
        let mut watched = HashSet::from([self.dir.clone()]);
        for row in rows.into_iter().take(WATCHED) {
            let logs = row.path.join(LOGS_DIRECTORY);
            watched.extend((row.pending.is_some() && logs.is_dir()).then_some(logs));
            watched.insert(row.path.clone());
        }
        // One that is gone again is no reason to look every second.
        watched.retain(|directory| *directory == self.dir || directory.is_dir());
        if self.watch.as_mut().is_some_and(|watch| watch.watch(watched)) {
            // What came before it was watched is found by another look.
            let _ = self.tell.send(());
        }
    }
}

impl Seen {
    fn of(path: &Path) -> Self {
        Self {
            state: Stamp::of(&path.join(STATE_FILE)),
            pending: None,
        }
    }

    fn of_pending(path: &Path) -> Self {
        Self {
            pending: Some((store_stamps(path), newest_log(path))),
            ..Self::of(path)
        }
    }
}
