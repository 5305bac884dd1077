//! The memory screen: every remembered name, and the selected one in full.

mod detail;
mod list;

use super::list_search::ListSearch;
use super::split::{Split, Title};
use super::{Matches, Place, QueryKey, Route, Screen, here};
use crate::model::{Binding, MemoryEntry, MemoryKind};
use crate::text::SafeText;
use crate::tui::action::{Action, Context, Here};
use crate::tui::body::Text;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Focused, Language, Outcome, Token};
use crate::tui::input::{Answer, Input, Mouse, Reply};
use crate::tui::notice::Notice;
use crate::tui::pattern::Pattern;
use crate::tui::widgets::{ListEvent, ListPane, Styled};
use detail::Detail;
use list::Counts;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Percent of the width (or height) that the list takes.
const LIST_SHARE: u16 = 36;

/// The remembered names of the session.
#[derive(Debug, Default)]
pub(super) struct MemoryScreen {
    list: ListPane,
    detail: Detail,
    counts: Counts,
    /// Name and kind of the selected entry: it survives when the memory is read again.
    selected: Option<(String, MemoryKind)>,
    search: ListSearch,
    detail_focused: bool,
    token: Token,
}

impl MemoryScreen {
    /// The screen, with an entry selected by its name.
    pub(super) fn new(name: Option<&str>, ctx: &Ctx<'_>) -> Self {
        let mut screen = Self::default();
        screen.refresh(ctx);
        let entries = &ctx.session.memory.entries;
        if let Some(index) = entries.iter().position(|entry| Some(entry.name.as_str()) == name) {
            screen.list.select(index);
        }
        screen
    }

    fn entry<'a>(&self, ctx: &Ctx<'a>) -> Option<&'a MemoryEntry> {
        ctx.session.memory.entries.get(self.list.selected()?)
    }

    /// The memory was read again: the selection follows its name.
    fn refresh(&mut self, ctx: &Ctx<'_>) {
        let entries = &ctx.session.memory.entries;
        self.list.set_len(entries.len());
        self.counts = Counts::of(entries);
        self.search
            .refresh(entries.len(), |pattern, row| matches_entry(entries, pattern, row));
        let same = |entry: &MemoryEntry| {
            self.selected
                .as_ref()
                .is_some_and(|(name, kind)| (&entry.name, &entry.kind) == (name, kind))
        };
        if let Some(index) = entries.iter().position(same) {
            self.list.select(index);
        }
    }

    /// What the detail shows follows the selection; source code asks for its colours.
    fn follow(&mut self, ctx: &Ctx<'_>) -> Outcome {
        let entry = self.entry(ctx);
        self.selected = entry.map(|entry| (entry.name.clone(), entry.kind));
        let shown = self.detail.show(entry, ctx);
        match entry.filter(|entry| shown && entry.kind == MemoryKind::Function) {
            Some(entry) => Outcome::with(Effect::Highlight {
                token: self.token.next(),
                language: Language::Python,
                text: SafeText::block(&entry.text),
            }),
            None => Outcome::consumed(),
        }
    }

    fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        match action {
            Action::Open => return open_binding(self.entry(ctx), ctx),
            Action::NextPane => self.detail_focused = !self.detail_focused,
            Action::MoveLeft => self.detail_focused = false,
            Action::MoveRight => self.detail_focused = true,
            Action::DetailDown => self.detail.pane.scroll(1),
            Action::DetailUp => self.detail.pane.scroll(-1),
            Action::Raw => self.detail.toggle_raw(),
            Action::SearchNext | Action::SearchPrevious => return self.advance(action == Action::SearchNext, ctx),
            Action::EntryPrevious | Action::EntryNext => {
                self.list.act(action);
                return self.follow(ctx);
            }
            _ if self.detail_focused => return Outcome::taken(self.detail.pane.act(action)),
            _ if self.list.act(action) => return self.follow(ctx),
            _ => return Outcome::ignored(),
        }
        Outcome::consumed()
    }

    /// To the next match inside the detail, else to the next entry with one.
    fn advance(&mut self, forward: bool, ctx: &Ctx<'_>) -> Outcome {
        let Some(index) = self.search.advance(forward, self.list.selected()) else {
            return Outcome::ignored();
        };
        self.list.select(index);
        self.follow(ctx)
    }

    fn search(&mut self, pattern: Option<&Pattern>, ctx: &Ctx<'_>) -> Outcome {
        let entries = &ctx.session.memory.entries;
        let matching = |pattern: &Pattern, row: usize| matches_entry(entries, pattern, row);
        let found = self.search.set(pattern, entries.len(), self.list.selected(), matching);
        self.detail.search(pattern);
        if let Some(index) = found {
            self.list.select(index);
        }
        self.follow(ctx)
    }

    fn mouse(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Outcome {
        match self.list.mouse(mouse) {
            Some(ListEvent::Opened(_)) => return open_binding(self.entry(ctx), ctx),
            Some(ListEvent::Selected(_)) => {
                self.detail_focused = false;
                return self.follow(ctx);
            }
            Some(ListEvent::Scrolled) => self.detail_focused = false,
            None if self.detail.pane.mouse(mouse) => self.detail_focused = true,
            None => return Outcome::ignored(),
        }
        Outcome::consumed()
    }

    fn answer(&mut self, answer: &Answer) -> Outcome {
        if let (true, Ok(Reply::Highlights(highlights))) = (answer.token == self.token, &answer.result) {
            self.detail.set_source_highlights(highlights);
        }
        Outcome::consumed()
    }
}

