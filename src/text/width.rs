//! The one width function of the program: how many terminal cells a text takes, by grapheme cluster.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Terminal cells of one grapheme cluster: 0, 1 or 2.
fn cluster_width(cluster: &str) -> usize {
    cluster.width().min(2)
}

/// Terminal cells that `text` (one line) takes.
pub fn cell_width(text: &str) -> usize {
    text.graphemes(true).map(cluster_width).sum()
}

/// The longest prefix of whole clusters that fits `cells`, and the cells it takes (never more).
pub fn cut(text: &str, cells: usize) -> (&str, usize) {
    let (mut end, mut used) = (0, 0);
    for (at, cluster) in text.grapheme_indices(true) {
        let width = cluster_width(cluster);
        if used + width > cells {
            break;
        }
        (end, used) = (at + cluster.len(), used + width);
    }
    (text.get(..end).unwrap_or_default(), used)
}

/// `text` in exactly `cells` cells: cut with `…` when too long, padded with spaces when too short.
pub fn fit(text: &str, cells: usize) -> String {
    let (head, used) = cut(text, cells);
    if head.len() == text.len() {
        return format!("{text}{}", " ".repeat(cells - used));
    }
    let (head, used) = cut(text, cells.saturating_sub(1));
    let mark = if cells == 0 { "" } else { "…" };
    format!("{head}{mark}{}", " ".repeat(cells.saturating_sub(used + 1)))
}
