//! `code_log` knows which code ran, but not always in which run: a run without FINAL and the next one share their
//! `q`. Here it is split into the parts that single runs wrote, and parts are compared with transcripts.

use std::ops::Range;

use super::lines::LogLines;
use super::{CodeEntry, Run, code_digest};

/// What one run wrote to `code_log`.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// Its entries.
    pub(super) range: Range<usize>,
    /// Their `q`.
    pub(super) q: u64,
    /// Their run, where the writer says.
    pub(super) run_id: Option<String>,
}

/// An entry as far as matching needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeKey {
    pub(super) step: u64,
    pub(super) digest: u64,
}

pub(super) fn keys(code: &[CodeEntry]) -> Vec<CodeKey> {
    let key = |entry: &CodeEntry| CodeKey {
        step: entry.step,
        digest: code_digest(&entry.code),
    };
    code.iter().map(key).collect()
}

/// Splits where `q` or the run changes, and where a step number does not rise.
pub(super) fn split(code: &[CodeEntry]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut last: Option<&CodeEntry> = None;
    for (at, entry) in code.iter().enumerate() {
        let goes_on =
            last.is_some_and(|last| last.q == entry.q && last.run_id == entry.run_id && last.step < entry.step);
        match segments.last_mut() {
            Some(segment) if goes_on => segment.range.end = at + 1,
            _ => segments.push(Segment {
                range: at..at + 1,
                q: entry.q,
                run_id: entry.run_id.clone(),
            }),
        }
        last = Some(entry);
    }
    segments
}

/// How an entry compares with a run's own root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Same,
    Absent,
    Contradicts,
}

fn fit(key: CodeKey, run: &Run, lines: &LogLines) -> Fit {
    let steps = run.root().map_or(&[][..], |root| &root.steps);
    let first = steps.partition_point(|step| step.number < key.step);
    let mut result = Fit::Absent;
    for step in steps.iter().skip(first).take_while(|step| step.number == key.step) {
        if step.body.and_then(|body| lines.code_digest(body)) == Some(key.digest) {
            return Fit::Same;
        }
        result = Fit::Contradicts;
    }
    result
}

/// How many entries at the end of `keys` stand in the run's root.
pub(super) fn own_suffix(keys: &[CodeKey], run: &Run, lines: &LogLines) -> usize {
    keys.iter()
        .rev()
        .take_while(|key| fit(**key, run, lines) == Fit::Same)
        .count()
}

/// The run may have written these entries: one at least stands in its root, and none contradicts it. (A killed
/// writer can have saved more to one file than to the other.)
pub(super) fn may_have_written(keys: &[CodeKey], run: &Run, lines: &LogLines) -> bool {
    let mut same = false;
    for key in keys {
        match fit(*key, run, lines) {
            Fit::Same => same = true,
            Fit::Absent => {}
            Fit::Contradicts => return false,
        }
    }
    same
}

/// Codes by which a run's root can be found: its steps' numbers and digests.
pub(super) fn root_keys<'a>(run: &'a Run, lines: &'a LogLines) -> impl Iterator<Item = CodeKey> + 'a {
    let steps = run.root().map_or(&[][..], |root| &root.steps);
    steps.iter().filter_map(|step| {
        let digest = step.body.and_then(|body| lines.code_digest(body))?;
        Some(CodeKey {
            step: step.number,
            digest,
        })
    })
}
