//! A stretch of a transcript: its lines' headers, and what was wrong with them.
//!
//! A stretch holds the lines that start in it. Stretches of one file can be read at the same time; their line numbers
//! count from 1 in each and are moved up by whoever puts them together.

use std::fs::File;
use std::io;

use crate::disk::json::{Fault, FileInput, Scanner, SliceInput};
use crate::model::{BodyRef, Line, LogId, Problem, ProblemKind};

use super::line_reader::{LineReader, RawLine};
use super::names::Names;
use super::record::{Record, read_record};

/// Problems of a stretch that are listed.
const MOST_TOLD: usize = 500;

/// A stretch to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) log: LogId,
    /// First byte; a line that started before it belongs to the stretch before.
    pub(crate) from: u64,
    /// End of the stretch; its last line may reach further.
    pub(crate) to: u64,
    /// Size of the file.
    pub(crate) size: u64,
    /// `from` is known to be the start of a line.
    pub(crate) at_line: bool,
}

/// How a stretch ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentEnd {
    /// Lines in it, blank ones and a torn last one included.
    pub(crate) lines: u64,
    /// Lines that could not be read.
    pub(crate) unreadable: u64,
    /// Where reading goes on when the file grows: behind the last line that is whole.
    pub(crate) next: u64,
    /// The last line is torn.
    pub(crate) torn: bool,
    /// Lines before `next`.
    pub(crate) whole_lines: u64,
}

/// What becomes of a stretch's lines and problems.
pub(crate) trait Findings {
    /// A header.
    fn line(&mut self, line: Line);
    /// A problem.
    fn problem(&mut self, problem: Problem);
    /// Nobody waits for the rest.
    fn stopped(&self) -> bool;
}

/// Reads a stretch.
pub(crate) fn scan_segment(file: &File, segment: Segment, findings: &mut impl Findings) -> io::Result<SegmentEnd> {
    let mut reader = LineReader::new(file, line_start(file, segment)?, segment.size);
    let end = SegmentEnd {
        next: reader.position(),
        ..SegmentEnd::default()
    };
    let mut scan = Scan {
        file,
        segment,
        findings,
        end,
        told: 0,
        names: Names::default(),
    };
    while reader.position() < segment.to && !scan.findings.stopped() {
        match reader.next_line()? {
            None => break,
            Some(RawLine::Whole { offset, bytes, ended }) => scan.whole(offset, bytes, ended),
            Some(RawLine::Long { offset }) => {
                let behind = scan.long(offset)?;
                reader.seek(behind);
            }
        }
    }
    Ok(scan.end)
}

/// Where the first line starts that starts in the stretch; its end when none does.
fn line_start(file: &File, segment: Segment) -> io::Result<u64> {
    if segment.at_line || segment.from == 0 {
        return Ok(segment.from);
    }
    let mut before = LineReader::new(file, segment.from - 1, segment.to);
    before.skip_line()?;
    Ok(before.position())
}

pub(super) struct Scan<'a, F> {
    file: &'a File,
    segment: Segment,
    findings: &'a mut F,
    pub(super) end: SegmentEnd,
    told: usize,
    names: Names,
}

