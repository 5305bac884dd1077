//! Sub-agents that were started together. What one of them found is in the log soon after it is there, whatever becomes
//! of the others, and before Python gets any of it. Results that are ready together share one transaction.

use super::calls::Begun;
use super::delegate::Delegation;
use super::host::Host;
use super::run_agent;
use crate::engine::accounts::Used;
use crate::engine::clock;
use crate::engine::journal::cell_outcome;
use crate::provider::Cancel;
use crate::repl::HostError;
use crate::store::payload::{LeafCall, SubAgent};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often it is looked whether others will be ready, too.
const LOOK: Duration = Duration::from_millis(20);
/// Who has waited for a model for so long will not be ready together with what is.
const AWAY: Duration = Duration::from_millis(20);
/// A result waits no longer than this for others that are busy.
const LONGEST: Duration = Duration::from_millis(500);

/// What a sub-agent left.
struct Child {
    place: usize,
    answer: Result<Value, HostError>,
    call: Begun,
    record: Option<SubAgent>,
    used: Used,
    ended: i64,
}

/// Sub-agents at work.
struct Batch<'a> {
    host: &'a Host,
    /// Those that have not ended, by their places.
    busy: BTreeMap<usize, Arc<str>>,
    /// Results that are not in the log, and what it takes to run their sub-agents again.
    ready: Vec<(LeafCall, Option<SubAgent>)>,
    /// When the first of these was.
    since: Option<Instant>,
    answers: BTreeMap<usize, Result<Value, HostError>>,
    /// What could not be written.
    unkept: Option<HostError>,
}

impl Host {
    /// Runs sub-agents to their ends; their answers, in order.
    pub(super) async fn together(
        &self,
        asked: Vec<Delegation>,
        calls: Vec<Begun>,
        cancel: &Cancel,
    ) -> Result<Vec<Result<Value, HostError>>, HostError> {
        let mut batch = Batch::of(self);
        let mut children = FuturesUnordered::new();
        for (place, (delegation, call)) in asked.into_iter().zip(calls).enumerate() {
            let spec = delegation.into_spec(&self.run.settings, &self.spec, cancel.clone());
            call.starts(&spec.id.run_id);
            batch.busy.insert(place, Arc::clone(&spec.id.run_id));
            children.push(self.child(place, spec, call));
        }
        loop {
            tokio::select! {
                biased;
                child = children.next() => match child {
                    Some(child) => batch.take(child),
                    None => break,
                },
                () = tokio::time::sleep(LOOK), if !batch.ready.is_empty() => {
                    if batch.is_due() {
                        batch.log();
                    }
                }
            }
        }
        batch.log();
        match batch.unkept {
            Some(unkept) => Err(unkept),
            None => Ok(batch.answers.into_values().collect()),
        }
    }

    async fn child(&self, place: usize, spec: super::Spec, call: Begun) -> Child {
        let run_id = Arc::clone(&spec.id.run_id);
        let agent = run_agent(Arc::clone(&self.run), spec).await;
        let answer = match agent.result {
            Ok(value) => Ok(value.value),
            Err(error) => Err(HostError::new(format!("the sub-agent has no answer: {error}"))),
        };
        Child {
            place,
            used: self.run.accounts.close(&run_id),
            answer,
            call,
            record: agent.record,
            ended: clock::now(),
        }
    }
}

impl<'a> Batch<'a> {
    fn of(host: &'a Host) -> Self {
        Self {
            host,
            busy: BTreeMap::new(),
            ready: Vec::new(),
            since: None,
            answers: BTreeMap::new(),
            unkept: None,
        }
    }

    /// One has ended. Its result stays, also when the others are given up.
    fn take(&mut self, child: Child) {
        self.busy.remove(&child.place);
        if let Some(cell) = child.call.end(&child.used, cell_outcome(&child.answer)) {
            let ended = child.ended;
            self.ready.push((LeafCall { ended, ..cell }, child.record));
            self.since.get_or_insert_with(Instant::now);
        }
        self.answers.insert(child.place, child.answer);
    }

    /// None of the others is about to be ready, or what is has waited for long enough.
    fn is_due(&self) -> bool {
        let accounts = &self.host.run.accounts;
        let away = |agent: &Arc<str>| accounts.has_waited(agent, AWAY);
        self.busy.values().all(away) || self.since.is_some_and(|since| since.elapsed() >= LONGEST)
    }

    /// Logs what is ready.
    fn log(&mut self) {
        let ready = std::mem::take(&mut self.ready);
        self.since = None;
        let numbered = |(cell, agent): (LeafCall, Option<SubAgent>)| (agent.map(|agent| (cell.number, agent)), cell);
        let (agents, cells): (Vec<_>, Vec<_>) = ready.into_iter().map(numbered).unzip();
        if let Err(unkept) = self.host.log_with(cells, agents.into_iter().flatten().collect()) {
            self.unkept.get_or_insert(unkept);
        }
    }
}
