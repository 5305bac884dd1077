//! One search: hits in the texts that the model holds, and hits in transcripts' lines, turned into places.

use super::hit::{Hit, Part};
use super::plan::Plan;
use crate::model::{BodyRef, Session};
use crate::tui::pattern::Pattern;
use std::ops::Range;

/// Some hits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// New hits, in no order.
    pub hits: Vec<Hit>,
    /// No more will come.
    pub done: bool,
}

/// A match in one text of a transcript's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHit {
    /// The line.
    pub at: BodyRef,
    /// Which of its texts.
    pub part: Part,
    /// Matches in that text.
    pub count: usize,
    /// The line of text around the first match, raw.
    pub snippet: String,
    /// Bytes of the match in the snippet.
    pub matched: Range<usize>,
}

/// A search that runs, apart from the model that it began with.
pub struct Finder {
    plan: Plan,
    pattern: Pattern,
}

impl Finder {
    /// A search for `text`; `None` when it is empty. Work is proportional to the number of steps.
    pub fn new(session: &Session, text: &str) -> Option<Self> {
        Some(Self {
            pattern: Pattern::new(text)?,
            plan: Plan::of(session),
        })
    }

    /// Hits in what the model holds.
    pub fn held(&self) -> Batch {
        Batch {
            hits: self.plan.held_hits(&self.pattern),
            done: false,
        }
    }

    /// The hits of lines that are steps.
    pub fn in_lines(&self, lines: impl IntoIterator<Item = LineHit>) -> Batch {
        let hit = |line: LineHit| {
            let (spot, title) = self.plan.step_at(line.at)?;
            Some(Hit::at(
                spot.clone(),
                line.part,
                title,
                &line.snippet,
                line.matched,
                line.count,
            ))
        };
        Batch {
            hits: lines.into_iter().filter_map(hit).collect(),
            done: false,
        }
    }

    /// The last word of a search.
    pub fn end() -> Batch {
        Batch {
            hits: Vec::new(),
            done: true,
        }
    }
}
