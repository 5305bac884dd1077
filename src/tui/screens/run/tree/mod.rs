//! The run tree: agents, their steps, and the sub-agents under the step that spawned them; with a selection that is
//! kept by identity while the run grows.

mod flat;
mod row;

pub(super) use self::flat::TreeRow;
use self::flat::{Folds, Unplaced, children, flatten, parent};
use crate::model::{Outcome, Query, Run, Step, StepKind};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::input::Mouse;
use crate::tui::pattern::Pattern;
use crate::tui::screens::{Matches, Place};
use crate::tui::widgets::{ListEvent, ListPane};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A place said in terms of the transcript: indices move while lines arrive out of order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    run_id: String,
    step: Option<(u64, u32)>,
}

/// The tree of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    rows: Vec<TreeRow>,
    unplaced: Unplaced,
    folds: Folds,
    list: ListPane,
    identity: Option<Identity>,
    pattern: Option<Pattern>,
    found: Vec<usize>,
}

impl Tree {
    /// The tree of a query's run, at a place; when none is said, at its newest step while it runs, at the last one
    /// where that went wrong, else at the first.
    pub(super) fn of(query: &Query, at: Option<Place>) -> Self {
        let wrong = matches!(query.outcome, Outcome::Error(_) | Outcome::Limit(_));
        let last = || last_step(&query.run).filter(|_| wrong);
        Self::new(&query.run, at.or_else(last), query.outcome == Outcome::Running)
    }

    /// The tree of a run, with a place selected: `at`, else the newest step of a live run, else the first step.
    pub(super) fn new(run: &Run, at: Option<Place>, live: bool) -> Self {
        let mut tree = Self {
            folds: Folds::of(run),
            unplaced: Unplaced::of(run),
            ..Self::default()
        };
        let first = || first_step(run);
        match at.or_else(first).filter(|place| run.agent(place.agent).is_some()) {
            Some(place) => tree.go_to(run, place),
            None => tree.lay_out(run),
        }
        if live && at.is_none() {
            tree.select(run, usize::MAX);
        }
        tree
    }

    /// The selected place; `None` when nothing is known of the run.
    pub(super) fn place(&self) -> Option<Place> {
        self.rows.get(self.list.selected()?).map(|row| row.place)
    }

    /// Its rows.
    pub(super) fn rows(&self) -> &[TreeRow] {
        &self.rows
    }

    /// The run has grown or changed: the same place stays selected, or its agent's last step when that was selected.
    pub(super) fn take_run(&mut self, run: &Run) {
        let before = self.place();
        let follows = before.is_some_and(|place| self.is_last_step(place));
        let place = self.identity.as_ref().and_then(|identity| find(run, identity, before));
        if before.map(|place| place.agent) != place.map(|place| place.agent) {
            self.folds.forget();
        }
        self.unplaced = Unplaced::of(run);
        match place.or_else(|| first_step(run)) {
            Some(place) => self.go_to(run, place),
            None => self.lay_out(run),
        }
        let last = place.and_then(|place| Some((place, run.agent(place.agent)?.steps.len().checked_sub(1)?)));
        if let (true, Some((place, last))) = (follows, last) {
            let step = Some(last);
            self.go_to(run, Place { step, ..place });
        }
    }

    /// A place is the last step of its agent, as far as it is shown.
    fn is_last_step(&self, place: Place) -> bool {
        let steps = self.rows.iter().map(|row| row.place);
        let last = steps
            .rev()
            .find(|step| step.agent == place.agent && step.step.is_some());
        last == Some(place)
    }

    /// Selects a place; what it is folded into is unfolded.
    pub(super) fn go_to(&mut self, run: &Run, place: Place) {
        let mut above = parent(run, place);
        while let Some(place) = above {
            self.folds.open(place, run);
            above = parent(run, place);
        }
        self.lay_out(run);
        let index = self.rows.iter().position(|row| row.place == place);
        self.select(run, index.unwrap_or(0));
    }

    fn lay_out(&mut self, run: &Run) {
        self.rows = flatten(run, &self.unplaced, &self.folds);
        self.list.set_len(self.rows.len());
        self.found.clear();
    }

