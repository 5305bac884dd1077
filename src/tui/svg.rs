//! A frame as SVG: the cells of a ratatui buffer, with their colours and attributes, in a window's frame.
//!
//! Every run of text is put at its cell's column and held to its width, and block and line glyphs are drawn as
//! shapes, so that a picture lines up in any font. Which frames are drawn is the caller's choice
//! (`examples/screenshots.rs`).

mod glyph;
mod palette;

pub use palette::Look;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;
use std::fmt::Write as _;

/// Pixels of one cell.
const CELL: (f32, f32) = (8.4, 18.0);
/// Pixels of the frame: around the cells, and of the title bar.
const MARGIN: f32 = 14.0;
const BAR: f32 = 36.0;
const FONT: &str =
    "ui-monospace,'JetBrains Mono','SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK JP',monospace";

/// The buffer as a whole SVG document, in a window with `title`.
pub fn render(buffer: &Buffer, title: &str, look: &Look) -> String {
    let (columns, rows) = (f32::from(buffer.area.width), f32::from(buffer.area.height));
    let (width, height) = (columns * CELL.0 + 2.0 * MARGIN, rows * CELL.1 + BAR + MARGIN);
    let mut out = String::new();
    open(&mut out, width, height, title, look);
    for y in 0..buffer.area.height {
        let row = Row::read(buffer, y, look);
        row.backgrounds(&mut out);
        row.glyphs(&mut out);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// The document's head: the window, its title and three buttons.
fn open(out: &mut String, width: f32, height: f32, title: &str, look: &Look) {
    let (title, middle, bar) = (escape(title), width / 2.0, BAR / 2.0);
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1} {height:.1}" width="{width:.1}" height="{height:.1}" font-family="{FONT}" font-size="14" role="img">
<title>{title}</title>
<style>g rect{{shape-rendering:crispEdges}}</style>
<rect x="0.5" y="0.5" width="{:.1}" height="{:.1}" rx="9" fill="{}" stroke="{}"/>
<text x="{middle:.1}" y="{:.1}" fill="{}" text-anchor="middle" font-size="13" opacity="0.7">{title}</text>"#,
        width - 1.0,
        height - 1.0,
        look.background,
        look.border,
        bar + 4.5,
        look.foreground,
    );
    for (place, colour) in [(0.0, "#ed6a5e"), (1.0, "#f4bf4f"), (2.0, "#61c554")] {
        let _ = writeln!(
            out,
            r#"<circle cx="{:.1}" cy="{bar:.1}" r="6" fill="{colour}"/>"#,
            20.0 + place * 20.0
        );
    }
    let _ = writeln!(
        out,
        r#"<g transform="translate({MARGIN} {BAR})" xml:space="preserve" style="white-space:pre">"#
    );
}

/// One cell, resolved: what it shows, in which colours.
#[derive(Clone, PartialEq)]
struct Spot {
    column: u16,
    width: u16,
    text: String,
    ink: String,
    paper: Option<String>,
    attributes: Modifier,
}

/// The cells of one row; a wide glyph takes two columns, and the cell that it covers is left out.
struct Row {
    y: f32,
    spots: Vec<Spot>,
}

impl Row {
    fn read(buffer: &Buffer, y: u16, look: &Look) -> Self {
        let mut spots = Vec::with_capacity(buffer.area.width.into());
        let mut column = 0;
        while column < buffer.area.width {
            let Some(cell) = buffer.cell((buffer.area.x + column, buffer.area.y + y)) else {
                break;
            };
            let spot = spot(cell, column, look);
            column += spot.width;
            spots.push(spot);
        }
        Self {
            y: f32::from(y) * CELL.1,
            spots,
        }
    }

    /// Neighbours with one background make one rectangle.
    fn backgrounds(&self, out: &mut String) {
        for run in self.spots.chunk_by(|a, b| a.paper == b.paper) {
            if let (Some(first), Some(paper)) = (run.first(), run.first().and_then(|s| s.paper.as_ref())) {
                let cells: u16 = run.iter().map(|s| s.width).sum();
                rect(
                    out,
                    [
                        f32::from(first.column) * CELL.0,
                        self.y,
                        f32::from(cells) * CELL.0,
                        CELL.1,
                    ],
                    paper,
                    1.0,
                );
            }
        }
    }

    /// Neighbours of one style make one run of text up to the next gap, equal bars one bar; wide glyphs and other
    /// shapes stand alone.
    fn glyphs(&self, out: &mut String) {
        for run in self.spots.chunk_by(|a, b| a.joins(b)) {
            let start = run.iter().position(|spot| !spot.is_blank()).unwrap_or(run.len());
            let end = run
                .iter()
                .rposition(|spot| !spot.is_blank())
                .map_or(start, |last| last + 1);
            let run = run.get(start..end).unwrap_or_default();
            let Some(first) = run.first().filter(|first| !first.attributes.contains(Modifier::HIDDEN)) else {
                continue;
            };
            let at = (f32::from(first.column) * CELL.0, self.y);
            let size = (CELL.0 * run.len() as f32, CELL.1);
            if !glyph::draw(out, &first.text, at, size, &first.ink) {
                self.text(out, first, run);
            }
        }
    }

    fn text(&self, out: &mut String, first: &Spot, run: &[Spot]) {
        let cells: u16 = run.iter().map(|s| s.width).sum();
        let text: String = run.iter().map(|s| escape(&s.text)).collect();
        let _ = writeln!(
            out,
            r#"<text x="{:.1}" y="{:.1}" fill="{}"{} textLength="{:.1}" lengthAdjust="spacingAndGlyphs">{text}</text>"#,
            f32::from(first.column) * CELL.0,
            self.y + CELL.1 * 0.74,
            first.ink,
            attributes(first.attributes),
            f32::from(cells) * CELL.0,
        );
    }
}

