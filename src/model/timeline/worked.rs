//! How long a run was worked on. From its first sign to its last, months can pass in which nobody did anything: it was
//! interrupted and resumed, it waited for an answer, or it begins with steps that another session made long before.

use super::{Agent, AgentId, Run, Time};

/// The longest pause of a run at work, milliseconds.
const PAUSE: Time = 60_000;

/// When something happened in a run: the recorded model calls and executions of all its agents, and the instants at
/// which agents were first and last seen. A run of which no call or execution is timed counts as one stretch: what
/// nothing is known of is not called idle.
pub fn activity(run: &Run) -> Vec<(Time, Time)> {
    run.span.map_or_else(Vec::new, |span| activity_of(&run.agents, span))
}

fn activity_of(agents: &[Agent], (first, last): (Time, Time)) -> Vec<(Time, Time)> {
    // An instant that is years away is a clock's mistake.
    let hold = |time: Time| time.min(last).max(first);
    let stretches = agents.iter().flat_map(stretches);
    let mut all: Vec<(Time, Time)> = stretches.map(|(from, to)| (hold(from), hold(to))).collect();
    if all.iter().all(|(from, to)| to <= from) {
        return vec![(first, last)];
    }
    let seen = agents.iter().flat_map(|agent| [agent.started, agent.ended]);
    all.extend(seen.flatten().map(|time| (hold(time), hold(time))));
    all
}

fn stretches(agent: &Agent) -> impl Iterator<Item = (Time, Time)> {
    let timings = agent.steps.iter().map(|step| step.timings);
    timings.flat_map(|timings| {
        // A call without a recorded end lasts until its code runs.
        let call = timings.call_start.zip(timings.call_end.or(timings.exec_start));
        [call, timings.exec_start.zip(timings.exec_end)].into_iter().flatten()
    })
}

/// Milliseconds of that, overlapping stretches once. A pause counts unless it is longer than a minute: between a call and
/// the next the program itself saves, waits for its turn, and tries again. A question that is answered while the run waits
/// for it is part of the execution that asked.
pub fn worked(run: &Run) -> u64 {
    without_pauses(activity(run))
}

/// The same of one of its agents: its own calls and executions, which hold what it waited for its sub-agents. That of the
/// only root is the run's.
pub fn worked_by(run: &Run, id: AgentId) -> Option<u64> {
    let agent = run.agent(id)?;
    if run.roots.as_slice() == [id] {
        return Some(run.worked);
    }
    Some(without_pauses(activity_of(
        std::slice::from_ref(agent),
        agent.started.zip(agent.ended)?,
    )))
}

fn without_pauses(mut stretches: Vec<(Time, Time)>) -> u64 {
    stretches.sort_unstable();
    let (mut sum, mut until) = (0_u64, None);
    for (from, to) in stretches {
        let before: Time = until.unwrap_or(from);
        let pause = from.saturating_sub(before);
        let counted = if pause > PAUSE { from } else { before };
        sum = sum.saturating_add(u64::try_from(to.saturating_sub(counted)).unwrap_or(0));
        until = Some(before.max(to));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::{Log, during, executed};

    const HOUR: i64 = 3_600_000;

    fn run(log: &Log) -> Run {
        log.session().queries[0].run.clone()
    }

    #[test]
    fn the_time_between_an_interruption_and_its_resumption_does_not_count() {
        let mut log = Log::new(0);
        log.start("r", None, 0)
            .step("r", during(1, "a", 10, 2_010), 2_011)
            .step(
                "r",
                during(2, "b", 260 * 24 * HOUR, 260 * 24 * HOUR + 1_000),
                260 * 24 * HOUR + 1_001,
            );
        let run = run(&log);
        assert_eq!(run.span, Some((0, 260 * 24 * HOUR + 1_001)));
        assert_eq!((worked(&run), run.worked), (3_011, 3_011));
    }

    #[test]
    fn short_pauses_and_agents_at_the_same_time_count_once() {
        let mut log = Log::new(0);
        log.start("r", None, 0)
            .step("r", during(1, "a", 0, 1_000), 1_000)
            .start("kid", Some("r"), 100)
            .step("kid", during(1, "b", 100, 900), 900)
            .step("r", during(2, "c", 1_050, 2_000), 2_000);
        assert_eq!(worked(&run(&log)), 2_000);
        log.step("r", during(3, "d", 62_000, 63_000), 63_000)
            .step("r", during(4, "e", 123_001, 124_000), 124_000);
        assert_eq!(worked(&run(&log)), 63_000 + 999, "a pause of a minute, and one of more");
    }

    #[test]
    fn an_agent_of_its_own_takes_what_it_worked() {
        let mut log = Log::new(0);
        log.start("r", None, 0)
            .start("kid", Some("r"), 600)
            .step("kid", during(1, "a", 600, 1_600), 1_600)
            .step("kid", during(2, "b", HOUR, HOUR + 1_000), HOUR + 1_000)
            .step("r", during(1, "c", 0, HOUR + 5_000), HOUR + 5_000);
        let run = run(&log);
        let by = |id: u32| worked_by(&run, AgentId(id));
        assert_eq!((by(0), by(1), by(2)), (Some(run.worked), Some(2_000), None));
        assert_eq!(run.worked, HOUR as u64 + 5_000);
    }

    #[test]
    fn where_nothing_is_timed_all_of_it_counts() {
        let mut log = Log::new(0);
        log.start("r", None, 0).step("r", executed(1, "a"), 5 * HOUR);
        assert_eq!(worked(&run(&log)), 5 * HOUR as u64);
    }
}