fn matches_entry(entries: &[MemoryEntry], pattern: &Pattern, row: usize) -> bool {
    let Some(entry) = entries.get(row) else { return false };
    let texts = [
        Some(&entry.name),
        Some(&entry.text),
        entry.note.as_ref(),
        entry.comment.as_ref(),
    ];
    texts.into_iter().flatten().any(|text| pattern.is_in(text))
}

/// Goes to the step that last bound a name.
fn open_binding(entry: Option<&MemoryEntry>, ctx: &Ctx<'_>) -> Outcome {
    match entry
        .and_then(|entry| entry.bound)
        .and_then(|bound| route_to(bound, ctx))
    {
        Some(route) => Outcome::with(Effect::Push(route)),
        None => Outcome::with(Effect::Notice(Notice::info("no recorded step bound this name"))),
    }
}

fn route_to(bound: Binding, ctx: &Ctx<'_>) -> Option<Route> {
    let query = ctx.session.queries.get(bound.query)?;
    let agent = *query.run.roots.first()?;
    let steps = &query.run.agent(agent)?.steps;
    let step = steps.iter().rposition(|step| step.number == bound.step);
    Some(Route::Run {
        query: QueryKey::of(query),
        at: Some(Place { agent, step }),
    })
}

impl Screen for MemoryScreen {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Opened => self.follow(ctx),
            Input::ModelChanged => {
                self.refresh(ctx);
                self.follow(ctx)
            }
            Input::Action(action) => self.act(*action, ctx),
            Input::Search(pattern) => self.search(*pattern, ctx),
            Input::Mouse(mouse) => self.mouse(*mouse, ctx),
            Input::Answer(answer) => self.answer(answer),
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let entries = &ctx.session.memory.entries;
        if entries.is_empty() {
            return list::draw_empty(area, buf, ctx);
        }
        let split = Split::of(area, LIST_SHARE);
        let aside = self.counts.marks(ctx);
        let title = Title {
            text: SafeText::literal("Memory"),
            aside,
        };
        let inside = split.frame(split.list, title, !self.detail_focused, buf, ctx);
        let focused = !self.detail_focused;
        self.list.draw(inside, buf, ctx, focused, |index, width| {
            entries
                .get(index)
                .map_or_else(Styled::new, |entry| list::row(entry, width, ctx))
        });
        let title = self.detail.title(self.entry(ctx), ctx);
        let inside = split.frame(split.detail, title, self.detail_focused, buf, ctx);
        self.detail.draw(self.entry(ctx), inside, buf, ctx);
    }

    fn context(&self) -> Context {
        Context::Memory
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::line(&format!("memory · {}", self.counts.words()))
    }

    fn here(&self) -> Here {
        here::MEMORY
    }

    fn hints(&self, ctx: &Ctx<'_>) -> Vec<Action> {
        let bound = self.entry(ctx).is_some_and(|entry| entry.bound.is_some());
        let open = bound.then_some(Action::Open);
        let rest = [
            Action::EntryNext,
            Action::DetailDown,
            Action::Raw,
            Action::Search,
            Action::Copy,
            Action::Back,
        ];
        open.into_iter().chain(rest).collect()
    }

    fn focused(&self, ctx: &Ctx<'_>) -> Option<Focused> {
        let entry = self.entry(ctx)?;
        Some(Focused {
            texts: vec![Text::new(entry.text.as_str())],
            raw_shown: self.detail.is_raw(),
            title: SafeText::line(&entry.name),
            extension: if entry.kind == MemoryKind::Dropped { "txt" } else { "py" },
        })
    }

    fn matches(&self) -> Option<Matches> {
        self.search.matches(self.list.selected())
    }
}

#[cfg(test)]
mod tests;
