//! The search bar: what is typed after `/` is searched for on the top screen at once.

use super::State;
use crate::text::SafeText;
use crate::tui::action::{Action, Context};
use crate::tui::compositor::Wanted;
use crate::tui::ctx::Ctx;
use crate::tui::input::Input;
use crate::tui::keymap::Chord;
use crate::tui::pattern::Pattern;
use crate::tui::screens::Matches;
use crate::tui::theme::Role;
use crate::tui::widgets::{LineEdit, Styled};
use crossterm::event::{KeyCode, KeyEvent};

/// The bar while it is open.
pub(super) struct SearchBar {
    pub(super) edit: LineEdit,
    /// What was searched for before: leaving the bar brings it back.
    before: Option<Pattern>,
}

impl SearchBar {
    pub(super) fn new(before: Option<Pattern>) -> Self {
        Self {
            edit: LineEdit::default(),
            before,
        }
    }
}

impl State {
    /// A key while the bar is open.
    pub(super) fn search_key(&mut self, key: KeyEvent) -> Vec<Wanted> {
        match self.world.keymap.lookup(Context::Prompt, Chord::of(key)) {
            Some(Action::Accept) => {
                self.search = None;
                Vec::new()
            }
            Some(Action::Cancel | Action::Interrupt) => self.leave_search(),
            Some(Action::SelectNext) => self.offer(Action::SearchNext),
            Some(Action::SelectPrevious) => self.offer(Action::SearchPrevious),
            Some(action) => self.offer(action),
            None => self.search_typed(key),
        }
    }

    fn search_typed(&mut self, key: KeyEvent) -> Vec<Wanted> {
        let Some(bar) = &mut self.search else {
            return Vec::new();
        };
        if key.code == KeyCode::Backspace && bar.edit.text().is_empty() {
            return self.leave_search();
        }
        if bar.edit.key(key) {
            self.search_changed()
        } else {
            Vec::new()
        }
    }

    /// Searches for what the bar says now.
    pub(super) fn search_changed(&mut self) -> Vec<Wanted> {
        let pattern = self.search.as_ref().and_then(|bar| Pattern::new(bar.edit.text()));
        self.stack.search(pattern, &self.world.ctx())
    }

    fn leave_search(&mut self) -> Vec<Wanted> {
        let before = self.search.take().and_then(|bar| bar.before);
        self.stack.search(before, &self.world.ctx())
    }

    fn offer(&mut self, action: Action) -> Vec<Wanted> {
        self.stack.offer(&self.world.ctx(), |_| Some(Input::Action(action))).1
    }
}

/// `3 of 17`, `no match`; nothing while nothing is searched for.
pub(super) fn standing(matches: Option<Matches>, ctx: &Ctx<'_>) -> Styled {
    let Some(Matches {
        current,
        total,
        more,
        elsewhere,
    }) = matches
    else {
        return Styled::new();
    };
    let (text, role) = if total == 0 {
        let there = elsewhere.map(|(name, action)| format!(" here, but in {name}: {}", ctx.key(action)));
        (format!(" no match{} ", there.unwrap_or_default()), Role::Warning)
    } else {
        let more = if more { "+" } else { "" };
        (format!(" {current} of {total}{more} "), Role::Accent)
    };
    Styled::of(SafeText::line(&text), ctx.style(role))
}
