//! A draft in rows of a width: what is shown for it, where the caret is, and what lies at a cell.

use super::content::{Content, Piece};
use crate::text::{Places, Row, SafeText, cell_width, wrap_line};
use std::ops::Range;

/// A draft, wrapped.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    lines: Vec<Line>,
    /// Cells of a row; the caret may stand one behind them.
    width: usize,
}

/// A line of the draft, and its rows.
#[derive(Clone, Debug)]
struct Line {
    /// Bytes of the draft, without the newline.
    range: Range<usize>,
    /// What is shown: safe text and labels of chips.
    shown: String,
    stretches: Vec<Stretch>,
    rows: Vec<Row>,
}

/// A piece of a line.
#[derive(Clone, Debug)]
struct Stretch {
    /// Where it begins in the draft, and where in what is shown.
    from: usize,
    shown: Range<usize>,
    /// `None` for a chip.
    places: Option<Places>,
}

/// A cell of the layout: row and column, from the top left of the whole draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) row: usize,
    pub(super) column: usize,
}

impl Layout {
    /// Wraps a draft at `width` cells.
    pub(super) fn of(content: &Content, width: usize) -> Self {
        let width = width.max(1);
        let mut lines = Vec::new();
        let mut start = 0;
        for text in content.text().split('\n') {
            let range = start..start + text.len();
            start = range.end + 1;
            lines.push(Line::of(content, range, width));
        }
        Self { lines, width }
    }

    /// Rows it takes; at least one.
    pub(super) fn height(&self) -> usize {
        self.lines.iter().map(|line| line.rows.len()).sum::<usize>().max(1)
    }

    /// The cell of a place in the draft. At the end of a row that is full it is the first of the next one.
    pub(super) fn spot(&self, at: usize) -> Spot {
        let mut above = 0;
        for line in &self.lines {
            if at <= line.range.end {
                let (row, column) = line.spot(at);
                return Spot {
                    row: above + row,
                    column: column.min(self.width),
                };
            }
            above += line.rows.len();
        }
        Spot {
            row: above.saturating_sub(1),
            column: 0,
        }
    }

    /// The place in the draft that is nearest to a cell of a row.
    pub(super) fn place(&self, spot: Spot, content: &Content) -> usize {
        let mut above = 0;
        for line in &self.lines {
            if spot.row < above + line.rows.len() {
                return line.place(spot.row - above, spot.column, content);
            }
            above += line.rows.len();
        }
        content.len()
    }

    /// What a row shows: texts, and whether each is a chip.
    pub(super) fn row(&self, row: usize) -> Vec<(&str, bool)> {
        let mut above = 0;
        for line in &self.lines {
            if let Some(row) = line.rows.get(row - above) {
                return line.texts(&row.bytes);
            }
            above += line.rows.len();
        }
        Vec::new()
    }
}

impl Line {
    fn of(content: &Content, range: Range<usize>, width: usize) -> Self {
        let (mut shown, mut stretches, mut from) = (String::new(), Vec::new(), range.start);
        for piece in content.pieces(range.clone()) {
            let start = shown.len();
            let places = match piece {
                Piece::Text(text) => {
                    let (safe, places) = SafeText::placed(text);
                    shown.push_str(safe.as_str());
                    Some(places)
                }
                Piece::Chip(chip) => {
                    shown.push_str(SafeText::line(&chip.label()).as_str());
                    None
                }
            };
            stretches.push(Stretch {
                from,
                shown: start..shown.len(),
                places,
            });
            from += piece.len();
        }
        let rows = wrap_line(&shown, width);
        Self {
            range,
            shown,
            stretches,
            rows,
        }
    }

    /// Where a place of the draft is in what is shown.
    fn shown_at(&self, at: usize) -> usize {
        let after = self.stretches.partition_point(|stretch| stretch.from <= at);
        let stretch = after.checked_sub(1).and_then(|index| self.stretches.get(index));
        stretch.map_or(0, |stretch| match &stretch.places {
            Some(places) => (stretch.shown.start + places.of(at - stretch.from)).min(stretch.shown.end),
            None if at == stretch.from => stretch.shown.start,
            None => stretch.shown.end,
        })
    }

