//! Squeezing a long line before it is highlighted: runs of characters that cannot change how the line is read are
//! shortened, and spans of the short line are mapped back.
//!
//! Grammars of regular expressions take quadratic time on a 10 KB run of base64; the same run cut to a few bytes
//! gives the same roles.

use super::python_strings::Stretch;
use crate::tui::theme::Role;

/// Bytes that a run keeps.
const KEEP: usize = 32;

/// A shortened line.
#[derive(Debug, Default)]
pub(super) struct Squeezed {
    pub(super) text: String,
    /// Cuts: the byte of the short text behind which bytes are missing, and how many are missing up to there.
    cuts: Vec<(usize, usize)>,
}

impl Squeezed {
    /// Shortens the runs of a line that was split into strings, comments and code.
    pub(super) fn new(line: &str, stretches: &[Stretch]) -> Self {
        let mut squeezed = Self::default();
        for stretch in stretches {
            let quoted = stretch.role != Role::Text;
            squeezed.stretch(line.get(stretch.bytes.clone()).unwrap_or_default(), quoted);
        }
        squeezed
    }

    /// Runs are words in code; in strings and comments everything that is no quote, escape or field of a format.
    fn stretch(&mut self, text: &str, quoted: bool) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let inert = |c: char| is_inert(c, quoted);
            let len = if inert(first) {
                rest.find(|c| !inert(c)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let (run, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
            self.run(run);
            rest = after;
        }
    }

    fn run(&mut self, run: &str) {
        let keep = (KEEP..=KEEP + 4).find(|&at| run.is_char_boundary(at) && at < run.len());
        // The last character stays too: a look-behind may ask for it.
        let last = run.char_indices().next_back().map_or(0, |(at, _)| at);
        match keep.filter(|keep| *keep < last) {
            Some(keep) => {
                self.text.push_str(run.get(..keep).unwrap_or_default());
                let missing = self.cuts.last().map_or(0, |(_, missing)| *missing) + last - keep;
                self.cuts.push((self.text.len(), missing));
                self.text.push_str(run.get(last..).unwrap_or_default());
            }
            None => self.text.push_str(run),
        }
    }

    /// The byte of the whole line for one of the short text.
    pub(super) fn original(&self, at: usize) -> usize {
        let before = self.cuts.partition_point(|(cut, _)| *cut < at);
        let missing = before.checked_sub(1).and_then(|last| self.cuts.get(last));
        at + missing.map_or(0, |(_, missing)| *missing)
    }
}

fn is_inert(c: char, quoted: bool) -> bool {
    if quoted {
        !matches!(c, '\'' | '"' | '\\' | '{' | '}' | '%' | '#')
    } else {
        c.is_alphanumeric() || c == '_'
    }
}

#[cfg(test)]
mod tests {
    use super::super::python_strings::{Inside, scan};
    use super::*;

    fn squeeze(line: &str) -> Squeezed {
        Squeezed::new(line, &scan(line, Inside::Code).0)
    }

    #[test]
    fn short_lines_stay() {
        let line = "x = f(1, 'abc')  # note";
        assert_eq!(squeeze(line).text, line);
    }

    #[test]
    fn long_runs_shrink_and_places_map_back() {
        let line = format!("x = '{}' + {}", "QUJD".repeat(3000), "y".repeat(5000));
        let squeezed = squeeze(&line);
        assert!(squeezed.text.len() < 100, "{}", squeezed.text);
        let close = squeezed.text.rfind('\'').unwrap();
        assert_eq!(squeezed.original(close), line.rfind('\'').unwrap());
        assert_eq!(squeezed.original(squeezed.text.len()), line.len());
        assert_eq!(squeezed.original(4), 4);
    }

    #[test]
    fn characters_are_never_split() {
        let line = format!("'{}'", "中".repeat(500));
        let squeezed = squeeze(&line);
        assert!(squeezed.text.len() < 60);
        assert_eq!(squeezed.original(squeezed.text.len()), line.len());
    }
}
