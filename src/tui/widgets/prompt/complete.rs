//! The list of files that an `@path` may mean. Looking for them is done elsewhere; here they are ranked and chosen.

use super::at_path::AtPath;
use crate::source::paths::{Found, Listing, PathQuery};
use crate::text::{SafeText, compact_count};
use crate::tui::ctx::Ctx;
use crate::tui::effect::Token;
use crate::tui::input::Mouse;
use crate::tui::theme::Role;
use crate::tui::widgets::{ListEvent, ListPane, Styled};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cmp::Reverse;

/// Entries that are offered.
const OFFERED: usize = 200;

/// Files to choose from.
#[derive(Clone, Debug)]
pub(super) struct Completion {
    pub(super) at: AtPath,
    query: PathQuery,
    /// The look-up that is waited for.
    waiting: Option<Token>,
    listing: Result<Listing, SafeText>,
    shown: Vec<usize>,
    list: ListPane,
}

impl Completion {
    /// A completion that waits for its look-up.
    pub(super) fn new(at: AtPath, query: PathQuery, token: Token) -> Self {
        Self {
            at,
            query,
            waiting: Some(token),
            listing: Ok(Listing::default()),
            shown: Vec::new(),
            list: ListPane::default(),
        }
    }

    /// The path goes on; whether the same listing still holds what it may mean.
    pub(super) fn follow(&mut self, at: AtPath, query: &PathQuery) -> bool {
        self.at = at;
        let same = self.query == *query;
        if same {
            self.rank();
        }
        same
    }

    /// The look-up that is waited for.
    pub(super) fn waiting(&self) -> Option<Token> {
        self.waiting
    }

    /// Takes the answer to its look-up; `false` when it is another's.
    pub(super) fn found(&mut self, token: Token, listing: &Result<Listing, SafeText>) -> bool {
        let mine = self.waiting == Some(token);
        if mine {
            (self.waiting, self.listing) = (None, listing.clone());
            self.rank();
        }
        mine
    }

    fn rank(&mut self) {
        let found = self.listing.as_ref().map_or(&[][..], |listing| &listing.found);
        self.shown = ranked(found, &self.at.name);
        self.list.set_len(self.shown.len());
        self.list.select(0);
    }

    /// To the next or previous one.
    pub(super) fn go(&mut self, down: bool) {
        let at = self.list.selected().unwrap_or(0);
        self.list.select(if down { at + 1 } else { at.saturating_sub(1) });
    }

    /// What the mouse did to the list.
    pub(super) fn mouse(&mut self, mouse: Mouse) -> Option<ListEvent> {
        self.list.mouse(mouse)
    }

    /// The entry that is chosen.
    pub(super) fn chosen(&self) -> Option<&Found> {
        let index = self.shown.get(self.list.selected()?)?;
        self.listing.as_ref().ok()?.found.get(*index)
    }

    /// Rows it would like.
    pub(super) fn height(&self) -> usize {
        self.shown.len().max(1)
    }

    /// Paints it.
    pub(super) fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let listing = match &self.listing {
            Err(why) => {
                Styled::of(why.clone(), ctx.style(Role::Failure)).draw(area, buf);
                return;
            }
            Ok(_) if self.shown.is_empty() => {
                let words = if self.waiting.is_some() {
                    "looking …"
                } else {
                    "no such file"
                };
                Styled::words(words, ctx.style(Role::Dim)).draw(area, buf);
                return;
            }
            Ok(listing) => listing,
        };
        let shown = &self.shown;
        let item = |index: usize, width| {
            let found = shown.get(index).and_then(|index| listing.found.get(*index));
            found.map_or_else(Styled::new, |found| row(found, width, ctx))
        };
        self.list.draw(area, buf, ctx, true, item);
    }
}

fn row(found: &Found, width: usize, ctx: &Ctx<'_>) -> Styled {
    let size = match found.is_dir {
        true => "/".into(),
        false => format!(" {}B", compact_count(found.size.into())),
    };
    let name = SafeText::line(&found.path.to_string_lossy());
    let name = crate::text::middle_cut(name.as_str(), width.saturating_sub(size.len()));
    Styled::of(SafeText::line(&name), ctx.style(Role::Text)).then(SafeText::line(&size), ctx.style(Role::Dim))
}

/// Indices of the entries that match what is typed, the best ones first; without anything typed, as they are listed.
fn ranked(found: &[Found], name: &str) -> Vec<usize> {
    if name.is_empty() {
        return (0..found.len().min(OFFERED)).collect();
    }
    let pattern = Pattern::new(name, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let mut chars = Vec::new();
    let score = |(index, found): (usize, &Found)| {
        let path = found.path.to_string_lossy();
        let score = pattern.score(Utf32Str::new(&path, &mut chars), &mut matcher)?;
        Some((Reverse(score), path.len(), index))
    };
    let mut scored: Vec<_> = found.iter().enumerate().filter_map(score).collect();
    scored.sort_unstable();
    scored.into_iter().take(OFFERED).map(|(_, _, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_match_goes_first_and_a_shorter_path_before_a_longer_one() {
        let entry = |path: &str| Found {
            path: path.into(),
            is_dir: false,
            size: 0,
        };
        let found = ["old/reviews.csv", "reviews.csv", "readme", "x"].map(entry);
        assert_eq!(ranked(&found, "revi")[..2], [1, 0]);
        assert_eq!(ranked(&found, ""), [0, 1, 2, 3]);
        assert_eq!(ranked(&found, "zzz"), Vec::<usize>::new());
    }
}
