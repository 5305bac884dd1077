//! One agent: a conversation with a REPL of its own, from its probe to FINAL.

mod answered;
mod calls;
mod delegate;
mod host;
mod leaf;
mod mcp;
mod opening;
mod record;
mod saving;
mod signature;
mod step;
mod talk;
mod together;

pub(crate) use delegate::{context, handed};
pub(super) use delegate::{context_chars, task};

use super::accounts::Purpose;
use super::error::RunError;
use super::event::{AgentId, What};
use super::gate::Tool;
use super::journal::{Journal, Tape, unanswered_call};
use super::keeper::Keeper;
use super::limits::Exceeded;
use super::prompts::StepsLeft;
use super::run::{Caller, Run, Unanswered};
use super::schema::OutputSchema;
use super::script::Script;
use super::seats::Seat;
use super::session::recorded_mcp;
use super::settings::Model;
use crate::provider::{Cancel, Message, Reply};
use crate::repl::{Context, FinalValue, Repl, RestoreSet, Role, ToolInfo, ToolModule};
use crate::store::payload::{ModelCall, SubAgent, TurnStarted};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use talk::Talk;

/// How long a sub-agent may take to stop, for itself and for each level below it: ending a Python that computes takes
/// the most.
const PATIENCE: Duration = Duration::from_secs(3);

/// What an agent is started with.
pub(super) struct Spec {
    pub(super) id: AgentId,
    /// Stops it.
    pub(super) cancel: Cancel,
    pub(super) model: Model,
    pub(super) context: Context,
    /// Characters of the context; of JSON, those of its text.
    pub(super) context_chars: usize,
    /// What it is given to do, one line.
    pub(super) task: String,
    pub(super) instruction: Option<String>,
    pub(super) schema: Option<OutputSchema>,
    pub(super) tools: Vec<ToolModule>,
    /// Tools that the host runs.
    pub(super) host_tools: Vec<Arc<dyn Tool>>,
    /// MCP servers that it may call; `None` where the functions for them do not exist.
    pub(super) mcp: Option<Vec<String>>,
    /// What a resumed root is told of earlier queries.
    pub(super) preamble: Option<String>,
    /// What the session keeps, for its root.
    pub(super) keeper: Option<Keeper>,
    /// The session's log, for the leaf calls of every agent. Weak: REPLs end a little after their agents, and must
    /// not keep the store open.
    pub(super) journal: Weak<Journal>,
    /// A turn that goes on.
    pub(super) onward: Option<Onward>,
}

/// Where a turn goes on that was begun before.
pub(super) struct Onward {
    /// The conversation so far, without the system prompt.
    pub(super) messages: Vec<Message>,
    /// How many of them, at the end, the log does not have as messages yet.
    pub(super) unlogged: usize,
    /// Replies so far.
    pub(super) steps: u64,
    /// Those among them that another session's model gave: they count against no limit.
    pub(super) copied: u64,
    /// The last of them, when its step runs again, from its start.
    pub(super) again: Option<(Reply, Arc<Tape>)>,
    /// What the root replies instead of its model.
    pub(super) script: Option<Mutex<Script>>,
    /// What brings the namespace about, where that is not what the session has saved.
    pub(super) prelude: Option<Prelude>,
}

/// Steps that ran before, to be run once more in a REPL that starts from an earlier state; nothing is recorded of it.
pub(super) struct Prelude {
    pub(super) restore: RestoreSet,
    pub(super) steps: Vec<PreludeStep>,
}

pub(super) struct PreludeStep {
    /// From 1.
    pub(super) number: u64,
    pub(super) code: String,
    pub(super) tape: Arc<Tape>,
    /// What the clocks showed it.
    pub(super) readings: Vec<u64>,
    /// Whether it raised, where that matters.
    pub(super) failed: Option<bool>,
}

impl Spec {
    /// A turn that goes on: functions for MCP servers are there if it had them, also where the servers are not.
    pub(super) fn had_mcp(&mut self, started: &TurnStarted) {
        if recorded_mcp(started) {
            self.mcp.get_or_insert_default();
        }
    }

    fn role(&self, max_depth: u32) -> Role {
        match self.id.depth {
            depth if depth >= max_depth && depth > 0 => Role::Leaf,
            0 => Role::Root,
            _ => Role::SubAgent,
        }
    }
}

/// What is left of an agent that ended.
pub(super) struct Ended {
    pub(super) result: Result<FinalValue, RunError>,
    /// What the session keeps, back from its root.
    pub(super) keeper: Option<Keeper>,
    /// What it takes to run it again, of a sub-agent.
    pub(super) record: Option<SubAgent>,
    /// Its last call, where that gave no reply and is billed all the same.
    pub(super) unanswered: Option<ModelCall>,
}

impl Ended {
    fn without_result(error: RunError, keeper: Option<Keeper>) -> Self {
        Self {
            result: Err(error),
            keeper,
            record: None,
            unanswered: None,
        }
    }
}

/// Runs an agent to its end; its start and end are recorded and told.
pub(super) async fn run_agent(run: Arc<Run>, spec: Spec) -> Ended {
    let id = spec.id.clone();
    run.tell(
        &id,
        What::Started {
            task: spec.task.clone(),
        },
    );
    let mut ended = attend_in_time(&run, spec).await;
    if let Err(error) = &ended.result {
        run.halt_on(error);
    }
    // A parked agent has not ended.
    if !matches!(ended.result, Err(RunError::Parked(_)))
        && let Err(unrecorded) = run.record_end(&id, ended.result.as_ref().err())
    {
        ended.result = ended.result.and(Err(unrecorded));
    }
    run.tell(
        &id,
        What::Ended {
            error: ended.result.as_ref().err().map(ToString::to_string),
        },
    );
    ended
}

