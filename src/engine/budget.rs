//! What a query has used so far, shared by the root and all its sub-agents, and checked before each model call.
//!
//! What a call costs is known when it has ended. So near the limit of money calls go one after the other: as many are
//! under way at once as can be paid if each costs what the dearest so far did. A query goes beyond its limit by one
//! call at most, unless calls become dearer.

use super::limits::{Exceeded, Limits};
use crate::model::{self, Cost};
use crate::provider::Usage;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

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

impl Spent {
    /// One call, of which tokens and cost are told as far as they are known.
    pub(super) fn of_call(usage: Option<model::Usage>, cost: Cost) -> Self {
        let used = usage.unwrap_or_default();
        Self {
            nano: i128::from(cost.nano()),
            unknown_costs: u64::from(cost.whole().is_none()),
            prompt_tokens: used.prompt,
            completion_tokens: used.completion,
            unknown_tokens: u64::from(usage.is_none()),
            calls: 1,
        }
    }

    /// Both together.
    #[must_use]
    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            nano: self.nano.saturating_add(other.nano),
            unknown_costs: self.unknown_costs.saturating_add(other.unknown_costs),
            prompt_tokens: self.prompt_tokens.saturating_add(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(other.completion_tokens),
            unknown_tokens: self.unknown_tokens.saturating_add(other.unknown_tokens),
            calls: self.calls.saturating_add(other.calls),
        }
    }
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
    /// Of the same query, before this process took it up.
    before: Spent,
    counts: Mutex<Counts>,
    /// Told when a call ends.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Counts {
    spent: Spent,
    /// Calls that have begun and not ended.
    under_way: u64,
    /// Nano-dollars of the dearest call so far.
    dearest: i64,
}

impl Counts {
    /// Nano-dollars in all, if one more call and all that are under way cost what the dearest did.
    fn with_one_more(&self, spent: i128) -> i128 {
        let calls = i128::from(self.under_way) + 1;
        spent.saturating_add(i128::from(self.dearest).saturating_mul(calls))
    }
}

/// A call that is under way, until it is dropped.
#[derive(Debug)]
pub struct UnderWay<'a>(&'a Budget);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut counts = self.0.lock();
        counts.under_way = counts.under_way.saturating_sub(1);
        drop(counts);
        self.0.ended.notify_waiters();
    }
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
            before: Spent::default(),
            counts: Mutex::default(),
            ended: Notify::new(),
        }
    }

    /// A budget of which the same query has used this before: it counts to its limits, and to nothing else here.
    #[must_use]
    pub fn after(self, before: Spent) -> Self {
        Self { before, ..self }
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What was used so far.
    pub fn spent(&self) -> Spent {
        self.lock().spent
    }

    /// Takes one model call, or says which limit forbids it; waits while those that are under way may use up the money.
    /// What the call used is to be added before it counts as ended.
    pub async fn take_call(&self) -> Result<UnderWay<'_>, Exceeded> {
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            // From here on no end is missed.
            ended.as_mut().enable();
            if let Some(call) = self.try_call()? {
                return Ok(call);
            }
            ended.await;
        }
    }

    /// Checking and counting are one act, so that parallel sub-agents cannot pass together where only one may.
    fn try_call(&self) -> Result<Option<UnderWay<'_>>, Exceeded> {
        let mut counts = self.lock();
        let allowed = self.allowance.over(self.limits.max_money_nano);
        let spent = self.before.and(&counts.spent);
        check(&self.limits, allowed, &spent)?;
        if counts.under_way > 0 && counts.with_one_more(spent.nano) > i128::from(allowed) {
            return Ok(None);
        }
        counts.spent.calls += 1;
        counts.under_way += 1;
        Ok(Some(UnderWay(self)))
    }

    /// Adds what a call used.
    pub fn add(&self, used: &Usage) {
        let mut counts = self.lock();
        let call = Spent {
            // Tokens of some attempts may be known, and those of others not.
            prompt_tokens: used.prompt_tokens,
            completion_tokens: used.completion_tokens,
            // It was counted when it began.
            calls: 0,
            ..Spent::of_call(used.tokens(), used.cost())
        };
        counts.dearest = counts.dearest.max(used.cost().nano());
        counts.spent = counts.spent.and(&call);
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // A panic while it was held cannot leave the sums half written.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// A call that begins at once, and has ended.
    fn call(budget: &Budget) {
        assert!(budget.try_call().unwrap().is_some());
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
        call(&budget);
        budget.add(&used(1, 1, Some(99)));
        call(&budget);
        budget.add(&used(1, 1, Some(1)));
        let stopped = budget.try_call().unwrap_err();
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
    fn what_was_used_before_counts_to_the_limits_and_is_not_told_again() {
        let before = Spent {
            nano: 60,
            completion_tokens: 5,
            calls: 2,
            ..Spent::default()
        };
        let cheap = budget(|l| l.max_money_nano = 100).after(before);
        call(&cheap);
        cheap.add(&used(1, 1, Some(40)));
        assert!(matches!(cheap.try_call(), Err(Exceeded::Money { spent_nano: 100, .. })));
        assert_eq!((cheap.spent().nano, cheap.spent().calls), (40, 1));
        let few = budget(|l| l.max_global_calls = Some(3)).after(before);
        call(&few);
        assert_eq!(few.try_call().unwrap_err().name(), "max_global_calls");
        let short = budget(|l| l.max_completion_tokens = 5).after(before);
        assert_eq!(short.try_call().unwrap_err().name(), "max_completion_tokens");
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
        budget.try_call().unwrap_err();
        allowance.allow(200);
        call(&budget);
        allowance.allow(1);
        budget.try_call().unwrap_err();
    }

    #[tokio::test]
    async fn near_the_limit_calls_go_one_after_the_other() {
        let budget = budget(|l| l.max_money_nano = 100);
        call(&budget);
        budget.add(&used(1, 1, Some(30)));
        let first = budget.take_call().await.unwrap();
        let second = budget.take_call().await.unwrap();
        let third = async {
            let taken = budget.take_call().await;
            (taken.is_ok(), budget.spent().nano)
        };
        let end = async {
            tokio::task::yield_now().await;
            assert_eq!(budget.spent().calls, 3, "the next one waits");
            budget.add(&used(1, 1, Some(5)));
            drop(first);
        };
        assert_eq!(tokio::join!(third, end).0, (true, 35), "it was cheap: there is room");
        budget.add(&used(1, 1, Some(65)));
        drop(second);
        assert!(matches!(
            budget.take_call().await,
            Err(Exceeded::Money { spent_nano: 100, .. })
        ));
    }

    #[test]
    fn calls_that_cost_nothing_wait_for_nothing() {
        let budget = budget(|l| l.max_money_nano = 1);
        budget.add(&used(1, 1, None));
        let under_way: Vec<_> = (0..200).map(|_| budget.try_call().unwrap().unwrap()).collect();
        assert_eq!(under_way.len(), 200);
    }

    #[test]
    fn unknown_costs_are_counted_and_bound_by_tokens() {
        let budget = budget(|l| l.max_completion_tokens = 10);
        call(&budget);
        budget.add(&used(5, 10, None));
        assert_eq!(budget.spent().unknown_costs, 1);
        assert_eq!(budget.try_call().unwrap_err().name(), "max_completion_tokens");
    }

    #[test]
    fn parallel_agents_share_one_count() {
        let budget = budget(|l| l.max_global_calls = Some(50));
        let taken: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..20).filter(|_| budget.try_call().is_ok()).count()))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(taken, 50);
    }
}
