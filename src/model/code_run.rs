//! A run whose transcript is missing, as far as `code_log` knows it.

use super::gather::blank_agent;
use super::{AgentId, CodeEntry, Cost, Run, Step, StepKind, Timings, Usage};

/// One root agent with the steps of `code`: no output, no usage, cost unknown.
pub(super) fn run_of_code(run_id: Option<&str>, code: &[CodeEntry]) -> Run {
    if code.is_empty() {
        return Run {
            complete: true,
            ..Run::default()
        };
    }
    let mut agent = blank_agent(run_id.unwrap_or_default());
    agent.steps = code.iter().map(step_of).collect();
    let mut run = Run {
        agents: vec![agent],
        roots: vec![AgentId(0)],
        complete: true,
        ..Run::default()
    };
    run.sum_up();
    run
}

fn step_of(entry: &CodeEntry) -> Step {
    Step {
        number: entry.step,
        kind: if entry.step == 0 {
            StepKind::Probe
        } else {
            StepKind::Reply
        },
        again: 0,
        failed: !entry.ok,
        executed: false,
        usage: Usage::default(),
        usage_known: false,
        cost: Cost::Unknown,
        timings: Timings::default(),
        time: None,
        body: None,
        twin: None,
        code: Some(entry.code.clone()),
        children: Vec::new(),
    }
}
