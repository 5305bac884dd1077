//! What all agents of one query share: settings, budget, seats, the transcript, and the way to stop them all.

use super::accounts::{Accounts, Purpose};
use super::budget::{Budget, Spent};
use super::clock;
use super::deltas::Deltas;
use super::error::RunError;
use super::event::{AgentId, RunEvent, Watch, What, redacted_value};
use super::groups::{Groups, Observation};
use super::limits::Exceeded;
use super::person::Person;
use super::seats::Seats;
use super::session::Query;
use super::settings::{Model, Settings};
use super::tape::Tape;
use crate::disk::transcript_writer::{AgentRef, EndRecord, StepRecord, TranscriptWriter, UsageRecord};
use crate::mcp::Servers;
use crate::provider::{Cancel, Delta, Limits as CallLimits, Message, Reply, Request, Usage};
use crate::repl::ReplFactory;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What ends a whole query.
#[derive(Clone)]
enum Halt {
    Limit(Exceeded),
    /// Something could not be written.
    Unkept(String),
    Tape(String),
}

/// A model call that gave no reply.
pub(super) struct Unanswered {
    /// Why.
    pub(super) error: RunError,
    /// What it is billed for, all the same.
    pub(super) used: Option<Usage>,
}

impl From<RunError> for Unanswered {
    fn from(error: RunError) -> Self {
        Self { error, used: None }
    }
}

/// Who calls a model, and what for.
#[derive(Clone, Copy)]
pub(super) struct Caller<'a> {
    pub(super) agent: &'a AgentId,
    /// Stops it.
    pub(super) cancel: &'a Cancel,
    pub(super) purpose: Purpose,
}

/// A call that was sent. Whoever stops waiting for it is billed all the same, and nobody learns at how much.
struct Sent<'a> {
    run: &'a Run,
    agent: &'a AgentId,
    purpose: Purpose,
    open: bool,
}

impl<'a> Sent<'a> {
    fn new(run: &'a Run, agent: &'a AgentId, purpose: Purpose) -> Self {
        run.accounts.waits(&agent.run_id, true);
        Self {
            run,
            agent,
            purpose,
            open: true,
        }
    }

    /// It has ended, and used this, if a model can have begun to answer.
    fn end(mut self, used: Option<&Usage>) {
        self.open = false;
        if let Some(used) = used {
            self.run.bill(self.agent, self.purpose, used);
        }
    }
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        self.run.accounts.waits(&self.agent.run_id, false);
        if self.open {
            self.run.bill(self.agent, self.purpose, &Usage::default());
        }
    }
}

/// One query at work.
pub(super) struct Run {
    pub(super) settings: Arc<Settings>,
    pub(super) factory: Arc<dyn ReplFactory>,
    pub(super) budget: Budget,
    pub(super) seats: Seats,
    /// Who answers `ask`; without anyone the run parks.
    pub(super) person: Option<Arc<dyn Person>>,
    /// Stops every agent: pressed by a person, or by the first agent that meets the end of the query.
    pub(super) cancel: Cancel,
    /// Why the query ends, when a sub-agent met it.
    halted: OnceLock<Halt>,
    /// Serves the root's leaf calls.
    pub(super) tape: Option<Arc<dyn Tape>>,
    /// MCP servers, started when they are needed.
    pub(super) mcp: Arc<Servers>,
    /// Groups of tools, and which are shown.
    pub(super) groups: Groups,
    /// What each agent used so far.
    pub(super) accounts: Accounts,
    transcript: TranscriptWriter,
    watch: Arc<dyn Watch>,
}

impl Run {
    pub(super) fn new(query: &Query, transcript: TranscriptWriter, tape: Option<Arc<dyn Tape>>) -> Self {
        let limits = &query.settings.limits;
        Self {
            budget: Budget::raised_by(limits.clone(), query.settings.allowance.clone()),
            seats: Seats::new(limits.max_agents_at_once),
            settings: Arc::clone(&query.settings),
            factory: Arc::clone(&query.factory),
            person: query.person.clone(),
            cancel: query.cancel.clone(),
            halted: OnceLock::new(),
            tape,
            mcp: Arc::new(Servers::new(&query.settings.mcp)),
            groups: Groups::new(&query.settings.groups, &query.settings.ambient),
            accounts: Accounts::default(),
            transcript,
            watch: Arc::clone(&query.watch),
        }
    }

