//! Calls that are paid and stand in no transcript: that of a step in flight, or of one that was cut. A transcript gets a
//! step's line when the step has ended; the event log has the call as soon as it was answered.

use super::gather::blank_agent;
use super::{AgentId, Cost, Label, Query, Run, Session, StepKind, Usage};

/// A call of a root that the event log has, in a run that is not known to have ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The root's id.
    pub run_id: String,
    /// Its step, counted from 1.
    pub step: u64,
    /// Tokens; all zero where none were reported.
    pub usage: Usage,
    /// Cost.
    pub cost: Cost,
}

impl Session {
    /// Has the open calls count in their runs, as far as no step does. After everything else: a run that is alive here has
    /// steps of its own.
    pub(super) fn count_open_calls(&mut self) {
        for query in self.queries.iter_mut().filter(|query| !query.label.is_completed()) {
            let had = query.run.forget_open_calls();
            let calls = self.raw.open_calls.iter().filter(|call| is_of(query, call));
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
        if self.agents.is_empty() {
            self.agents.push(blank_agent(&call.run_id));
            self.roots.push(AgentId(0));
        }
        let root = self.roots.first().copied();
        let Some(root) = root.and_then(|id| self.agents.get_mut(id.0 as usize)) else {
            return false;
        };
        let is_its = |number: u64, kind: StepKind| number == call.step && kind == StepKind::Reply;
        if root.steps.iter().any(|step| is_its(step.number, step.kind)) {
            return false;
        }
        root.open_calls.push((call.usage, call.cost));
        true
    }
}
