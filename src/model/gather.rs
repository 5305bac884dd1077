//! From a transcript's lines to its agents, before they are linked to a tree.

use super::clock;
use super::findings::{Findings, quoted};
use super::lines::{LogLines, StoredKind, StoredLine};
use super::step_merge::{StepMerger, number_steps};
use super::window::{Window, instants_of};
use super::{Agent, AgentEnd, BodyRef, Final, Placement, ProblemKind, StepLine, Time, Timings, Totals};
use crate::text::date_time;

/// An agent on the way into the tree.
pub(super) struct Draft {
    pub(super) agent: Agent,
    /// Its interned id.
    pub(super) name: u32,
    /// Its parent's interned id, as first recorded.
    pub(super) parent: Option<u32>,
    /// Offset of its first line.
    pub(super) first_offset: u64,
    /// Earliest time at which a line of it was written.
    pub(super) first_written: Option<Time>,
    /// When it said its FINAL first.
    answered: Option<(Time, BodyRef)>,
    /// Instants that are believed.
    window: Window,
}

/// Collects the agents of a transcript in the order of their first lines.
pub(super) fn gather(log: &LogLines, findings: &mut Findings) -> Vec<Draft> {
    let mut by_name: Vec<Option<usize>> = vec![None; log.names()];
    let mut drafts: Vec<Draft> = Vec::with_capacity(log.names());
    let mut merger = StepMerger::default();
    let window = Window::of(log.lines());
    for line in log.lines() {
        if let StoredKind::Unknown(event) = &line.kind {
            findings.add(ProblemKind::UnknownEvent, Some(line.at), || {
                format!("event of an unknown type {}; skipped", quoted(event))
            });
            continue;
        }
        let Some(slot) = by_name.get_mut(line.agent as usize) else {
            continue;
        };
        let index = *slot.get_or_insert_with(|| {
            drafts.push(Draft::new(log.name(line.agent), line, window));
            drafts.len() - 1
        });
        if let Some(draft) = drafts.get_mut(index) {
            draft.take(index, line, log, &mut merger, findings);
        }
    }
    for draft in &mut drafts {
        draft.agent.steps.shrink_to_fit();
        number_steps(&mut draft.agent.steps, &draft.agent.run_id, findings);
        clock::look(&mut draft.agent, draft.answered, |time| window.hold(time), findings);
    }
    drafts
}

impl Draft {
    fn new(run_id: &str, line: &StoredLine, window: Window) -> Self {
        Self {
            // Of very many agents most take a single step: room for four each would be most of a run's memory.
            agent: Agent {
                steps: Vec::with_capacity(1),
                ..blank_agent(run_id)
            },
            name: line.agent,
            parent: None,
            first_offset: line.at.offset,
            first_written: None,
            answered: None,
            window,
        }
    }

    fn take(
        &mut self,
        index: usize,
        line: &StoredLine,
        log: &LogLines,
        merger: &mut StepMerger,
        findings: &mut Findings,
    ) {
        self.take_parent(line, log, findings);
        let written = line.time.map(|time| self.see(time, line, findings));
        self.first_written = [self.first_written, written].into_iter().flatten().min();
        self.agent.recorded_depth = self.agent.recorded_depth.max(line.depth);
        match &line.kind {
            StoredKind::Start | StoredKind::Unknown(_) => {}
            StoredKind::End(None) => self.take_end(&AgentEnd::default()),
            StoredKind::End(Some(end)) => self.take_end(end),
            StoredKind::Final(value) => self.take_final(value, line, findings),
            StoredKind::Step(step) => {
                let number = step
                    .number
                    .unwrap_or_else(|| self.number_next(merger.next(index), step, line, findings));
                self.take_step(number, step, line, findings);
                merger.add(index, &mut self.agent.steps, (line.at, line.time), number, step);
            }
        }
    }

    fn take_parent(&mut self, line: &StoredLine, log: &LogLines, findings: &mut Findings) {
        match (self.parent, line.parent) {
            (None, Some(parent)) => self.parent = Some(parent),
            (Some(known), Some(parent)) if known != parent => {
                findings.add(ProblemKind::Structure, Some(line.at), || {
                    format!(
                        "agent {} names another parent {} than before; the first, {}, is kept",
                        quoted(&self.agent.run_id),
                        quoted(log.name(parent)),
                        quoted(log.name(known))
                    )
                });
            }
            _ => {}
        }
    }

    /// The number of a step that was recorded without one: that of the step before, of which it may be the other line,
    /// else `next`.
    fn number_next(&self, next: u64, step: &StepLine, line: &StoredLine, findings: &mut Findings) -> u64 {
        let half = self.agent.steps.last().filter(|last| step.executed && !last.executed);
        let number = half.map_or(next, |last| last.number);
        findings.add(ProblemKind::Number, Some(line.at), || {
            format!("a step without a number; it is taken for step {number}")
        });
        number
    }

    fn take_step(&mut self, number: u64, step: &StepLine, line: &StoredLine, findings: &mut Findings) {
        let Timings {
            call_start,
            call_end,
            exec_start,
            exec_end,
        } = step.timings;
        for time in instants_of(step.timings) {
            self.see(time, line, findings);
        }
        if number == 0 && self.agent.probe.is_none() {
            self.agent.probe = Some(line.at);
            self.agent.task = step.task.clone().unwrap_or_default();
        }
        let backwards = |from: Option<Time>, to: Option<Time>| from.zip(to).is_some_and(|(from, to)| to < from);
        if backwards(call_start, call_end) || backwards(exec_start, exec_end) {
            findings.add(ProblemKind::Clock, Some(line.at), || {
                format!("step {number} ends before it starts; its duration is shown as 0")
            });
        }
    }

    fn take_end(&mut self, end: &AgentEnd) {
        let known = self.agent.end.get_or_insert_with(AgentEnd::default);
        known.outcome = end.outcome.clone().or(known.outcome.take());
        known.error = end.error.clone().or(known.error.take());
        known.limit = end.limit.clone().or(known.limit.take());
        known.unanswered.extend_from_slice(&end.unanswered);
    }

    fn take_final(&mut self, value: &Final, line: &StoredLine, findings: &mut Findings) {
        if self.agent.result != Final::Unset && self.agent.result != *value {
            findings.add(ProblemKind::Structure, Some(line.at), || {
                format!(
                    "agent {} has more than one FINAL; the last is shown",
                    quoted(&self.agent.run_id)
                )
            });
        }
        self.agent.result = value.clone();
        self.answered = self.answered.or(line.time.map(|time| (time, line.at)));
    }

    /// Widens the agent's span to an instant, or to the edge of what is believed; returns that.
    fn see(&mut self, time: Time, line: &StoredLine, findings: &mut Findings) -> Time {
        let held = self.window.hold(time);
        if held != time {
            findings.add(ProblemKind::Clock, Some(line.at), || {
                let (far, held) = (named(time), named(held));
                format!("the instant {far} is years away from the others; it is taken for {held}")
            });
        }
        let agent = &mut self.agent;
        agent.started = Some(agent.started.map_or(held, |started| started.min(held)));
        agent.ended = Some(agent.ended.map_or(held, |ended| ended.max(held)));
        held
    }
}

/// An instant in words; far beyond all calendars, as it was recorded.
fn named(time: Time) -> String {
    match date_time(time, true).as_str() {
        "?" => format!("{time} ms after 1970"),
        date => format!("{date} UTC"),
    }
}

/// An agent of which nothing but its id is known.
pub(super) fn blank_agent(run_id: &str) -> Agent {
    Agent {
        run_id: run_id.to_owned(),
        parent: None,
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
