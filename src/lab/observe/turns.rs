//! One row a turn, and the trail of what was executed.

use crate::lab::reading::Reading;
use crate::lab::rows::{Place, decoded};
use crate::lab::{RecordedTurn, Recording};
use crate::model::{Cost, CostSum, Usage};
use crate::store::payload::{LeafCall, ModelCall, Outcome};
use crate::store::{EventRow, Fact, Kind, Select, Store, StoreError};

/// A turn, summed up.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnSummary {
    /// Its number, 0-based; grows.
    pub turn: u32,
    /// Its query.
    pub query: String,
    /// The root's model.
    pub model: String,
    /// When it began, unix milliseconds.
    pub start: i64,
    /// When it ended; `None` while it is pending.
    pub end: Option<i64>,
    /// How it ended; `None` while it is pending.
    pub outcome: Option<Outcome>,
    /// Why, where it has no FINAL.
    pub error: Option<String>,
    /// Tokens, sub-agents included.
    pub usage: Usage,
    /// Cost as reported, sub-agents included: of the root one a call, of sub-agents one each.
    pub cost: CostSum,
    /// The root's model calls.
    pub calls: u64,
    /// Sub-agents that it started.
    pub sub_agents: u64,
    /// Its completed steps.
    pub steps: u64,
    /// Those that raised.
    pub failed_steps: u64,
}

/// [`turns`] of a session's log, of which nothing else is read.
///
/// # Errors
///
/// Those of the store.
pub fn read_turns(store: &Store, session: &str) -> Result<Vec<TurnSummary>, StoreError> {
    Ok(turns(&Reading::TURNS.read(store, session)?))
}

/// One row a turn.
pub fn turns(recording: &Recording) -> Vec<TurnSummary> {
    recording.turns.iter().map(summary).collect()
}

fn summary(turn: &RecordedTurn) -> TurnSummary {
    let (mut usage, mut cost) = (Usage::default(), CostSum::default());
    let mut add = |used: Option<Usage>, paid: Cost| {
        let used = used.unwrap_or_default();
        usage.prompt = usage.prompt.saturating_add(used.prompt);
        usage.completion = usage.completion.saturating_add(used.completion);
        usage.total = usage.total.saturating_add(used.total);
        usage.cached = usage.cached.saturating_add(used.cached);
        usage.reasoning = usage.reasoning.saturating_add(used.reasoning);
        cost.add(paid);
    };
    let (calls, agents) = (root_calls(turn), sub_agents(turn));
    calls.iter().for_each(|call| add(call.usage, call.cost));
    agents.iter().for_each(|cell| add(cell.usage, cell.cost));
    let ended = turn.steps.iter().filter_map(|step| step.ended.as_ref());
    let failed = ended.filter(|ended| ended.exception.is_some()).count();
    TurnSummary {
        turn: turn.number,
        query: turn.query(),
        model: turn.started.model.clone(),
        start: turn.start,
        end: turn.end,
        outcome: turn.ended.as_ref().map(|ended| ended.outcome),
        error: turn.ended.as_ref().and_then(|ended| ended.error.clone()),
        calls: calls.len() as u64,
        sub_agents: agents.len() as u64,
        steps: turn.completed() as u64,
        failed_steps: failed as u64,
        usage,
        cost,
    }
}

/// The root's calls of its models, guard questions and those without a reply included.
pub(super) fn root_calls(turn: &RecordedTurn) -> Vec<&ModelCall> {
    let replies = turn.steps.iter().filter_map(|step| step.call.as_ref());
    replies.chain(&turn.guards).chain(&turn.unanswered).collect()
}

/// The cells of sub-agents that ran, at any depth: each holds what its own agent used.
pub(super) fn sub_agents(turn: &RecordedTurn) -> Vec<&LeafCall> {
    let steps = turn.steps.iter();
    let cells = steps.flat_map(|step| step.cells.iter().chain(&step.nested).chain(&step.stopped));
    cells.filter(|cell| cell.child_run.is_some()).collect()
}

/// Something that was executed.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEvent {
    /// Its turn, 0-based.
    pub turn: u32,
    /// Its step, 0-based; `None` for what is the turn's.
    pub step: Option<u32>,
    /// When, unix milliseconds.
    pub time: i64,
    /// What.
    pub fact: Fact,
}

/// The executed steps with their leaf calls, in order: the audit trail.
///
/// # Errors
///
/// Those of the store.
pub fn run_trace(store: &Store, session: &str) -> Result<Vec<RunEvent>, StoreError> {
    let kinds = [
        Kind::TurnStarted,
        Kind::StepStarted,
        Kind::LeafCall,
        Kind::StepEnded,
        Kind::Asked,
        Kind::Answered,
        Kind::Final,
        Kind::TurnEnded,
    ];
    let of_turns = |row: &EventRow<'_>| row.turn.zip(row.fact());
    let facts = decoded(store, session, &Select::all().only(&kinds), of_turns)?;
    let event = |(place, (turn, fact)): (Place, _)| RunEvent {
        turn,
        step: place.step,
        time: place.time,
        fact,
    };
    Ok(facts.map(event).collect())
}