    /// Row and column of a place.
    fn spot(&self, at: usize) -> (usize, usize) {
        let shown = self.shown_at(at);
        let row = self
            .rows
            .partition_point(|row| row.bytes.start <= shown)
            .saturating_sub(1);
        let start = self.rows.get(row).map_or(0, |row| row.bytes.start);
        let before = self.shown.get(start..shown).unwrap_or_default();
        (row, cell_width(before))
    }

    /// The last place in a row that is not right of a column.
    fn place(&self, row: usize, column: usize, content: &Content) -> usize {
        let mut best = None;
        let mut at = self.range.start;
        loop {
            let (in_row, in_column) = self.spot(at);
            if in_row == row && (in_column <= column || best.is_none()) {
                best = Some(at);
            }
            let next = content.after(at);
            if at >= self.range.end || next <= at || in_row > row || (in_row == row && in_column >= column) {
                return best.unwrap_or(at);
            }
            at = next;
        }
    }

    fn texts(&self, bytes: &Range<usize>) -> Vec<(&str, bool)> {
        let cut = |stretch: &Stretch| {
            let range = stretch.shown.start.max(bytes.start)..stretch.shown.end.min(bytes.end);
            let text = self.shown.get(range).filter(|text| !text.is_empty())?;
            Some((text, stretch.places.is_none()))
        };
        // Ranges that do not meet are turned around: `get` has nothing for them.
        self.stretches.iter().filter_map(cut).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::chip::Chip;
    use super::*;
    use proptest::prelude::*;

    fn rows(content: &Content, width: usize) -> Vec<String> {
        let layout = Layout::of(content, width);
        let text = |row| layout.row(row).into_iter().map(|(text, _)| text).collect();
        (0..layout.height()).map(text).collect()
    }

    fn sample(text: &str) -> Content {
        let mut content = Content::from(text);
        content.append(&Chip::pasted("1\n2").into());
        content.append(&"\u{301}\n\x1b[31m\tend".into());
        content
    }

    #[test]
    fn words_wrap_chips_are_words_and_nothing_hides() {
        assert_eq!(
            rows(&sample("one two "), 9),
            ["one two ", "[pasted 2 ", "lines]◌\u{301}", "␛[31m   ", "end"]
        );
        assert_eq!(rows(&Content::default(), 9), [""]);
        assert_eq!(rows(&"a\n\n".into(), 9), ["a", "", ""]);
    }

    #[test]
    fn the_caret_stands_where_it_is_seen() {
        let content = Content::from("ab cd\n中é!");
        let layout = Layout::of(&content, 4);
        let spots: Vec<_> = [0, 2, 3, 5, 6, 9, 11, 12]
            .map(|at| layout.spot(at))
            .map(|spot| (spot.row, spot.column))
            .to_vec();
        assert_eq!(spots, [(0, 0), (0, 2), (1, 0), (1, 2), (2, 0), (2, 2), (2, 3), (2, 4)]);
        let place = |row, column| layout.place(Spot { row, column }, &content);
        assert_eq!(
            [place(0, 9), place(1, 1), place(2, 1), place(2, 99), place(9, 9)],
            [2, 4, 6, 12, 12]
        );
    }

    proptest! {
        #[test]
        fn rows_fit_and_places_lead_back(text in "(\\PC|[ \\n]|日|👩\u{200D}👧|e\u{301}|\t|\x1b){0,24}", width in 1usize..20) {
            let content = sample(&text);
            let layout = Layout::of(&content, width);
            for row in rows(&content, width) {
                let shown = row.trim_end_matches(' ');
                let single = unicode_segmentation::UnicodeSegmentation::graphemes(shown, true).count() <= 1;
                prop_assert!(cell_width(shown) <= width || single, "{:?}", row);
            }
            let mut at = 0;
            loop {
                let spot = layout.spot(at);
                prop_assert!(spot.row < layout.height() && spot.column <= width);
                let back = layout.spot(layout.place(spot, &content));
                prop_assert_eq!(back.row, spot.row);
                prop_assert!(back.column <= spot.column);
                if at == content.len() {
                    break;
                }
                at = content.after(at);
            }
        }
    }
}
