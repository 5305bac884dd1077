//! The order in which a run's agents and steps are told: each agent whole, its sub-agents after the step that
//! started them. Iterative: a run may nest as deep as it likes.

use crate::model::{AgentId, Run};

/// One thing to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    /// An agent begins, at this depth below its root.
    Enter(AgentId, usize),
    /// A step, by its index into the agent's steps.
    Step(AgentId, usize),
    /// The agent entered last and not left yet is told.
    Leave,
}

/// Every agent and step of `run`, agent after agent.
pub(super) fn flat(run: &Run) -> impl Iterator<Item = Visit> + '_ {
    (0u32..).zip(&run.agents).flat_map(|(id, agent)| {
        let enter = std::iter::once(Visit::Enter(AgentId(id), agent.depth as usize));
        let steps = (0..agent.steps.len()).map(move |step| Visit::Step(AgentId(id), step));
        enter.chain(steps).chain(std::iter::once(Visit::Leave))
    })
}

/// A pending part of the walk.
enum Pending {
    Agent(AgentId, usize),
    Step(AgentId, usize, usize),
    Leave,
}

/// Every agent and step of `run`, each exactly once, sub-agents within the step that started them.
pub(super) fn nested(run: &Run) -> impl Iterator<Item = Visit> + '_ {
    let mut walk = Walk::new(run);
    std::iter::from_fn(move || walk.next())
}

struct Walk<'a> {
    run: &'a Run,
    stack: Vec<Pending>,
    seen: Vec<bool>,
    /// Sub-agents that no step claims, by parent.
    unplaced: Vec<Vec<AgentId>>,
    /// The next agent to look at once the stack is empty, for those that nothing leads to.
    rest: u32,
}

impl<'a> Walk<'a> {
    fn new(run: &'a Run) -> Self {
        let mut unplaced = vec![Vec::new(); run.agents.len()];
        for (agent, id) in run.agents.iter().zip(0u32..) {
            let parent = agent.parent.filter(|_| agent.parent_step.is_none());
            if let Some(children) = parent.and_then(|parent| unplaced.get_mut(parent.0 as usize)) {
                children.push(AgentId(id));
            }
        }
        let roots = run.roots.iter().rev();
        Self {
            run,
            stack: roots.map(|root| Pending::Agent(*root, 0)).collect(),
            seen: vec![false; run.agents.len()],
            unplaced,
            rest: 0,
        }
    }

    fn next(&mut self) -> Option<Visit> {
        loop {
            match self.stack.pop() {
                Some(Pending::Agent(id, depth)) => {
                    if self.enter(id, depth) {
                        return Some(Visit::Enter(id, depth));
                    }
                }
                Some(Pending::Step(id, step, depth)) => {
                    self.push_children(id, step, depth);
                    return Some(Visit::Step(id, step));
                }
                Some(Pending::Leave) => return Some(Visit::Leave),
                None => {
                    let next = AgentId(self.rest);
                    if self.rest as usize >= self.run.agents.len() {
                        return None;
                    }
                    self.rest += 1;
                    self.stack.push(Pending::Agent(next, 0));
                }
            }
        }
    }

    /// Queues an agent's parts; `false` when it was told already, or is none.
    fn enter(&mut self, id: AgentId, depth: usize) -> bool {
        let (Some(agent), Some(seen)) = (self.run.agents.get(id.0 as usize), self.seen.get_mut(id.0 as usize)) else {
            return false;
        };
        if std::mem::replace(seen, true) {
            return false;
        }
        self.stack.push(Pending::Leave);
        let loose = self.unplaced.get(id.0 as usize).into_iter().flatten().rev();
        self.stack.extend(loose.map(|child| Pending::Agent(*child, depth + 1)));
        let steps = (0..agent.steps.len()).rev();
        self.stack.extend(steps.map(|step| Pending::Step(id, step, depth)));
        true
    }

    fn push_children(&mut self, id: AgentId, step: usize, depth: usize) {
        let children = self
            .run
            .agents
            .get(id.0 as usize)
            .and_then(|agent| agent.steps.get(step));
        let children = children.into_iter().flat_map(|step| step.children.iter().rev());
        self.stack
            .extend(children.map(|child| Pending::Agent(*child, depth + 1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Agent, Final, Placement, Step, StepKind, Timings, Totals};

    fn agent(parent: Option<u32>) -> Agent {
        Agent {
            run_id: "r".into(),
            parent: parent.map(AgentId),
            parent_run_id: None,
            parent_step: None,
            placement: Placement::Root,
            depth: 0,
            recorded_depth: 0,
            steps: Vec::new(),
            started: None,
            ended: None,
            result: Final::Unset,
            end: None,
            task: String::new(),
            probe: None,
            orphan: false,
            backwards: false,
            open_calls: Vec::new(),
            subtree: Totals::default(),
        }
    }

    fn step(number: u64, children: &[u32]) -> Step {
        Step {
            number,
            kind: StepKind::Reply,
            again: 0,
            failed: false,
            executed: true,
            usage: Default::default(),
            usage_known: false,
            cost: Default::default(),
            timings: Timings::default(),
            time: None,
            body: None,
            twin: None,
            code: None,
            children: children.iter().copied().map(AgentId).collect(),
        }
    }

    #[test]
    fn sub_agents_follow_the_step_that_started_them() {
        let mut root = agent(None);
        root.steps = vec![step(1, &[1]), step(2, &[])];
        let run = Run {
            agents: vec![root, agent(Some(0))],
            roots: vec![AgentId(0)],
            ..Run::default()
        };
        let told: Vec<_> = nested(&run).collect();
        let (root, child) = (AgentId(0), AgentId(1));
        let expected = [
            Visit::Enter(root, 0),
            Visit::Step(root, 0),
            Visit::Enter(child, 1),
            Visit::Leave,
            Visit::Step(root, 1),
            Visit::Leave,
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn every_agent_is_told_once_whatever_the_links_say() {
        let mut first = agent(Some(1));
        first.steps = vec![step(1, &[1, 1, 9])];
        let mut second = agent(Some(0));
        second.steps = vec![step(1, &[0])];
        let run = Run {
            agents: vec![first, second, agent(Some(7))],
            ..Run::default()
        };
        let mut entered: Vec<_> = nested(&run).filter(|v| matches!(v, Visit::Enter(..))).collect();
        assert_eq!(entered.len(), 3);
        entered.dedup();
        assert_eq!(entered.len(), 3);
    }

    #[test]
    fn a_chain_of_100_000_agents_does_not_overflow() {
        let mut agents: Vec<_> = (0..100_000u32).map(|n| agent(n.checked_sub(1))).collect();
        for (n, agent) in agents.iter_mut().enumerate() {
            agent.steps = vec![step(1, &[n as u32 + 1])];
        }
        let run = Run {
            agents,
            roots: vec![AgentId(0)],
            ..Run::default()
        };
        assert_eq!(nested(&run).count(), 300_000);
    }
}
