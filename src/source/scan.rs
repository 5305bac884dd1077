//! Scanning all transcripts on all cores.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::disk::cache::ScanCache;
use crate::disk::files::{FileIdentity, open_regular, read_at};
use crate::disk::logs::LogFile;
use crate::disk::starts_as_utf16;
use crate::disk::transcript::{Part, Segment, SegmentEnd, scan_part};
use crate::model::{Event, LogId, Problem, ProblemKind, code_digest};

use super::assemble::Assembly;
use super::{Source, Stop};

/// Bytes of a transcript that a thread reads at a time: where lines are short, their headers take more than they do.
const STRETCH: u64 = 2 << 20;
/// Transcripts that together are smaller are scanned as fast as a cache is read.
const CACHE_FROM: u64 = 16 << 20;
/// Parts that wait for the receiver.
const QUEUE: usize = 4;
/// Bytes that tell a rewritten file.
const HEAD: usize = 512;

/// A part of a transcript to be read.
struct Task {
    /// Index of its assembly.
    assembly: usize,
    /// Which part it is.
    index: usize,
    log: LogId,
    file: LogFile,
    from: u64,
    to: u64,
    cached: bool,
}

/// A part that was read.
struct Done {
    assembly: usize,
    index: usize,
    bytes: u64,
    part: io::Result<Part>,
}

/// Threads that read: one a core.
pub(super) fn readers() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

impl Source {
    /// Reads all transcripts that were not read yet, on all cores. `sink` gets their lines in batches, each
    /// transcript's end, and what is wrong with them; it is called on this thread. Returns when all is read, or soon
    /// after `stop`.
    pub fn scan(&self, stop: &Stop, sink: &mut dyn FnMut(Vec<Event>)) {
        let found = self.seek();
        if !found.is_empty() {
            sink(found);
        }
        let wanted = self.unread();
        let bytes = wanted.iter().map(|(_, file)| file.size).sum();
        self.0.progress.start(wanted.len() as u64, bytes);
        if wanted.is_empty() {
            return;
        }
        let cache = (self.0.use_cache && bytes >= CACHE_FROM)
            .then(|| ScanCache::open(self.dir()))
            .flatten();
        let (tasks, assemblies) = plan(wanted, cache.as_ref());
        let cache = self.run(&tasks, assemblies, cache.map(Arc::new), stop, sink);
        if let Some(cache) = cache.filter(|_| !stop.is_stopped()) {
            let inner = self.inner();
            let kept: Vec<LogFile> = inner
                .table
                .entries
                .iter()
                .filter_map(|entry| entry.file.clone())
                .collect();
            drop(inner);
            // Without the cache the next scan takes longer: nothing else is lost.
            let _ = cache.save(&kept);
        }
    }

    /// Looks for the transcripts, where opening has left that for now.
    fn seek(&self) -> Vec<Event> {
        let mut inner = self.inner();
        if !std::mem::take(&mut inner.state.facts.seeking) {
            return Vec::new();
        }
        let mut events = vec![Event::Session(inner.state.facts.clone())];
        events.extend(inner.find_logs());
        events
    }

    fn unread(&self) -> Vec<(LogId, LogFile)> {
        let inner = self.inner();
        let unread = inner.table.entries.iter().filter(|entry| entry.mark.is_none());
        unread
            .filter_map(|entry| Some((entry.facts.id, entry.file.clone()?)))
            .collect()
    }

    /// Has the tasks done and puts their results together.
    fn run(
        &self,
        tasks: &[Task],
        assemblies: Vec<Assembly>,
        cache: Option<Arc<ScanCache>>,
        stop: &Stop,
        sink: &mut dyn FnMut(Vec<Event>),
    ) -> Option<ScanCache> {
        let mut assemblies: Vec<Option<Assembly>> = assemblies.into_iter().map(Some).collect();
        let mut fresh = cache.as_ref().map(|cache| cache.emptied());
        let next = AtomicUsize::new(0);
        let mut take = |done: Done| {
            self.0.progress.read(0, done.bytes);
            let Some(slot) = assemblies.get_mut(done.assembly) else {
                return;
            };
            let Some(assembly) = slot else { return };
            let events = assembly.take(done.index, done.part);
            if assembly.is_done() {
                self.close(slot.take(), fresh.as_mut());
            }
            sink(events);
        };
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(QUEUE);
            for _ in 0..readers().min(tasks.len()) {
                let (sender, next, cache) = (sender.clone(), &next, cache.clone());
                let read = move || {
                    work(tasks, next, cache.as_deref(), stop, &mut |done| {
                        sender.send(done).is_ok()
                    })
                };
                let _ = thread::Builder::new().spawn_scoped(scope, read);
            }
            drop(sender);
            for done in receiver {
                if stop.is_stopped() {
                    break;
                }
                take(done);
            }
        });
        // Where the system gave no threads, all is left to be done.
        work(tasks, &next, cache.as_deref(), stop, &mut |done| {
            take(done);
            true
        });
        let cache = cache.and_then(Arc::into_inner);
        cache.zip(fresh).map(|(cache, fresh)| cache.with(fresh))
    }

    fn close(&self, assembly: Option<Assembly>, cache: Option<&mut ScanCache>) {
        let Some(mut assembly) = assembly else { return };
        self.0.progress.read(1, 0);
        assembly.head = head_digest(&assembly.file).unwrap_or_default();
        let (log, mark) = assembly.finish(cache);
        if let Some(entry) = self.inner().table.get_mut(log) {
            entry.mark = Some(mark);
        }
    }
}

