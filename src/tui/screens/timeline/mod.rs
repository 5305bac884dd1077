//! The timeline: when each agent worked, a row an agent on a time axis; of one run, or of all runs on one wall clock.

mod axis;
mod chart;
mod columns;
mod cover;
mod facts;
mod lane;
mod layout;
mod scale;
mod viewport;

use super::list_search::ListSearch;
use super::{Matches, Place, QueryKey, Route, Screen, here};
use crate::model::{AgentId, Session};
use crate::text::SafeText;
use crate::tui::action::{Action, Here};
use crate::tui::body::Text;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Focused, Outcome};
use crate::tui::input::{Input, Mouse};
use crate::tui::pattern::Pattern;
use crate::tui::theme::Role;
use crate::tui::widgets::{ListEvent, ListPane, Styled};
use chart::{Chart, ChartRow};
use columns::Columns;
use layout::{Rows, draw_empty, draw_scale};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use scale::{Naming, Scale};
use viewport::Viewport;

/// What is on the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Run(QueryKey),
    Session,
}

/// A chart of agents on a time axis.
#[derive(Debug)]
pub(super) struct TimelineScreen {
    scope: Scope,
    chart: Chart,
    view: Viewport,
    list: ListPane,
    /// The selected agent: it survives when the model grows.
    selected: Option<(QueryKey, AgentId)>,
    search: ListSearch,
}

impl TimelineScreen {
    /// The agents of one run.
    pub(super) fn of_run(query: QueryKey, ctx: &Ctx<'_>) -> Self {
        Self::new(Scope::Run(query), ctx)
    }

    /// The agents of all runs.
    pub(super) fn of_session(ctx: &Ctx<'_>) -> Self {
        Self::new(Scope::Session, ctx)
    }

    fn new(scope: Scope, ctx: &Ctx<'_>) -> Self {
        let mut screen = Self {
            scope,
            chart: Chart::default(),
            view: Viewport::new(0),
            list: ListPane::default(),
            selected: None,
            search: ListSearch::default(),
        };
        screen.refresh(ctx);
        screen
    }

    /// The model changed: the selection follows its agent, the view keeps its place.
    fn refresh(&mut self, ctx: &Ctx<'_>) {
        self.chart = match self.scope {
            Scope::Run(query) => Chart::of_run(query, ctx.session),
            Scope::Session => Chart::of_session(ctx.session),
        };
        self.view.set_total(self.chart.axis.len());
        self.list.set_len(self.chart.rows.len());
        let rows = &self.chart.rows;
        self.search
            .refresh(rows.len(), |pattern, row| matches_row(rows, ctx.session, pattern, row));
        let place = self
            .selected
            .and_then(|(query, agent)| self.chart.index_of(query.index(ctx.session)?, agent));
        if let Some(index) = place {
            self.list.select(index);
        }
        self.remember(ctx);
    }

    fn row(&self) -> Option<&ChartRow> {
        self.chart.rows.get(self.list.selected()?)
    }

    fn remember(&mut self, ctx: &Ctx<'_>) {
        let key = |row: &ChartRow| Some((QueryKey::of(row.of(ctx.session)?.0), row.agent));
        self.selected = self.row().and_then(key);
    }

    /// The selection moved: its agent comes into sight.
    fn follow(&mut self, ctx: &Ctx<'_>) -> Outcome {
        self.remember(ctx);
        if let Some(span) = self.row().and_then(|row| row.span.clone()) {
            self.view.show(span);
        }
        Outcome::consumed()
    }

    fn select(&mut self, index: Option<usize>, ctx: &Ctx<'_>) -> Outcome {
        let Some(index) = index else { return Outcome::consumed() };
        self.list.select(index);
        self.follow(ctx)
    }

    /// Zooming keeps the selected agent's middle in place while it is in sight, else the view's own middle.
    fn anchor(&self) -> u64 {
        let visible = self.view.range();
        let middle = |range: &std::ops::Range<u64>| range.start + (range.end.saturating_sub(range.start)) / 2;
        let of_row = self.row().and_then(|row| row.span.as_ref()).map(middle);
        of_row
            .filter(|moment| visible.contains(moment))
            .unwrap_or_else(|| middle(&visible))
    }

    fn act(&mut self, action: Action, ctx: &Ctx<'_>) -> Outcome {
        match action {
            Action::Open => return self.open(ctx),
            Action::ZoomIn => self.view.zoom_in(self.anchor()),
            Action::ZoomOut => self.view.zoom_out(self.anchor()),
            Action::ZoomReset => self.view.reset(),
            Action::MoveLeft | Action::MoveRight => {
                self.view.pan(action == Action::MoveRight);
            }
            Action::SearchNext => return self.select(self.search.advance(true, self.list.selected()), ctx),
            Action::SearchPrevious => return self.select(self.search.advance(false, self.list.selected()), ctx),
            _ if self.list.act(action) => return self.follow(ctx),
            _ => return Outcome::ignored(),
        }
        Outcome::consumed()
    }

    /// Goes to the selected agent in its run's screen.
    fn open(&self, ctx: &Ctx<'_>) -> Outcome {
        let Some((query, agent)) = self.selected.filter(|(query, _)| query.index(ctx.session).is_some()) else {
            return Outcome::consumed();
        };
        let at = Some(Place { agent, step: None });
        let route = Route::Run { query, at };
        Outcome::with(match self.scope {
            Scope::Run(_) => Effect::Replace(route),
            Scope::Session => Effect::Push(route),
        })
    }

