//! What each agent of a query used, and how much of it stands in no line of the transcript yet. Whatever ends an agent,
//! its last line says the rest: no call that was sent is in no record.

use crate::model::{Cost, Usage as TokenUsage};
use crate::provider::Usage;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What one agent used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    sum: Usage,
    /// `None` before the first call.
    cost: Option<Cost>,
}

impl Used {
    fn add(&mut self, used: &Usage) {
        self.sum.prompt_tokens = self.sum.prompt_tokens.saturating_add(used.prompt_tokens);
        self.sum.completion_tokens = self.sum.completion_tokens.saturating_add(used.completion_tokens);
        self.sum.total_tokens = self.sum.total_tokens.saturating_add(used.total_tokens);
        self.sum.cached_tokens = self.sum.cached_tokens.saturating_add(used.cached_tokens);
        self.sum.reasoning_tokens = self.sum.reasoning_tokens.saturating_add(used.reasoning_tokens);
        self.cost = Some(self.cost.map_or(used.cost(), |cost| cost.plus(used.cost())));
        self.sum.reported |= used.reported;
    }

    /// Tokens, where any call reported them.
    pub(super) fn usage(&self) -> Option<TokenUsage> {
        self.sum.tokens()
    }

    /// Known as a whole only if that of every call is.
    pub(super) fn cost(&self) -> Cost {
        self.cost.unwrap_or(Cost::Known(0))
    }
}

/// What a call is for: a step's reply, or a question about a delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Reply,
    Guard,
}

/// One agent's.
#[derive(Debug, Default)]
struct Account {
    used: Used,
    /// Of replies whose step has no line.
    reply: Option<Usage>,
    /// Of questions about delegations that no line has.
    guard: Option<Usage>,
    /// Of such questions that the step asked in an earlier attempt: its line has them, and no other.
    before: Option<Usage>,
    /// Of calls that were cut with an earlier process: no line will have them but its last.
    cut: Option<Usage>,
    /// Since when it waits for a model.
    waits: Option<Instant>,
}

impl Account {
    fn add(&mut self, purpose: Purpose, used: &Usage) {
        self.used.add(used);
        let owed = match purpose {
            Purpose::Reply => &mut self.reply,
            Purpose::Guard => &mut self.guard,
        };
        *owed = Usage::both(*owed, Some(*used));
    }
}

/// Those of all agents of a query.
#[derive(Debug, Default)]
pub(super) struct Accounts(Mutex<HashMap<Arc<str>, Account>>);

impl Accounts {
    /// A call was billed.
    pub(super) fn add(&self, agent: &Arc<str>, purpose: Purpose, used: &Usage) {
        self.with(agent, |account| account.add(purpose, used));
    }

    /// What its questions about delegations used, for the line that is about to be written.
    pub(super) fn take_guard(&self, agent: &Arc<str>) -> Option<Usage> {
        self.with(agent, |account| {
            Usage::both(account.before.take(), account.guard.take())
        })
    }

    /// Its step asked questions about delegations in an earlier attempt, which were paid then.
    pub(super) fn go_on(&self, agent: &Arc<str>, used: impl Iterator<Item = Usage>) {
        let before = used.map(Some).fold(None, Usage::both);
        self.with(agent, |account| account.before = before);
    }

    /// Calls of it that were cut, which an earlier process paid for.
    pub(super) fn owes(&self, agent: &Arc<str>, cut: impl Iterator<Item = Usage>) {
        let cut = cut.map(Some).fold(None, Usage::both);
        self.with(agent, |account| account.cut = cut);
    }

    /// The line of its step was written.
    pub(super) fn recorded(&self, agent: &Arc<str>) {
        self.with(agent, |account| account.reply = None);
    }

    /// What no line of it has, for its last one.
    pub(super) fn take_owed(&self, agent: &Arc<str>) -> Option<Usage> {
        self.with(agent, |account| {
            let owed = Usage::both(account.reply.take(), account.guard.take());
            Usage::both(owed, account.cut.take())
        })
    }

    /// What an agent that ended has used.
    pub(super) fn close(&self, agent: &Arc<str>) -> Used {
        let closed = self.lock().remove(agent);
        closed.map(|account| account.used).unwrap_or_default()
    }

    /// It begins to wait for a model, or has waited.
    pub(super) fn waits(&self, agent: &Arc<str>, waits: bool) {
        self.with(agent, |account| account.waits = waits.then(Instant::now));
    }

    /// It has waited for a model for so long, and still does.
    pub(super) fn has_waited(&self, agent: &Arc<str>, long: Duration) -> bool {
        let waits = self.lock().get(agent).and_then(|account| account.waits);
        waits.is_some_and(|since| since.elapsed() >= long)
    }

    fn with<T>(&self, agent: &Arc<str>, work: impl FnOnce(&mut Account) -> T) -> T {
        work(self.lock().entry(Arc::clone(agent)).or_default())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, Account>> {
        // A panic while it was held cannot leave a sum half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paid(nano: i64) -> Usage {
        Usage {
            prompt_tokens: 5,
            cost_nano: Some(nano),
            reported: true,
            ..Usage::default()
        }
    }

    #[test]
    fn what_has_no_line_is_owed_until_one_has_it() {
        let (accounts, agent) = (Accounts::default(), Arc::from("a"));
        accounts.add(&agent, Purpose::Reply, &paid(1));
        accounts.add(&agent, Purpose::Guard, &paid(2));
        assert_eq!(
            accounts.take_guard(&agent).map(|used| used.cost()),
            Some(Cost::Known(2))
        );
        accounts.recorded(&agent);
        assert_eq!(accounts.take_owed(&agent), None);
        accounts.add(&agent, Purpose::Guard, &paid(4));
        accounts.add(&agent, Purpose::Reply, &Usage::default());
        let owed = accounts.take_owed(&agent).unwrap();
        assert_eq!(owed.cost(), Cost::AtLeast(4), "a call that was given up is billed, too");
        let used = accounts.close(&agent);
        assert_eq!((used.cost(), used.usage().unwrap().prompt), (Cost::AtLeast(7), 15));
    }
}