    /// Takes up a query that has used this already.
    pub(super) fn after(self, before: Spent) -> Self {
        Self {
            budget: self.budget.after(before),
            ..self
        }
    }

    pub(super) fn transcript_path(&self) -> &Path {
        self.transcript.path()
    }

    /// Tells whoever watches. Everything durable was written before.
    pub(super) fn tell(&self, agent: &AgentId, what: What) {
        self.watch.event(RunEvent {
            agent: agent.clone(),
            time: clock::now(),
            what: what.redacted(&self.settings.secrets),
        });
    }

    /// Tells what a step printed, if it is anything.
    pub(super) fn tell_output(&self, agent: &AgentId, text: String) {
        if !text.is_empty() {
            self.tell(agent, What::Output(text));
        }
    }

    /// Stops all agents when `error` ends the whole query.
    pub(super) fn halt_on(&self, error: &RunError) {
        let halt = match error {
            RunError::Limit(exceeded) if exceeded.ends_query() => Some(Halt::Limit(exceeded.clone())),
            unkept if unkept.is_unkept() => Some(Halt::Unkept(unkept.to_string())),
            RunError::Halted(why) => Some(Halt::Tape(why.clone())),
            _ => None,
        };
        if let Some(halt) = halt {
            let _first_wins = self.halted.set(halt);
        }
        if error.ends_query() {
            self.cancel.cancel();
        }
    }

    /// What could not be kept of this query, if anything: a step that met it is none.
    pub(super) fn unkept(&self) -> Result<(), RunError> {
        match self.halted.get() {
            Some(Halt::Unkept(error)) => Err(RunError::Unkept(error.clone())),
            _ => Ok(()),
        }
    }

    /// What a cancelled agent ends with: what stopped all, a person's cancel, or that it alone was given up.
    pub(super) fn why_cancelled(&self) -> RunError {
        match self.halted.get() {
            None if !self.cancel.is_cancelled() => RunError::GivenUp,
            None => RunError::Cancelled,
            Some(Halt::Limit(exceeded)) => RunError::Limit(exceeded.clone()),
            Some(Halt::Unkept(error)) => RunError::Unkept(error.clone()),
            Some(Halt::Tape(why)) => RunError::Halted(why.clone()),
        }
    }

