//! What a scan of a stretch found, collected.

use std::fs::File;
use std::io;

use super::{Findings, Segment, SegmentEnd, scan_segment};
use crate::model::{Line, Problem, ProblemKind};

/// A stretch's lines and problems. Line numbers count from the stretch's first line until [`Part::move_up`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Part {
    pub(crate) lines: Vec<Line>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) end: SegmentEnd,
}

impl Part {
    /// Says that `lines` lines stand before.
    pub(crate) fn move_up(&mut self, lines: u64) {
        for line in &mut self.lines {
            line.at.line += lines;
        }
        for problem in &mut self.problems {
            problem.line = problem.line.map(|line| line + lines);
        }
    }

    /// The problem of a torn last line.
    pub(crate) fn torn(&self) -> Option<&Problem> {
        self.problems
            .last()
            .filter(|last| self.end.torn && last.kind == ProblemKind::Incomplete)
    }
}

struct Collector<'a> {
    part: Part,
    stopped: &'a dyn Fn() -> bool,
}

impl Findings for Collector<'_> {
    fn line(&mut self, line: Line) {
        self.part.lines.push(line);
    }

    fn problem(&mut self, problem: Problem) {
        self.part.problems.push(problem);
    }

    fn stopped(&self) -> bool {
        (self.stopped)()
    }
}

/// Scans a stretch; stops early, with less, when `stopped` says so.
pub(crate) fn scan_part(file: &File, segment: Segment, stopped: &dyn Fn() -> bool) -> io::Result<Part> {
    let mut collector = Collector {
        part: Part::default(),
        stopped,
    };
    let end = scan_segment(file, segment, &mut collector)?;
    Ok(Part { end, ..collector.part })
}
