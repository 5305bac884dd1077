//! The picker: the sessions of a directory.

mod draw;
mod entry;
mod load;
mod preview;
mod ranking;
mod table;

use super::{Matches, Naming, Route, Screen, here};
use crate::source::{Listed, SessionTotals};
use crate::text::{SafeText, count, plural};
use crate::tui::action::{Action, Context, Here};
use crate::tui::body::Text;
use crate::tui::ctx::{Ctx, SessionList};
use crate::tui::effect::{Effect, Focused, Outcome, Token};
use crate::tui::input::{Answer, Input, Mouse, Reply};
use crate::tui::live::Errand;
use crate::tui::notice::Notice;
use crate::tui::widgets::{ListEvent, ListPane, TextPane};
use entry::{Entry, Known};
use load::{Follower, Loaded};
pub use ranking::Sort;
use ranking::ranked;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Sessions whose totals are read at a time.
const AT_A_TIME: usize = 4;
/// Totals of a session that goes on are read again not sooner than after this long,
const RESTS: Duration = Duration::from_secs(1);
/// and not sooner than after so many times as long as reading them took.
const SHARE: u32 = 20;
/// How often ages are told anew.
const MINUTE: Duration = Duration::from_secs(60);

/// The sessions of a directory, to choose one from.
#[derive(Debug)]
pub(super) struct PickerScreen {
    dir: PathBuf,
    entries: Vec<Entry>,
    /// Indices of the entries that are shown, in order.
    shown: Vec<usize>,
    list: ListPane,
    preview: TextPane,
    /// The session that the preview shows.
    previewed: Option<PathBuf>,
    filter: String,
    sort: Sort,
    token: Token,
    /// Tells what changes in the directory.
    follower: Follower,
    /// The listing has been read.
    listed: bool,
    /// Totals that are being read.
    asked: usize,
    /// Rows that were in sight when it was drawn last.
    in_sight: usize,
    /// When the ages are told anew.
    ages: Duration,
}

impl PickerScreen {
    /// The sessions of a directory: those that were found already, read again when the screen opens.
    pub(super) fn new(sessions: &SessionList, sort: Sort) -> Self {
        let mut screen = Self {
            dir: sessions.dir.clone(),
            entries: Vec::new(),
            shown: Vec::new(),
            list: ListPane::default(),
            preview: TextPane::default(),
            previewed: None,
            filter: String::new(),
            sort,
            token: Token::default(),
            follower: Follower::of(sessions.dir.clone()),
            listed: !sessions.found.is_empty(),
            asked: 0,
            in_sight: 40,
            ages: Duration::ZERO,
        };
        screen.take(&Listed {
            rows: sessions.found.to_vec(),
            gone: Vec::new(),
            all: true,
        });
        screen
    }

    fn selected(&self) -> Option<&Entry> {
        self.entries.get(*self.shown.get(self.list.selected()?)?)
    }

    /// Takes what was listed, or changed since; totals that are known stay until they are read again. Sessions are told
    /// apart by their directories: what is selected, filtered and sorted stays so.
    fn take(&mut self, listed: &Listed) {
        let selected = self.selected().map(|entry| entry.summary.path.clone());
        let there: HashSet<&PathBuf> = listed.rows.iter().map(|row| &row.path).collect();
        let gone: HashSet<&PathBuf> = listed.gone.iter().collect();
        self.entries.retain(|entry| match listed.all {
            true => there.contains(&entry.summary.path),
            false => !gone.contains(&entry.summary.path),
        });
        let paths = self.entries.iter().enumerate();
        let places: HashMap<PathBuf, usize> = paths.map(|(at, entry)| (entry.summary.path.clone(), at)).collect();
        for summary in &listed.rows {
            match places.get(&summary.path).and_then(|at| self.entries.get_mut(*at)) {
                Some(entry) => entry.become_like(summary.clone()),
                None => self.entries.push(Entry::new(summary.clone())),
            }
        }
        // It tells of forks, too.
        self.previewed = None;
        // Where it is gone, the one that took its place is.
        let place = self.list.selected().unwrap_or(0);
        self.arrange_around(selected, place);
    }

    /// Filters and sorts again; the selection follows its session.
    fn arrange(&mut self) {
        let selected = self.selected().map(|entry| entry.summary.path.clone());
        self.arrange_around(selected, 0);
    }

