//! What a session's outcomes took.

use super::turns::{sub_agents, turns};
use crate::lab::reading::Reading;
use crate::lab::spoken::{Spoken, told};
use crate::lab::{RecordedTurn, Recording};
use crate::store::{Store, StoreError};

/// What a session's ended turns took, together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EfficiencySummary {
    /// Turns that ended.
    pub turns: u64,
    /// Those with FINAL.
    pub finals: u64,
    /// Steps.
    pub steps: u64,
    /// The root's model calls.
    pub model_calls: u64,
    /// Sub-agents.
    pub sub_agents: u64,
    /// Steps that raised.
    pub failed_steps: u64,
    /// Share of the prompt tokens that came from a cache, 0 to 1; `None` where none are known.
    pub cached_share: Option<f64>,
    /// Tokens for each FINAL; `None` without one.
    pub tokens_per_final: Option<f64>,
    /// Share of what the root was told that is the resume preamble, in characters, 0 to 1.
    pub preamble_share: Option<f64>,
}

/// [`efficiency`] of a session's log, of which nothing else is read.
///
/// # Errors
///
/// Those of the store.
pub fn read_efficiency(store: &Store, session: &str) -> Result<Option<EfficiencySummary>, StoreError> {
    let (recording, talks) = Reading::EFFICIENCY.read_spoken(store, session)?;
    Ok(summary(&recording, talks.into_values().map(told)))
}

/// The roll-up; `None` before the first turn has ended.
pub fn efficiency(recording: &Recording) -> Option<EfficiencySummary> {
    let calls = |turn: &RecordedTurn| told(turn.steps.iter().filter_map(|step| step.call.as_ref()).map(Spoken::of));
    summary(recording, recording.turns.iter().map(calls))
}

/// The roll-up of turns whose roots were told so many characters: of preamble, and in all.
fn summary(recording: &Recording, talks: impl Iterator<Item = (u64, u64)>) -> Option<EfficiencySummary> {
    let rows = turns(recording);
    let ended: Vec<_> = rows.iter().filter(|row| row.outcome.is_some()).collect();
    if ended.is_empty() {
        return None;
    }
    let sum = |of: fn(&super::TurnSummary) -> u64| ended.iter().map(|row| of(row)).fold(0, u64::saturating_add);
    let finals = recording.turns.iter().filter(|turn| turn.result.is_some()).count() as u64;
    let (prompt, tokens) = (
        sum(|row| row.usage.prompt),
        sum(|row| row.usage.prompt.saturating_add(row.usage.completion)),
    );
    let (preamble, told) = talks.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    Some(EfficiencySummary {
        turns: ended.len() as u64,
        finals,
        steps: sum(|row| row.steps),
        model_calls: sum(|row| row.calls),
        sub_agents: recording.turns.iter().map(|turn| sub_agents(turn).len() as u64).sum(),
        failed_steps: sum(|row| row.failed_steps),
        cached_share: share(sum(|row| row.usage.cached), prompt),
        tokens_per_final: (finals > 0).then(|| tokens as f64 / finals as f64),
        preamble_share: share(preamble, told),
    })
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