    /// One model call, within the budget; deltas of replies are told as they come.
    pub(super) async fn call(
        &self,
        caller: &Caller<'_>,
        model: &Model,
        messages: Vec<Message>,
    ) -> Result<Reply, Unanswered> {
        let Caller { agent, cancel, purpose } = *caller;
        if cancel.is_cancelled() {
            return Err(self.why_cancelled().into());
        }
        let _under_way = tokio::select! {
            taken = self.budget.take_call() => taken.map_err(RunError::from)?,
            () = cancel.cancelled() => return Err(self.why_cancelled().into()),
        };
        let request = Request {
            model: model.name.clone(),
            messages,
            depth: agent.depth,
            limits: self.call_limits(),
        };
        let mut told = Deltas::new(&self.settings.secrets);
        let tell = |what| self.tell(agent, what);
        let mut deltas = |delta: Delta<'_>| {
            if purpose == Purpose::Reply {
                told.take(&delta).into_iter().for_each(tell);
            }
        };
        let sent = Sent::new(self, agent, purpose);
        let called = model.provider.call(&request, &mut deltas, cancel).await;
        let used = match &called {
            Ok(reply) => Some(reply.usage),
            Err(error) => error.used(),
        };
        sent.end(used.as_ref());
        told.finish().for_each(tell);
        called.map_err(|error| {
            let error = match error.is_cancelled() {
                true => self.why_cancelled(),
                false => error.into(),
            };
            Unanswered { error, used }
        })
    }

    fn bill(&self, agent: &AgentId, purpose: Purpose, used: &Usage) {
        self.accounts.add(&agent.run_id, purpose, used);
        self.budget.add(used);
    }

    /// What was observed in earlier queries of the session.
    pub(super) fn know(&self, observed: &[Observation]) {
        observed
            .iter()
            .for_each(|observation| drop(self.groups.observe(observation)));
    }

    fn call_limits(&self) -> CallLimits {
        let limits = &self.settings.limits;
        CallLimits {
            max_retries: limits.api_max_retries,
            timeout: Duration::from_millis(limits.api_timeout_ms),
            ..CallLimits::default()
        }
    }

    pub(super) fn record_start(&self, agent: &AgentId) -> Result<(), RunError> {
        Ok(self.transcript.start(&agent_ref(agent), clock::now())?)
    }

    /// Records a step; texts are redacted on the way.
    pub(super) fn record_step(&self, agent: &AgentId, step: &StepRecord<'_>) -> Result<(), RunError> {
        let secrets = &self.settings.secrets;
        let output = step.output.map(|(text, failed)| (secrets.redact(text), failed));
        let reasoning = step.reasoning.map(|text| secrets.redact(text));
        let code = secrets.redact(step.code);
        let step = StepRecord {
            code: &code,
            output: output.as_ref().map(|(text, failed)| (&**text, *failed)),
            reasoning: reasoning.as_deref(),
            ..step.clone()
        };
        self.transcript.step(&agent_ref(agent), clock::now(), &step)?;
        self.accounts.recorded(&agent.run_id);
        Ok(())
    }

    pub(super) fn record_final(&self, agent: &AgentId, value: &Value) -> Result<(), RunError> {
        let raw = self.redacted(value);
        // None is an absent key in transcripts (session-format).
        let result = raw.as_deref().filter(|raw| raw.get() != "null");
        Ok(self.transcript.result(&agent_ref(agent), clock::now(), result)?)
    }

    /// Says what no step of it counts, too: a call without a reply, and one whose step was not kept.
    pub(super) fn record_end(&self, agent: &AgentId, error: Option<&RunError>) -> Result<(), RunError> {
        let text = error.map(|error| self.settings.secrets.redact(&error.to_string()).into_owned());
        let limit = match error {
            Some(RunError::Limit(exceeded)) => Some(exceeded.name()),
            _ => None,
        };
        let end = EndRecord {
            outcome: error.map(RunError::outcome),
            error: text.as_deref(),
            limit,
            unanswered: self.owed(agent, error).map(|owed| usage_record(&owed)),
        };
        Ok(self.transcript.end(&agent_ref(agent), clock::now(), &end)?)
    }

    /// Of a root whose step could not be kept the log has the call, and tells it as long as the step is missing.
    fn owed(&self, agent: &AgentId, error: Option<&RunError>) -> Option<Usage> {
        let is_in_log = agent.depth == 0 && error.is_some_and(RunError::is_unkept);
        self.accounts.take_owed(&agent.run_id).filter(|_| !is_in_log)
    }

    fn redacted(&self, value: &Value) -> Option<Box<RawValue>> {
        to_raw_value(&redacted_value(value.clone(), &self.settings.secrets)).ok()
    }
}

fn agent_ref(agent: &AgentId) -> AgentRef {
    AgentRef {
        run_id: agent.run_id.to_string(),
        parent_run_id: agent.parent.as_ref().map(ToString::to_string),
        depth: agent.depth,
    }
}

/// A call's usage as transcripts record it.
pub(super) fn usage_record(usage: &Usage) -> UsageRecord {
    UsageRecord {
        prompt_tokens: usage.prompt_tokens,
        completion_tokens: usage.completion_tokens,
        total_tokens: usage.total_tokens,
        cached_tokens: usage.cached_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        ..UsageRecord::default()
    }
    .with_cost(usage.cost())
}
