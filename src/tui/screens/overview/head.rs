//! The beginning of a text: what some rows of a card can show, without looking at the rest of a megabyte.

use crate::text::{SafeText, wrap_line};

/// Bytes that are looked at for each cell: enough for emoji with all their joiners and selectors.
const BYTES_A_CELL: usize = 24;

/// The beginning of `raw` that can fill `cells`, and whether that is not all of it.
fn beginning(raw: &str, cells: usize) -> (&str, bool) {
    let raw = raw.trim();
    let most = cells.saturating_mul(BYTES_A_CELL).max(BYTES_A_CELL);
    let start = raw.get(..raw.floor_char_boundary(most)).unwrap_or(raw);
    (start, start.len() < raw.len())
}

/// The start of `raw`, as one safe line that is long enough for `cells`; ends in `…` where the rest was left out.
pub(in crate::tui::screens) fn head(raw: &str, cells: usize) -> SafeText {
    let (start, cut) = beginning(raw, cells);
    let safe = if cut {
        SafeText::line(&format!("{start}…"))
    } else {
        SafeText::line(start)
    };
    // Expanded tabs leave blanks at the edges.
    match safe.as_str().trim() {
        trimmed if trimmed.len() < safe.as_str().len() => SafeText::line(trimmed),
        _ => safe,
    }
}

/// The start of `raw` in at most `most` rows of `cells`. A single row has newlines as marks; several follow the text's
/// own lines, but for empty ones. Where the rest was left out the last row ends in `…`, and may be too long for that.
pub(in crate::tui::screens) fn rows(raw: &str, cells: usize, most: usize) -> Vec<String> {
    if most <= 1 {
        return vec![head(raw, cells).to_string()];
    }
    let (start, mut more) = beginning(raw, cells.saturating_mul(most));
    // Nothing is left out here: a card has no colours for it.
    let safe = SafeText::raw(start);
    let lines = safe.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let mut rows: Vec<String> = Vec::with_capacity(most);
    for (line, row) in lines.flat_map(|line| wrap_line(line, cells).into_iter().map(move |row| (line, row))) {
        if rows.len() == most {
            more = true;
            break;
        }
        // Spaces that hang over the edge take no cells.
        rows.push(line.get(row.bytes).unwrap_or_default().trim_end().to_owned());
    }
    if let Some(last) = rows.last_mut().filter(|_| more) {
        last.push('…');
    }
    rows
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
        assert_eq!(
            head("\u{1b}[0m  x", 10).as_str(),
            "␛[0m  x",
            "there are no colours to show it by"
        );
        assert_eq!(rows("\u{1b}[0mx", 10, 3), ["␛[0mx"]);
        assert_eq!(head("", 0).as_str(), "");
    }

    #[test]
    fn several_rows_follow_the_lines_of_the_text() {
        assert_eq!(rows("a\n\nbb bb\nc", 9, 1), ["a⏎⏎bb bb⏎c"]);
        assert_eq!(rows("a\n\nbb bb\nc", 9, 3), ["a", "bb bb", "c"]);
        assert_eq!(rows("a\n\nbb bb\nc", 9, 2), ["a", "bb bb…"]);
        assert_eq!(
            rows("aaa bbb ccc", 7, 2),
            ["aaa bbb", "ccc"],
            "the space hangs over the edge"
        );
        assert_eq!(rows("", 7, 3), [""; 0]);
    }
}
