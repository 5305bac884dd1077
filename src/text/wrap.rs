//! Wrapping one line into rows of a given width, by byte ranges, so that nothing is copied.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::width::cluster_width;

/// One row of a wrapped line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Bytes of the line shown in this row, on cluster boundaries. Rows follow each other without gaps.
    pub bytes: Range<usize>,
    /// Cells they take: at most the width, but for a width below that of a single cluster. Spaces that hang over the
    /// right edge take none.
    pub cells: usize,
}

/// Wraps `line` (no newline in it) at `width` cells; never empty. Breaks after spaces where it can, between the
/// clusters of a word that is longer than a row, and between wide characters, which are written without spaces.
/// A width of 0 counts as 1; a cluster wider than the width gets a row of its own.
///
/// ```
/// use fast_rlm::text::wrap_line;
///
/// let line = "one two three";
/// let rows: Vec<&str> = wrap_line(line, 8).into_iter().map(|row| &line[row.bytes]).collect();
/// assert_eq!(rows, ["one two ", "three"]);
/// ```
pub fn wrap_line(line: &str, width: usize) -> Vec<Row> {
    wrap_stretch(line, 0, width, usize::MAX)
}

/// The rows of a line from where one of them begins, until they have `most` bytes together or the line ends.
pub fn wrap_stretch(line: &str, from: usize, width: usize, most: usize) -> Vec<Row> {
    let mut wrap = Wrap {
        width: width.max(1),
        rows: Vec::new(),
        row: from..from,
        cells: 0,
        indent: from == 0,
        break_at: None,
        last: from.saturating_add(most),
    };
    let mut at = from;
    while at < line.len() {
        match wrap.plain(line, at).and_then(|at| wrap.clusters(line, at)) {
            Some(next) => at = next,
            None => return wrap.rows,
        }
    }
    wrap.finish(line.len())
}

/// Bytes that are looked at at once.
const RUN: usize = 4096;

struct Wrap {
    width: usize,
    rows: Vec<Row>,
    /// The row that is being filled.
    row: Range<usize>,
    cells: usize,
    /// Only spaces so far: a row of nothing but the line's indentation would be wasted.
    indent: bool,
    /// Where the row can break, and the cells before that place.
    break_at: Option<(usize, usize)>,
    /// The first row that begins here or later is not wanted.
    last: usize,
}

impl Wrap {
    /// Takes printable ASCII, where a byte is a cell, and goes to what is none; `None` when there are enough rows. What
    /// comes last may belong to what follows it.
    fn plain(&mut self, line: &str, from: usize) -> Option<usize> {
        let bytes = line.as_bytes().get(from..).unwrap_or_default();
        let run = bytes
            .iter()
            .take(RUN)
            .take_while(|byte| matches!(byte, b' '..=b'~'))
            .count();
        let alone = if run == bytes.len() { run } else { run.saturating_sub(1) };
        for (at, byte) in (from..).zip(bytes.iter().take(alone)) {
            self.take(at..at + 1, 1, *byte == b' ');
            if self.is_done() {
                return None;
            }
        }
        Some(from + alone)
    }

    /// Takes clusters, one at least, up to one of ASCII alone.
    fn clusters(&mut self, line: &str, from: usize) -> Option<usize> {
        let rest = line.get(from..).unwrap_or_default();
        for (at, cluster) in rest.grapheme_indices(true) {
            if at > 0 && cluster.len() == 1 {
                return Some(from + at);
            }
            let start = from + at;
            self.take(start..start + cluster.len(), cluster_width(cluster), cluster == " ");
            if self.is_done() {
                return None;
            }
        }
        Some(line.len())
    }

    fn is_done(&self) -> bool {
        self.row.start >= self.last
    }

    fn take(&mut self, cluster: Range<usize>, width: usize, space: bool) {
        if self.cells + width > self.width {
            if space {
                // Hangs over the edge: the next word begins the next row.
                self.row.end = cluster.end;
                self.break_at = Some((cluster.end, self.cells));
                return;
            }
            self.break_row(cluster.start);
            // What moved to the new row may leave no room for a wide cluster.
            if self.cells + width > self.width && self.cells > 0 {
                self.break_row(cluster.start);
            }
        }
        if width > 1 && cluster.start > self.row.start {
            self.break_at = Some((cluster.start, self.cells));
        }
        self.row.end = cluster.end;
        self.cells += width;
        self.indent &= space;
        if (space && !self.indent) || width > 1 {
            self.break_at = Some((cluster.end, self.cells));
        }
    }

