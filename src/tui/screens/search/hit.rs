//! What a search through the whole session finds.

use crate::model::Label;
use crate::text::SafeText;
use crate::tui::pattern::Pattern;
use crate::tui::screens::{Place, QueryKey};
use std::ops::Range;

/// Characters shown before a match, and in all.
const BEFORE: usize = 32;
const SHOWN: usize = 220;

/// Which text of a step, run or memory entry it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The query's text.
    Query,
    /// Its FINAL, or a sub-agent's.
    Final,
    /// The model's reasoning.
    Reasoning,
    /// A step's code.
    Code,
    /// Its output.
    Output,
    /// A remembered name with its value, note and comment.
    Memory,
}

impl Part {
    /// Its name in the list.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Final => "FINAL",
            Self::Reasoning => "reasoning",
            Self::Code => "code",
            Self::Output => "output",
            Self::Memory => "memory",
        }
    }
}

/// Where a text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// In a run.
    Run {
        /// Which.
        query: QueryKey,
        /// Index of the query when the search began: the order of the list.
        order: usize,
        /// Where in it; `None` for the run as a whole.
        place: Option<Place>,
    },
    /// In memory, under a name.
    Memory {
        /// The name, raw.
        name: String,
    },
}

impl Spot {
    /// The run's label; `None` in memory.
    pub(super) fn label(&self) -> Option<Label> {
        match self {
            Self::Run { query, .. } => Some(query.label),
            Self::Memory { .. } => None,
        }
    }
}

/// One text that has the pattern in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Where.
    pub(super) spot: Spot,
    /// Which text of it.
    pub(super) part: Part,
    /// Who and which step, as people read it: `step 3`, `agent 4 step 1`.
    pub(super) title: SafeText,
    /// The line of the first match, or a piece of it.
    pub(super) before: SafeText,
    /// The match itself.
    pub(super) found: SafeText,
    /// What follows on the line.
    pub(super) after: SafeText,
    /// Matches in the text.
    pub(super) count: usize,
}

impl Hit {
    /// The hit of `pattern` in `text`, if it is there.
    pub(super) fn find(pattern: &Pattern, text: &str, spot: Spot, part: Part, title: &str) -> Option<Self> {
        let mut matches = pattern.find_iter(text);
        let first = matches.next()?;
        let count = 1 + matches.count();
        Some(Self::at(spot, part, title, text, first, count))
    }

    /// The hit whose first match is at `found` in `text`.
    pub(super) fn at(spot: Spot, part: Part, title: &str, text: &str, found: Range<usize>, count: usize) -> Self {
        let (before, after) = around(text, &found);
        Self {
            spot,
            part,
            title: SafeText::line(title),
            before: SafeText::line(before),
            found: SafeText::line(text.get(found).unwrap_or_default()),
            after: SafeText::line(after),
            count,
        }
    }
}

/// What stands around a match on its line, cut to what a row can show.
fn around<'a>(text: &'a str, found: &Range<usize>) -> (&'a str, &'a str) {
    let head = text.get(..found.start).unwrap_or_default();
    let head = head.rsplit('\n').next().unwrap_or_default().trim_start();
    let start = head
        .char_indices()
        .rev()
        .take(BEFORE)
        .last()
        .map_or(head.len(), |(at, _)| at);
    let tail = text.get(found.end..).unwrap_or_default();
    let tail = tail.split('\n').next().unwrap_or_default();
    let end = tail.char_indices().nth(SHOWN).map_or(tail.len(), |(at, _)| at);
    (
        head.get(start..).unwrap_or_default(),
        tail.get(..end).unwrap_or_default().trim_end(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(pattern: &str, text: &str) -> Option<Hit> {
        let spot = Spot::Memory { name: "x".into() };
        Hit::find(&Pattern::new(pattern).unwrap(), text, spot, Part::Output, "step 1")
    }

    #[test]
    fn a_hit_shows_its_line_and_counts_the_rest() {
        let hit = hit("goat", "one\n  the goat, a Goat\nno goats").unwrap();
        assert_eq!(
            (hit.before.as_str(), hit.found.as_str(), hit.after.as_str()),
            ("the ", "goat", ", a Goat")
        );
        assert_eq!(hit.count, 3);
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let text = format!("{}goat{}", "é".repeat(10_000), "ö".repeat(10_000));
        let hit = hit("goat", &text).unwrap();
        assert_eq!(
            (hit.before.as_str().chars().count(), hit.after.as_str().chars().count()),
            (BEFORE, SHOWN)
        );
    }

    #[test]
    fn nothing_is_no_hit() {
        assert_eq!(hit("goat", "sheep"), None);
    }
}
