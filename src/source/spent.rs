//! What the sessions of a directory spent, each step once: a branch begins with copies of steps, and whoever made them has
//! paid for them.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::SessionSummary;
use crate::model::{Agent, Query, Session, Totals};

/// Steps that are counted, of sessions that branched off others or were branched off.
#[derive(Debug, Default)]
pub struct Paid {
    families: HashSet<String>,
    seen: HashSet<u64>,
}

/// What a session adds to a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// By completed queries.
    pub completed: Totals,
    /// By the others.
    pub lost: Totals,
}

impl Spent {
    /// Adds another's.
    pub fn merge(&mut self, other: &Self) {
        self.completed.merge(&other.completed);
        self.lost.merge(&other.lost);
    }
}

impl Paid {
    /// Nothing yet, of these sessions.
    pub fn of(sessions: &[SessionSummary]) -> Self {
        let branches = sessions
            .iter()
            .filter_map(|one| Some((one.parent.clone()?, one.name.clone())));
        Self {
            families: branches.flat_map(|(parent, branch)| [parent, branch]).collect(),
            seen: HashSet::new(),
        }
    }

    /// What this one adds.
    pub(super) fn add(&mut self, name: &str, session: &Session) -> Spent {
        if !self.families.contains(name) {
            return Spent {
                completed: session.completed,
                lost: session.lost,
            };
        }
        let mut spent = Spent::default();
        let mut own = HashSet::new();
        for query in &session.queries {
            let sum = match query.label.is_completed() {
                true => &mut spent.completed,
                false => &mut spent.lost,
            };
            self.add_query(query, sum, &mut own);
        }
        self.seen.extend(own);
        spent
    }

    fn add_query(&self, query: &Query, sum: &mut Totals, own: &mut HashSet<u64>) {
        // Nothing is left of it but that it did cost something.
        if query.run.totals.steps == 0 {
            if self.is_new(&(&query.run_id, &query.text), own) {
                sum.merge(&query.run.totals);
            }
            return;
        }
        query
            .run
            .agents
            .iter()
            .for_each(|agent| self.add_agent(agent, sum, own));
    }

    fn add_agent(&self, agent: &Agent, sum: &mut Totals, own: &mut HashSet<u64>) {
        let id = &agent.run_id;
        sum.agents += u64::from(self.is_new(&(id, agent.started), own));
        for step in &agent.steps {
            // A branch writes other steps with the same ids and numbers, at another time.
            if self.is_new(&(id, step.number, step.again, step.time, step.usage), own) {
                sum.add_step(step);
            }
        }
        for (number, (usage, cost)) in agent.calls_without_step().enumerate() {
            if self.is_new(&(id, number, agent.ended, usage), own) {
                sum.usage.add(usage);
                sum.cost.add(*cost);
            }
        }
    }

    /// No session before had it. What one session has twice counts as it does in that session.
    fn is_new(&self, key: &impl Hash, own: &mut HashSet<u64>) -> bool {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let key = hasher.finish();
        own.insert(key);
        !self.seen.contains(&key)
    }
}
