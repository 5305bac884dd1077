//! The beginning of a text: what a line or two of a card can show, without looking at the rest of a megabyte.

use crate::text::SafeText;

/// The most bytes one cell can need: a cluster with all its joiners, selectors and marks.
const BYTES_A_CELL: usize = 64;

/// The start of `raw`, as one safe line that is long enough for `cells`; ends in `…` where the rest was left out.
pub(in crate::tui::screens) fn head(raw: &str, cells: usize) -> SafeText {
    let most = cells.saturating_mul(BYTES_A_CELL).max(BYTES_A_CELL);
    let end = raw.floor_char_boundary(most);
    let safe = match raw.get(..end) {
        Some(start) if start.len() < raw.len() => SafeText::line(&format!("{}…", start.trim())),
        _ => SafeText::line(raw.trim()),
    };
    // Expanded tabs and restarted lines leave blanks at the edges.
    match safe.as_str().trim() {
        trimmed if trimmed.len() < safe.as_str().len() => SafeText::line(trimmed),
        _ => safe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let text = "é".repeat(100_000);
        let start = head(&text, 10);
        assert!(start.as_str().len() < 1_000);
        assert!(start.as_str().ends_with("é…"));
        assert_eq!(head(" a\nb ", 10).as_str(), "a⏎b");
        assert_eq!(head("\u{1b}[0m  x", 10).as_str(), "x");
        assert_eq!(head("", 0).as_str(), "");
    }
}
