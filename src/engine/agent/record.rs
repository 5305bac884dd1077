//! What is kept of a sub-agent's steps: enough to run them again, logged with the cell of its result.

use super::{Agent, RunError, Spec};
use crate::engine::clock;
use crate::engine::journal::{listed_tools, model_call};
use crate::engine::run::Run;
use crate::provider::Reply;
use crate::repl::{Role, ToolInfo};
use crate::store::payload::{AgentStep, StepEnded, SubAgent};

/// The record of a sub-agent that starts; `None` for the root, and where cells are not kept.
pub(super) fn begun(run: &Run, spec: &Spec) -> Option<SubAgent> {
    let kept = run.settings.cassette && spec.journal.strong_count() > 0;
    let parent = spec.id.parent.as_ref().filter(|_| kept)?;
    Some(SubAgent {
        run_id: spec.id.run_id.to_string(),
        parent: parent.to_string(),
        depth: spec.id.depth,
        leaf: spec.role(run.settings.limits.max_depth) == Role::Leaf,
        mcp: spec.mcp.is_some(),
        // JSON readers of other programs keep 53 bits.
        seed: Some(clock::random_bits() >> 11),
        ..SubAgent::default()
    })
}

impl Agent {
    /// Which tools it has.
    pub(super) fn keep_tools(&mut self, tools: &[ToolInfo]) {
        if let Some(record) = &mut self.record {
            record.tools = listed_tools(tools, &self.spec.host_tools);
        }
    }

    /// A reply, and the code that is about to run.
    pub(super) fn keep_start(&mut self, reply: &Reply, code: &str) {
        let Some(record) = &mut self.record else { return };
        let messages = self.talk.messages();
        let added = messages.get(self.logged..).unwrap_or_default();
        record.steps.push(AgentStep {
            call: model_call(&self.spec.id.run_id, &self.spec.model.name, added, reply),
            code: code.into(),
            ..AgentStep::default()
        });
        self.logged = messages.len() + 1;
    }

    /// What came of it.
    pub(super) fn keep_end(&mut self, ended: StepEnded, readings: Vec<u64>) {
        if let Some(step) = self.record.as_mut().and_then(|record| record.steps.last_mut()) {
            step.ended = Some(ended);
            step.readings = readings;
        }
    }

    /// The record of an agent that ended.
    pub(super) fn take_record(&mut self, error: Option<&RunError>) -> Option<SubAgent> {
        let guards = self.talk.take_guard_calls();
        let record = self.record.take()?;
        Some(SubAgent {
            guards,
            unanswered: self.unanswered.clone(),
            error: error.map(ToString::to_string),
            ..record
        })
    }
}