impl Spot {
    /// Nothing is seen of it but its background.
    fn is_blank(&self) -> bool {
        self.text == " " && !self.attributes.intersects(Modifier::UNDERLINED | Modifier::CROSSED_OUT)
    }

    fn joins(&self, next: &Self) -> bool {
        let plain = |s: &Self| s.width == 1 && s.text.chars().count() == 1 && !glyph::is_shape(&s.text);
        let stretched = self.text == next.text && glyph::is_level(&self.text);
        let gap = self.is_blank() && next.is_blank();
        (stretched || plain(self) && plain(next) && !gap) && self.ink == next.ink && self.attributes == next.attributes
    }
}

fn spot(cell: &Cell, column: u16, look: &Look) -> Spot {
    let (mut ink, mut paper) = (look.hex(cell.fg), look.hex(cell.bg));
    if cell.modifier.contains(Modifier::REVERSED) {
        let swapped = paper.take().unwrap_or_else(|| look.background.clone());
        paper = Some(ink.take().unwrap_or_else(|| look.foreground.clone()));
        ink = Some(swapped);
    }
    let width = crate::text::cell_width(cell.symbol()).clamp(1, 2);
    Spot {
        column,
        width: if width == 2 { 2 } else { 1 },
        text: cell.symbol().to_owned(),
        ink: ink.unwrap_or_else(|| look.foreground.clone()),
        paper,
        attributes: cell.modifier.difference(Modifier::REVERSED),
    }
}

fn attributes(modifier: Modifier) -> String {
    let mut out = String::new();
    let known = [
        (Modifier::BOLD, r#" font-weight="bold""#),
        (Modifier::ITALIC, r#" font-style="italic""#),
        (Modifier::DIM, r#" opacity="0.6""#),
        (Modifier::UNDERLINED, r#" text-decoration="underline""#),
        (Modifier::CROSSED_OUT, r#" text-decoration="line-through""#),
    ];
    for (flag, attribute) in known {
        if modifier.contains(flag) {
            out.push_str(attribute);
        }
    }
    out
}

/// A filled rectangle: left, top, width, height.
fn rect(out: &mut String, [x, y, width, height]: [f32; 4], fill: &str, opacity: f32) {
    let see_through = if opacity < 1.0 {
        format!(r#" fill-opacity="{opacity}""#)
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        r#"<rect x="{x:.2}" y="{y:.2}" width="{width:.2}" height="{height:.2}" fill="{fill}"{see_through}/>"#
    );
}

/// Text inside an element; what XML may not hold becomes U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::{Color, Style};

    fn picture(draw: impl FnOnce(&mut Buffer)) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 2));
        draw(&mut buffer);
        render(&buffer, "a <title>", &Look::dark())
    }

    #[test]
    fn text_is_escaped_and_held_to_its_cells() {
        let svg = picture(|b| b.set_string(1, 1, "a<b>&\"c", Style::new().fg(Color::Rgb(1, 2, 3))));
        assert!(
            svg.contains(r##"<text x="8.4" y="31.3" fill="#010203" textLength="58.8""##),
            "{svg}"
        );
        assert!(svg.contains("a&lt;b&gt;&amp;&quot;c"));
        assert!(svg.contains("<title>a &lt;title&gt;</title>"));
    }

    #[test]
    fn a_wide_glyph_stands_at_its_column_and_takes_two() {
        let svg = picture(|b| b.set_string(0, 0, "ab星c", Style::new()));
        assert!(
            svg.contains(r#"x="16.8" y="13.3""#) && svg.contains(r#"textLength="16.8""#),
            "{svg}"
        );
        assert!(svg.contains(r#"<text x="33.6""#), "{svg}");
    }

    #[test]
    fn neighbours_of_one_background_make_one_rectangle() {
        let svg = picture(|b| b.set_string(2, 0, "wide", Style::new().bg(Color::Indexed(196))));
        assert_eq!(
            svg.matches(r##"width="33.60" height="18.00" fill="#ff0000""##).count(),
            1,
            "{svg}"
        );
    }

    #[test]
    fn reversed_cells_swap_their_colours() {
        let look = Look::dark();
        let svg = picture(|b| b.set_string(0, 0, "x", Style::new().add_modifier(Modifier::REVERSED)));
        assert!(
            svg.contains(&format!(r#"fill="{}" textLength"#, look.background)),
            "{svg}"
        );
    }

    #[test]
    fn blocks_and_lines_are_shapes() {
        let svg = picture(|b| b.set_string(0, 0, "█▄╭─╮", Style::new()));
        assert_eq!(svg.matches("<text").count(), 1, "only the title: {svg}");
        assert!(svg.contains("<path"));
    }

    #[test]
    fn a_gap_is_no_text() {
        let svg = picture(|b| b.set_string(1, 0, " one two   three ", Style::new()));
        assert!(
            svg.contains(">one two</text>") && svg.contains(">three</text>"),
            "{svg}"
        );
        assert!(svg.contains(r#"<text x="100.8""#), "{svg}");
    }

    #[test]
    fn a_bar_is_one_shape() {
        let svg = picture(|b| b.set_string(0, 0, "████──", Style::new()));
        assert_eq!(svg.matches(r#"width="33.60""#).count(), 1, "{svg}");
        assert!(svg.contains("M42.00 9.00L33.60 9.00M42.00 9.00L50.40 9.00"), "{svg}");
    }

    #[test]
    fn control_characters_never_reach_the_document() {
        assert_eq!(escape("\u{1b}[31m\u{0}"), "\u{fffd}[31m\u{fffd}");
    }
}
