//! What is known of the run that is forked: its name, its steps, what the part that is replaced cost.

use crate::model::{Agent, CostSum, Query, Run, StepKind};

/// Facts of a fork before a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The run's name.
    pub(super) label: String,
    /// The root of the run.
    pub(super) run_id: Option<String>,
    /// Its steps.
    pub(super) steps: u64,
    /// What the step and everything after it cost, sub-agents included.
    pub(super) replaced: CostSum,
    /// The run goes on.
    pub(super) alive: bool,
}

impl Facts {
    /// Of a query and a step, as screens number it.
    pub(super) fn of(query: &Query, step: u64) -> Self {
        let root = query.run.root();
        let replies = |root: &Agent| root.steps.iter().filter(|step| step.kind == StepKind::Reply).count() as u64;
        Self {
            label: query.label.to_string(),
            run_id: root.map(|root| root.run_id.clone()),
            steps: root.map_or(0, replies),
            replaced: root.map_or_else(CostSum::default, |root| cost_from(&query.run, root, step)),
            alive: root.is_some_and(|root| root.steps.iter().any(|step| step.kind == StepKind::InFlight)),
        }
    }

    /// Why the run cannot be forked at this step, where the model knows.
    pub(super) fn refusal(&self, step: u64) -> Option<&'static str> {
        if self.run_id.is_none() {
            return Some("this run has no transcript: nothing of it can be run again");
        }
        if step == 0 {
            return Some("what comes before the first step is the query itself: choose a step");
        }
        self.alive.then_some("this run goes on: fork it when it is done")
    }
}

fn cost_from(run: &Run, root: &Agent, from: u64) -> CostSum {
    let mut sum = CostSum::default();
    let replaced = root
        .steps
        .iter()
        .filter(|step| step.kind == StepKind::Reply && step.number >= from);
    for step in replaced {
        sum.add(step.cost);
        let children = step.children.iter().filter_map(|child| run.agent(*child));
        children.for_each(|child| sum.merge(&child.subtree.cost));
    }
    sum
}
