//! Clocks that run backwards: an agent works step after step, and none can begin before the one before it. What was
//! recorded stays as it is, with a mark: which of the instants is wrong nobody knows.

use super::findings::{Findings, quoted};
use super::{Agent, BodyRef, ProblemKind, Step, Time};
use crate::text::{duration, plural};

/// How often, how far, and where first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Backwards {
    times: u64,
    most: u64,
    at: Option<BodyRef>,
}

impl Backwards {
    fn note(&mut self, before: Option<Time>, time: Option<Time>, at: Option<BodyRef>) {
        if let Some((before, time)) = before.zip(time).filter(|(before, time)| time < before) {
            self.times += 1;
            self.most = self.most.max(time.abs_diff(before));
            self.at = self.at.or(at);
        }
    }
}

/// When a step began. Of its lines that are there again, the first counts.
fn begun(step: &Step) -> Option<Time> {
    let timings = step.timings;
    timings.call_start.or(timings.exec_start).or(step.time)
}

/// Looks at an agent's steps in their order, and at its FINAL. `hold` gives the nearest instant that is
/// believed: those that are not are told elsewhere.
pub(super) fn look(
    agent: &mut Agent,
    answered: Option<(Time, BodyRef)>,
    hold: impl Fn(Time) -> Time,
    findings: &mut Findings,
) {
    let believed = |time: Time| (hold(time) == time).then_some(time);
    let (mut found, mut last) = (Backwards::default(), None);
    for step in agent.steps.iter().filter(|step| step.again == 0) {
        let begun = begun(step).and_then(believed);
        found.note(last, begun, step.body);
        last = begun.or(last);
    }
    if let Some((time, at)) = answered {
        found.note(last, believed(time), Some(at));
    }
    agent.backwards = found.times > 0;
    if agent.backwards {
        findings.add(ProblemKind::Clock, found.at, || told(&agent.run_id, &found));
    }
}

fn told(run_id: &str, found: &Backwards) -> String {
    let times = match found.times {
        1 => "once".into(),
        times => plural(u128::from(times), "time", "times"),
    };
    format!(
        "time runs backwards in agent {}: {times}, by {} at most; shown as it was recorded",
        quoted(run_id),
        duration(found.most)
    )
}
