//! Lines of a text and their wrapped rows: lines are indexed once, rows are made for what is looked at and kept while
//! text and width stay.

use crate::text::{Row, cell_width, wrap_line};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// Lines whose rows are kept at most.
const KEPT: usize = 8192;

/// Clusters between two places of a long line whose column is remembered.
const STRIDE: usize = 1024;

/// Where each line starts.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    starts: Vec<usize>,
    end: usize,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self {
            starts: std::iter::once(0).chain(breaks).collect(),
            end: text.len(),
        }
    }

    /// Lines; an empty text has one.
    pub(super) fn count(&self) -> usize {
        self.starts.len()
    }

    /// Bytes of a line without its newline.
    pub(super) fn bytes(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.end);
        let end = self.starts.get(line + 1).map_or(self.end, |next| next - 1);
        start..end
    }

    /// The line that holds a byte.
    pub(super) fn at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }
}

/// The rows of one line.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// It fits, whatever is in it.
    One(Row),
    Many(Arc<[Row]>),
}

impl Rows {
    pub(super) fn as_slice(&self) -> &[Row] {
        match self {
            Rows::One(row) => std::slice::from_ref(row),
            Rows::Many(rows) => rows,
        }
    }

    /// The row that shows a byte of the line.
    pub(super) fn at(&self, byte: usize) -> usize {
        self.as_slice()
            .partition_point(|row| row.bytes.start <= byte)
            .saturating_sub(1)
    }
}

/// Rows made so far, for one text at one width.
#[derive(Clone, Debug, Default)]
pub(super) struct RowCache {
    width: usize,
    wrapped: HashMap<usize, Arc<[Row]>>,
    columns: HashMap<usize, Arc<[(usize, usize)]>>,
}

impl RowCache {
    /// Forgets everything: the text changed.
    pub(super) fn clear(&mut self) {
        self.wrapped.clear();
        self.columns.clear();
    }

    /// Says how wide rows are from now on.
    pub(super) fn set_width(&mut self, width: usize) {
        if self.width != width {
            self.width = width;
            self.wrapped.clear();
        }
    }

    /// The rows of a line. No character takes more cells than bytes, so a short line needs no measuring.
    pub(super) fn rows(&mut self, line: usize, text: &str) -> Rows {
        if text.len() <= self.width {
            let cells = text.len();
            return Rows::One(Row {
                bytes: 0..text.len(),
                cells,
            });
        }
        if self.wrapped.len() > KEPT {
            self.wrapped.clear();
        }
        let width = self.width;
        Rows::Many(
            self.wrapped
                .entry(line)
                .or_insert_with(|| wrap_line(text, width).into())
                .clone(),
        )
    }

    /// The first cluster of a line at or after column `left`, with its column.
    pub(super) fn column(&mut self, line: usize, text: &str, left: usize) -> (usize, usize) {
        if text.is_ascii() {
            let at = left.min(text.len());
            return (at, at);
        }
        let (mut byte, mut column) = (0, 0);
        if text.len() > STRIDE {
            if self.columns.len() > KEPT {
                self.columns.clear();
            }
            let known = self.columns.entry(line).or_insert_with(|| columns(text));
            let place = known.partition_point(|(_, column)| *column <= left).saturating_sub(1);
            (byte, column) = known.get(place).copied().unwrap_or_default();
        }
        for cluster in text.get(byte..).unwrap_or_default().graphemes(true) {
            if column >= left {
                break;
            }
            byte += cluster.len();
            column += cell_width(cluster);
        }
        (byte, column)
    }
}

/// Byte and column of every [`STRIDE`]th cluster.
fn columns(text: &str) -> Arc<[(usize, usize)]> {
    let mut column = 0;
    let mut known = Vec::new();
    for (count, (byte, cluster)) in text.grapheme_indices(true).enumerate() {
        if count.is_multiple_of(STRIDE) {
            known.push((byte, column));
        }
        column += cell_width(cluster);
    }
    known.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_indexed() {
        let lines = Lines::of("ab\n\ncd");
        assert_eq!(lines.count(), 3);
        assert_eq!((lines.bytes(0), lines.bytes(1), lines.bytes(2)), (0..2, 3..3, 4..6));
        assert_eq!((lines.at(0), lines.at(2), lines.at(3), lines.at(99)), (0, 0, 1, 2));
        assert_eq!(Lines::of("").count(), 1);
    }

    proptest! {
        #[test]
        fn columns_are_those_of_a_walk_from_the_start(text in "[a-z中é👍🏽]{0,60}", repeat in 1usize..80, left in 0usize..3000) {
            let text = text.repeat(repeat);
            let (mut byte, mut column) = (0, 0);
            for cluster in text.graphemes(true) {
                if column >= left {
                    break;
                }
                byte += cluster.len();
                column += cell_width(cluster);
            }
            prop_assert_eq!(RowCache::default().column(0, &text, left), (byte, column));
        }
    }
}
