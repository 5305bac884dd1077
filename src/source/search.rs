//! Searching all transcripts: lines that cannot match are passed by as bytes, the others are decoded.

use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::disk::files::open_regular;
use crate::disk::json::{Fault, FileInput, Input, Scanner, SliceInput};
use crate::disk::transcript::{LineReader, Owner, RawLine, read_fields};
use crate::model::{BodyRef, LogId};

use super::scan::readers;
use super::sought::Sought;
use super::{Field, SearchPattern, Source, Stop};
use crate::disk::logs::LogFile;

/// Bytes of a transcript that a thread searches at a time.
const STRETCH: u64 = 8 << 20;
/// Hits that are handed over together.
const BATCH: usize = 64;
/// Batches that wait for the receiver.
const QUEUE: usize = 16;
/// A text with matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its line.
    pub at: BodyRef,
    /// Whose line it is. Raw.
    pub run_id: String,
    /// Its step's number.
    pub step: Option<u64>,
    /// Which of the line's texts it is.
    pub field: Field,
    /// Matches in it.
    pub count: usize,
    /// Byte of the first match in the text.
    pub offset: usize,
    /// A part of the text's line around it. Raw.
    pub snippet: String,
    /// Bytes of the snippet that match.
    pub matched: Range<usize>,
}

/// Takes hits; `false` when nobody wants any more.
type Give<'a> = &'a mut dyn FnMut(Vec<Hit>) -> bool;

/// A stretch of a transcript.
struct Task {
    log: LogId,
    file: LogFile,
    from: u64,
    to: u64,
}

impl Source {
    /// Searches code, output, reasoning and results of all transcripts, on all cores. `sink` gets hits as they are
    /// found, in no order; it is called on this thread. Returns when all is searched, or soon after `stop`. Line
    /// numbers are not known to a search: `at.line` is 0, `at.offset` tells the line.
    pub fn search(&self, pattern: &SearchPattern, stop: &Stop, sink: &mut dyn FnMut(Vec<Hit>)) {
        let tasks = self.stretches();
        let next = AtomicUsize::new(0);
        // A transcript that is gone has no hits.
        let work = |give: Give<'_>| {
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let _ = search_stretch(task, pattern, stop, give);
            }
        };
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(QUEUE);
            for _ in 0..readers().min(tasks.len()) {
                let sender = sender.clone();
                let search = move || work(&mut |hits| sender.send(hits).is_ok());
                let _ = thread::Builder::new().spawn_scoped(scope, search);
            }
            drop(sender);
            for hits in receiver {
                if stop.is_stopped() {
                    break;
                }
                sink(hits);
            }
        });
        // Where the system gave no threads, all is left to be done.
        work(&mut |hits| {
            sink(hits);
            true
        });
    }

    fn stretches(&self) -> Vec<Task> {
        let inner = self.inner();
        let files = inner
            .table
            .entries
            .iter()
            .filter_map(|entry| Some((entry.facts.id, entry.file.as_ref()?)));
        files
            .flat_map(|(log, file)| {
                (0..file.size.div_ceil(STRETCH)).map(move |index| Task {
                    log,
                    file: file.clone(),
                    from: index * STRETCH,
                    to: ((index + 1) * STRETCH).min(file.size),
                })
            })
            .collect()
    }
}

fn search_stretch(task: &Task, pattern: &SearchPattern, stop: &Stop, give: Give<'_>) -> io::Result<()> {
    let (file, _) = open_regular(&task.file.path)?;
    let mut start = task.from;
    if start > 0 {
        let mut before = LineReader::new(&file, start - 1, task.to);
        before.skip_line()?;
        start = before.position();
    }
    let mut reader = LineReader::new(&file, start, task.file.size);
    let mut hits = Vec::new();
    while reader.position() < task.to && !stop.is_stopped() {
        match reader.next_line()? {
            None => break,
            Some(RawLine::Whole { offset, bytes, .. }) if pattern.may_match(bytes) => {
                search_line(
                    Scanner::new(SliceInput::new(bytes, offset)),
                    task.log,
                    (pattern, stop),
                    &mut hits,
                );
            }
            Some(RawLine::Whole { .. }) => {}
            Some(RawLine::Long { offset }) => {
                let input = FileInput::line(&file, offset, task.file.size);
                search_line(Scanner::new(input), task.log, (pattern, stop), &mut hits);
                let mut rest = LineReader::new(&file, offset, task.file.size);
                rest.skip_line()?;
                reader.seek(rest.position());
            }
        }
        if hits.len() >= BATCH && !give(std::mem::take(&mut hits)) {
            return Ok(());
        }
    }
    if !hits.is_empty() {
        // Whoever searched may have gone: so may the hits.
        give(hits);
    }
    Ok(())
}

/// All records of a line; one that is damaged ends it.
fn search_line<I: Input>(mut scanner: Scanner<I>, log: LogId, what: (&SearchPattern, &Stop), hits: &mut Vec<Hit>) {
    while let Ok(Some(b'{')) = scanner.peek() {
        let offset = scanner.position();
        let first = hits.len();
        let Ok(owner) = search_record(&mut scanner, what, hits) else {
            hits.truncate(first);
            return;
        };
        let len = scanner.position() - offset;
        for hit in hits.iter_mut().skip(first) {
            hit.at = BodyRef {
                log,
                line: 0,
                offset,
                len,
            };
            hit.run_id.clone_from(&owner.run_id);
            hit.step = owner.step;
        }
    }
}

fn search_record<I: Input>(
    scanner: &mut Scanner<I>,
    (pattern, stop): (&SearchPattern, &Stop),
    hits: &mut Vec<Hit>,
) -> Result<Owner, Fault> {
    read_fields(scanner, |scanner, field| {
        let sought = Sought::new(pattern, stop);
        let sought = RefCell::new(match field {
            Field::Output => sought.without_colours(),
            _ => sought,
        });
        scanner.pieces(|piece| sought.borrow_mut().read(piece))?;
        let (count, first) = sought.into_inner().found();
        hits.extend(first.map(|first| Hit {
            at: BodyRef::default(),
            run_id: String::new(),
            step: None,
            field,
            count,
            offset: first.offset,
            snippet: first.snippet,
            matched: first.matched,
        }));
        Ok(())
    })
}