    fn arrange_around(&mut self, selected: Option<PathBuf>, otherwise: usize) {
        self.shown = ranked(&self.entries, &self.filter, self.sort);
        self.list.set_len(self.shown.len());
        let is_selected =
            |index: &usize| self.entries.get(*index).map(|entry| &entry.summary.path) == selected.as_ref();
        let place = self.shown.iter().position(is_selected).filter(|_| selected.is_some());
        self.list
            .select(place.unwrap_or(otherwise.min(self.shown.len().saturating_sub(1))));
    }

    /// Asks for the totals of what is in sight, a few at a time.
    fn ask(&mut self, mut outcome: Outcome, ctx: &Ctx<'_>) -> Outcome {
        let from = self.list.top();
        for at in from..(from + self.in_sight).min(self.shown.len()) {
            if self.asked >= AT_A_TIME {
                break;
            }
            let Some(entry) = self.shown.get(at).and_then(|index| self.entries.get_mut(*index)) else {
                continue;
            };
            if entry.is_due(ctx.now) {
                entry.ask();
                self.asked += 1;
                let work = load::totals(entry.summary.path.clone(), ctx.options.cache);
                // Each its own: a task is stopped by its token.
                let token = self.token.next();
                outcome = outcome.and(Effect::Work { token, work });
            } else if entry.stale && entry.rests > ctx.now {
                outcome = outcome.and(Effect::FrameAt(entry.rests));
            }
        }
        outcome
    }

    fn answer(&mut self, answer: &Answer, ctx: &Ctx<'_>) -> Outcome {
        let loaded = match &answer.result {
            Ok(Reply::Worked(result)) => result.downcast_ref::<Option<Loaded>>().and_then(Option::as_ref),
            _ => None,
        };
        match loaded {
            Some(Loaded::Sessions(listed)) => {
                self.listed = true;
                self.take(listed);
                let work = self.next_change();
                return self.follow(ctx).and(work);
            }
            Some(Loaded::Totals(path, totals, took)) => {
                let rests = ctx.now + RESTS.max(took.saturating_mul(SHARE));
                self.take_totals(path, totals.clone(), rests);
            }
            // Failed: whatever was asked for is not coming.
            None => self.asked = self.asked.saturating_sub(1),
        }
        self.follow(ctx)
    }

    /// Waits for what changes next.
    fn next_change(&mut self) -> Effect {
        Effect::Work {
            token: self.token.next(),
            work: self.follower.next(),
        }
    }

    /// Ages are told anew once a minute; totals that wait to be read again are.
    fn frame(&mut self, ctx: &Ctx<'_>) -> Outcome {
        let mut outcome = self.ask(Outcome::consumed(), ctx);
        if self.ages <= ctx.now {
            self.ages = ctx.now + MINUTE;
            self.previewed = None;
            outcome = self.follow(ctx).and(Effect::FrameAt(self.ages));
        }
        outcome
    }

