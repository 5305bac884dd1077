//! An agent's opening: its REPL, the probe, and the first two messages.

use super::host::Host;
use super::mcp;
use super::record::begun;
use super::talk::Talk;
use super::{Agent, Keeper, PreludeStep, Run, RunError, Spec, What};
use crate::disk::transcript_writer::{Instants, StepRecord, UsageRecord};
use crate::engine::clock;
use crate::engine::prompts::{first_message, schema_notice, system_prompt};
use crate::provider::Message;
use crate::repl::{InstanceState, Limits, PROBE, RestoreReport, Role, StartOptions, Started, ToolInfo};
use std::sync::Arc;
use std::time::Duration;

impl Agent {
    /// Starts the REPL and opens the conversation; on failure what the session keeps comes back.
    pub(super) async fn start(
        run: Arc<Run>,
        spec: Spec,
        mut keeper: Option<Keeper>,
    ) -> Result<Self, (RunError, Option<Keeper>)> {
        let seat = tokio::select! {
            seat = run.seats.sit() => seat,
            () = stopped(&spec) => {
                // Its end has a line, and so has its beginning.
                let unrecorded = run.record_start(&spec.id).err();
                return Err((unrecorded.unwrap_or_else(|| run.why_cancelled()), keeper));
            }
        };
        let record = begun(&run, &spec);
        let (spec, talk) = (Arc::new(spec), Arc::new(Talk::default()));
        let host = Host::new(Arc::clone(&run), Arc::clone(&spec), Arc::clone(&talk), seat.clone());
        let options = start_options(&run, &spec, keeper.as_mut());
        let resumed = spec.onward.is_some();
        let begun = async {
            if !resumed {
                run.record_start(&spec.id)?;
            }
            tokio::select! {
                started = run.factory.start(options, Arc::new(host)) => Ok::<Started, RunError>(started?),
                () = stopped(&spec) => Err(run.why_cancelled()),
            }
        };
        let started = match begun.await {
            Ok(started) => started,
            Err(error) => return Err((error, keeper)),
        };
        talk.know_tools(&started.tools);
        if let Some(keeper) = &mut keeper {
            keeper.memory.restored(&started.restored);
        }
        let of_turn = keeper.as_ref().and_then(Keeper::seed);
        let mut agent = Self {
            seed: of_turn.or(record.as_ref().and_then(|record| record.seed)),
            record,
            run,
            spec,
            talk,
            repl: started.repl,
            keeper,
            _seat: seat,
            steps: 0,
            logged: 0,
            tools: started.tools.clone(),
            fresh: true,
            as_probe: false,
            seeded: None,
            unanswered: None,
        };
        if let Some((file, reason)) = started.tool_errors.into_iter().next() {
            return Err((RunError::Tools { file, reason }, agent.keeper));
        }
        agent.record_tools(&started.tools);
        agent.keep_tools(&started.tools);
        let opened = match agent.spec.onward.is_some() {
            true => agent.take_up().await,
            false => agent.open_conversation(&started.tools, &started.restored).await,
        };
        match opened {
            Ok(()) => Ok(agent),
            Err(error) => Err((error, agent.keeper)),
        }
    }

    /// Takes up the conversation where it was left.
    async fn take_up(&mut self) -> Result<(), RunError> {
        self.talk.push(Message::system(self.system_prompt()));
        let spec = Arc::clone(&self.spec);
        let Some(onward) = &spec.onward else { return Ok(()) };
        onward
            .messages
            .iter()
            .for_each(|message| self.talk.push(message.clone()));
        self.steps = onward.steps;
        // The first step draws as it did when it followed the probe.
        let first = onward.prelude.as_ref().and_then(|prelude| prelude.steps.first());
        self.as_probe = match first {
            Some(step) => step.number == 1,
            None => onward.steps == u64::from(onward.again.is_some()),
        };
        self.logged = (onward.messages.len() + 1).saturating_sub(onward.unlogged);
        match &onward.prelude {
            Some(prelude) => self.run_again(&prelude.steps).await,
            None => Ok(()),
        }
    }

