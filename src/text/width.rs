//! The one width function of the program: how many terminal cells a text takes, by grapheme cluster; and cutting,
//! padding and aligning by it. Texts here are single lines of [`SafeText`](super::SafeText) or the program's own.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Terminal cells of one grapheme cluster: 1 or 2 for almost all, more for some long syllables of Indic scripts.
pub(super) fn cluster_width(cluster: &str) -> usize {
    // The screen library counts halfwidth sound marks twice; a gap is better than columns that do not line up.
    let sound_marks = if cluster.len() > 3 {
        cluster.matches(['\u{FF9E}', '\u{FF9F}']).count()
    } else {
        0
    };
    cluster.width() + sound_marks
}

/// Terminal cells that `text` (one line) takes.
pub fn cell_width(text: &str) -> usize {
    if is_ascii(text) {
        return text.len();
    }
    text.graphemes(true).map(cluster_width).sum()
}

/// The longest prefix of whole clusters that fits `cells`, and the cells it takes (never more).
pub fn cut(text: &str, cells: usize) -> (&str, usize) {
    if text.len() <= cells && is_ascii(text) {
        return (text, text.len());
    }
    if let Some(head) = text.get(..cells.saturating_add(1)).filter(|head| is_ascii(head)) {
        return (head.get(..cells).unwrap_or_default(), cells);
    }
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

/// The longest suffix of whole clusters that fits `cells`, and the cells it takes (never more).
pub fn cut_left(text: &str, cells: usize) -> (&str, usize) {
    let (mut start, mut used) = (text.len(), 0);
    for (at, cluster) in text.grapheme_indices(true).rev() {
        let width = cluster_width(cluster);
        if used + width > cells {
            break;
        }
        (start, used) = (at, used + width);
    }
    (text.get(start..).unwrap_or_default(), used)
}

/// `text` in exactly `cells` cells: cut with `…` when too long, padded with spaces when too short.
pub fn fit(text: &str, cells: usize) -> String {
    let (head, used, mark) = shorten(text, cells);
    format!("{head}{mark}{}", blanks(cells - used))
}

/// Like [`fit`], aligned to the right.
pub fn fit_right(text: &str, cells: usize) -> String {
    let (head, used, mark) = shorten(text, cells);
    format!("{}{head}{mark}", blanks(cells - used))
}

/// At most `cells` cells of `text`, with `…` in its middle when it is too long: beginning and end of a path.
pub fn middle_cut(text: &str, cells: usize) -> String {
    if cut(text, cells).0.len() == text.len() {
        return text.to_owned();
    }
    let Some(room) = cells.checked_sub(1) else {
        return String::new();
    };
    let (tail, used) = cut_left(text, room.div_ceil(2));
    let (head, _) = cut(text, room - used);
    format!("{head}…{tail}")
}

/// What fits of `text`, the cells it takes together with the mark, and the mark.
fn shorten(text: &str, cells: usize) -> (&str, usize, &'static str) {
    let (head, used) = cut(text, cells);
    if head.len() == text.len() {
        return (head, used, "");
    }
    match cells.checked_sub(1) {
        None => ("", 0, ""),
        Some(room) => {
            let (head, used) = cut(text, room);
            (head, used + 1, "…")
        }
    }
}

fn blanks(cells: usize) -> String {
    " ".repeat(cells)
}

/// Printable ASCII: a byte is a cell.
pub(super) fn is_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests;
