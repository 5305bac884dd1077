//! What a query used before this process took it up: it counts to its limits, whichever process asked.

use crate::engine::budget::Spent;
use crate::model::{Cost, Usage};
use crate::store::{Fact, Select, Store, StoreError, StoredEvent};

/// What the log of a turn has, from its step `from` (0-based) on: what a branch has from its parent, that one paid for.
pub(in crate::engine) fn spent_before(store: &Store, session: &str, turn: u32, from: u64) -> Result<Spent, StoreError> {
    let events = store.events.read_all(session, &Select::turn(turn))?.events;
    let of_branch = |event: &&StoredEvent| event.step.is_none_or(|step| u64::from(step) >= from);
    Ok(events.iter().filter(of_branch).fold(Spent::default(), with))
}

fn with(mut spent: Spent, event: &StoredEvent) -> Spent {
    match &event.fact {
        // What a script replied was no call.
        Fact::ModelCall(call) if call.usage.is_some() || call.cost != Cost::Known(0) => {
            spent.calls += 1;
            add(&mut spent, call.usage, call.cost);
        }
        // Of each sub-agent its own calls, at whatever depth: there are as many as it has steps and guard questions.
        Fact::LeafCall(cell) if cell.child_run.is_some() => add(&mut spent, cell.usage, cell.cost),
        Fact::SubAgent(agent) => spent.calls += (agent.steps.len() + agent.guards.len()) as u64,
        _ => {}
    }
    spent
}

fn add(spent: &mut Spent, usage: Option<Usage>, cost: Cost) {
    let used = usage.unwrap_or_default();
    spent.prompt_tokens = spent.prompt_tokens.saturating_add(used.prompt);
    spent.completion_tokens = spent.completion_tokens.saturating_add(used.completion);
    spent.unknown_tokens += u64::from(usage.is_none());
    spent.nano = spent.nano.saturating_add(i128::from(cost.nano()));
    spent.unknown_costs += u64::from(cost.whole().is_none());
}
