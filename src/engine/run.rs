//! What all agents of one query share: settings, budget, seats, the transcript, and the way to stop them all.

use super::budget::{Budget, Spent};
use super::clock;
use super::deltas::Deltas;
use super::error::RunError;
use super::event::{AgentId, RunEvent, Watch, What, redacted_value};
use super::groups::{Groups, Observation};

use super::journal::usage_of_call;
use super::limits::Exceeded;
use super::person::Person;
use super::seats::Seats;
use super::session::Query;
use super::settings::{Model, Settings};
use super::tape::Tape;
use crate::disk::transcript_writer::{AgentRef, EndRecord, StepRecord, TranscriptWriter, UsageRecord};
use crate::mcp::Servers;
use crate::model::{Cost, Usage as TokenUsage};
use crate::provider::{Cancel, Delta, Limits as CallLimits, Message, Reply, Request, Usage};
use crate::repl::ReplFactory;
use crate::store::payload::ModelCall;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// What ends a whole query.
#[derive(Clone)]
enum Halt {
    Limit(Exceeded),
    /// Something could not be written.
    Unkept(String),
    Tape(String),
}

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
    used: Mutex<HashMap<Arc<str>, Used>>,
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
            used: Mutex::default(),
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

    /// What a cancelled agent ends with: what stopped all, or a person's cancel.
    pub(super) fn why_cancelled(&self) -> RunError {
        match self.halted.get() {
            None => RunError::Cancelled,
            Some(Halt::Limit(exceeded)) => RunError::Limit(exceeded.clone()),
            Some(Halt::Unkept(error)) => RunError::Unkept(error.clone()),
            Some(Halt::Tape(why)) => RunError::Halted(why.clone()),
        }
    }

    /// One model call, within the budget; deltas are told as they come.
    pub(super) async fn call(
        &self,
        caller: &AgentId,
        model: &Model,
        messages: Vec<Message>,
        quiet: bool,
    ) -> Result<Reply, Unanswered> {
        if self.cancel.is_cancelled() {
            return Err(self.why_cancelled().into());
        }
        let _under_way = tokio::select! {
            taken = self.budget.take_call() => taken.map_err(RunError::from)?,
            () = self.cancel.cancelled() => return Err(self.why_cancelled().into()),
        };
        let request = Request {
            model: model.name.clone(),
            messages,
            depth: caller.depth,
            limits: self.call_limits(),
        };
        let mut told = Deltas::new(&self.settings.secrets);
        let tell = |what| self.tell(caller, what);
        let mut deltas = |delta: Delta<'_>| {
            if !quiet {
                told.take(&delta).into_iter().for_each(tell);
            }
        };
        let called = model.provider.call(&request, &mut deltas, &self.cancel).await;
        told.finish().for_each(tell);
        let used = match &called {
            Ok(reply) => Some(reply.usage),
            Err(error) => error.used(),
        };
        if let Some(used) = used {
            let mut all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(Arc::clone(&caller.run_id)).or_default().add(&used);
            drop(all);
            self.budget.add(&used);
        }
        called.map_err(|error| {
            let error = match error.is_cancelled() {
                true => self.why_cancelled(),
                false => error.into(),
            };
            Unanswered { error, used }
        })
    }

    /// What was observed in earlier queries of the session.
    pub(super) fn know(&self, observed: &[Observation]) {
        observed
            .iter()
            .for_each(|observation| drop(self.groups.observe(observation)));
    }

    /// What an agent that ended has used.
    pub(super) fn take_used(&self, run_id: &Arc<str>) -> Used {
        let mut all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(run_id).unwrap_or_default()
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
        Ok(self.transcript.step(&agent_ref(agent), clock::now(), &step)?)
    }

    pub(super) fn record_final(&self, agent: &AgentId, value: &Value) -> Result<(), RunError> {
        let raw = self.redacted(value);
        // None is an absent key in transcripts (session-format).
        let result = raw.as_deref().filter(|raw| raw.get() != "null");
        Ok(self.transcript.result(&agent_ref(agent), clock::now(), result)?)
    }

    /// `unanswered` is a call of its own that gave no reply: no step counts what it used.
    pub(super) fn record_end(
        &self,
        agent: &AgentId,
        error: Option<&RunError>,
        unanswered: Option<&ModelCall>,
    ) -> Result<(), RunError> {
        let text = error.map(|error| self.settings.secrets.redact(&error.to_string()).into_owned());
        let limit = match error {
            Some(RunError::Limit(exceeded)) => Some(exceeded.name()),
            _ => None,
        };
        let end = EndRecord {
            outcome: error.map(RunError::outcome),
            error: text.as_deref(),
            limit,
            unanswered: unanswered.map(usage_of_call),
        };
        Ok(self.transcript.end(&agent_ref(agent), clock::now(), &end)?)
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