impl<F: Findings> Scan<'_, F> {
    fn whole(&mut self, offset: u64, bytes: &[u8], ended: bool) {
        self.end.lines += 1;
        let complete = self.read_line(offset, bytes, ended);
        if ended || complete {
            self.go_on_at(offset + bytes.len() as u64 + u64::from(ended), ended);
        }
    }

    /// What was read so far is not read again. The newline of a line that has none yet still belongs to that line.
    fn go_on_at(&mut self, next: u64, ended: bool) {
        self.end.next = next;
        self.end.whole_lines = self.end.lines.saturating_sub(u64::from(!ended));
    }

    /// Whether the line is whole, readable or not.
    fn read_line(&mut self, offset: u64, bytes: &[u8], ended: bool) -> bool {
        let (offset, bytes) = self.without_padding(offset, bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return true;
        }
        match self.records(offset, bytes, ended) {
            Ok(()) => {}
            // What it will be shows when its newline is there.
            Err(_) if !ended => {
                self.torn(offset);
                return false;
            }
            Err(fault) => self.damaged(offset, bytes, &fault),
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            let byte = offset + error.valid_up_to() as u64;
            self.tell(
                ProblemKind::Repaired,
                byte,
                "bytes that are not UTF-8; shown as \u{FFFD}".into(),
            );
        }
        true
    }

    /// Reads the line's record, or its records: two lines can be welded into one.
    fn records(&mut self, offset: u64, bytes: &[u8], ended: bool) -> Result<(), Fault> {
        let mut scanner = Scanner::new(SliceInput::new(bytes, offset));
        let mut first = true;
        loop {
            scanner.peek()?;
            let start = scanner.position();
            let record = match read_record(&mut scanner) {
                Err(fault) if !first => {
                    let from = usize::try_from(start - offset).unwrap_or(bytes.len());
                    let rest = bytes.get(from..).unwrap_or_default();
                    if !ended {
                        return Err(fault);
                    }
                    self.damaged(start, rest, &fault);
                    return Ok(());
                }
                record => record?,
            };
            self.take(start, scanner.position(), record);
            if !first {
                self.tell(
                    ProblemKind::Repaired,
                    start,
                    "a record on the line of the one before; both were read".into(),
                );
            }
            first = false;
            match scanner.peek()? {
                None => return Ok(()),
                Some(0) => {
                    self.rest_of_nuls(bytes, offset, scanner.position());
                    return Ok(());
                }
                Some(_) => {}
            }
        }
    }

    /// Reads a line that is too long to be kept; where the next one starts.
    fn long(&mut self, offset: u64) -> io::Result<u64> {
        self.end.lines += 1;
        let mut scanner = Scanner::new(FileInput::line(self.file, offset, self.segment.size));
        let record = read_record(&mut scanner);
        let behind = scanner.position();
        let mut rest = LineReader::new(self.file, behind, self.segment.size);
        rest.skip_line()?;
        let next = rest.position();
        let ended = next > behind && self.ends_with_newline(next);
        match record {
            Ok(record) => self.take(offset, behind, record),
            Err(Fault::Io(error)) => return Err(error),
            Err(_) if !ended => {
                self.torn(offset);
                return Ok(next);
            }
            Err(fault) => self.damaged(offset, &[], &fault),
        }
        self.go_on_at(next, ended);
        Ok(next)
    }

    fn torn(&mut self, offset: u64) {
        self.end.torn = true;
        self.tell(ProblemKind::Incomplete, offset, "the last line is incomplete".into());
    }

    fn ends_with_newline(&self, next: u64) -> bool {
        let mut last = [0];
        crate::disk::files::read_at(self.file, &mut last, next.saturating_sub(1)).is_ok() && last == [b'\n']
    }

    pub(super) fn take(&mut self, start: u64, end: u64, record: Option<Record>) {
        let Some(record) = record else {
            self.end.unreadable += 1;
            self.tell(
                ProblemKind::Unreadable,
                start,
                "an object without event_type and run_id; skipped".into(),
            );
            return;
        };
        for odd in &record.oddities {
            self.tell(ProblemKind::Number, odd.byte, odd.what.clone());
        }
        if !record.repairs.is_empty() {
            let what = format!("{}; shown as \u{FFFD} or as it is", record.repairs.describe());
            self.tell(ProblemKind::Repaired, start, what);
        }
        let at = BodyRef {
            log: self.segment.log,
            line: self.end.lines,
            offset: start,
            len: end - start,
        };
        let Record {
            run_id,
            parent,
            depth,
            time,
            kind,
            ..
        } = record;
        let run_id = self.names.shared(run_id);
        let parent = parent.map(|parent| self.names.shared(parent));
        self.findings.line(Line {
            at,
            run_id,
            parent,
            depth,
            time,
            kind,
        });
    }

    pub(super) fn tell(&mut self, kind: ProblemKind, byte: u64, what: String) {
        let (log, line) = (Some(self.segment.log), Some(self.end.lines));
        self.told += 1;
        if self.told > MOST_TOLD {
            return;
        }
        let what = match self.told {
            MOST_TOLD => "more problems follow; they are not listed".into(),
            _ => what,
        };
        self.findings.problem(Problem {
            kind,
            log,
            line,
            byte: Some(byte),
            what,
        });
    }
}
