//! Lines that are not what they should be: padding around them, and damage in them.

use crate::disk::json::{Fault, Scanner, SliceInput};
use crate::model::ProblemKind;

use super::Findings;
use super::record::read_record;
use super::segment::Scan;

/// Places in a damaged line at which a whole record is looked for.
const MOST_RESTARTS: usize = 16;
/// Starts of records as their writers put them.
const RECORD_STARTS: [&[u8]; 3] = [br#"{"level":"#, br#"{"time":"#, br#"{"run_id":"#];

impl<F: Findings> Scan<'_, F> {
    /// Takes a byte order mark off the first line and NULs off any: traces of other tools and of crashes.
    pub(super) fn without_padding<'b>(&mut self, offset: u64, bytes: &'b [u8]) -> (u64, &'b [u8]) {
        let (mut start, mut rest) = (offset, bytes);
        if let Some(text) = bytes.strip_prefix(b"\xEF\xBB\xBF").filter(|_| offset == 0) {
            self.tell(ProblemKind::Repaired, 0, "a byte order mark; skipped".into());
            (start, rest) = (offset + 3, text);
        }
        let nuls = rest.iter().take_while(|byte| **byte == 0).count();
        if nuls > 0 {
            self.tell(ProblemKind::Repaired, start, format!("{nuls} NUL bytes; skipped"));
            (start, rest) = (start + nuls as u64, rest.get(nuls..).unwrap_or_default());
        }
        (start, rest)
    }

    pub(super) fn rest_of_nuls(&mut self, bytes: &[u8], offset: u64, at: u64) {
        let from = usize::try_from(at - offset).unwrap_or(bytes.len());
        let rest = bytes.get(from..).unwrap_or_default();
        let what = match rest.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace()) {
            true => format!("{} NUL bytes at the end; skipped", rest.len()),
            false => "what follows the record on its line was skipped".into(),
        };
        self.tell(ProblemKind::Repaired, at, what);
    }

    /// Counts a line that cannot be read, and looks for a whole record further on in it.
    pub(super) fn damaged(&mut self, offset: u64, bytes: &[u8], fault: &Fault) {
        self.end.unreadable += 1;
        self.tell(
            ProblemKind::Unreadable,
            offset,
            format!("no JSON object, skipped: {fault}"),
        );
        let starts = RECORD_STARTS
            .iter()
            .flat_map(|start| memchr::memmem::find_iter(bytes, *start));
        let mut starts: Vec<usize> = starts.filter(|at| *at > 0).take(MOST_RESTARTS).collect();
        starts.sort_unstable();
        for at in starts {
            let rest = bytes.get(at..).unwrap_or_default();
            let mut scanner = Scanner::new(SliceInput::new(rest, offset + at as u64));
            let Ok(record @ Some(_)) = read_record(&mut scanner) else {
                continue;
            };
            if matches!(scanner.peek(), Ok(None)) {
                self.take(offset + at as u64, scanner.position(), record);
                self.tell(
                    ProblemKind::Repaired,
                    offset + at as u64,
                    "a whole record after damage on its line; read".into(),
                );
                return;
            }
        }
    }
}
