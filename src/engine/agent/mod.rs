//! One agent: a conversation with a REPL of its own, from its probe to FINAL.

mod delegate;
mod host;
mod talk;

pub(super) use delegate::{context, context_chars, task};

use super::blocks::repl_code;
use super::clock;
use super::error::RunError;
use super::event::{AgentId, What};
use super::limits::Exceeded;
use super::memory::SessionMemory;
use super::prompts::{
    StepsLeft, first_message, no_code_message, schema_notice, schema_rejection, step_message, system_prompt,
};
use super::run::{Run, usage_record};
use super::schema::OutputSchema;
use super::seats::Seat;
use super::settings::Model;
use super::truncate::{head, shown_output};
use crate::disk::transcript_writer::{Instants, StepRecord, UsageRecord};
use crate::provider::{Message, Reply};
use crate::repl::{
    Context, FinalValue, InstanceState, Limits as ReplLimits, OutputChunk, PROBE, Repl, ReplError, RestoreReport,
    RestoreSet, Role, StartOptions, Started, Step, StepErrorKind, StepOutcome, Sweep, ToolInfo, ToolModule,
};
use host::Host;
use std::sync::Arc;
use std::time::Duration;
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
    /// The session's memory, for its root.
    pub(super) memory: Option<SessionMemory>,
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
    /// The session's memory, back from its root.
    pub(super) memory: Option<SessionMemory>,
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
    let mut ended = Box::pin(attend(&run, spec)).await;
    if let Err(error) = &ended.result {
        run.halt_on(error);
    }
    if let Err(unrecorded) = run.record_end(&id, ended.result.as_ref().err()) {
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

async fn attend(run: &Arc<Run>, mut spec: Spec) -> Ended {
    let memory = spec.memory.take();
    match Agent::start(Arc::clone(run), spec, memory).await {
        Err((error, memory)) => Ended {
            result: Err(error),
            memory,
        },
        Ok(mut agent) => {
            let result = agent.work().await;
            Ended {
                result,
                memory: agent.memory,
            }
        }
    }
}

struct Agent {
    run: Arc<Run>,
    spec: Arc<Spec>,
    talk: Arc<Talk>,
    repl: Box<dyn Repl>,
    memory: Option<SessionMemory>,
    /// Held while it executes or calls a model.
    _seat: Seat,
    /// Replies so far.
    steps: u64,
}

/// What a step leads to.
enum Next {
    /// This message, and another step.
    Message(String),
    /// The end.
    Final(FinalValue),
}

impl Agent {
    async fn start(
        run: Arc<Run>,
        spec: Spec,
        mut memory: Option<SessionMemory>,
    ) -> Result<Self, (RunError, Option<SessionMemory>)> {
        let seat = run.seats.sit().await;
        let spec = Arc::new(spec);
        let talk = Arc::new(Talk::default());
        let host = Host::new(Arc::clone(&run), Arc::clone(&spec), Arc::clone(&talk), seat.clone());
        let options = start_options(&run, &spec, memory.as_ref());
        let begun = async {
            run.record_start(&spec.id)?;
            Ok::<Started, RunError>(run.factory.start(options, Arc::new(host)).await?)
        };
        let started = match begun.await {
            Ok(started) => started,
            Err(error) => return Err((error, memory)),
        };
        talk.know_tools(&started.tools);
        for (file, reason) in &started.tool_errors {
            run.tell(
                &spec.id,
                What::Notice(format!("tools from {file} could not be loaded: {reason}")),
            );
        }
        if let Some(memory) = &mut memory {
            memory.restored(&started.restored);
        }
        let mut agent = Self {
            run,
            spec,
            talk,
            repl: started.repl,
            memory,
            _seat: seat,
            steps: 0,
        };
        match agent.open_conversation(&started.tools, &started.restored).await {
            Ok(()) => Ok(agent),
            Err(error) => Err((error, agent.memory)),
        }
    }

    /// Runs the probe, records it, and puts the first two messages.
    async fn open_conversation(&mut self, tools: &[ToolInfo], restored: &RestoreReport) -> Result<(), RunError> {
        let started = clock::now();
        let (outcome, _) = self.execute(0, PROBE).await;
        let schema = self
            .spec
            .schema
            .as_ref()
            .map(|schema| schema_notice(schema.source()))
            .unwrap_or_default();
        let inventory = self
            .memory
            .as_ref()
            .map(|memory| format!("\n{}", memory.inventory(restored)))
            .unwrap_or_default();
        let output = format!("{schema}{}{}{inventory}", outcome.text(), tools_notice(tools));
        let step = StepRecord {
            number: 0,
            code: PROBE,
            output: Some((&output, outcome.failed())),
            reasoning: None,
            usage: UsageRecord::default(),
            guard: None,
            instants: Instants {
                call: None,
                execution: Some((started, clock::now())),
            },
        };
        self.run.record_step(&self.spec.id, &step)?;
        self.run.tell(&self.spec.id, What::Probed { output: output.clone() });
        let leaf = self.spec.role(self.run.settings.limits.max_depth) == Role::Leaf;
        let system = system_prompt(leaf, self.memory.is_some(), self.spec.instruction.as_deref());
        self.talk.push(Message::system(system));
        self.talk.push(Message::user(first_message(
            self.spec.preamble.as_deref(),
            PROBE,
            &output,
        )));
        Ok(())
    }

    async fn work(&mut self) -> Result<FinalValue, RunError> {
        loop {
            let reply = self.ask_model().await?;
            self.steps += 1;
            self.talk.push(Message::assistant(reply.text.as_str()));
            let next = match repl_code(&reply.text) {
                None => self.step_without_code(&reply)?,
                Some(code) => self.step(&reply, &code).await?,
            };
            match next {
                Next::Message(text) => self.talk.push(Message::user(text)),
                Next::Final(value) => return Ok(value),
            }
            // Only now: the step that used too much is recorded like any other.
            self.check_call_size(&reply)?;
        }
    }

    /// The next reply. Takes `&mut self` because a REPL is `Send`, not `Sync`.
    async fn ask_model(&mut self) -> Result<Reply, RunError> {
        let limit = self.run.settings.limits.max_calls_per_subagent;
        if self.steps >= limit {
            return Err(Exceeded::Calls { limit }.into());
        }
        self.run.tell(&self.spec.id, What::CallStarted { step: self.steps + 1 });
        let messages = self.talk.messages();
        let reply = self.run.call(&self.spec.id, &self.spec.model, messages, false).await?;
        self.run.tell(
            &self.spec.id,
            What::CallEnded {
                code: repl_code(&reply.text),
                usage: reply.usage,
            },
        );
        Ok(reply)
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

    fn step_without_code(&mut self, reply: &Reply) -> Result<Next, RunError> {
        self.record(reply, "", None, None)?;
        self.tell_step(false, None);
        Ok(Next::Message(no_code_message(self.steps_left())))
    }

    async fn step(&mut self, reply: &Reply, code: &str) -> Result<Next, RunError> {
        let started = clock::now();
        let (outcome, sweep) = self.execute(self.steps, code).await;
        let instants = (started, clock::now());
        let cancelled = outcome
            .error
            .as_ref()
            .is_some_and(|error| error.kind == StepErrorKind::Cancelled);
        let instance = outcome.instance;
        let ok = !outcome.failed();
        let next = self.judge(reply, code, outcome, instants)?;
        // In this order (engine: order of writes): the transcript's line is there, now the session's state.
        if let Some(memory) = &mut self.memory {
            memory.step(self.steps, ok, code, sweep.as_ref())?;
        }
        self.tell_judged(&next, ok);
        if cancelled || self.run.cancel.is_cancelled() {
            return Err(self.run.why_cancelled());
        }
        match next {
            Judged::Final(value) => self.finish(value),
            Judged::Shown { text, .. } => {
                let lost = self.revive(instance).await?;
                let truncate_len = self.run.settings.limits.truncate_len;
                let text = self.run.settings.secrets.redact(&text).into_owned();
                Ok(Next::Message(format!(
                    "{}{lost}",
                    step_message(self.steps_left(), &text, truncate_len)
                )))
            }
        }
    }

    /// Runs code and, where it left an instance with a session, sweeps it.
    async fn execute(&mut self, number: u64, code: &str) -> (StepOutcome, Option<Sweep>) {
        let step = Step::new(u32::try_from(number).unwrap_or(u32::MAX), code);
        let canceller = self.repl.canceller();
        let (run, id) = (Arc::clone(&self.run), self.spec.id.clone());
        let mut output = move |chunk: OutputChunk| run.tell(&id, What::Output(chunk.text));
        let running = self.repl.run(step, &mut output);
        let outcome = {
            let mut running = std::pin::pin!(running);
            tokio::select! {
                outcome = &mut running => outcome,
                () = self.run.cancel.cancelled() => {
                    canceller.cancel();
                    running.await
                }
            }
        };
        let sweep = match outcome.instance {
            _ if self.memory.is_none() || number == 0 => None,
            InstanceState::Lost => None,
            // A sweep that fails costs the instance, not the step.
            InstanceState::Alive | InstanceState::Exhausted => self.repl.sweep().await.ok(),
        };
        (outcome, sweep)
    }

    /// Accepts FINAL or not, and records the step's line.
    fn judge(
        &self,
        reply: &Reply,
        code: &str,
        outcome: StepOutcome,
        execution: (i64, i64),
    ) -> Result<Judged, RunError> {
        let refused = outcome.final_value.as_ref().and_then(|value| self.refusal(value));
        match (outcome.final_value.clone(), refused) {
            (Some(value), None) if !outcome.failed() => {
                self.record(reply, code, None, Some(execution))?;
                Ok(Judged::Final(value))
            }
            (_, refused) => {
                let text = [Some(outcome.text()), refused.clone()]
                    .into_iter()
                    .flatten()
                    .filter(|t| !t.is_empty());
                let text = text.collect::<Vec<_>>().join("\n");
                let failed = outcome.failed() || refused.is_some();
                let shown = shown_output(&text, self.run.settings.limits.truncate_len);
                self.record(reply, code, Some((&shown, failed)), Some(execution))?;
                Ok(Judged::Shown { text, shown, failed })
            }
        }
    }

    fn refusal(&self, value: &FinalValue) -> Option<String> {
        let errors = self.spec.schema.as_ref()?.errors(&value.value);
        (!errors.is_empty()).then(|| schema_rejection(&errors))
    }

    fn record(
        &self,
        reply: &Reply,
        code: &str,
        output: Option<(&str, bool)>,
        execution: Option<(i64, i64)>,
    ) -> Result<(), RunError> {
        let start = reply.timings.started_unix_ms;
        let took = i64::try_from(reply.timings.total.as_millis()).unwrap_or(i64::MAX);
        let step = StepRecord {
            number: self.steps,
            code,
            output,
            reasoning: Some(reply.reasoning.as_str()).filter(|text| !text.is_empty()),
            usage: usage_record(&reply.usage),
            guard: self.talk.take_guard_usage(),
            instants: Instants {
                call: Some((start, start.saturating_add(took))),
                execution,
            },
        };
        self.run.record_step(&self.spec.id, &step)
    }

    fn finish(&self, value: FinalValue) -> Result<Next, RunError> {
        self.run.record_final(&self.spec.id, &value.value)?;
        self.run.tell(&self.spec.id, What::Final(value.value.clone()));
        Ok(Next::Final(value))
    }

    /// Replaces an instance that a step used up; what the model is told about it, or nothing.
    async fn revive(&mut self, instance: InstanceState) -> Result<String, RunError> {
        if instance == InstanceState::Alive && self.repl.is_alive() {
            return Ok(String::new());
        }
        let restore = self.memory.as_ref().map(SessionMemory::restore_set);
        let in_session = restore.is_some();
        let report = self
            .repl
            .restart(restore.unwrap_or_else(RestoreSet::default))
            .await
            .map_err(ReplError::from)?;
        if let Some(memory) = &mut self.memory {
            memory.restored(&report);
        }
        Ok(revived_notice(in_session, &report))
    }

    fn steps_left(&self) -> StepsLeft {
        StepsLeft {
            taken: self.steps,
            allowed: self.run.settings.limits.max_calls_per_subagent,
        }
    }

    fn tell_step(&self, failed: bool, output: Option<String>) {
        self.run.tell(
            &self.spec.id,
            What::StepEnded {
                step: self.steps,
                failed,
                output,
            },
        );
    }

    fn tell_judged(&self, judged: &Judged, ok: bool) {
        match judged {
            Judged::Final(_) => self.tell_step(!ok, None),
            Judged::Shown { shown, failed, .. } => self.tell_step(*failed, Some(shown.clone())),
        }
    }
}

/// What came of a step's code.
enum Judged {
    Final(FinalValue),
    Shown {
        text: String,
        /// Marked and cut.
        shown: String,
        failed: bool,
    },
}

fn start_options(run: &Run, spec: &Spec, memory: Option<&SessionMemory>) -> StartOptions {
    let limits = &run.settings.limits;
    StartOptions {
        context: spec.context.clone(),
        role: spec.role(limits.max_depth),
        mcp: false,
        env: run.settings.env.clone(),
        limits: ReplLimits {
            step_timeout: Duration::from_secs(limits.step_timeout_s),
            memory_bytes: limits.repl_memory_mb.saturating_mul(1 << 20),
            ..ReplLimits::default()
        },
        tools: spec.tools.clone(),
        host_tools: Vec::new(),
        restore: memory.map(SessionMemory::restore_set).unwrap_or_default(),
    }
}

/// The tools, as the probe shows them: never their source.
fn tools_notice(tools: &[ToolInfo]) -> String {
    if tools.is_empty() {
        return String::new();
    }
    let lines = tools.iter().map(|tool| {
        let how = if tool.is_async { "async, needs await" } else { "sync" };
        let doc = tool
            .doc
            .as_deref()
            .map(|doc| format!("\n    {}", doc.replace('\n', "\n    ")))
            .unwrap_or_default();
        format!("  {}{} [{how}]{doc}", tool.name, tool.signature)
    });
    format!(
        "---\nTools ({}), callable by name:\n{}\n",
        tools.len(),
        lines.collect::<Vec<_>>().join("\n")
    )
}

fn revived_notice(in_session: bool, report: &RestoreReport) -> String {
    if !in_session {
        return "\n[The REPL was lost in this step and is new: only `context` is there. Earlier variables are gone.]"
            .into();
    }
    let failed: Vec<&str> = report.failed.iter().map(|failure| failure.name.as_str()).collect();
    let missing = if failed.is_empty() {
        String::new()
    } else {
        format!(" Not restored: {}.", head(&failed.join(", "), 500).0)
    };
    format!("\n[The REPL was lost in this step and was restored from the last save.{missing}]")
}
