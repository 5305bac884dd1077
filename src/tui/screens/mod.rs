//! Screens: what a layer of the stack is, and which ones there are.
//!
//! A screen is a pure function of the model and of its own small state: [`Screen::update`] takes an input and returns
//! what is to be done, [`Screen::draw`] paints cells. Each screen has a file or folder of its own here.

mod diff;
pub mod export;
mod fork;
mod help;
mod here;
mod leaving;
mod list_search;
mod memory;
mod naming;
mod overview;
mod palette;
mod picker;
mod problems;
mod route;
mod run;
#[cfg(test)]
mod sample;
mod scrub;
pub mod search;
mod split;
mod timeline;

pub use naming::Naming;
pub use picker::Sort;
pub use route::{Place, QueryKey, Route, Sides};
pub use search::TextPart;

use super::action::{Action, Context, Here};
use super::ctx::Ctx;
use super::effect::{Focused, Outcome};
use super::input::Input;
use crate::text::SafeText;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// A layer of the stack.
pub trait Screen {
    /// Takes an input. What it ignores is offered to the layers below (for popups) and to the program.
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome;

    /// Paints itself into `area`, whatever its size. It may remember where things were put, for the mouse.
    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>);

    /// Which bindings apply while it is on top.
    fn context(&self) -> Context {
        Context::Everywhere
    }

    /// What the header calls it, after the session's name: `Q3 › step 2`.
    fn title(&self, ctx: &Ctx<'_>) -> SafeText;

    /// Actions worth a footer hint now, the most useful first. Those that cannot be done are left out for it.
    fn hints(&self, ctx: &Ctx<'_>) -> Vec<Action>;

    /// What actions do here, in words of its own.
    fn here(&self) -> Here {
        Here::default()
    }

    /// The run that it is about, if it is about one.
    fn run(&self) -> Option<QueryKey> {
        None
    }

    /// What `y` copies and `e` opens.
    fn focused(&self, _ctx: &Ctx<'_>) -> Option<Focused> {
        None
    }

    /// How the search stands on this screen, while there is one.
    fn matches(&self) -> Option<Matches> {
        None
    }

    /// Where the hardware cursor belongs, when something is being typed.
    fn cursor(&self) -> Option<Position> {
        None
    }

    /// It covers a part only: what lies below is drawn first.
    fn is_popup(&self) -> bool {
        false
    }
}

/// The state of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matches {
    /// The one that is current, from 1; 0 when there is none.
    pub current: usize,
    /// How many there are.
    pub total: usize,
    /// There are more than are counted.
    pub more: bool,
    /// With none here: another text of the place that has some, with its key.
    pub elsewhere: Option<(&'static str, Action)>,
}

/// The screen of a route; `None` when it has nothing to show (its query is gone).
pub fn open(route: &Route, ctx: &Ctx<'_>) -> Option<Box<dyn Screen>> {
    match route {
        Route::Overview => Some(Box::new(overview::Overview::new())),
        Route::Run { query, at } => Some(Box::new(run::RunScreen::new(*query, *at))),
        Route::Timeline { query } => Some(Box::new(timeline::TimelineScreen::of_run(*query, ctx))),
        Route::SessionTimeline => Some(Box::new(timeline::TimelineScreen::of_session(ctx))),
        Route::Memory { name } => Some(Box::new(memory::MemoryScreen::new(name.as_deref(), ctx))),
        Route::Picker => Some(Box::new(picker::PickerScreen::new(ctx.sessions?, ctx.sort))),
        Route::Problems => Some(Box::new(problems::ProblemsScreen::new(ctx))),
        Route::SearchResults { pattern } => Some(Box::new(search::SearchScreen::new(pattern))),
        Route::Export { query } => Some(Box::new(export::ExportScreen::new(*query))),
        Route::DiffWith { query } => Some(Box::new(diff::ChooseScreen::new(*query, ctx))),
        Route::Diff(sides) => Some(Box::new(diff::DiffScreen::new(sides.clone()))),
        Route::Scrub { query, step } => Some(Box::new(scrub::ScrubScreen::new(*query, *step))),
        Route::Fork { query, step } => Some(Box::new(fork::ForkScreen::new(*query, *step))),
        Route::Help => Some(Box::new(help::Help::default())),
        Route::Palette => Some(Box::new(palette::Palette::new(ctx))),
        Route::Naming { naming, typed } => {
            let screen = naming::NamingScreen::new(naming.clone(), typed.as_deref());
            Some(Box::new(screen))
        }
        Route::Leaving => Some(Box::new(leaving::Leaving)),
    }
}