    fn select(&mut self, run: &Run, index: usize) {
        self.list.select(index);
        self.identity = self.place().and_then(|place| identity(run, place));
    }

    /// Moves the selection, folds, or walks matches; `false` for actions that mean nothing here.
    pub(super) fn act(&mut self, action: Action, run: &Run) -> bool {
        match action {
            Action::StepPrevious => self.moved(Action::MoveUp, run),
            Action::StepNext => self.moved(Action::MoveDown, run),
            Action::Parent => self.go_to_parent(run),
            Action::FirstChild => self.go_to_first_child(run),
            Action::SiblingNext => self.go_to_sibling(run, 1),
            Action::SiblingPrevious => self.go_to_sibling(run, -1),
            Action::Fold => self.toggle(run),
            Action::SearchNext => self.go_to_match(run, true),
            Action::SearchPrevious => self.go_to_match(run, false),
            action => self.moved(action, run),
        }
    }

    fn moved(&mut self, action: Action, run: &Run) -> bool {
        let moved = self.list.act(action);
        if let Some(index) = self.list.selected().filter(|_| moved) {
            self.select(run, index);
        }
        moved
    }

    fn go_to_parent(&mut self, run: &Run) -> bool {
        if let Some(above) = self.place().and_then(|place| parent(run, place)) {
            self.go_to(run, above);
        }
        true
    }

    fn go_to_first_child(&mut self, run: &Run) -> bool {
        let child = self
            .place()
            .and_then(|place| children(run, &self.unplaced, place).next());
        if let Some(child) = child {
            self.go_to(run, child);
        }
        true
    }

    /// The next one under the same parent, around the ends.
    fn go_to_sibling(&mut self, run: &Run, by: isize) -> bool {
        let Some(place) = self.place() else { return true };
        let siblings: Vec<Place> = match parent(run, place) {
            Some(above) => children(run, &self.unplaced, above).collect(),
            None => run
                .roots
                .iter()
                .map(|agent| Place {
                    agent: *agent,
                    step: None,
                })
                .collect(),
        };
        let at = siblings.iter().position(|sibling| *sibling == place).unwrap_or(0);
        let to = at.checked_add_signed(by).unwrap_or(siblings.len().saturating_sub(1));
        if let Some(sibling) = siblings.get(to).or(siblings.first()) {
            self.go_to(run, *sibling);
        }
        true
    }

    /// Folds or unfolds what is selected; a row with nothing below it folds what it hangs under.
    pub(super) fn toggle(&mut self, run: &Run) -> bool {
        let row = self.list.selected().and_then(|index| self.rows.get(index)).copied();
        let target = match row {
            Some(TreeRow {
                open: Some(_), place, ..
            }) => Some(place),
            Some(row) => parent(run, row.place),
            None => None,
        };
        if let Some(place) = target {
            self.folds.toggle(place);
            self.lay_out(run);
            let index = self.rows.iter().position(|row| row.place == place);
            self.select(run, index.unwrap_or(0));
        }
        true
    }

    /// The selected row hides something below it.
    pub(super) fn is_folded(&self) -> bool {
        let row = self.list.selected().and_then(|index| self.rows.get(index));
        row.is_some_and(|row| row.open == Some(false))
    }

