//! Steps from their lines: one step that was logged twice is one, different steps of one number are all kept.

use std::collections::{HashMap, HashSet, VecDeque};

use super::findings::{Findings, quoted};
use super::{BodyRef, Cost, ProblemKind, Step, StepKind, StepLine, Time, Timings, Usage};

/// What makes two lines of one kind the same step: agent, number, code, kind, usage, cost.
type Signature = (usize, u64, u64, bool, Option<Usage>, Cost);

/// Merges lines into steps, over all agents of one transcript, in file order.
#[derive(Default)]
pub(super) struct StepMerger {
    /// The highest number of each agent so far. A higher one is a new step: nothing has to be looked up for it.
    highest: Vec<Option<u64>>,
    /// New steps by their place, not yet in `seen` and `halves`: nearly always nobody asks for them.
    recent: Vec<(Signature, usize)>,
    seen: HashSet<Signature>,
    /// Steps that have been seen as one kind of line only, by the kind they lack.
    halves: HashMap<(usize, u64, u64, bool), VecDeque<usize>>,
}

impl StepMerger {
    /// Takes one line of the agent with the given index, whose steps so far are `steps`.
    pub(super) fn add(
        &mut self,
        agent: usize,
        steps: &mut Vec<Step>,
        (at, time): (BodyRef, Option<Time>),
        number: u64,
        line: &StepLine,
    ) {
        let signature = (agent, number, line.code_digest, line.executed, line.usage, line.cost);
        if self.rises(agent, number) {
            self.recent.push((signature, steps.len()));
            steps.push(new_step(at, time, number, line));
            return;
        }
        self.look_up_recent();
        if !self.seen.insert(signature) {
            return;
        }
        let half = self.halves.get_mut(&(agent, number, line.code_digest, line.executed));
        if let Some(step) = half.and_then(VecDeque::pop_front).and_then(|at| steps.get_mut(at)) {
            absorb(step, at, time, line);
            return;
        }
        self.wait_for_other_half(&signature, steps.len());
        steps.push(new_step(at, time, number, line));
    }

    /// The number after all of its agent before; the first is 1, for 0 is the probe.
    pub(super) fn next(&self, agent: usize) -> u64 {
        let highest = self.highest.get(agent).copied().flatten();
        highest.unwrap_or(0).saturating_add(1)
    }

    /// Whether a number is higher than all of its agent before.
    fn rises(&mut self, agent: usize, number: u64) -> bool {
        if self.highest.len() <= agent {
            self.highest.resize(agent + 1, None);
        }
        let Some(highest) = self.highest.get_mut(agent) else {
            return false;
        };
        let rises = highest.is_none_or(|highest| number > highest);
        if rises {
            *highest = Some(number);
        }
        rises
    }

    /// A number came again: from here on the steps so far can be found.
    fn look_up_recent(&mut self) {
        for (signature, place) in std::mem::take(&mut self.recent) {
            self.wait_for_other_half(&signature, place);
            self.seen.insert(signature);
        }
    }

    fn wait_for_other_half(&mut self, signature: &Signature, place: usize) {
        let (agent, number, digest, executed, ..) = *signature;
        let lacking = (agent, number, digest, !executed);
        self.halves.entry(lacking).or_default().push_back(place);
    }
}

fn new_step(at: BodyRef, time: Option<Time>, number: u64, line: &StepLine) -> Step {
    let probe = number == 0;
    Step {
        number,
        kind: if probe { StepKind::Probe } else { StepKind::Reply },
        again: 0,
        failed: line.failed,
        executed: line.executed,
        usage: line.usage.unwrap_or_default().settled(),
        usage_known: line.usage.is_some_and(|usage| usage.is_reported()) || is_given(line),
        cost: if probe { Cost::Known(0) } else { line.cost },
        timings: line.timings,
        time,
        body: Some(at),
        twin: None,
        code: None,
        children: Vec::new(),
    }
}

/// No model was asked for it: it took no time, cost nothing, and used nothing.
fn is_given(line: &StepLine) -> bool {
    let Timings {
        call_start, call_end, ..
    } = line.timings;
    line.usage == Some(Usage::default())
        && line.cost == Cost::Known(0)
        && call_start.is_some()
        && call_start == call_end
}

/// The other line of a step: output from `execution_result`, everything else from whichever has it.
fn absorb(step: &mut Step, at: BodyRef, time: Option<Time>, line: &StepLine) {
    let reported = line.usage.filter(Usage::is_reported);
    if line.executed {
        step.twin = step.body.replace(at);
        (step.executed, step.failed) = (true, line.failed);
        step.time = time.or(step.time);
    } else {
        step.twin = Some(at);
        step.time = step.time.or(time);
    }
    if let Some(usage) = reported.filter(|_| line.executed || !step.usage_known) {
        (step.usage, step.usage_known) = (usage.settled(), true);
    }
    if line.cost != Cost::Unknown && (line.executed || step.cost == Cost::Unknown) && step.kind == StepKind::Reply {
        step.cost = line.cost;
    }
    let (own, other) = (&mut step.timings, &line.timings);
    own.call_start = own.call_start.or(other.call_start);
    own.call_end = own.call_end.or(other.call_end);
    own.exec_start = own.exec_start.or(other.exec_start);
    own.exec_end = own.exec_end.or(other.exec_end);
}

/// Orders an agent's steps by number and names the repetitions.
pub(super) fn number_steps(steps: &mut [Step], run_id: &str, findings: &mut Findings) {
    steps.sort_by_key(|step| step.number);
    let mut last = None;
    for step in steps {
        step.again = match last {
            Some((number, again)) if number == step.number => again + 1,
            _ => 0,
        };
        last = Some((step.number, step.again));
        if step.again > 0 {
            findings.add(ProblemKind::Structure, step.body, || {
                format!(
                    "{} of agent {} was logged with different content; both are shown and counted",
                    if step.number == 0 {
                        "the probe".into()
                    } else {
                        format!("step {}", step.number)
                    },
                    quoted(run_id)
                )
            });
        }
    }
}