    fn mouse(&mut self, mouse: Mouse, ctx: &Ctx<'_>) -> Outcome {
        match self.list.mouse(mouse) {
            Some(ListEvent::Opened(_)) => self.open(ctx),
            Some(ListEvent::Selected(_)) => self.follow(ctx),
            Some(ListEvent::Scrolled) => Outcome::consumed(),
            None => Outcome::ignored(),
        }
    }

    fn search(&mut self, pattern: Option<&Pattern>, ctx: &Ctx<'_>) -> Outcome {
        let rows = &self.chart.rows;
        let matching = |pattern: &Pattern, row: usize| matches_row(rows, ctx.session, pattern, row);
        let found = self.search.set(pattern, rows.len(), self.list.selected(), matching);
        self.select(found, ctx)
    }

    fn naming(&self) -> Naming {
        match self.scope {
            Scope::Run(_) => Naming::Elapsed,
            Scope::Session => Naming::Clock,
        }
    }

    /// The rows with their lanes. The list marks the selected row; its lane keeps its own colours.
    fn draw_rows(&mut self, area: Rect, columns: Columns, scale: &Scale, buf: &mut Buffer, ctx: &Ctx<'_>) {
        let (rows, view) = (&self.chart.rows, &self.view);
        self.list.draw(area, buf, ctx, true, |index, _| {
            rows.get(index)
                .map_or_else(Styled::new, |row| lane::row(row, view, columns, &scale.breaks, ctx))
        });
        let Some((selected, row)) = self.list.selected().zip(self.row()) else {
            return;
        };
        let y = selected
            .checked_sub(self.list.top())
            .and_then(|row| u16::try_from(row).ok());
        let Some(y) = y.filter(|y| *y < area.height) else {
            return;
        };
        let x = u16::try_from(columns.lane_start()).unwrap_or(u16::MAX).min(area.width);
        let width = columns.lane_width().min(area.width - x);
        let place = Rect {
            x: area.x + x,
            y: area.y + y,
            width,
            height: 1,
        };
        lane::lane(row, view, width, &scale.breaks, ctx).draw(place, buf);
        let ground = Style {
            fg: None,
            ..ctx.style(Role::Selection)
        };
        buf.set_style(place.intersection(buf.area), ground);
    }
}

fn matches_row(rows: &[ChartRow], session: &Session, pattern: &Pattern, row: usize) -> bool {
    rows.get(row)
        .and_then(|row| lane::names(row, session))
        .is_some_and(|(name, rest)| pattern.is_in(&name) || rest.is_some_and(|rest| pattern.is_in(rest)))
}

impl Screen for TimelineScreen {
    fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Outcome {
        match input {
            Input::Action(action) => self.act(*action, ctx),
            Input::Mouse(mouse) => self.mouse(*mouse, ctx),
            Input::Search(pattern) => self.search(*pattern, ctx),
            Input::ModelChanged => {
                self.refresh(ctx);
                Outcome::consumed()
            }
            _ => Outcome::ignored(),
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) {
        if self.chart.axis.is_empty() {
            return draw_empty(area, buf, ctx);
        }
        let rows = Rows::of(area);
        let width = usize::from(area.width);
        let columns = Columns::of(width.saturating_sub(1));
        let scale = Scale::new(&self.chart, &self.view, columns.lane_width(), self.naming(), ctx);
        let summary = rows.summary;
        let zoom = facts::zoom(&self.view, ctx);
        let room = width.saturating_sub(zoom.width());
        facts::summary(&self.chart, self.scope == Scope::Session, room, ctx).draw(summary, buf);
        zoom.draw_right(summary, buf);
        draw_scale(&rows, columns, &scale, buf, ctx);
        self.draw_rows(rows.lanes, columns, &scale, buf, ctx);
        if let Some(row) = self.row() {
            facts::selected(row, width, ctx).draw(rows.selected, buf);
            facts::legend(row.depth, !scale.breaks.is_empty(), ctx).draw(rows.legend, buf);
        }
    }

    fn title(&self, ctx: &Ctx<'_>) -> SafeText {
        match self.scope {
            Scope::Run(query) => {
                let label = query.find(ctx.session).map_or(query.label, |query| query.label);
                SafeText::line(&format!("{label} timeline"))
            }
            Scope::Session => SafeText::literal("timeline of all runs"),
        }
    }

    fn here(&self) -> Here {
        here::TIMELINE
    }

    fn run(&self) -> Option<QueryKey> {
        match self.scope {
            Scope::Run(query) => Some(query),
            Scope::Session => None,
        }
    }

    fn hints(&self, _ctx: &Ctx<'_>) -> Vec<Action> {
        let zoomed = (!self.view.is_whole()).then_some([Action::ZoomReset, Action::MoveRight]);
        let mut hints = vec![Action::Open, Action::MoveDown, Action::ZoomIn];
        hints.extend(zoomed.into_iter().flatten());
        hints.extend([Action::Search, Action::Copy, Action::Back]);
        hints
    }

    fn focused(&self, ctx: &Ctx<'_>) -> Option<Focused> {
        Some(Focused {
            texts: vec![Text::new(facts::as_text(&self.chart, ctx.session))],
            raw_shown: false,
            title: SafeText::literal("timeline"),
            extension: "txt",
        })
    }

    fn matches(&self) -> Option<Matches> {
        self.search.matches(self.list.selected())
    }
}

#[cfg(test)]
mod tests;