    /// The steps in the rows beside the selected one: likely to be looked at next.
    pub(super) fn neighbours<'a>(&self, run: &'a Run) -> Vec<&'a Step> {
        let at = self.list.selected().unwrap_or(0);
        let beside = [at.checked_add(1), at.checked_sub(1)].into_iter().flatten();
        beside
            .filter_map(|index| step_at(run, self.rows.get(index)?.place))
            .collect()
    }

    /// The mouse was here.
    pub(super) fn mouse(&mut self, mouse: Mouse, run: &Run) -> Option<ListEvent> {
        let event = self.list.mouse(mouse);
        match event {
            Some(ListEvent::Selected(index)) => self.select(run, index),
            Some(ListEvent::Opened(index)) => {
                self.select(run, index);
                self.toggle(run);
            }
            Some(ListEvent::Scrolled) | None => (),
        }
        event
    }

    /// Searches the names of the rows that are unfolded.
    pub(super) fn search(&mut self, pattern: Option<&Pattern>, run: &Run) {
        self.pattern = pattern.cloned();
        self.seek(run);
    }

    fn seek(&mut self, run: &Run) {
        let Some(pattern) = &self.pattern else {
            return self.found.clear();
        };
        let matches = |row: &TreeRow| pattern.is_in(row::name(run, row.place).as_str());
        self.found = self
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| matches(row))
            .map(|(at, _)| at)
            .collect();
    }

    fn go_to_match(&mut self, run: &Run, forward: bool) -> bool {
        self.seek(run);
        let at = self.list.selected().unwrap_or(0);
        let after = self.found.partition_point(|found| *found <= at);
        let before = self.found.partition_point(|found| *found < at);
        let found = match forward {
            true => self.found.get(after).or(self.found.first()),
            false => before
                .checked_sub(1)
                .and_then(|place| self.found.get(place))
                .or(self.found.last()),
        };
        if let Some(index) = found.copied() {
            self.select(run, index);
        }
        true
    }

    /// How the search stands.
    pub(super) fn matches(&self) -> Option<Matches> {
        self.pattern.as_ref()?;
        let at = self.list.selected().and_then(|at| self.found.binary_search(&at).ok());
        Some(Matches {
            current: at.map_or(0, |at| at + 1),
            total: self.found.len(),
            more: false,
            elsewhere: None,
        })
    }

    /// Paints the rows in sight; `name` is that of the query's root.
    pub(super) fn draw(&mut self, run: &Run, name: &str, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>, focused: bool) {
        let (rows, selected) = (&self.rows, self.list.selected());
        self.list.draw(area, buf, ctx, focused, |index, width| {
            rows.get(index)
                .map(|row| row::line(run, name, row, selected == Some(index), width, ctx))
                .unwrap_or_default()
        });
    }

    /// All rows as text, for copying.
    pub(super) fn text(&self, run: &Run) -> String {
        let line = |row: &TreeRow| {
            format!(
                "{}{}\n",
                "  ".repeat(row.depth.min(40) as usize),
                row::name(run, row.place)
            )
        };
        self.rows.iter().map(line).collect()
    }
}

/// The query's first step, or its probe, or its root.
fn last_step(run: &Run) -> Option<Place> {
    let agent = *run.roots.last()?;
    let step = run.agent(agent)?.steps.len().checked_sub(1);
    step.map(|step| Place {
        agent,
        step: Some(step),
    })
}

fn first_step(run: &Run) -> Option<Place> {
    let agent = *run.roots.first()?;
    let steps = &run.agent(agent)?.steps;
    let reply = steps.iter().position(|step| step.kind == StepKind::Reply);
    let step = reply.or_else(|| (!steps.is_empty()).then_some(0));
    Some(Place { agent, step })
}

fn step_at(run: &Run, place: Place) -> Option<&Step> {
    run.agent(place.agent)?.steps.get(place.step?)
}

fn identity(run: &Run, place: Place) -> Option<Identity> {
    let run_id = run.agent(place.agent)?.run_id.clone();
    let step = step_at(run, place).map(|step| (step.number, step.again));
    Some(Identity { run_id, step })
}

/// The place of an identity in a run that has changed; it most likely is where it was.
fn find(run: &Run, wanted: &Identity, before: Option<Place>) -> Option<Place> {
    let unmoved = before.filter(|place| identity(run, *place).as_ref() == Some(wanted));
    unmoved.or_else(|| {
        let at = run.agents.iter().position(|agent| agent.run_id == wanted.run_id)?;
        let agent = crate::model::AgentId(u32::try_from(at).ok()?);
        let steps = &run.agent(agent)?.steps;
        let step = wanted
            .step
            .and_then(|wanted| steps.iter().position(|step| (step.number, step.again) == wanted));
        Some(Place { agent, step })
    })
}

#[cfg(test)]
mod tests;
