//! Which sessions are shown, and in which order.

use super::entry::Entry;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;

/// What the list of sessions is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sort {
    /// Last activity, the latest first.
    #[default]
    Activity,
    /// Name.
    Name,
    /// Queries, most first.
    Queries,
    /// Tokens, most first.
    Tokens,
    /// Cost, dearest first.
    Cost,
}

impl Sort {
    /// The next one, around.
    pub(super) fn next(self) -> Self {
        match self {
            Sort::Activity => Sort::Name,
            Sort::Name => Sort::Queries,
            Sort::Queries => Sort::Tokens,
            Sort::Tokens => Sort::Cost,
            Sort::Cost => Sort::Activity,
        }
    }

    /// Its column.
    pub(super) fn name(self) -> &'static str {
        match self {
            Sort::Activity => "last activity",
            Sort::Name => "name",
            Sort::Queries => "queries",
            Sort::Tokens => "tokens",
            Sort::Cost => "cost",
        }
    }
}

/// Indices of the entries to show: those that match `filter`, best first; all of them sorted without one.
pub(super) fn ranked(entries: &[Entry], filter: &str, sort: Sort) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..entries.len()).collect();
    sort_by(&mut shown, entries, sort);
    if filter.trim().is_empty() {
        return shown;
    }
    let pattern = Pattern::parse(filter, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut scored: Vec<(Reverse<u32>, usize)> = shown
        .into_iter()
        .filter_map(|index| {
            let text = haystack(entries.get(index)?);
            let score = pattern.score(Utf32Str::new(&text, &mut buffer), &mut matcher)?;
            Some((Reverse(score), index))
        })
        .collect();
    // Stable: equally good ones stay as sorted.
    scored.sort_by_key(|(score, _)| *score);
    scored.into_iter().map(|(_, index)| index).collect()
}

/// What is searched: the name first, then what was asked last.
fn haystack(entry: &Entry) -> String {
    let query = entry.summary.pending.as_deref().or(entry.last_query());
    format!("{} {}", entry.summary.name, query.unwrap_or_default())
}

fn sort_by(shown: &mut [usize], entries: &[Entry], sort: Sort) {
    let of = |index: &usize| entries.get(*index);
    match sort {
        Sort::Activity => shown.sort_by_key(|index| Reverse(of(index).and_then(Entry::last_activity))),
        Sort::Name => shown.sort_by_cached_key(|index| of(index).map(|entry| entry.summary.name.to_lowercase())),
        Sort::Queries => shown.sort_by_key(|index| Reverse(of(index).map(|entry| entry.summary.queries))),
        Sort::Tokens => {
            shown.sort_by_key(|index| Reverse(of(index).and_then(|entry| entry.totals().map(|t| t.usage.total))))
        }
        Sort::Cost => {
            shown.sort_by_key(|index| Reverse(of(index).and_then(|entry| entry.totals().map(|t| t.cost.nano))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::Known;
    use super::*;
    use crate::source::SessionTotals;

    fn entry(name: &str, query: &str, at: i64, tokens: Option<u64>) -> Entry {
        let mut totals = SessionTotals::default();
        totals.completed.usage.total = tokens.unwrap_or(0);
        let mut entry = Entry::named(name);
        entry.summary.last_query = Some(query.into());
        entry.summary.last_activity = Some(at);
        entry.known = tokens.map_or(Known::Not, |_| Known::Totals(Box::new(totals)));
        entry
    }

    fn names(entries: &[Entry], filter: &str, sort: Sort) -> Vec<&'static str> {
        let all = ["podcasts", "Audit", "budget"];
        let name = |index: usize| all.into_iter().find(|name| *name == entries[index].summary.name);
        ranked(entries, filter, sort).into_iter().filter_map(name).collect()
    }

    #[test]
    fn sorts_by_each_column() {
        let entries = [
            entry("podcasts", "", 3, Some(5)),
            entry("Audit", "", 9, None),
            entry("budget", "", 1, Some(8)),
        ];
        assert_eq!(names(&entries, "", Sort::Activity), ["Audit", "podcasts", "budget"]);
        assert_eq!(names(&entries, "", Sort::Name), ["Audit", "budget", "podcasts"]);
        assert_eq!(names(&entries, "", Sort::Tokens), ["budget", "podcasts", "Audit"]);
    }

    #[test]
    fn filters_fuzzily_by_name_and_last_query() {
        let entries = [
            entry("podcasts", "who is sooner", 3, None),
            entry("Audit", "tax", 9, None),
            entry("budget", "", 1, None),
        ];
        assert_eq!(names(&entries, "pdc", Sort::Activity), ["podcasts"]);
        assert_eq!(names(&entries, "sooner", Sort::Activity), ["podcasts"]);
        assert_eq!(names(&entries, "zzz", Sort::Activity), Vec::<&str>::new());
        assert_eq!(names(&entries, " ", Sort::Activity).len(), 3);
    }

    #[test]
    fn sorting_goes_around() {
        let mut sort = Sort::default();
        (0..5).for_each(|_| sort = sort.next());
        assert_eq!(sort, Sort::default());
    }
}
