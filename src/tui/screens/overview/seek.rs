//! Searching the cards: a query matches by its text or by how it ended.

use super::Overview;
use super::ending::Ending;
use crate::tui::ctx::Ctx;
use crate::tui::pattern::Pattern;
use crate::tui::screens::Matches;

impl Overview {
    /// Searches for something else, or for nothing; goes to the first match from the selection on.
    pub(super) fn search(&mut self, pattern: Option<&Pattern>, ctx: &Ctx<'_>) {
        self.pattern = pattern.cloned();
        self.seek(ctx);
        let from = self.timeline.selected().unwrap_or(0);
        let next = self.found.partition_point(|found| *found < from);
        if let Some(found) = self.found.get(next).or(self.found.first()) {
            self.timeline.select(*found);
        }
        self.remember(ctx);
    }

    /// Finds the matching queries again.
    pub(super) fn seek(&mut self, ctx: &Ctx<'_>) {
        self.found.clear();
        let Some(pattern) = &self.pattern else { return };
        for (index, query) in ctx.session.queries.iter().enumerate() {
            let ending = Ending::of(query);
            if pattern.is_in(&query.text) || pattern.is_in(ending.text) {
                self.found.push(index);
            }
        }
    }

    /// Selects the next or the previous match, around the ends.
    pub(super) fn go_to_match(&mut self, forward: bool) -> bool {
        let (Some(at), Some(last)) = (self.timeline.selected(), self.found.len().checked_sub(1)) else {
            return self.pattern.is_some();
        };
        let place = if forward {
            self.found.partition_point(|found| *found <= at) % self.found.len()
        } else {
            self.found
                .partition_point(|found| *found < at)
                .checked_sub(1)
                .unwrap_or(last)
        };
        if let Some(found) = self.found.get(place) {
            self.timeline.select(*found);
        }
        true
    }

    /// How the search stands.
    pub(super) fn standing(&self) -> Option<Matches> {
        self.pattern.as_ref()?;
        let at = self
            .timeline
            .selected()
            .and_then(|at| self.found.binary_search(&at).ok());
        Some(Matches {
            current: at.map_or(0, |at| at + 1),
            total: self.found.len(),
            more: false,
            elsewhere: None,
        })
    }
}
