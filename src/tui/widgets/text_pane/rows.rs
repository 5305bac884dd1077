//! Lines of a text and their wrapped rows: lines are indexed once, rows are made for what is looked at and kept while
//! text and width stay.

use crate::text::{Row, SafeText, cell_width, wrap_stretch};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// Lines of which something is kept at most, and rows.
const KEPT: usize = 8192;
const KEPT_ROWS: usize = 1 << 18;

/// Bytes of a line whose rows are made at a time.
const STRETCH: usize = 16 << 10;

/// Clusters between two places of a long line whose column is remembered.
const STRIDE: usize = 1024;

/// Bytes of a text between two places up to which its lines were counted.
const BLOCK: usize = 1024;

/// Where the lines of a text are. Of texts of nothing but newlines, a number for each line would be many times the text.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    text: SafeText,
    /// Newlines before each block.
    before: Vec<usize>,
    count: usize,
}

impl Lines {
    pub(super) fn of(text: &SafeText) -> Self {
        let mut newlines = 0;
        let counted = |block: &[u8]| {
            let before = newlines;
            newlines += memchr::memchr_iter(b'\n', block).count();
            before
        };
        Self {
            before: text.as_str().as_bytes().chunks(BLOCK).map(counted).collect(),
            text: text.clone(),
            count: newlines + 1,
        }
    }

    /// Lines; an empty text has one.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Bytes of a line without its newline.
    pub(super) fn bytes(&self, line: usize) -> Range<usize> {
        let end = self.text.as_str().len();
        let start = match line.checked_sub(1) {
            Some(before) => self.newline(before).map_or(end, |at| at + 1),
            None => 0,
        };
        start..self.newline(line).unwrap_or(end)
    }

    /// A line.
    pub(super) fn text(&self, line: usize) -> &str {
        self.text.as_str().get(self.bytes(line)).unwrap_or_default()
    }

    /// The line that holds a byte.
    pub(super) fn at(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.as_str().len());
        let (block, within) = (byte / BLOCK, byte % BLOCK);
        match self.before.get(block) {
            Some(before) => before + newlines(self.block(block).get(..within).unwrap_or_default()).count(),
            None => self.count - 1,
        }
    }

    /// Where the newline is that ends a line.
    fn newline(&self, line: usize) -> Option<usize> {
        let block = self.before.partition_point(|before| *before <= line).checked_sub(1)?;
        let within = line - self.before.get(block)?;
        let at = newlines(self.block(block)).nth(within)?;
        Some(block * BLOCK + at)
    }

    fn block(&self, block: usize) -> &[u8] {
        let rest = self.text.as_str().as_bytes().get(block * BLOCK..).unwrap_or_default();
        rest.get(..BLOCK).unwrap_or(rest)
    }
}

fn newlines(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'\n', bytes)
}

/// Rows of one line that follow each other: all of them, or those of a stretch of a long line.
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

    /// The bytes of the line that they show.
    pub(super) fn bytes(&self) -> Range<usize> {
        let rows = self.as_slice();
        let start = rows.first().map_or(0, |row| row.bytes.start);
        start..rows.last().map_or(0, |row| row.bytes.end)
    }
}

/// Rows made so far, for one text at one width. A long line is wrapped once to find where its stretches begin; then only
/// rows of those that are looked at are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct RowCache {
    width: usize,
    /// By line, and where in it they begin.
    wrapped: HashMap<(usize, usize), Arc<[Row]>>,
    /// How many rows these are.
    kept: usize,
    stretches: HashMap<usize, Arc<[usize]>>,
    columns: HashMap<usize, Arc<[(usize, usize)]>>,
}

impl RowCache {
    /// Forgets everything: the text changed.
    pub(super) fn clear(&mut self) {
        self.forget_rows();
        self.columns.clear();
    }

    fn forget_rows(&mut self) {
        self.wrapped.clear();
        self.stretches.clear();
        self.kept = 0;
    }

