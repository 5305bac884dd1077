//! What a session's outcomes took.

use super::turns::{sub_agents, turns};
use crate::lab::Recording;
use crate::lab::reading::Reading;
use crate::store::{Store, StoreError};

/// What stands in the first message between the preamble and the probe.
const PROBE_HEADING: &str = "A first step has run already";

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
    Ok(efficiency(&Reading::EFFICIENCY.read(store, session)?))
}

/// The roll-up; `None` before the first turn has ended.
pub fn efficiency(recording: &Recording) -> Option<EfficiencySummary> {
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
    let (preamble, told) = recording
        .turns
        .iter()
        .map(told)
        .fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
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

/// Characters of a turn's preamble, and of everything that its root was told: each call is told all before it.
fn told(turn: &crate::lab::RecordedTurn) -> (u64, u64) {
    let (mut preamble, mut all, mut so_far) = (0, 0, 0);
    let mut own = 0;
    for call in turn.steps.iter().filter_map(|step| step.call.as_ref()) {
        if let (0, Some(first)) = (so_far, call.added.first()) {
            own = first.text.find(PROBE_HEADING).unwrap_or_default() as u64;
        }
        so_far += call.added.iter().map(|message| message.text.len() as u64).sum::<u64>();
        (preamble, all) = (preamble + own, all + so_far);
        so_far += call.reply.len() as u64;
    }
    (preamble, all)
}
