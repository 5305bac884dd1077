//! Putting the parts of transcripts together: parts come from many threads in any order, line numbers in one.

use std::collections::BTreeMap;
use std::io;

use crate::disk::cache::ScanCache;
use crate::disk::logs::LogFile;
use crate::disk::transcript::{Part, SegmentEnd};
use crate::model::{Event, LogId, Problem, ProblemKind};

use super::log_table::ReadMark;

/// Lines of a transcript that are kept for the cache while the rest of it is read. With more, its lines are short and
/// soon read again.
const MOST_CACHED: usize = 100_000;

/// A transcript that is being scanned.
pub(super) struct Assembly {
    pub(super) log: LogId,
    pub(super) file: LogFile,
    /// Parts that it has in all.
    pub(super) parts: usize,
    /// Digest of its first bytes.
    pub(super) head: u64,
    waiting: BTreeMap<usize, Part>,
    done: usize,
    end: SegmentEnd,
    torn: Option<Problem>,
    /// Everything again, for the cache.
    whole: Option<Part>,
}

impl Assembly {
    pub(super) fn new(log: LogId, file: LogFile, parts: usize, for_cache: bool) -> Self {
        Self {
            log,
            file,
            parts,
            head: 0,
            waiting: BTreeMap::new(),
            done: 0,
            end: SegmentEnd::default(),
            torn: None,
            whole: for_cache.then(Part::default),
        }
    }

    /// Takes a part; the events of all parts whose turn it is now.
    pub(super) fn take(&mut self, index: usize, part: io::Result<Part>) -> Vec<Event> {
        let mut events = Vec::new();
        match part {
            Ok(part) => drop(self.waiting.insert(index, part)),
            Err(error) => {
                self.whole = None;
                let what = format!("cannot be read: {error}");
                let problem = Problem {
                    kind: ProblemKind::Unreadable,
                    log: Some(self.log),
                    line: None,
                    byte: None,
                    what,
                };
                events.push(Event::Problem(problem));
                self.waiting.insert(index, Part::default());
            }
        }
        while let Some(part) = self.waiting.remove(&self.done) {
            self.append(part, &mut events);
        }
        if self.is_done() {
            events.push(Event::LogRead {
                log: self.log,
                unreadable: self.end.unreadable,
            });
        }
        events
    }

    fn append(&mut self, mut part: Part, events: &mut Vec<Event>) {
        self.done += 1;
        part.move_up(self.end.lines);
        self.torn = part.torn().cloned().or(self.torn.take());
        let before = self.end.lines;
        if part.end.lines > 0 {
            self.end.next = part.end.next;
            self.end.whole_lines = before + part.end.whole_lines;
        }
        self.end.lines = before + part.end.lines;
        self.end.unreadable += part.end.unreadable;
        self.end.torn |= part.end.torn;
        self.whole
            .take_if(|whole| whole.lines.len() + part.lines.len() > MOST_CACHED);
        if let Some(whole) = &mut self.whole {
            whole.lines.extend(part.lines.iter().cloned());
            whole.problems.extend(part.problems.iter().cloned());
        }
        if !part.lines.is_empty() {
            events.push(Event::Lines(part.lines));
        }
        events.extend(part.problems.into_iter().map(Event::Problem));
    }

    pub(super) fn is_done(&self) -> bool {
        self.done == self.parts
    }

    /// Puts the result into the cache, and says how far the file was read.
    pub(super) fn finish(self, cache: Option<&mut ScanCache>) -> (LogId, ReadMark) {
        if let Some((cache, whole)) = cache.zip(self.whole) {
            cache.put(&self.file, &Part { end: self.end, ..whole });
        }
        let SegmentEnd {
            unreadable,
            next,
            whole_lines,
            ..
        } = self.end;
        let mark = ReadMark {
            next,
            lines: whole_lines,
            unreadable,
            file: Some(self.file),
            head: self.head,
            torn: self.torn,
        };
        (self.log, mark)
    }
}
