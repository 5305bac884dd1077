//! What a query has used so far, shared by the root and all its sub-agents, and checked before each model call.

use super::limits::{Exceeded, Limits};
use crate::provider::Usage;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sums of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Nano-dollars of the calls whose cost is known.
    pub nano: i128,
    /// Calls whose cost is unknown.
    pub unknown_costs: u64,
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// Completion tokens.
    pub completion_tokens: u64,
    /// Calls whose tokens the provider did not report: they are in neither sum.
    pub unknown_tokens: u64,
    /// Model calls started.
    pub calls: u64,
}

/// Money that a person allows a query beyond its limit, while it runs. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Allowance(Arc<AtomicI64>);

impl Allowance {
    /// Lets the query spend `nano` nano-dollars in all. Less than its limit changes nothing.
    pub fn allow(&self, nano: i64) {
        self.0.store(nano, Ordering::SeqCst);
    }

    fn over(&self, limit_nano: i64) -> i64 {
        limit_nano.max(self.0.load(Ordering::SeqCst))
    }
}

/// The shared counter.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    allowance: Allowance,
    spent: Mutex<Spent>,
}

impl Budget {
    /// A fresh budget.
    pub fn new(limits: Limits) -> Self {
        Self::raised_by(limits, Allowance::default())
    }

    /// A fresh budget that a person can raise while it is used.
    pub fn raised_by(limits: Limits, allowance: Allowance) -> Self {
        Self {
            limits,
            allowance,
            spent: Mutex::default(),
        }
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What was used so far.
    pub fn spent(&self) -> Spent {
        *self.lock()
    }

    /// Takes one model call, or says which limit forbids it. Checking and counting are one act, so that parallel
    /// sub-agents cannot pass together where only one may.
    pub fn take_call(&self) -> Result<(), Exceeded> {
        let mut spent = self.lock();
        check(&self.limits, self.allowance.over(self.limits.max_money_nano), &spent)?;
        spent.calls += 1;
        Ok(())
    }

    /// Adds what a call used.
    pub fn add(&self, used: &Usage) {
        let mut spent = self.lock();
        spent.prompt_tokens = spent.prompt_tokens.saturating_add(used.prompt_tokens);
        spent.completion_tokens = spent.completion_tokens.saturating_add(used.completion_tokens);
        spent.unknown_tokens += u64::from(!used.reported);
        let cost = used.cost();
        spent.nano = spent.nano.saturating_add(i128::from(cost.nano()));
        spent.unknown_costs += u64::from(cost.whole().is_none());
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        // A panic while it was held cannot leave the sums half written.
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(limits: &Limits, money_nano: i64, spent: &Spent) -> Result<(), Exceeded> {
    if spent.nano >= i128::from(money_nano) {
        return Err(Exceeded::Money {
            limit_nano: money_nano,
            spent_nano: spent.nano,
        });
    }
    if spent.completion_tokens >= limits.max_completion_tokens {
        let (limit, reached) = (limits.max_completion_tokens, spent.completion_tokens);
        return Err(Exceeded::CompletionTokens { limit, reached });
    }
    match limits.max_global_calls {
        Some(limit) if spent.calls >= limit => Err(Exceeded::GlobalCalls { limit }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(change: impl FnOnce(&mut Limits)) -> Budget {
        let mut limits = Limits::default();
        change(&mut limits);
        Budget::new(limits)
    }

    fn used(prompt_tokens: u64, completion_tokens: u64, cost_nano: Option<i64>) -> Usage {
        Usage {
            prompt_tokens,
            completion_tokens,
            cost_nano,
            reported: true,
            ..Usage::default()
        }
    }

    #[test]
    fn tokens_that_nobody_reported_are_counted_as_calls() {
        let budget = budget(|_| {});
        budget.add(&Usage::default());
        budget.add(&used(5, 10, Some(0)));
        let spent = budget.spent();
        assert_eq!(
            (spent.unknown_tokens, spent.prompt_tokens, spent.completion_tokens),
            (1, 5, 10)
        );
    }

    #[test]
    fn money_stops_the_call_that_would_follow() {
        let budget = budget(|l| l.max_money_nano = 100);
        budget.take_call().unwrap();
        budget.add(&used(1, 1, Some(99)));
        budget.take_call().unwrap();
        budget.add(&used(1, 1, Some(1)));
        let stopped = budget.take_call().unwrap_err();
        assert_eq!(
            stopped,
            Exceeded::Money {
                limit_nano: 100,
                spent_nano: 100
            }
        );
        assert_eq!(budget.spent().calls, 2, "a refused call is not counted");
    }

    #[test]
    fn what_is_allowed_while_it_runs_counts_at_once() {
        let limits = Limits {
            max_money_nano: 100,
            ..Limits::default()
        };
        let allowance = Allowance::default();
        let budget = Budget::raised_by(limits, allowance.clone());
        budget.add(&used(1, 1, Some(100)));
        budget.take_call().unwrap_err();
        allowance.allow(200);
        budget.take_call().unwrap();
        allowance.allow(1);
        budget.take_call().unwrap_err();
    }

    #[test]
    fn unknown_costs_are_counted_and_bound_by_tokens() {
        let budget = budget(|l| l.max_completion_tokens = 10);
        budget.take_call().unwrap();
        budget.add(&used(5, 10, None));
        assert_eq!(budget.spent().unknown_costs, 1);
        assert_eq!(budget.take_call().unwrap_err().name(), "max_completion_tokens");
    }

    #[test]
    fn parallel_agents_share_one_count() {
        let budget = budget(|l| l.max_global_calls = Some(50));
        let taken: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..20).filter(|_| budget.take_call().is_ok()).count()))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(taken, 50);
    }
}
