//! What was asked and written before: the session's queries, then drafts that were sent or cleared here. ↑ and ↓ walk
//! through it from the draft at its end and back; Ctrl-R searches it.

use super::content::Content;
use std::collections::HashMap;

/// Drafts that are kept beside the queries.
const MOST: usize = 100;

/// Everything that can be called back, and how far back one has gone.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    queries: Vec<String>,
    earlier: Vec<Content>,
    /// The entry that is in the box, from the oldest; `None` for the draft.
    at: Option<usize>,
    /// The draft, while an entry is in its place.
    draft: Content,
    /// Entries that were changed while they were in the box, until something is sent.
    changed: HashMap<usize, Content>,
}

impl History {
    /// The session's queries, oldest first, raw. While one goes through the history it stays as it is.
    pub(super) fn set_queries<'a>(&mut self, queries: impl Iterator<Item = &'a str>) {
        if self.at.is_none() {
            self.queries = queries.filter(|query| !query.is_empty()).map(str::to_owned).collect();
        }
    }

    /// Drafts that were kept from another time, oldest first.
    pub(super) fn set_earlier(&mut self, kept: Vec<Content>) {
        let since = std::mem::replace(&mut self.earlier, kept);
        since.into_iter().for_each(|draft| self.remember(draft));
    }

    /// Drafts to keep, oldest first.
    pub(super) fn earlier(&self) -> &[Content] {
        &self.earlier
    }

    /// Adds a draft that leaves the box.
    pub(super) fn remember(&mut self, draft: Content) {
        if draft.text().trim().is_empty() {
            return;
        }
        self.earlier.retain(|earlier| *earlier != draft);
        self.earlier.push(draft);
        let surplus = self.earlier.len().saturating_sub(MOST);
        self.earlier.drain(..surplus);
    }

    /// Entries, oldest first. A query that is among the drafts, too, is there once, as the draft: it may hold chips.
    pub(super) fn entries(&self) -> Vec<Content> {
        let is_draft = |query: &&String| self.earlier.iter().any(|draft| draft.text() == query.as_str());
        let queries = self.queries.iter().filter(|query| !is_draft(query));
        queries
            .map(|query| Content::from(query.as_str()))
            .chain(self.earlier.iter().cloned())
            .collect()
    }

    /// One entry back or forth from `current`, which is what the box holds; `None` at the ends.
    pub(super) fn walk(&mut self, back: bool, current: &Content) -> Option<Content> {
        let entries = self.entries();
        let to = match (self.at, back) {
            (None, true) => Some(entries.len().checked_sub(1)?),
            (Some(at), true) => Some(at.checked_sub(1)?),
            (Some(at), false) => Some(at + 1).filter(|at| *at < entries.len()),
            (None, false) => return None,
        };
        self.leave(current, &entries);
        self.at = to;
        match to {
            Some(at) => self.changed.get(&at).or_else(|| entries.get(at)).cloned(),
            None => Some(std::mem::take(&mut self.draft)),
        }
    }

    /// Keeps what is in the box in its place.
    fn leave(&mut self, current: &Content, entries: &[Content]) {
        match self.at {
            None => self.draft = current.clone(),
            Some(at) if entries.get(at) != Some(current) => {
                self.changed.insert(at, current.clone());
            }
            Some(_) => {}
        }
    }

    /// What is in the box was sent or cleared: the end of the walk, with the draft that waits there.
    pub(super) fn end_walk(&mut self) -> Content {
        self.changed.clear();
        match self.at.take() {
            Some(_) => std::mem::take(&mut self.draft),
            None => Content::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> History {
        let mut history = History::default();
        history.set_queries(["first", "second"].into_iter());
        history.remember("third".into());
        history
    }

    #[test]
    fn one_walks_back_and_forth_and_the_draft_waits() {
        let mut history = history();
        let mut current = Content::from("draft");
        let mut seen = Vec::new();
        for back in [true, true, true, true, false, false, false, false] {
            let Some(next) = history.walk(back, &current) else {
                seen.push("-".to_owned());
                continue;
            };
            seen.push(next.plain());
            current = next;
        }
        assert_eq!(seen, ["third", "second", "first", "-", "second", "third", "draft", "-"]);
    }

    #[test]
    fn a_changed_entry_is_still_changed_when_one_comes_back() {
        let mut history = history();
        history.walk(true, &"draft".into());
        history.walk(true, &"third, changed".into());
        assert_eq!(history.walk(false, &"second".into()).unwrap().plain(), "third, changed");
        assert_eq!(history.end_walk().plain(), "draft");
        assert_eq!(history.walk(true, &Content::default()).unwrap().plain(), "third");
    }

    #[test]
    fn nothing_is_there_twice_and_blank_drafts_are_none() {
        let mut history = history();
        history.remember("second".into());
        history.remember(" \n".into());
        let entries: Vec<_> = history.entries().iter().map(Content::plain).collect();
        assert_eq!(entries, ["first", "third", "second"]);
    }
}
