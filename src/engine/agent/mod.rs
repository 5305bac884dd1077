//! One agent: a conversation with a REPL of its own, from its probe to FINAL.

mod delegate;
mod host;
mod opening;
mod step;
mod talk;

pub(super) use delegate::{context, context_chars, task};

use super::error::RunError;
use super::event::{AgentId, What};
use super::journal::{Journal, Tape};
use super::keeper::Keeper;
use super::limits::Exceeded;
use super::prompts::StepsLeft;
use super::run::Run;
use super::schema::OutputSchema;
use super::seats::Seat;
use super::settings::Model;
use crate::provider::{Message, Reply};
use crate::repl::{Context, FinalValue, Repl, Role, ToolModule};
use std::sync::{Arc, Weak};
use talk::Talk;

/// What an agent is started with.
pub(super) struct Spec {
    pub(super) id: AgentId,
    pub(super) model: Model,
    pub(super) context: Context,
    /// Characters of the context; of JSON, those of its text.
    pub(super) context_chars: usize,
    /// What it is given to do, one line.
    pub(super) task: String,
    pub(super) instruction: Option<String>,
    pub(super) schema: Option<OutputSchema>,
    pub(super) tools: Vec<ToolModule>,
    /// What a resumed root is told of earlier queries.
    pub(super) preamble: Option<String>,
    /// What the session keeps, for its root.
    pub(super) keeper: Option<Keeper>,
    /// The session's log, for the leaf calls of every agent. Weak: REPLs end a little after their agents, and must
    /// not keep the store open.
    pub(super) journal: Weak<Journal>,
    /// A parked turn that goes on.
    pub(super) resumed: Option<Resumed>,
}

/// Where a parked turn goes on.
#[derive(Clone)]
pub(super) struct Resumed {
    /// The conversation, without the system prompt, up to the reply whose step parked.
    pub(super) messages: Vec<Message>,
    /// Replies so far, that one included.
    pub(super) steps: u64,
    /// That reply.
    pub(super) reply: Reply,
}

impl Spec {
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
}

/// Runs an agent to its end; its start and end are recorded and told.
pub(super) async fn run_agent(run: Arc<Run>, spec: Spec) -> Ended {
    run_resumed(run, spec, None).await
}

/// Runs an agent to its end, going on with a parked step where there is a tape of one.
pub(super) async fn run_resumed(run: Arc<Run>, spec: Spec, tape: Option<Tape>) -> Ended {
    let id = spec.id.clone();
    run.tell(
        &id,
        What::Started {
            task: spec.task.clone(),
        },
    );
    let mut ended = Box::pin(attend(&run, spec, tape)).await;
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

async fn attend(run: &Arc<Run>, mut spec: Spec, tape: Option<Tape>) -> Ended {
    let keeper = spec.keeper.take();
    match Agent::start(Arc::clone(run), spec, keeper).await {
        Err((error, keeper)) => Ended {
            result: Err(error),
            keeper,
        },
        Ok(mut agent) => Ended {
            result: agent.work(tape).await,
            keeper: agent.keeper,
        },
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
    /// Replies so far.
    steps: u64,
    /// Messages that the session's log has already.
    logged: usize,
}

/// What a step leads to.
enum Next {
    /// This message, and another step.
    Message(String),
    /// The end.
    Final(FinalValue),
}

impl Agent {
    async fn work(&mut self, tape: Option<Tape>) -> Result<FinalValue, RunError> {
        if let Some((tape, resumed)) = tape.zip(self.spec.resumed.clone()) {
            match self.step_again(&resumed.reply, tape).await? {
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
        let limit = self.run.settings.limits.max_calls_per_subagent;
        if self.steps >= limit {
            return Err(Exceeded::Calls { limit }.into());
        }
        self.tell(What::CallStarted { step: self.steps + 1 });
        let messages = self.talk.messages();
        self.run.call(&self.spec.id, &self.spec.model, messages, false).await
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
            allowed: self.run.settings.limits.max_calls_per_subagent,
        }
    }

    fn tell(&self, what: What) {
        self.run.tell(&self.spec.id, what);
    }
}