    fn take_totals(&mut self, path: &PathBuf, totals: Result<Option<Box<SessionTotals>>, String>, rests: Duration) {
        self.asked = self.asked.saturating_sub(1);
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.summary.path == *path) {
            let totals = totals.unwrap_or_else(|why| {
                entry.summary.health.spoil(why);
                None
            });
            entry.known = totals.map_or(Known::Nothing, Known::Totals);
            entry.rests = rests;
            self.previewed = None;
        }
        if matches!(self.sort, Sort::Tokens | Sort::Cost) {
            self.arrange();
        }
    }

    /// The preview follows the selection, and totals what is in sight.
    fn follow(&mut self, ctx: &Ctx<'_>) -> Outcome {
        let path = self.selected().map(|entry| entry.summary.path.clone());
        if path.is_none() || path != self.previewed {
            let rendered = self
                .selected()
                .map(|entry| preview::document(entry, &self.forks_of(&entry.summary.name), ctx))
                .unwrap_or_default();
            self.preview.open(rendered.text);
            self.preview
                .set_highlights(self.preview.generation(), Arc::new(rendered.highlights));
            self.previewed = path;
        }
        self.ask(Outcome::consumed(), ctx)
    }

    /// The sessions that were forked from one, by name.
    fn forks_of(&self, name: &str) -> Vec<&str> {
        let summaries = self.entries.iter().map(|entry| &entry.summary);
        let forks = summaries.filter(|summary| summary.parent.as_deref() == Some(name));
        let mut forks: Vec<&str> = forks.map(|summary| summary.name.as_str()).collect();
        forks.sort_unstable();
        forks
    }

    fn open(&self) -> Outcome {
        match self.selected() {
            Some(entry) => Outcome::with(Effect::OpenTarget(entry.summary.path.clone())),
            None => Outcome::consumed(),
        }
    }

    fn rename(&self, ctx: &Ctx<'_>) -> Outcome {
        match self.selected().map(|entry| entry.summary.path.clone()) {
            Some(path) if ctx.running.contains(&path) => Outcome::with(Effect::Notice(Notice::trouble(
                "a run goes on in it: rename it afterwards",
            ))),
            Some(dir) => Outcome::with(Effect::Errand(Errand::AskName { dir })),
            None => Outcome::consumed(),
        }
    }

    fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        match action {
            Action::Open => return self.open(),
            Action::NewSession if !ctx.options.read_only => {
                return Outcome::with(naming(Naming::New(self.dir.clone())));
            }
            Action::Rename if !ctx.options.read_only => return self.rename(ctx),
            Action::Sort => {
                self.sort = self.sort.next();
                self.arrange();
                return self.follow(ctx).and(Effect::SortedBy(self.sort));
            }
            Action::SearchNext => drop(self.list.act(Action::MoveDown)),
            Action::SearchPrevious => drop(self.list.act(Action::MoveUp)),
            _ if self.list.act(action) => {}
            _ => return Outcome::ignored(),
        }
        self.follow(ctx)
    }

    fn mouse(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Outcome {
        match self.list.mouse(mouse) {
            Some(ListEvent::Opened(_)) => self.open(),
            Some(_) => self.follow(ctx),
            None => Outcome::taken(self.preview.mouse(mouse)),
        }
    }

    fn counts(&self) -> String {
        let all = plural(self.entries.len() as u128, "session", "sessions");
        if self.shown.len() == self.entries.len() {
            return all;
        }
        format!("{} of {all}", count(self.shown.len() as u128))
    }
}

fn naming(naming: Naming) -> Effect {
    Effect::Push(Route::Naming { naming, typed: None })
}

impl Screen for PickerScreen {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Opened => {
                self.ages = ctx.now + MINUTE;
                let work = self.next_change();
                self.follow(ctx).and(work).and(Effect::FrameAt(self.ages))
            }
            Input::Shown => {
                self.follower.nudge();
                self.follow(ctx)
            }
            Input::Frame => self.frame(ctx),
            Input::Action(action) => self.act(*action, ctx),
            Input::Mouse(mouse) => self.mouse(*mouse, ctx),
            Input::Answer(answer) => self.answer(answer, ctx),
            Input::Search(pattern) => {
                self.filter = pattern.map_or_else(String::new, |pattern| pattern.text().to_owned());
                self.arrange();
                if !self.filter.is_empty() {
                    self.list.select(0);
                }
                self.follow(ctx)
            }
            Input::Resized => self.ask(Outcome::consumed(), ctx),
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        self.paint(area, buf, ctx);
    }

    fn context(&self) -> Context {
        Context::Picker
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::line(&format!("{}, by {}", self.counts(), self.sort.name()))
    }

    fn here(&self) -> Here {
        here::PICKER
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        vec![
            Action::Open,
            Action::MoveDown,
            Action::Search,
            Action::Sort,
            Action::NewSession,
            Action::Rename,
            Action::Back,
        ]
    }

    fn focused(&self, _ctx: &Ctx<'_>) -> Option<Focused> {
        let path = self.selected()?.summary.path.to_string_lossy();
        Some(Focused {
            texts: vec![Text::new(path.as_ref())],
            raw_shown: false,
            title: SafeText::literal("path of the session"),
            extension: "txt",
        })
    }

    fn matches(&self) -> Option<Matches> {
        (!self.filter.is_empty()).then(|| Matches {
            current: self.list.selected().map_or(0, |row| row + 1),
            total: self.shown.len(),
            more: false,
            elsewhere: None,
        })
    }
}

#[cfg(test)]
mod tests;