/// Which parts are to be read, in the order of the transcripts.
fn plan(wanted: Vec<(LogId, LogFile)>, cache: Option<&ScanCache>) -> (Vec<Task>, Vec<Assembly>) {
    let (mut tasks, mut assemblies) = (Vec::new(), Vec::new());
    for (assembly, (log, file)) in wanted.into_iter().enumerate() {
        let cached = cache.is_some_and(|cache| cache.has(&file));
        let parts = if cached { 1 } else { file.size.div_ceil(STRETCH).max(1) };
        for index in 0..parts {
            let (from, to) = match cached {
                true => (0, file.size),
                false => (index * STRETCH, ((index + 1) * STRETCH).min(file.size)),
            };
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            tasks.push(Task {
                assembly,
                index,
                log,
                file: file.clone(),
                from,
                to,
                cached,
            });
        }
        let parts = usize::try_from(parts).unwrap_or(usize::MAX);
        assemblies.push(Assembly::new(log, file, parts, cache.is_some() && !cached));
    }
    (tasks, assemblies)
}

/// Takes what was read; `false` when nobody wants any more.
type Give<'a> = &'a mut dyn FnMut(Done) -> bool;

/// What each thread does: the next task, until there is none.
fn work(tasks: &[Task], next: &AtomicUsize, cache: Option<&ScanCache>, stop: &Stop, give: Give<'_>) {
    while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
        if stop.is_stopped() {
            return;
        }
        let cached = cache
            .filter(|_| task.cached)
            .and_then(|cache| cache.get(&task.file, task.log));
        let part = match cached {
            Some(part) => Ok(part),
            None => read_part(task, stop),
        };
        let done = Done {
            assembly: task.assembly,
            index: task.index,
            bytes: task.to - task.from,
            part,
        };
        if !give(done) {
            return;
        }
    }
}

fn read_part(task: &Task, stop: &Stop) -> io::Result<Part> {
    let (file, metadata) = open_regular(&task.file.path)?;
    if FileIdentity::of(&task.file.path, &metadata) != task.file.identity {
        return Err(io::Error::other(
            "it was replaced while it was opened; it is read again when it changes",
        ));
    }
    if starts_as_utf16(&file) {
        return Ok(utf16_part(task));
    }
    let segment = Segment {
        log: task.log,
        from: task.from,
        to: task.to,
        size: task.file.size,
        at_line: task.from == 0,
    };
    scan_part(&file, segment, &|| stop.is_stopped())
}

/// One unreadable line stands for the whole file.
fn utf16_part(task: &Task) -> Part {
    if task.index > 0 {
        return Part::default();
    }
    let what = "UTF-16: convert it to UTF-8 to read it".into();
    let problem = Problem {
        kind: ProblemKind::Unreadable,
        log: Some(task.log),
        line: Some(1),
        byte: Some(0),
        what,
    };
    let end = SegmentEnd {
        lines: 1,
        unreadable: 1,
        next: task.file.size,
        torn: false,
        whole_lines: 1,
    };
    Part {
        lines: Vec::new(),
        problems: vec![problem],
        end,
    }
}

/// Digest of a file's first bytes, as far as they will not change when it grows.
pub(super) fn head_digest(file: &LogFile) -> io::Result<u64> {
    let (handle, _) = open_regular(&file.path)?;
    let mut head = vec![0; HEAD.min(usize::try_from(file.size).unwrap_or(HEAD))];
    let read = read_at(&handle, &mut head, 0)?;
    Ok(code_digest(&String::from_utf8_lossy(
        head.get(..read).unwrap_or_default(),
    )))
}