    /// Ends the row at its last break, or before the cluster at `at`.
    fn break_row(&mut self, at: usize) {
        let (end, cells) = self.break_at.take().unwrap_or((at, self.cells));
        if end > self.row.start {
            self.rows.push(Row {
                bytes: self.row.start..end,
                cells,
            });
            self.cells -= cells;
        }
        self.row = end..at;
    }

    fn finish(mut self, end: usize) -> Vec<Row> {
        if self.rows.is_empty() || end > self.row.start {
            self.rows.push(Row {
                bytes: self.row.start..end,
                cells: self.cells,
            });
        }
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{SafeText, cell_width};

    fn rows(line: &str, width: usize) -> Vec<&str> {
        wrap_line(line, width)
            .into_iter()
            .map(|row| line.get(row.bytes).unwrap())
            .collect()
    }

    #[test]
    fn breaks_after_spaces() {
        assert_eq!(rows("one two three", 8), ["one two ", "three"]);
        assert_eq!(
            rows("one two three", 7),
            ["one two ", "three"],
            "the space hangs over the edge"
        );
        assert_eq!(rows("one   two", 4), ["one   ", "two"]);
        assert_eq!(rows("", 5), [""]);
        assert_eq!(rows("     ", 2), ["     "]);
        assert_eq!(rows("     x", 2), ["     ", "x"]);
        assert_eq!(
            rows("    call(x) + y", 9),
            ["    call(", "x) + y"],
            "no row of indentation alone"
        );
    }

    #[test]
    fn cuts_words_longer_than_a_row() {
        assert_eq!(rows("a bbbbbbbb c", 4), ["a ", "bbbb", "bbbb ", "c"]);
        assert_eq!(rows("abc", 0), ["a", "b", "c"]);
    }

    #[test]
    fn never_splits_a_cluster() {
        let family = "👩\u{200D}👩\u{200D}👧\u{200D}👦";
        assert_eq!(rows(&format!("a{family}b"), 1), ["a", family, "b"]);
        assert_eq!(rows("日本語", 3), ["日", "本", "語"]);
        assert_eq!(rows("ab日本", 3), ["ab", "日", "本"]);
        assert_eq!(rows("x 日本語", 6), ["x 日本", "語"]);
    }

    proptest! {
        #[test]
        fn stretches_have_the_rows_of_the_whole(raw in "([a-d ]{0,9}|\\PC|日|👩\u{200D}👧|🇫🇷|e\u{301}){0,60}", width in 0usize..21, most in 1usize..40) {
            let text = SafeText::line(&raw);
            let line = text.as_str();
            let mut rows = wrap_stretch(line, 0, width, most);
            while let Some(end) = rows.last().map(|row| row.bytes.end).filter(|end| *end < line.len()) {
                rows.extend(wrap_stretch(line, end, width, most));
            }
            prop_assert_eq!(rows, wrap_line(line, width));
        }

        #[test]
        fn rows_fit_and_cover_the_line(raw in "(\\PC|[ a]|日|👩\u{200D}👧|e\u{301}){0,60}", width in 0usize..21) {
            let text = SafeText::line(&raw);
            let line = text.as_str();
            let rows = wrap_line(line, width);
            let mut end = 0;
            for row in &rows {
                prop_assert_eq!(row.bytes.start, end);
                end = row.bytes.end;
                let shown = line.get(row.bytes.clone()).unwrap();
                let single = shown.trim_end_matches(' ').graphemes(true).count() <= 1;
                prop_assert!(row.cells <= width.max(1) || single, "{:?} at {}", shown, width);
                prop_assert!(row.cells <= cell_width(shown));
                prop_assert!(cell_width(shown.trim_end_matches(' ')) <= row.cells);
            }
            prop_assert_eq!(end, line.len());
            prop_assert_eq!(rows.iter().map(|row| row.bytes.len()).sum::<usize>(), line.len());
        }
    }
}
