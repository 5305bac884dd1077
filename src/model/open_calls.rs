//! Calls that are paid and stand in no transcript: that of a step in flight, or of one that was cut. A transcript gets a
//! step's line when the step has ended; the event log has the call as soon as it was answered.

use super::gather::blank_agent;
use super::{Agent, AgentId, Cost, Label, Outcome, Query, Run, Session, StepKind, Usage};

/// A call of a root that the event log has, in a run that is not known to have ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The root's id.
    pub run_id: String,
    /// Its step, counted from 1; `None` where no step's line will have it.
    pub step: Option<u64>,
    /// Tokens; all zero where none were reported.
    pub usage: Usage,
    /// Cost.
    pub cost: Cost,
    /// How it is known.
    pub known: Evidence,
}

/// How a call is known that stands in no transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The event log has it.
    Recorded,
    /// If the run was cut, then maybe in the middle of a call of its root.
    IfCut,
    /// If the run was cut, then each of its sub-agents that has no last line maybe in the middle of a call.
    IfCutInSubAgents,
}

impl Session {
    /// Has the open calls count in their runs, as far as no step does. After everything else: a run that is alive here has
    /// steps of its own.
    pub(super) fn count_open_calls(&mut self) {
        for query in self.queries.iter_mut().filter(|query| !query.label.is_completed()) {
            let had = query.run.forget_open_calls();
            let was_cut = query.outcome == Outcome::Interrupted;
            let counts = |call: &&OpenCall| (call.known == Evidence::Recorded || was_cut) && is_of(query, call);
            let calls = self.raw.open_calls.iter().filter(counts);
            let calls: Vec<OpenCall> = calls.cloned().collect();
            let took = calls.iter().filter(|call| query.run.take_open_call(call)).count();
            if had || took > 0 {
                query.run.sum_up();
            }
        }
    }
}

/// A pending query of which no file says more than its text is that of the run that nobody else is.
fn is_of(query: &Query, call: &OpenCall) -> bool {
    let root = query.run.root().map(|root| root.run_id.as_str());
    match root.filter(|id| !id.is_empty()).or(query.run_id.as_deref()) {
        Some(id) => id == call.run_id,
        None => query.label == Label::Pending,
    }
}

impl Run {
    fn forget_open_calls(&mut self) -> bool {
        let mut any = false;
        for agent in &mut self.agents {
            any |= !std::mem::take(&mut agent.open_calls).is_empty();
        }
        any
    }

    /// Counts a call, unless its step is there.
    fn take_open_call(&mut self, call: &OpenCall) -> bool {
        if call.known == Evidence::IfCutInSubAgents {
            return self.take_cut_sub_agents(call);
        }
        if self.agents.is_empty() {
            self.agents.push(blank_agent(&call.run_id));
            self.roots.push(AgentId(0));
        }
        let root = self.roots.first().copied();
        let Some(root) = root.and_then(|id| self.agents.get_mut(id.0 as usize)) else {
            return false;
        };
        let is_its = |number: u64, kind: StepKind| Some(number) == call.step && kind == StepKind::Reply;
        if root.steps.iter().any(|step| is_its(step.number, step.kind)) {
            return false;
        }
        root.open_calls.push((call.usage, call.cost));
        true
    }

    fn take_cut_sub_agents(&mut self, call: &OpenCall) -> bool {
        let mut any = false;
        // One that had not come to its probe had asked nothing.
        let is_cut = |agent: &&mut Agent| agent.parent.is_some() && agent.end.is_none() && agent.probe.is_some();
        for agent in self.agents.iter_mut().filter(is_cut) {
            agent.open_calls.push((call.usage, call.cost));
            any = true;
        }
        any
    }
}
