//! The overview: a banner of the session's totals, and a card for every run on a spine of time.
//!
//! What a card shows is made from the model when it is drawn, and only for cards in sight. The selection is kept by
//! the query's identity, so that it survives a session that grows.

mod banner;
mod card;
pub(super) mod ending;
mod family;
mod figures;
pub(super) mod head;
pub(super) mod live;
mod paint;
mod plan;
#[cfg(test)]
pub(super) mod sample;
mod scale;
mod seek;
mod timeline;

use self::scale::Scale;
use self::timeline::{Timeline, Touched};
use super::{Matches, QueryKey, Route, Screen, here};
use crate::model::Query;
use crate::text::SafeText;
use crate::tui::action::{Action, Here};
use crate::tui::body::Text;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Focused, Outcome};
use crate::tui::input::{Input, Mouse};
use crate::tui::motion::Entrance;
use crate::tui::pattern::Pattern;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The first frame of the entrance comes this long after the one with the empty cards.
const SOON: Duration = Duration::from_millis(17);

/// The first screen of a session.
#[derive(Debug, Default)]
pub(super) struct Overview {
    timeline: Timeline,
    /// The selected query by identity.
    selected: Option<QueryKey>,
    scale: Scale,
    /// How the cards come in; begins with the first frame that has some.
    entrance: Option<Entrance>,
    pattern: Option<Pattern>,
    /// Queries that match it, by index.
    found: Vec<usize>,
    /// A run of this program goes on.
    live: bool,
}

impl Overview {
    /// The overview of the session, with its first query selected.
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn query<'a>(&self, ctx: &Ctx<'a>) -> Option<&'a Query> {
        ctx.session.queries.get(self.timeline.selected()?)
    }

    fn remember(&mut self, ctx: &Ctx<'_>) {
        self.selected = self.query(ctx).map(QueryKey::of);
    }

    /// The model is new or has changed: the same query stays selected, or the last one while the end is followed.
    fn take_model(&mut self, ctx: &Ctx<'_>) {
        let index = self.selected.and_then(|key| key.index(ctx.session)).unwrap_or(0);
        self.timeline.set(ctx.session.queries.len(), index);
        let live = ctx.session.live().is_some();
        if live && !std::mem::replace(&mut self.live, live) {
            // What was just asked comes into sight, and stays there while it grows.
            self.timeline.act(Action::Last);
        }
        self.live = live;
        self.scale = Scale::of(ctx.session);
        self.remember(ctx);
        self.seek(ctx);
    }

    /// The next frame of the entrance, while cards come in or are still to come.
    fn next_frame(&self, ctx: &Ctx<'_>) -> Vec<Effect> {
        let next = match &self.entrance {
            Some(entrance) => entrance.next_frame(ctx.now),
            None => (ctx.options.animation && !ctx.session.queries.is_empty()).then_some(ctx.now + SOON),
        };
        next.map(Effect::FrameAt).into_iter().collect()
    }

    fn finish_entrance(&mut self, ctx: &Ctx<'_>) {
        self.entrance.get_or_insert(Entrance::new(ctx.now, 0, false)).finish();
    }

    fn open(&mut self, ctx: &Ctx<'_>) -> Outcome {
        match self.query(ctx) {
            Some(query) => Outcome::with(Effect::Push(Route::Run {
                query: QueryKey::of(query),
                at: None,
            })),
            None => Outcome::consumed(),
        }
    }

    fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        let moved = match action {
            Action::Open | Action::MoveRight => return self.open(ctx),
            Action::Timeline => return Outcome::with(Effect::Push(Route::SessionTimeline)),
            Action::SearchNext => self.go_to_match(true),
            Action::SearchPrevious => self.go_to_match(false),
            action => self.timeline.act(action),
        };
        self.remember(ctx);
        Outcome::taken(moved)
    }

    fn touch(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Outcome {
        let touched = self.timeline.mouse(mouse);
        self.remember(ctx);
        match touched {
            Some(Touched::Opened) => self.open(ctx),
            touched => Outcome::taken(touched.is_some()),
        }
    }
}

impl Screen for Overview {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::FoundIn(_) => Outcome::ignored(),
            Input::Opened | Input::ModelChanged => {
                self.take_model(ctx);
                Outcome {
                    consumed: true,
                    effects: self.next_frame(ctx),
                }
            }
            Input::Frame => Outcome {
                consumed: true,
                effects: self.next_frame(ctx),
            },
            Input::Action(action) => {
                self.finish_entrance(ctx);
                self.act(*action, ctx)
            }
            Input::Mouse(mouse) => {
                self.finish_entrance(ctx);
                self.touch(*mouse, ctx)
            }
            Input::Search(pattern) => {
                self.search(*pattern, ctx);
                Outcome::consumed()
            }
            Input::Shown | Input::Resized => {
                self.finish_entrance(ctx);
                Outcome::consumed()
            }
            Input::Key(_) | Input::Paste(_) | Input::Answer(_) => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        self.paint(area, buf, ctx);
    }

    fn title(&self, _ctx: &Ctx<'_>) -> SafeText {
        SafeText::literal("queries")
    }

    fn here(&self) -> Here {
        here::OVERVIEW
    }

    fn hints(&self, ctx: &Ctx<'_>) -> Vec<Action> {
        let resume = ctx.session.cut().map(|_| Action::Resume);
        let mut hints: Vec<Action> = resume.into_iter().collect();
        hints.extend([
            Action::Ask,
            Action::Open,
            Action::Memory,
            Action::Timeline,
            Action::Search,
        ]);
        if !ctx.session.problems.is_empty() {
            hints.push(Action::Problems);
        }
        hints.extend([
            Action::Export,
            Action::Sessions,
            Action::Palette,
            Action::Help,
            Action::Quit,
        ]);
        hints
    }

    fn focused(&self, ctx: &Ctx<'_>) -> Option<Focused> {
        let query = self.query(ctx)?;
        let ending = ending::Ending::of(query);
        let raw = format!("{}\n\n{}{}\n", query.text, ending.words, ending.text);
        Some(Focused {
            texts: vec![Text::new(raw)],
            raw_shown: false,
            title: SafeText::line(&format!("{} with its FINAL", query.label)),
            extension: "txt",
        })
    }

    fn matches(&self) -> Option<Matches> {
        self.standing()
    }
}

#[cfg(test)]
mod tests;
