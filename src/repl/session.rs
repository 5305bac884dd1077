//! The REPL that the room's trait stands for: keeps an instance, and replaces it.

use super::api::{
    Canceller, HostCalls, InstanceState, Repl, RestoreReport, RestoreSet, StartOptions, Started, Step, StepError,
    StepErrorKind, StepOutcome, StepOutput, Sweep,
};
use super::error::ReplError;
use super::instance::{Instance, Spawn};
use super::running::{OnOutput, Running};
use super::startup::Starter;
use super::sweeping;
use super::wire::RestoreReply;
use async_trait::async_trait;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// A REPL on instances of one backend.
pub(super) struct PythonRepl {
    starter: Starter,
    /// Taken out while it works, so that a dropped future ends it.
    instance: Option<Instance>,
    canceller: Canceller,
}

impl PythonRepl {
    pub(super) async fn start(
        backend: Arc<dyn Spawn>,
        mut options: StartOptions,
        host: Arc<dyn HostCalls>,
    ) -> Result<Started, ReplError> {
        let begin = Instant::now();
        let restore = Arc::new(std::mem::take(&mut options.restore));
        let starter = Starter {
            backend,
            options,
            host,
            runtime: Handle::current(),
        };
        let (instance, reply) = starter.start(&restore).await?;
        let repl = Self {
            starter,
            instance: Some(instance),
            canceller: Canceller::default(),
        };
        Ok(Started {
            repl: Box::new(repl),
            tools: reply.tools,
            tool_errors: reply.tool_errors,
            restored: report(reply.restored, begin),
        })
    }
}

fn report(reply: RestoreReply, begin: Instant) -> RestoreReport {
    RestoreReport {
        variables: reply.variables,
        functions: reply.functions,
        renamed: reply.renamed,
        failed: reply.failed,
        duration: begin.elapsed(),
    }
}

#[async_trait]
impl Repl for PythonRepl {
    async fn run(&mut self, step: Step, output: OnOutput<'_>) -> StepOutcome {
        let Some(instance) = self.instance.take() else {
            return not_run(&ReplError::NotAlive);
        };
        let running = Running::begin(instance, &step, &self.starter.options.limits, &self.canceller);
        match running {
            Ok(running) => {
                let (outcome, instance) = running.finish(output).await;
                self.instance = instance;
                outcome
            }
            Err(error) => not_run(&error),
        }
    }

    async fn sweep(&mut self) -> Result<Sweep, ReplError> {
        let instance = self.instance.take().ok_or(ReplError::NotAlive)?;
        let (sweep, instance) = sweeping::sweep(instance, &self.starter.options.limits).await;
        self.instance = instance;
        sweep
    }

    async fn restart(&mut self, restore: RestoreSet) -> Result<RestoreReport, ReplError> {
        let begin = Instant::now();
        if let Some(instance) = self.instance.take() {
            instance.end().await;
        }
        let restore = Arc::new(restore);
        let (instance, reply) = self.starter.start(&restore).await?;
        self.instance = Some(instance);
        Ok(report(reply.restored, begin))
    }

    fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    fn is_alive(&self) -> bool {
        self.instance.is_some()
    }

    fn memory_bytes(&self) -> u64 {
        self.instance.as_ref().map_or(0, |instance| instance.memory.used())
    }
}

/// The outcome of a step that could not be handed over.
fn not_run(error: &ReplError) -> StepOutcome {
    StepOutcome {
        output: StepOutput::default(),
        error: Some(StepError {
            kind: StepErrorKind::Crash,
            text: format!("{error}\n"),
        }),
        final_value: None,
        written: Vec::new(),
        deleted: Vec::new(),
        imports: Vec::new(),
        readings: Vec::new(),
        duration: Duration::ZERO,
        execution: Duration::ZERO,
        instance: InstanceState::Lost,
    }
}
