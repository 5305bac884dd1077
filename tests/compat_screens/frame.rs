//! What must hold of every frame, whatever is on it.

use fast_rlm::text::cell_width;
use ratatui::buffer::Buffer;

/// The characters of a frame, a line a row.
pub(crate) fn text(buf: &Buffer) -> String {
    let rows = buf.content().chunks(usize::from(buf.area.width));
    rows.map(|row| shown(row).trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// What a terminal shows of a row: the cell after a wide character belongs to it.
fn shown(row: &[ratatui::buffer::Cell]) -> String {
    let mut out = String::new();
    let mut covered = 0;
    for cell in row {
        if covered > 0 {
            covered -= 1;
            continue;
        }
        out.push_str(cell.symbol());
        covered = cell_width(cell.symbol()).saturating_sub(1);
    }
    out
}

/// Checks a frame; `name` says which one it is when it fails.
pub(crate) fn check(name: &str, buf: &Buffer) {
    for (y, row) in buf.content().chunks(usize::from(buf.area.width)).enumerate() {
        let line = shown(row);
        assert_eq!(
            cell_width(&line),
            row.len(),
            "{name}: row {y} is not as wide as the screen: {line:?}"
        );
        let harmful = line.chars().find(|c| is_harmful(*c));
        assert_eq!(harmful, None, "{name}: row {y}: {line:?}");
    }
    check_borders(name, buf);
}

/// What sanitising must have replaced: controls, and what changes the direction of text.
fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// Below every upper corner its border goes on to a lower corner, or to the edge of what is shown. A border that ends
/// elsewhere was overdrawn, or does not line up.
fn check_borders(name: &str, buf: &Buffer) {
    let symbol = |x: u16, y: u16| buf.cell((x, y)).map_or("", |cell| cell.symbol());
    let last = buf.area.height.saturating_sub(2);
    let corners = [("╭", "╰"), ("╮", "╯"), ("┏", "┗"), ("┓", "┛")];
    for y in 0..buf.area.height {
        for x in 0..buf.area.width {
            let Some((_, lower)) = corners.iter().find(|(upper, _)| *upper == symbol(x, y)) else {
                continue;
            };
            // A scrollbar may lie on a border.
            let end = (y + 1..=last).find(|y| !matches!(symbol(x, *y), "│" | "┃"));
            let closed = end.is_none_or(|end| symbol(x, end) == *lower || is_covered(buf, x, end));
            assert!(
                closed,
                "{name}: the border that begins at {x},{y} is broken:\n{}",
                text(buf)
            );
        }
    }
}

/// A popup lies over the cell: a focused border begins on its row, left of it or on it, and ends right of it.
fn is_covered(buf: &Buffer, x: u16, y: u16) -> bool {
    let row: Vec<&str> = (0..buf.area.width)
        .filter_map(|x| buf.cell((x, y)))
        .map(|cell| cell.symbol())
        .collect();
    let (left, right) = row.split_at(usize::from(x).min(row.len()));
    let begins = |symbol: &&str| matches!(*symbol, "┏" | "┃" | "┗");
    let ends = |symbol: &&str| matches!(*symbol, "┓" | "┃" | "┛");
    left.iter().any(begins) && right.iter().any(ends)
        || row.get(usize::from(x)).is_some_and(begins) && right.iter().skip(1).any(ends)
        || row.get(usize::from(x)).is_some_and(ends) && left.iter().any(begins)
}
