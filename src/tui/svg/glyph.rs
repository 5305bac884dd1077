//! Block elements and box-drawing lines as shapes: fonts leave gaps between them, pictures should not.

use super::rect;
use std::fmt::Write as _;

/// Whether `text` is drawn as a shape.
pub(super) fn is_shape(text: &str) -> bool {
    single(text).is_some_and(|c| block(c).is_some() || arms(c).is_some())
}

/// Whether the shape of `text` is the same all along its row, so that several in a row are one longer shape.
pub(super) fn is_level(text: &str) -> bool {
    let level = |c| match (block(c), arms(c)) {
        (Some(([x, _, width, _], _)), _) => x == 0.0 && width == 1.0,
        (_, Some(line)) => line.left && line.right && !line.up && !line.down,
        _ => false,
    };
    single(text).is_some_and(level)
}

/// Draws `text` at `at`, in a cell of the given size, if it is a shape.
pub(super) fn draw(out: &mut String, text: &str, at: (f32, f32), cell: (f32, f32), ink: &str) -> bool {
    let Some(c) = single(text) else { return false };
    if let Some(([x, y, width, height], opacity)) = block(c) {
        let place = [at.0 + x * cell.0, at.1 + y * cell.1, width * cell.0, height * cell.1];
        rect(out, place, ink, opacity);
        return true;
    }
    let Some(line) = arms(c) else { return false };
    let _ = writeln!(
        out,
        r#"<path d="{}" stroke="{ink}" stroke-width="{}" fill="none"{}/>"#,
        path(&line, at, cell),
        if line.heavy { "2.6" } else { "1.2" },
        if line.dashed {
            r#" stroke-dasharray="2.4 2""#
        } else {
            ""
        },
    );
    true
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// A block element: left, top, width, height in parts of the cell, and its opacity.
fn block(c: char) -> Option<([f32; 4], f32)> {
    let eighths = |n: u32| n as f32 / 8.0;
    let code = u32::from(c);
    let place = match c {
        '▀' => [0.0, 0.0, 1.0, 0.5],
        '▁'..='█' => {
            let height = eighths(code - 0x2580);
            [0.0, 1.0 - height, 1.0, height]
        }
        '▉'..='▏' => [0.0, 0.0, eighths(0x2590 - code), 1.0],
        '▐' => [0.5, 0.0, 0.5, 1.0],
        '░'..='▓' => return Some(([0.0, 0.0, 1.0, 1.0], (code - 0x2590) as f32 / 4.0)),
        '▔' => [0.0, 0.0, 1.0, 0.125],
        '▕' => [0.875, 0.0, 0.125, 1.0],
        _ => return None,
    };
    Some((place, 1.0))
}

/// A line glyph: which of its four arms leave the cell's middle.
struct Line {
    up: bool,
    down: bool,
    left: bool,
    right: bool,
    round: bool,
    heavy: bool,
    dashed: bool,
}

fn arms(c: char) -> Option<Line> {
    let (shape, round, heavy, dashed) = match c {
        '─' => ("lr", false, false, false),
        '│' => ("ud", false, false, false),
        '━' => ("lr", false, true, false),
        '┃' => ("ud", false, true, false),
        '┏' => ("dr", false, true, false),
        '┓' => ("dl", false, true, false),
        '┗' => ("ur", false, true, false),
        '┛' => ("ul", false, true, false),
        '┄' | '┈' | '╌' => ("lr", false, false, true),
        '┆' | '┊' | '╎' => ("ud", false, false, true),
        '┌' => ("dr", false, false, false),
        '┐' => ("dl", false, false, false),
        '└' => ("ur", false, false, false),
        '┘' => ("ul", false, false, false),
        '╭' => ("dr", true, false, false),
        '╮' => ("dl", true, false, false),
        '╰' => ("ur", true, false, false),
        '╯' => ("ul", true, false, false),
        '├' => ("udr", false, false, false),
        '┤' => ("udl", false, false, false),
        '┬' => ("dlr", false, false, false),
        '┴' => ("ulr", false, false, false),
        '┼' => ("udlr", false, false, false),
        '╴' => ("l", false, false, false),
        '╵' => ("u", false, false, false),
        '╶' => ("r", false, false, false),
        '╷' => ("d", false, false, false),
        _ => return None,
    };
    Some(Line {
        up: shape.contains('u'),
        down: shape.contains('d'),
        left: shape.contains('l'),
        right: shape.contains('r'),
        round,
        heavy,
        dashed,
    })
}

/// The line's path: an arc for rounded corners, else an arm after the other.
fn path(line: &Line, (x, y): (f32, f32), (width, height): (f32, f32)) -> String {
    let (mx, my) = (x + width / 2.0, y + height / 2.0);
    let edge_y = if line.down { y + height } else { y };
    let edge_x = if line.right { x + width } else { x };
    if line.round {
        return format!("M{mx:.2} {edge_y:.2}Q{mx:.2} {my:.2} {edge_x:.2} {my:.2}");
    }
    let arms = [
        (line.up, (mx, y)),
        (line.down, (mx, y + height)),
        (line.left, (x, my)),
        (line.right, (x + width, my)),
    ];
    let mut out = String::new();
    for (_, (end_x, end_y)) in arms.into_iter().filter(|(there, _)| *there) {
        let _ = write!(out, "M{mx:.2} {my:.2}L{end_x:.2} {end_y:.2}");
    }
    out
}
