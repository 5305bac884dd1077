//! Searching all transcripts: lines that cannot match are passed by as bytes, the others are decoded.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crate::disk::files::open_regular;
use crate::disk::json::{Fault, FileInput, Input, Scanner, SliceInput};
use crate::disk::transcript::{LineReader, Owner, RawLine, read_fields};
use crate::model::{BodyRef, LogId};

use super::scan::readers;
use super::{Field, SearchPattern, Source, Stop};
use crate::disk::logs::LogFile;

/// Bytes of a transcript that a thread searches at a time.
const STRETCH: u64 = 8 << 20;
/// Hits that are handed over together.
const BATCH: usize = 64;
/// Batches that wait for the receiver.
const QUEUE: usize = 16;
/// Bytes of a text that are searched.
const TEXT_CAP: usize = 64 << 20;
/// Characters of a snippet before and after the match.
const BEFORE: usize = 40;
const AFTER: usize = 120;

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
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(QUEUE);
            for _ in 0..readers().min(tasks.len()) {
                let (sender, next, tasks) = (sender.clone(), &next, &tasks);
                scope.spawn(move || {
                    while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        // A transcript that is gone has no hits.
                        let _ = search_stretch(task, pattern, stop, &sender);
                    }
                });
            }
            drop(sender);
            for hits in receiver {
                if stop.is_stopped() {
                    break;
                }
                sink(hits);
            }
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

fn search_stretch(task: &Task, pattern: &SearchPattern, stop: &Stop, sender: &SyncSender<Vec<Hit>>) -> io::Result<()> {
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
                    pattern,
                    &mut hits,
                );
            }
            Some(RawLine::Whole { .. }) => {}
            Some(RawLine::Long { offset }) => {
                let input = FileInput::line(&file, offset, task.file.size);
                search_line(Scanner::new(input), task.log, pattern, &mut hits);
                let mut rest = LineReader::new(&file, offset, task.file.size);
                rest.skip_line()?;
                reader.seek(rest.position());
            }
        }
        if hits.len() >= BATCH && sender.send(std::mem::take(&mut hits)).is_err() {
            return Ok(());
        }
    }
    if !hits.is_empty() {
        // Whoever searched has gone: so may the hits.
        let _ = sender.send(hits);
    }
    Ok(())
}

/// All records of a line; one that is damaged ends it.
fn search_line<I: Input>(mut scanner: Scanner<I>, log: LogId, pattern: &SearchPattern, hits: &mut Vec<Hit>) {
    while let Ok(Some(b'{')) = scanner.peek() {
        let offset = scanner.position();
        let first = hits.len();
        let Ok(owner) = search_record(&mut scanner, pattern, hits) else {
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
    pattern: &SearchPattern,
    hits: &mut Vec<Hit>,
) -> Result<Owner, Fault> {
    read_fields(scanner, |scanner, field| {
        let text = match scanner.peek()? {
            Some(b'"') => scanner.text(TEXT_CAP)?,
            _ => scanner.capture(TEXT_CAP)?.text,
        };
        let matches = pattern.matches(&text);
        if let Some(first) = matches.first() {
            let (snippet, matched) = snippet(&text, first);
            let at = BodyRef::default();
            let (count, offset) = (matches.len(), first.start);
            hits.push(Hit {
                at,
                run_id: String::new(),
                step: None,
                field,
                count,
                offset,
                snippet,
                matched,
            });
        }
        Ok(())
    })
}

/// The match with what stands around it in its line.
fn snippet(text: &str, found: &Range<usize>) -> (String, Range<usize>) {
    let before = text.get(..found.start).unwrap_or_default();
    let before = before.rsplit('\n').next().unwrap_or_default();
    let skip = before.chars().count().saturating_sub(BEFORE);
    let before: String = before.chars().skip(skip).collect();
    let matched = text.get(found.clone()).unwrap_or_default();
    let after = text.get(found.end..).unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();
    let end = before.len() + matched.len();
    let after = after.chars().take(AFTER);
    (
        before.chars().chain(matched.chars()).chain(after).collect(),
        before.len()..end,
    )
}
