//! The tree of a run as rows, as far as it is unfolded. Nothing recurses: a transcript may nest as deep as it likes,
//! and may hold a hundred thousand agents.

use crate::model::{AgentId, Run};
use crate::tui::screens::Place;
use std::collections::{HashMap, HashSet};

/// Runs with more rows than this begin with their sub-agents folded.
const UNFOLDED_ROWS: usize = 400;

/// A row of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui::screens::run) struct TreeRow {
    /// The agent or step.
    pub(in crate::tui::screens::run) place: Place,
    /// How deep it is indented.
    pub(in crate::tui::screens::run) depth: u32,
    /// Whether something is below it: folded, or shown.
    pub(in crate::tui::screens::run) open: Option<bool>,
}

/// What is folded: a rule for all rows, and the exceptions.
#[derive(Clone, Debug, Default)]
pub(super) struct Folds {
    /// Everything is unfolded, or just the roots.
    all_open: bool,
    toggled: HashSet<Place>,
}

impl Folds {
    /// How a run begins.
    pub(super) fn of(run: &Run) -> Self {
        let rows: usize = run.agents.iter().map(|agent| agent.steps.len() + 1).sum();
        Self {
            all_open: rows <= UNFOLDED_ROWS,
            toggled: HashSet::new(),
        }
    }

    pub(super) fn is_open(&self, place: Place, run: &Run) -> bool {
        let root = place.step.is_none() && run.agent(place.agent).is_some_and(|agent| agent.parent.is_none());
        (self.all_open || root) != self.toggled.contains(&place)
    }

    pub(super) fn toggle(&mut self, place: Place) {
        if !self.toggled.remove(&place) {
            self.toggled.insert(place);
        }
    }

    /// Unfolds a place, if it is folded.
    pub(super) fn open(&mut self, place: Place, run: &Run) {
        if !self.is_open(place, run) {
            self.toggle(place);
        }
    }

    /// Agents have other ids now: what was folded by hand is forgotten.
    pub(super) fn forget(&mut self) {
        self.toggled.clear();
    }
}

/// Sub-agents whose parent has no step they could hang under, by parent.
#[derive(Clone, Debug, Default)]
pub(super) struct Unplaced(HashMap<AgentId, Vec<AgentId>>);

impl Unplaced {
    pub(super) fn of(run: &Run) -> Self {
        let mut found: HashMap<AgentId, Vec<AgentId>> = HashMap::new();
        for (id, agent) in (0..).map(AgentId).zip(&run.agents) {
            if let (Some(parent), None) = (agent.parent, agent.parent_step) {
                found.entry(parent).or_default().push(id);
            }
        }
        Self(found)
    }

    fn under(&self, agent: AgentId) -> &[AgentId] {
        self.0.get(&agent).map_or(&[], Vec::as_slice)
    }
}

/// What hangs under a place: steps under an agent, sub-agents under a step.
pub(super) fn children<'a>(
    run: &'a Run,
    unplaced: &'a Unplaced,
    place: Place,
) -> impl DoubleEndedIterator<Item = Place> + 'a {
    let agent = run.agent(place.agent);
    let (steps, agents) = match place.step {
        None => (agent.map_or(0, |agent| agent.steps.len()), unplaced.under(place.agent)),
        Some(step) => (
            0,
            agent
                .and_then(|agent| agent.steps.get(step))
                .map_or(&[][..], |step| &step.children),
        ),
    };
    let steps = (0..steps).map(move |step| Place {
        agent: place.agent,
        step: Some(step),
    });
    steps.chain(agents.iter().map(|agent| Place {
        agent: *agent,
        step: None,
    }))
}

/// The rows that are unfolded.
pub(super) fn flatten(run: &Run, unplaced: &Unplaced, folds: &Folds) -> Vec<TreeRow> {
    let root = |agent: &AgentId| {
        (
            Place {
                agent: *agent,
                step: None,
            },
            0,
        )
    };
    let mut stack: Vec<(Place, u32)> = run.roots.iter().rev().map(root).collect();
    let mut rows = Vec::new();
    while let Some((place, depth)) = stack.pop() {
        let has_children = children(run, unplaced, place).next().is_some();
        let open = has_children.then(|| folds.is_open(place, run));
        rows.push(TreeRow { place, depth, open });
        if open == Some(true) {
            stack.extend(
                children(run, unplaced, place)
                    .rev()
                    .map(|child| (child, depth.saturating_add(1))),
            );
        }
    }
    rows
}

/// What a place hangs under; `None` for roots.
pub(super) fn parent(run: &Run, place: Place) -> Option<Place> {
    if place.step.is_some() {
        return Some(Place { step: None, ..place });
    }
    let agent = run.agent(place.agent)?;
    Some(Place {
        agent: agent.parent?,
        step: agent.parent_step,
    })
}