/// A sub-agent that is to stop and does not is left to itself: what it used until then is known.
async fn attend_in_time(run: &Arc<Run>, spec: Spec) -> Ended {
    let (depth, cancel) = (spec.id.depth, spec.cancel.clone());
    let work = Box::pin(attend(run, spec));
    if depth == 0 {
        return work.await;
    }
    // Those that it started have ended before it has to.
    let levels = run.settings.limits.max_depth.saturating_sub(depth).min(9) + 1;
    tokio::select! {
        ended = work => ended,
        () = after(&cancel, PATIENCE * levels) => Ended::without_result(run.why_cancelled(), None),
    }
}

async fn after(cancel: &Cancel, patience: Duration) {
    cancel.cancelled().await;
    tokio::time::sleep(patience).await;
}

async fn attend(run: &Arc<Run>, mut spec: Spec) -> Ended {
    let keeper = spec.keeper.take();
    match Agent::start(Arc::clone(run), spec, keeper).await {
        Err((error, keeper)) => Ended::without_result(error, keeper),
        Ok(mut agent) => {
            let result = agent.work().await;
            Ended {
                record: agent.take_record(result.as_ref().err()),
                unanswered: agent.unanswered,
                keeper: agent.keeper,
                result,
            }
        }
    }
}

/// An agent at work.
struct Agent {
    run: Arc<Run>,
    spec: Arc<Spec>,
    talk: Arc<Talk>,
    repl: Box<dyn Repl>,
    keeper: Option<Keeper>,
    /// Held while it executes or calls a model.
    _seat: Seat,
    /// Its tools, hidden ones too.
    tools: Vec<ToolInfo>,
    /// Replies so far.
    steps: u64,
    /// Messages that the session's log has already.
    logged: usize,
    /// What is kept of a sub-agent's steps.
    record: Option<SubAgent>,
    /// Where its randomness begins, where that is recorded.
    seed: Option<u64>,
    /// The next step's randomness begins anew, from there: its REPL is fresh.
    fresh: bool,
    /// It begins as for the probe, which a turn that is taken up at its beginning does not run.
    as_probe: bool,
    /// What the last step's randomness began with, if it began anew.
    seeded: Option<u64>,
    /// Its last call, where that gave no reply and is billed all the same.
    unanswered: Option<ModelCall>,
}

/// What a step leads to.
enum Next {
    /// This message, and another step.
    Message(String),
    /// The end.
    Final(FinalValue),
}

impl Agent {
    async fn work(&mut self) -> Result<FinalValue, RunError> {
        let again = self.spec.onward.as_ref().and_then(|onward| onward.again.clone());
        if let Some((reply, tape)) = again {
            match self.step_again(&reply, tape).await? {
                Next::Message(text) => self.talk.push(Message::user(text)),
                Next::Final(value) => return Ok(value),
            }
        }
        loop {
            let reply = self.ask_model().await?;
            self.steps += 1;
            let next = self.step(&reply).await?;
            match next {
                Next::Message(text) => self.talk.push(Message::user(text)),
                Next::Final(value) => return Ok(value),
            }
            // Only now: the step that used too much is kept like any other.
            self.check_call_size(&reply)?;
        }
    }

    /// The next reply. Takes `&mut self` because a REPL is `Send`, not `Sync`.
    async fn ask_model(&mut self) -> Result<Reply, RunError> {
        if let Some(mut script) = self.script() {
            return script
                .next()
                .ok_or_else(|| RunError::Halted("the recorded steps ended without FINAL".into()));
        }
        if self.steps >= self.calls_allowed() {
            let limit = self.run.settings.limits.max_calls_per_subagent;
            return Err(Exceeded::Calls { limit }.into());
        }
        self.tell(What::CallStarted { step: self.steps + 1 });
        let messages = self.talk.messages();
        let caller = Caller {
            agent: &self.spec.id,
            cancel: &self.spec.cancel,
            purpose: Purpose::Reply,
        };
        let called = self.run.call(&caller, &self.spec.model, messages).await;
        called.map_err(|failed| self.note(failed))
    }

    /// The root's replies, where they are known.
    fn script(&self) -> Option<MutexGuard<'_, Script>> {
        let script = self.spec.onward.as_ref()?.script.as_ref()?;
        Some(script.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Steps that it may have taken when it asks its model no more.
    fn calls_allowed(&self) -> u64 {
        let copied = self.spec.onward.as_ref().map_or(0, |onward| onward.copied);
        self.run.settings.limits.max_calls_per_subagent.saturating_add(copied)
    }

    /// A call that gave no reply ends the agent: what it used is in no step.
    fn note(&mut self, failed: Unanswered) -> RunError {
        let Unanswered { error, used } = failed;
        if let Some(usage) = used {
            self.tell(What::CallEnded { code: None, usage });
            let (run_id, model) = (&self.spec.id.run_id, &self.spec.model.name);
            self.unanswered = Some(unanswered_call(run_id, model, &usage, &error));
        }
        error
    }

    fn check_call_size(&self, reply: &Reply) -> Result<(), RunError> {
        let limit = self.run.settings.limits.max_prompt_tokens;
        let reached = reply.usage.prompt_tokens.saturating_add(reply.usage.completion_tokens);
        if reached > limit {
            Err(Exceeded::PromptTokens { limit, reached }.into())
        } else {
            Ok(())
        }
    }

    fn steps_left(&self) -> StepsLeft {
        StepsLeft {
            taken: self.steps,
            allowed: self.calls_allowed(),
        }
    }

    fn tell(&self, what: What) {
        self.run.tell(&self.spec.id, what);
    }
}
