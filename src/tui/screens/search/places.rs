//! Which step a transcript's line is. Looked up transcript by transcript, when the first hit in it arrives.

use super::hit::Spot;
use crate::model::{AgentId, BodyRef, LogId, Query, Session, Step};
use crate::tui::screens::{Place, QueryKey};
use std::collections::HashMap;

/// Steps of the transcripts that hits were found in so far.
#[derive(Debug, Default)]
pub(super) struct Places {
    logs: HashMap<LogId, HashMap<u64, (Spot, String)>>,
}

impl Places {
    /// The step whose line is at `at`, and its title; `None` for lines that are no step.
    pub(super) fn at(&mut self, session: &Session, at: BodyRef) -> Option<&(Spot, String)> {
        let steps = self.logs.entry(at.log).or_insert_with(|| steps_of(session, at.log));
        steps.get(&at.offset)
    }
}

/// The title of a step: `step 3`, `agent 4 step 1`.
pub(super) fn title_of_step(agent: AgentId, step: &Step) -> String {
    match agent.0 {
        0 => step.label(),
        n => format!("agent {} {}", u64::from(n) + 1, step.label()),
    }
}

/// Where a step is.
pub(super) fn spot_of_step(query: &Query, order: usize, agent: AgentId, index: usize) -> Spot {
    Spot::Run {
        query: QueryKey::of(query),
        order,
        place: Some(Place {
            agent,
            step: Some(index),
        }),
    }
}

/// The steps of one transcript, by the offset of their lines. A step that was logged twice has two.
fn steps_of(session: &Session, log: LogId) -> HashMap<u64, (Spot, String)> {
    let mut steps = HashMap::new();
    let queries = session.queries.iter().enumerate();
    for (order, query) in queries.filter(|(_, query)| query.run.log == Some(log)) {
        for (agent, id) in query.run.agents.iter().zip((0u32..).map(AgentId)) {
            for (index, step) in agent.steps.iter().enumerate() {
                let place = (spot_of_step(query, order, id, index), title_of_step(id, step));
                let lines = [step.body, step.twin].into_iter().flatten();
                steps.extend(lines.map(|line| (line.offset, place.clone())));
            }
        }
    }
    steps
}
