//! Colours: how many the terminal has, the nearest one it can show, and whether text on it can be read.

use ratatui::style::Color;

/// How many colours a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// None (`NO_COLOR`): attributes alone.
    Mono,
    /// The 16 named ones.
    Ansi16,
    /// The 256 indexed ones.
    Ansi256,
    /// 24 bits.
    True,
}

impl Depth {
    /// From the environment: `NO_COLOR` (any value but empty), `COLORTERM`, `TERM`.
    pub fn detect(var: impl Fn(&str) -> Option<String>) -> Self {
        let is_set = |name| var(name).is_some_and(|value| !value.is_empty());
        let term = var("TERM").unwrap_or_default();
        let colorterm = var("COLORTERM").unwrap_or_default().to_ascii_lowercase();
        if is_set("NO_COLOR") || matches!(term.as_str(), "dumb" | "vt100" | "vt220") {
            Depth::Mono
        } else if colorterm.contains("truecolor") || colorterm.contains("24bit") || term.ends_with("-direct") {
            Depth::True
        } else if term.contains("256color") || is_set("WT_SESSION") {
            Depth::Ansi256
        } else {
            Depth::Ansi16
        }
    }
}

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// The colour that a terminal of `depth` shows for `rgb`: of few colours the nearest one that has the contrast to the
/// ground that is wanted, if there is one.
pub fn nearest(rgb: Rgb, depth: Depth, ground: Option<(Rgb, f64)>) -> Color {
    match depth {
        Depth::Mono => Color::Reset,
        Depth::True => Color::Rgb(rgb.0, rgb.1, rgb.2),
        Depth::Ansi256 => Color::Indexed(closest(rgb, (16u8..=255).map(|i| (i, indexed_rgb(i))), ground)),
        Depth::Ansi16 => Color::Indexed(closest(rgb, (0u8..16).map(|i| (i, indexed_rgb(i))), ground)),
    }
}

fn closest(rgb: Rgb, candidates: impl Iterator<Item = (u8, Rgb)> + Clone, ground: Option<(Rgb, f64)>) -> u8 {
    let readable = |candidate: &(u8, Rgb)| ground.is_none_or(|(ground, least)| contrast(candidate.1, ground) >= least);
    let by_distance = |candidate: &(u8, Rgb)| distance(rgb, candidate.1);
    let best = candidates.clone().filter(readable).min_by_key(by_distance);
    best.or_else(|| candidates.min_by_key(by_distance))
        .map_or(7, |(index, _)| index)
}

/// The usual values of an indexed colour: the 16 as xterm has them, the 6×6×6 cube, the greys.
pub fn indexed_rgb(index: u8) -> Rgb {
    const NAMED: [Rgb; 16] = [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (0, 0, 238),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ];
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..16 => NAMED.get(usize::from(index)).copied().unwrap_or_default(),
        16..232 => {
            let cube = index - 16;
            (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

/// Distance as the eye sees it, roughly: differences weighted by how red the pair is.
fn distance(a: Rgb, b: Rgb) -> i32 {
    let diff = |x: u8, y: u8| i32::from(x) - i32::from(y);
    let red = (i32::from(a.0) + i32::from(b.0)) / 2;
    let (r, g, b) = (diff(a.0, b.0), diff(a.1, b.1), diff(a.2, b.2));
    (((512 + red) * r * r) >> 8) + 4 * g * g + (((767 - red) * b * b) >> 8)
}

/// Relative luminance, 0 to 1 (WCAG 2).
pub fn luminance(rgb: Rgb) -> f64 {
    let channel = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(rgb.0) + 0.7152 * channel(rgb.1) + 0.0722 * channel(rgb.2)
}

/// Contrast of two colours, 1 to 21 (WCAG 2); text needs 4.5.
pub fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Depth::True)]
    #[case(&[("TERM", "xterm-256color")], Depth::Ansi256)]
    #[case(&[("TERM", "xterm")], Depth::Ansi16)]
    #[case(&[("TERM", "linux")], Depth::Ansi16)]
    #[case(&[("TERM", "xterm-direct")], Depth::True)]
    #[case(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")], Depth::Mono)]
    #[case(&[("TERM", "xterm-256color"), ("NO_COLOR", "")], Depth::Ansi256)]
    fn depth_comes_from_the_environment(#[case] vars: &[(&str, &str)], #[case] depth: Depth) {
        let var = |name: &str| {
            vars.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(Depth::detect(var), depth);
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 1e-9);
        assert!((contrast((119, 119, 119), (255, 255, 255)) - 4.48).abs() < 0.01);
    }

    #[test]
    fn the_nearest_colour_stays_readable_on_its_ground() {
        // Dark blue is the nearest to this blue, and cannot be read on black.
        let Color::Indexed(index) = nearest((20, 20, 220), Depth::Ansi16, Some(((0, 0, 0), 4.5))) else {
            panic!("an indexed colour");
        };
        assert!(contrast(indexed_rgb(index), (0, 0, 0)) >= 4.5);
        assert_eq!(nearest((95, 135, 175), Depth::Ansi256, None), Color::Indexed(67));
    }
}