    /// Brings the namespace about by running steps again. Where one comes out otherwise, what was saved counts.
    async fn run_again(&mut self, steps: &[PreludeStep]) -> Result<(), RunError> {
        for step in steps {
            self.talk.begin_step(Some(Arc::clone(&step.tape)));
            let (number, readings) = (step.number, Some(step.readings.clone()));
            let (outcome, _) = self.execute(number, &step.code, readings).await?;
            if step.failed.is_some_and(|failed| failed != outcome.failed()) {
                self.revive(InstanceState::Lost).await?;
                return Ok(());
            }
        }
        Ok(())
    }

    /// A replay binds the same tools, without having them.
    fn record_tools(&self, tools: &[ToolInfo]) {
        if let (Some(keeper), false) = (&self.keeper, tools.is_empty()) {
            keeper.know_tools(tools, &self.spec.host_tools);
        }
    }

    fn system_prompt(&self) -> String {
        let leaf = self.spec.role(self.run.settings.limits.max_depth) == Role::Leaf;
        let structured = self.run.settings.structured_io;
        let instruction = self.spec.instruction.as_deref();
        let prompt = system_prompt(leaf, self.keeper.is_some(), structured, instruction);
        // A sub-agent's instruction is put together by code, which knows the secrets.
        self.run.settings.secrets.redact(&prompt).into_owned()
    }

    /// Runs the probe, records it, and puts the first two messages.
    async fn open_conversation(&mut self, tools: &[ToolInfo], restored: &RestoreReport) -> Result<(), RunError> {
        let started = clock::now();
        let (outcome, _) = self.execute(0, PROBE, None).await?;
        let schema = self
            .spec
            .schema
            .as_ref()
            .map(|schema| schema_notice(schema.source()))
            .unwrap_or_default();
        let servers = mcp::open(&self.run, &self.spec).await?;
        let inventory = self
            .keeper
            .as_ref()
            .map(|keeper| format!("\n{}", keeper.memory.inventory(restored)));
        let shown: Vec<_> = tools
            .iter()
            .filter(|tool| !self.run.groups.hides(&tool.name))
            .cloned()
            .collect();
        let output = format!(
            "{schema}{}{}{}",
            outcome.text(),
            tools_notice(&shown) + &servers,
            inventory.unwrap_or_default()
        );
        let output = self.run.settings.secrets.redact(&output).into_owned();
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
        self.tell(What::Probed { output: output.clone() });
        self.talk.push(Message::system(self.system_prompt()));
        self.talk.push(Message::user(first_message(
            self.spec.preamble.as_deref(),
            PROBE,
            &output,
        )));
        Ok(())
    }
}

/// A sub-agent that is stopped need not have begun; a root's start is kept.
async fn stopped(spec: &Spec) {
    match spec.id.depth {
        0 => std::future::pending().await,
        _ => spec.cancel.cancelled().await,
    }
}

fn start_options(run: &Run, spec: &Spec, keeper: Option<&mut Keeper>) -> StartOptions {
    let limits = &run.settings.limits;
    StartOptions {
        context: spec.context.clone(),
        role: spec.role(limits.max_depth),
        mcp: spec.mcp.is_some(),
        env: run.settings.env.clone(),
        limits: Limits {
            step_timeout: Duration::from_secs(limits.step_timeout_s),
            memory_bytes: limits.repl_memory_mb.saturating_mul(1 << 20),
            ..Limits::default()
        },
        tools: spec.tools.clone(),
        host_tools: spec.host_tools.iter().map(|tool| tool.describe()).collect(),
        restore: match spec.onward.as_ref().and_then(|onward| onward.prelude.as_ref()) {
            Some(prelude) => prelude.restore.clone(),
            None => keeper.map(|keeper| keeper.memory.hand_out()).unwrap_or_default(),
        },
    }
}

/// The tools, as the probe shows them: never their source.
pub(super) fn tools_notice(tools: &[ToolInfo]) -> String {
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
        format!(
            "  {}{} [{how}]{doc}",
            tool.name,
            super::signature::shown(&tool.signature)
        )
    });
    format!(
        "---\nTools ({}), callable by name:\n{}\n",
        tools.len(),
        lines.collect::<Vec<_>>().join("\n")
    )
}
