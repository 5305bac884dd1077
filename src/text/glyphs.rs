//! The glyphs that screens draw with, each in a Unicode and an ASCII form of one cell, and ASCII forms of any text.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::width::cluster_width;

macro_rules! glyphs {
    ($($(#[$doc:meta])* $name:ident: $unicode:literal, $ascii:literal;)*) => {
        /// A set of glyphs, each one cell wide.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Glyphs {
            $($(#[$doc])* pub $name: &'static str,)*
        }

        impl Glyphs {
            /// For terminals that show Unicode.
            pub const UNICODE: Self = Self { $($name: $unicode,)* };

            /// For `--ascii` and locales that are not UTF-8.
            pub const ASCII: Self = Self { $($name: $ascii,)* };
        }

        const FORMS: &[(&str, &str)] = &[$(($unicode, $ascii),)* ("‹", "<"), ("›", ">"), ("◌", "o"), ("—", "-"), ("–", "-"),
            ("’", "'"), ("“", "\""), ("”", "\""), ("•", "*"), ("━", "="), ("×", "x")];
    };
}

glyphs! {
    /// The selected node.
    selected: "◉", "@";
    /// A run whose transcript is there.
    linked: "●", "*";
    /// A run whose transcript is missing.
    missing: "○", "o";
    /// Failed, or dropped.
    failed: "✕", "x";
    /// A run that is alive.
    running: "◐", "%";
    /// The line that joins nodes; also a border.
    spine: "│", "|";
    /// A child, with more to come.
    branch: "├", "|";
    /// The last child.
    last_branch: "└", "`";
    /// A committed variable.
    star: "★", "*";
    /// A function.
    function: "ƒ", "f";
    /// Done.
    check: "✓", "+";
    /// Not done.
    cross: "✗", "x";
    /// Other than it was.
    differs: "≠", "!";
    /// Uncertain.
    guess: "?", "?";
    /// Something was left out.
    ellipsis: "…", "~";
    /// Between facts in one line.
    separator: "·", "-";
    /// A newline inside one line.
    newline: "⏎", "\\";
    /// Back, or parent.
    left: "←", "<";
    /// On, or child.
    right: "→", ">";
    /// Up, and what flowed in.
    up: "↑", "^";
    /// Down, and what flowed out.
    down: "↓", "v";
    /// Folded: more is hidden.
    folded: "▸", ">";
    /// Open: can be folded.
    unfolded: "▾", "v";
    /// The selected row's mark.
    pointer: "❯", ">";
    /// A whole cell of a bar.
    full: "█", "#";
    /// 7/8 of a cell.
    eighths_7: "▉", "#";
    /// 6/8 of a cell.
    eighths_6: "▊", "#";
    /// 5/8 of a cell.
    eighths_5: "▋", "=";
    /// 4/8 of a cell.
    eighths_4: "▌", "=";
    /// 3/8 of a cell.
    eighths_3: "▍", "-";
    /// 2/8 of a cell.
    eighths_2: "▎", "-";
    /// 1/8 of a cell.
    eighths_1: "▏", ".";
    /// A bar's cell whose value is not known.
    unknown: "▒", ":";
    /// The lighter shade: an idle or model-call stretch.
    light: "░", ".";
    /// The middle shade: time in execution.
    medium: "▒", ":";
    /// The darker shade: an execution.
    dark: "▓", "%";
    /// A break in an axis.
    axis_break: "╎", "|";
    /// Border.
    horizontal: "─", "-";
    /// Border of the focused pane.
    heavy_vertical: "┃", "|";
    /// Corner.
    top_left: "┌", "+";
    /// Corner.
    top_right: "┐", "+";
    /// Corner.
    round_bottom_left: "╰", "+";
    /// Corner.
    bottom_left: "└", "`";
    /// Corner.
    bottom_right: "┘", "+";
    /// Corner.
    round_top_left: "╭", "+";
    /// Corner.
    round_top_right: "╮", "+";
    /// Corner.
    round_bottom_right: "╯", "+";
    /// Joint.
    tee_left: "┤", "+";
    /// Joint.
    tee_down: "┬", "+";
    /// Joint.
    tee_up: "┴", "+";
    /// Joint.
    joint: "┼", "+";
    /// The scrollbar's handle.
    thumb: "▐", "#";
}

impl Glyphs {
    /// The set for a terminal.
    pub fn of(ascii: bool) -> &'static Self {
        if ascii { &Self::ASCII } else { &Self::UNICODE }
    }

    /// A cell of a bar that is filled to `eighths` of 8; empty at 0, full from 8 on.
    pub fn eighths(&self, eighths: usize) -> &'static str {
        match eighths {
            0 => " ",
            1 => self.eighths_1,
            2 => self.eighths_2,
            3 => self.eighths_3,
            4 => self.eighths_4,
            5 => self.eighths_5,
            6 => self.eighths_6,
            7 => self.eighths_7,
            _ => self.full,
        }
    }
}

/// `text` in ASCII, cell by cell: glyphs and marks in their ASCII forms, everything else as `?`.
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for cluster in text.graphemes(true) {
        if cluster.is_ascii() {
            out.push_str(cluster);
        } else if let Some((_, form)) = FORMS.iter().find(|(unicode, _)| *unicode == cluster) {
            out.push_str(form);
        } else {
            let control_picture = cluster.chars().all(|c| ('\u{2400}'..='\u{2426}').contains(&c));
            let form = if control_picture { "^" } else { "?" };
            out.extend(std::iter::repeat_n(form, cluster_width(cluster)));
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::cell_width;

    #[test]
    fn every_glyph_takes_one_cell_in_both_forms() {
        for (unicode, ascii) in FORMS {
            assert_eq!((cell_width(unicode), ascii.len()), (1, 1), "{unicode}");
            assert!(ascii.is_ascii());
        }
        assert_eq!(Glyphs::of(true).spine, "|");
        assert_eq!(Glyphs::of(false).eighths(4), "▌");
    }

    #[test]
    fn one_unicode_form_has_one_ascii_form() {
        for (unicode, form) in FORMS {
            assert!(
                FORMS.iter().all(|(other, its)| other != unicode || its == form),
                "{unicode}"
            );
        }
    }

    #[test]
    fn ascii_keeps_the_cells() {
        let text = "● Q1 · 8 steps → 日本 ␛[6n ‹U+202E› e\u{301}…";
        let plain = ascii(text);
        assert_eq!(plain, "* Q1 - 8 steps > ???? ^[6n <U+202E> ?~");
        assert_eq!(cell_width(&plain), cell_width(text));
    }
}
