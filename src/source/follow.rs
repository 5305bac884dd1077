//! Following what other processes write: state.json replaced, transcripts that grow, shrink, come and go, and the
//! writer that lives or dies.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::disk::files::{FileIdentity, open_regular};
use crate::disk::logs::{LOGS_DIRECTORY, LogFile};
use crate::disk::transcript::{Part, Segment, scan_part};
use crate::model::{Event, LogId, TargetKind};

use super::family::log_beside;
use super::log_table::ReadMark;
use super::scan::head_digest;
use super::watch::Watch;
use super::{Inner, Source, Stop};

/// How often a living writer is looked for: its death changes no file.
const WRITER: Duration = Duration::from_secs(2);

/// Times as long as a look took is rested after it: what changes all the time takes a part of one core at most.
const REST: u32 = 4;

impl Source {
    /// Tells what changes from now on, until `stop`. `sink` is called on this thread. Call it when [`Source::scan`]
    /// has returned: transcripts that were not scanned are read as if they were new.
    pub fn follow(&self, stop: &Stop, sink: &mut dyn FnMut(Vec<Event>)) {
        let mut watch = Watch::new();
        *self.0.nudge.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch.teller());
        watch.watch(self.directories());
        loop {
            let since = Instant::now();
            // At once as well: something may have changed since it was opened.
            let events = self.refresh(stop);
            let rest = since.elapsed().saturating_mul(REST);
            if !events.is_empty() {
                sink(events);
                watch.watch(self.directories());
            }
            let writer = self.inner().state.has_writer().then_some(WRITER);
            let limit = [writer, self.family_due()].into_iter().flatten().min();
            if !watch.wait(stop, limit, rest) {
                return;
            }
        }
    }

    /// Everything that changed since it was last read.
    pub(super) fn refresh(&self, stop: &Stop) -> Vec<Event> {
        let mut events = Vec::new();
        let is_log_new = self.begin_look();
        events.extend(is_log_new.then(|| self.new_lineage()).flatten());
        let mut inner = self.inner();
        let inner = &mut *inner;
        if self.kind() == TargetKind::Session {
            let state = inner.state.refresh(self.dir());
            if is_log_new || state.is_some() {
                events.extend(state.unwrap_or_default());
                events.extend(inner.state.look_for_question(self.dir()));
                events.extend(inner.state.look_for_calls(self.dir()));
            }
            events.extend(inner.find_logs());
        }
        events.extend(inner.state.look_for_writer(self.dir()));
        for place in 0..inner.table.entries.len() {
            if stop.is_stopped() {
                break;
            }
            events.extend(inner.read_on(place, stop));
        }
        events
    }

    /// Where something can change.
    fn directories(&self) -> HashSet<PathBuf> {
        let inner = self.inner();
        let files = inner
            .table
            .entries
            .iter()
            .filter_map(|entry| entry.file.as_ref()?.path.parent());
        let mut all: HashSet<PathBuf> = files.map(or_here).collect();
        all.insert(or_here(self.dir()));
        // Whoever branches off this session says so in the log.
        all.extend(log_beside(self.dir()));
        let logs = self.dir().join(LOGS_DIRECTORY);
        if self.kind() == TargetKind::Session && logs.is_dir() {
            all.insert(logs);
        }
        all
    }
}

fn or_here(path: &Path) -> PathBuf {
    let here = path.as_os_str().is_empty();
    if here { PathBuf::from(".") } else { path.to_owned() }
}

impl Inner {
    /// Looks for transcripts again; what changed.
    pub(super) fn find_logs(&mut self) -> Vec<Event> {
        let Some(finder) = &mut self.finder else {
            return Vec::new();
        };
        finder.forget_directories();
        self.table.update(finder, &self.state.ledger)
    }

    /// Reads what was appended to a transcript; all of it, if it was replaced or cut.
    fn read_on(&mut self, place: usize, stop: &Stop) -> Vec<Event> {
        let Some(entry) = self.table.entries.get_mut(place) else {
            return Vec::new();
        };
        let (id, Some(path)) = (entry.facts.id, entry.file.as_ref().map(|file| file.path.clone())) else {
            return Vec::new();
        };
        // A transcript that is gone is noticed when transcripts are looked for.
        let Ok(metadata) = std::fs::metadata(&path) else {
            return Vec::new();
        };
        let file = LogFile::new(path, &metadata);
        let mark = entry.mark.clone().unwrap_or_default();
        if mark.file.as_ref() == Some(&file) {
            return Vec::new();
        }
        entry.file = Some(file.clone());
        let mut events = Vec::new();
        let mark = if is_continued(&mark, &file) {
            mark
        } else {
            ReadMark::default()
        };
        if entry.mark.is_some() && mark.file.is_none() {
            events.push(Event::LogReset(id));
        }
        if let Some((found, mark)) = read_tail(id, file, mark, stop) {
            events.extend(found);
            entry.mark = Some(mark);
        }
        events
    }
}

/// The file is the one that was read, grown or untouched.
fn is_continued(mark: &ReadMark, file: &LogFile) -> bool {
    let Some(before) = &mark.file else { return false };
    let same = before.identity == file.identity && file.size >= before.size.max(mark.next);
    same && head_digest(before).is_ok_and(|head| head == mark.head)
}

fn read_tail(log: LogId, file: LogFile, mark: ReadMark, stop: &Stop) -> Option<(Vec<Event>, ReadMark)> {
    let (handle, metadata) = open_regular(&file.path).ok()?;
    if FileIdentity::of(&file.path, &metadata) != file.identity {
        return None;
    }
    let size = file.size;
    let segment = Segment {
        log,
        from: mark.next,
        to: size,
        size,
        at_line: true,
    };
    let mut part = scan_part(&handle, segment, &|| stop.is_stopped())
        .ok()
        .filter(|_| !stop.is_stopped())?;
    part.move_up(mark.lines);
    let torn = part.torn().cloned();
    let mut events = Vec::new();
    if torn != mark.torn {
        events.extend(mark.torn.clone().map(Event::Resolved));
    }
    let Part { lines, problems, end } = part;
    if !lines.is_empty() {
        events.push(Event::Lines(lines));
    }
    events.extend(
        problems
            .into_iter()
            .filter(|problem| Some(problem) != mark.torn.as_ref())
            .map(Event::Problem),
    );
    let head = head_digest(&file).unwrap_or_default();
    let (next, lines, unreadable) = (end.next, mark.lines + end.whole_lines, mark.unreadable + end.unreadable);
    if !events.is_empty() || mark.file.is_none() || unreadable != mark.unreadable {
        events.push(Event::LogRead { log, unreadable });
    }
    Some((
        events,
        ReadMark {
            next,
            lines,
            unreadable,
            file: Some(file),
            head,
            torn,
        },
    ))
}
