//! From a problem to the place in a run that it is about.

use crate::model::{AgentId, BodyRef, LogId, Problem, Query, Session, Step};
use crate::tui::screens::{Place, QueryKey, Route};

/// The step whose line has the problem, else the run whose transcript has it; `None` when it is about neither.
pub(super) fn route_to(problem: &Problem, session: &Session) -> Option<Route> {
    let log = problem.log?;
    let queries = || session.queries.iter().filter(|query| query.run.log == Some(log));
    let step = queries().find_map(|query| Some((query, step_at(query, log, problem.line?)?)));
    let (query, at) = match step {
        Some((query, place)) => (query, Some(place)),
        None => (queries().next()?, None),
    };
    Some(Route::Run {
        query: QueryKey::of(query),
        at,
    })
}

fn step_at(query: &Query, log: LogId, line: u64) -> Option<Place> {
    let here = |at: &BodyRef| at.log == log && at.line == line;
    let holds = |step: &Step| step.body.iter().chain(&step.twin).any(here);
    (0..).zip(&query.run.agents).find_map(|(id, agent)| {
        let step = agent.steps.iter().position(holds)?;
        Some(Place {
            agent: AgentId(id),
            step: Some(step),
        })
    })
}
