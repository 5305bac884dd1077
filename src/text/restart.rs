//! A line that restarts: what a terminal shows after lone carriage returns, as in progress bars.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::width::cluster_width;

/// One line's cells while text is written over text.
#[derive(Default)]
pub(super) struct Overwritten {
    /// Everything that was written, kept so that cells can point into it.
    written: String,
    /// For each cell the cluster that begins there; empty where a wider one reaches into it.
    cells: Vec<Range<usize>>,
}

impl Overwritten {
    /// No carriage return has been seen on this line.
    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Writes sanitised text over the line from its first cell.
    pub(super) fn write(&mut self, text: &str) {
        let start = self.written.len();
        self.written.push_str(text);
        let mut column = 0;
        for (at, cluster) in text.grapheme_indices(true) {
            let begin = start + at;
            self.put(column, begin..begin + cluster.len());
            let width = cluster_width(cluster).max(1);
            (1..width).for_each(|reach| self.put(column + reach, begin..begin));
            column += width;
        }
        self.blank_halves(column);
        self.forget_hidden(start, column);
    }

    /// Whether nothing is left to see of the line below `text`.
    pub(super) fn is_hidden_by(&self, text: &str) -> bool {
        let mut clusters = text.graphemes(true);
        let mut column = 0;
        while column < self.cells.len() {
            let Some(cluster) = clusters.next() else { return false };
            column += cluster_width(cluster).max(1);
        }
        true
    }

    /// Forgets the line.
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.written.clear();
    }

    /// Of what was written before `start` nothing is needed when the text from there on, `column` cells, hides it all.
    fn forget_hidden(&mut self, start: usize, column: usize) {
        if column >= self.cells.len() {
            self.written.drain(..start);
            for cell in &mut self.cells {
                *cell = cell.start - start..cell.end - start;
            }
        }
    }

    fn put(&mut self, column: usize, cluster: Range<usize>) {
        match self.cells.get_mut(column) {
            Some(cell) => *cell = cluster,
            None => self.cells.push(cluster),
        }
    }

    /// Blanks what is left of a wide cluster whose first half was overwritten.
    fn blank_halves(&mut self, column: usize) {
        let rest = self.cells.get_mut(column..).unwrap_or_default();
        let halves = rest.iter_mut().take_while(|cell| cell.start == cell.end);
        let blank = self.written.len();
        let mut any = false;
        for half in halves {
            *half = blank..blank + 1;
            any = true;
        }
        if any {
            self.written.push(' ');
        }
    }

    /// Appends the line as it stands to `out`, and forgets it.
    pub(super) fn finish(&mut self, out: &mut String) {
        for cell in self.cells.drain(..) {
            out.push_str(self.written.get(cell).unwrap_or_default());
        }
        self.written.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(parts: &[&str]) -> String {
        let (mut line, mut out) = (Overwritten::default(), String::new());
        parts.iter().for_each(|part| line.write(part));
        line.finish(&mut out);
        out
    }

    #[test]
    fn later_text_overwrites_the_beginning() {
        assert_eq!(shown(&["loading", "done"]), "doneing");
        assert_eq!(shown(&["10%", "100%"]), "100%");
        assert_eq!(shown(&["abc", ""]), "abc");
    }

    #[test]
    fn half_of_a_wide_cluster_becomes_a_blank() {
        assert_eq!(shown(&["日本", "x"]), "x 本");
        assert_eq!(shown(&["日本", "xyz"]), "xyz ");
        assert_eq!(shown(&["abc", "日"]), "日c");
    }
}