    /// Says how wide rows are from now on.
    pub(super) fn set_width(&mut self, width: usize) {
        if self.width != width {
            self.width = width;
            self.forget_rows();
        }
    }

    /// The rows of a line around a byte of it. No character takes more cells than bytes, so a short line needs no
    /// measuring.
    pub(super) fn rows(&mut self, line: usize, text: &str, byte: usize) -> Rows {
        if text.len() <= self.width {
            let cells = text.len();
            return Rows::One(Row {
                bytes: 0..text.len(),
                cells,
            });
        }
        if self.kept > KEPT_ROWS || self.stretches.len() > KEPT {
            self.forget_rows();
        }
        let start = if text.len() > STRETCH {
            self.stretch(line, text, byte)
        } else {
            0
        };
        let made = self.wrapped.get(&(line, start));
        Rows::Many(made.cloned().unwrap_or_else(|| self.wrap(line, text, start)))
    }

    fn wrap(&mut self, line: usize, text: &str, start: usize) -> Arc<[Row]> {
        let rows: Arc<[Row]> = wrap_stretch(text, start, self.width, STRETCH).into();
        self.kept += rows.len();
        self.wrapped.insert((line, start), Arc::clone(&rows));
        rows
    }

    /// Where the stretch of a line begins that a byte of it lies in.
    fn stretch(&mut self, line: usize, text: &str, byte: usize) -> usize {
        let width = self.width;
        let starts = self.stretches.entry(line).or_insert_with(|| {
            let next = |from: &usize| {
                let end = wrap_stretch(text, *from, width, STRETCH)
                    .last()
                    .map(|row| row.bytes.end);
                end.filter(|end| *end < text.len())
            };
            std::iter::successors(Some(0), next).collect()
        });
        let after = starts.partition_point(|start| *start <= byte);
        after.checked_sub(1).and_then(|at| starts.get(at)).copied().unwrap_or(0)
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
        let lines = Lines::of(&SafeText::literal("ab\n\ncd"));
        assert_eq!(lines.count(), 3);
        assert_eq!((lines.bytes(0), lines.bytes(1), lines.bytes(2)), (0..2, 3..3, 4..6));
        assert_eq!((lines.at(0), lines.at(2), lines.at(3), lines.at(99)), (0, 0, 1, 2));
        assert_eq!(Lines::of(&SafeText::default()).count(), 1);
    }

    #[test]
    fn a_stretch_of_a_long_line_has_the_rows_that_the_whole_line_has() {
        for text in [
            "some words and moreofthem ".repeat(5_000),
            "日本 e\u{301}".repeat(9_000),
            " ".repeat(40_000) + "x",
        ] {
            let mut cache = RowCache::default();
            cache.set_width(17);
            let (mut rows, mut at) = (Vec::new(), 0);
            while at < text.len() {
                let stretch = cache.rows(0, &text, at);
                assert_eq!(stretch.bytes().start, at);
                rows.extend_from_slice(stretch.as_slice());
                at = stretch.bytes().end;
            }
            assert!(cache.stretches[&0].len() > 1 || rows.len() < 3);
            assert_eq!(rows, crate::text::wrap_line(&text, 17));
        }
    }

    proptest! {
        #[test]
        fn lines_are_where_splitting_finds_them(lines in prop::collection::vec((0usize..3, "[a中]{0,3}"), 0..40), stretch in 1usize..900) {
            let text: Vec<String> = lines.iter().map(|(long, line)| line.repeat(if *long == 0 { stretch } else { 1 })).collect();
            let text = text.join("\n");
            let found = Lines::of(&SafeText::block(&text));
            prop_assert_eq!(found.count(), text.split('\n').count());
            let mut start = 0;
            for (number, line) in text.split('\n').enumerate() {
                prop_assert_eq!((found.bytes(number), found.text(number)), (start..start + line.len(), line));
                prop_assert_eq!((found.at(start), found.at(start + line.len())), (number, number));
                start += line.len() + 1;
            }
            prop_assert_eq!(found.bytes(found.count()), text.len()..text.len());
        }

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
