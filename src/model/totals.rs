//! Sums over the steps of agents, runs and sessions.

use super::timeline::worked;
use super::{Agent, CostSum, Run, Step, StepKind, Totals};
use crate::text::plural;

impl Totals {
    /// Adds a step; the probe is free and no step, and a reply that is still to come counts when it is there.
    pub fn add_step(&mut self, step: &Step) {
        if step.kind != StepKind::Reply {
            return;
        }
        self.steps = self.steps.saturating_add(1);
        self.failed = self.failed.saturating_add(u64::from(step.failed));
        self.usage.add(&step.usage);
        self.cost.add(step.cost);
        let is_given = step.usage_known && !step.usage.is_reported();
        self.given = self.given.saturating_add(u64::from(is_given));
        self.bare = self.bare.saturating_add(u64::from(step.body.is_none()));
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.steps = self.steps.saturating_add(other.steps);
        self.failed = self.failed.saturating_add(other.failed);
        self.usage.add(&other.usage);
        self.cost.merge(&other.cost);
        self.agents = self.agents.saturating_add(other.agents);
        self.given = self.given.saturating_add(other.given);
        self.bare = self.bare.saturating_add(other.bare);
    }

    /// Whether tokens were reported for what is summed; of nothing at all, and of steps that no model was asked for,
    /// zero is known.
    pub fn tokens_known(&self) -> bool {
        self.usage.is_reported() || (self.steps == self.given && !self.cost.is_unknown())
    }

    /// `245,622 tokens`, or `tokens unknown`.
    pub fn tokens(&self) -> String {
        match self.tokens_known() {
            true => plural(u128::from(self.usage.total), "token", "tokens"),
            false => "tokens unknown".into(),
        }
    }
}

impl Agent {
    /// The sum over its own steps, and calls of its own that gave none.
    pub fn own(&self) -> Totals {
        let mut own = Totals {
            agents: 1,
            ..Totals::default()
        };
        self.steps.iter().for_each(|step| own.add_step(step));
        for (usage, cost) in self.calls_without_step() {
            own.usage.add(usage);
            own.cost.add(*cost);
        }
        own
    }

    /// How many steps of its own that sum counts.
    pub fn own_steps(&self) -> u64 {
        let steps = self.steps.iter().filter(|step| step.kind == StepKind::Reply);
        steps.count() as u64
    }
}

impl Run {
    /// Steps of the query's own root: what every screen calls the steps of a run. Those of other roots and of
    /// sub-agents come beside them.
    pub fn root_steps(&self) -> u64 {
        self.root().map_or(0, Agent::own_steps)
    }

    /// Roots beside the query's own, and their steps: of other runs in its transcript, or of agents whose parents' lines
    /// were lost.
    pub fn other_roots(&self) -> (u64, u64) {
        let others = self.roots.iter().skip(1).filter_map(|id| self.agent(*id));
        others.fold((0, 0), |(roots, steps), root| (roots + 1, steps + root.own_steps()))
    }

    /// A run of which no line and no step is left did cost something, and so did one that was cut in its first call: one
    /// unknown, so that no sum calls it free. What is known of its calls stays.
    pub(super) fn doubt_unmeasured(&mut self, was_cut: bool) {
        if self.totals.steps == 0 {
            // What was doubted before may be known now.
            self.sum_up();
        }
        let is_empty = self.totals.steps == 0 && self.totals.cost == CostSum::default();
        if is_empty && (self.lines == 0 || (was_cut && self.complete)) {
            self.totals.cost = CostSum {
                unknown: 1,
                ..CostSum::default()
            };
        }
    }

    /// Fills in `subtree`, the run's totals, depth and span. Agents stand in order, parents before children,
    /// so one pass from the end sums the subtrees, at any depth.
    pub(super) fn sum_up(&mut self) {
        for agent in &mut self.agents {
            agent.subtree = agent.own();
        }
        for at in (0..self.agents.len()).rev() {
            let Some((subtree, parent)) = self.agents.get(at).map(|agent| (agent.subtree, agent.parent)) else {
                continue;
            };
            if let Some(parent) = parent.and_then(|id| self.agents.get_mut(id.0 as usize)) {
                parent.subtree.merge(&subtree);
            }
        }
        self.totals = Totals::default();
        let roots = self.agents.iter().filter(|agent| agent.parent.is_none());
        roots.for_each(|root| self.totals.merge(&root.subtree));
        self.max_depth = self
            .agents
            .iter()
            .map(|agent| agent.depth.max(agent.recorded_depth))
            .max()
            .unwrap_or(0);
        let first = self.agents.iter().filter_map(|agent| agent.started).min();
        let last = self.agents.iter().filter_map(|agent| agent.ended).max();
        self.span = first.zip(last);
        self.worked = worked(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_any_line_is_not_free() {
        let mut run = Run::default();
        run.doubt_unmeasured(false);
        run.doubt_unmeasured(false);
        let mut sum = Totals::default();
        sum.merge(&run.totals);
        assert_eq!(
            (sum.cost.to_string(), sum.tokens()),
            ("unknown".into(), "tokens unknown".into())
        );
        sum.usage.total = 1;
        assert_eq!(sum.tokens(), "1 token");
        assert_eq!(Totals::default().tokens(), "0 tokens");
    }
}
