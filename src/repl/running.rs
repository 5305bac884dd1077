//! Drives one step: hands output on, keeps the limits, cancels softly and then by force.

use super::api::{
    Canceller, FinalValue, InstanceState, Limits, OutputChunk, Step, StepError, StepErrorKind, StepOutcome, StepOutput,
};
use super::error::ReplError;
use super::instance::{Instance, encode};
use super::link::Event;
use super::wire::{Command, Done, Reply, StepReply};
use std::time::{Duration, Instant};

/// A step that ran too long gets this long to end by itself after it was cancelled.
const TIMEOUT_GRACE: Duration = Duration::from_millis(300);
/// A step that a person cancelled gets less, where nothing but this process has to notice.
const CANCEL_GRACE: Duration = Duration::from_millis(50);
/// The shortest wait between two looks at the execution clock, which may stand still.
const SHORTEST_WAIT: Duration = Duration::from_millis(20);
/// What a step may print beyond its limit before it is stopped by force: Python raises at the limit itself.
const FLOOD_MARGIN: u64 = 64 << 20;

/// Receives what is printed.
pub(super) type OnOutput<'a> = &'a mut (dyn FnMut(OutputChunk) + Send);

/// Why a step is being stopped, and when it will be by force.
struct Stopping {
    kind: StepErrorKind,
    deadline: Instant,
}

/// A step that is running.
pub(super) struct Running<'a> {
    instance: Instance,
    limits: &'a Limits,
    canceller: &'a Canceller,
    number: u64,
    start: Instant,
    stopping: Option<Stopping>,
    final_value: Option<FinalValue>,
    readings: Vec<u64>,
}

impl<'a> Running<'a> {
    /// Hands the step over.
    pub(super) fn begin(
        mut instance: Instance,
        step: &Step,
        limits: &'a Limits,
        canceller: &'a Canceller,
    ) -> Result<Self, ReplError> {
        instance.clock.pin(step.clock, step.readings.as_deref());
        instance.link.output.start(limits.output_bytes);
        instance.link.meter.start();
        instance.set_backstop(Some(limits.step_timeout.saturating_add(TIMEOUT_GRACE * 4)));
        let flood = limits.flood_bytes;
        let number = instance.send(|number| {
            encode(&Command::Step {
                number,
                step: step.number,
                code: &step.code,
                seed: step.seed,
                flood,
            })
        })?;
        Ok(Self {
            instance,
            limits,
            canceller,
            number,
            start: Instant::now(),
            stopping: None,
            final_value: None,
            readings: Vec::new(),
        })
    }

    /// Runs to the end of the step. Gives the instance back if it is still there.
    pub(super) async fn finish(mut self, on_output: OnOutput<'_>) -> (StepOutcome, Option<Instance>) {
        let reply = self.wait(on_output).await;
        self.instance.set_backstop(None);
        self.instance.link.meter.stop();
        self.instance.link.wake_all();
        self.readings = self.instance.clock.unpin();
        if let Some(chunk) = self.instance.link.output.take_new() {
            on_output(chunk);
        }
        match reply {
            Some(reply) => self.completed(reply),
            None => self.lost().await,
        }
    }

    /// The kernel's reply, or `None` if the instance is lost or has to be given up.
    async fn wait(&mut self, on_output: OnOutput<'_>) -> Option<StepReply> {
        let canceller = self.canceller.clone();
        let mut cancelled = std::pin::pin!(canceller.cancelled());
        loop {
            let (until, link) = (self.next_look(), self.instance.link.clone());
            let stopping = self.stopping.is_some();
            tokio::select! {
                event = self.instance.event() => match self.take(event?) {
                    Some(Reply::Good(reply)) => return Some(reply),
                    Some(Reply::Broken { .. }) => return None,
                    None => {}
                },
                () = link.output.printed() => {
                    if let Some(chunk) = link.output.take_new() {
                        on_output(chunk);
                    }
                    if link.output.total() > self.limits.flood_bytes.saturating_add(FLOOD_MARGIN) {
                        self.stop(StepErrorKind::Output, Duration::ZERO);
                    }
                }
                () = &mut cancelled, if !stopping => self.stop(StepErrorKind::Cancelled, self.cancel_grace()),
                () = tokio::time::sleep_until(until.into()) => {}
            }
            match &self.stopping {
                Some(stopping) if Instant::now() >= stopping.deadline => return None,
                Some(_) => {}
                None if self.instance.link.meter.elapsed() >= self.limits.step_timeout => {
                    self.stop(StepErrorKind::Timeout, TIMEOUT_GRACE);
                }
                None => {}
            }
        }
    }

    fn next_look(&self) -> Instant {
        if let Some(stopping) = &self.stopping {
            return stopping.deadline;
        }
        let left = self
            .limits
            .step_timeout
            .saturating_sub(self.instance.link.meter.elapsed());
        let wait = left.clamp(SHORTEST_WAIT, Duration::from_secs(3600));
        Instant::now() + wait
    }

    fn cancel_grace(&self) -> Duration {
        match self.instance.memory.is_of_system() {
            // Of another process.
            true => TIMEOUT_GRACE,
            false => CANCEL_GRACE,
        }
    }

    /// Cancels the step softly; `wait` ends it by force after the grace.
    fn stop(&mut self, kind: StepErrorKind, grace: Duration) {
        if self.stopping.is_none() || grace.is_zero() {
            self.instance.link.cancelled.send_replace(self.number);
            self.stopping = Some(Stopping {
                kind,
                deadline: Instant::now() + grace,
            });
        }
    }

    fn take(&mut self, event: Event) -> Option<Reply<StepReply>> {
        match event {
            Event::Done(data) => {
                let done: Done<StepReply> = serde_json::from_slice(&data).ok()?;
                // Another number is a message that user code made up.
                (done.number == self.number).then_some(done.reply)
            }
            Event::Final(data) => {
                let (converted, json) = data.split_first()?;
                let value = serde_json::from_slice(json).ok()?;
                self.final_value = Some(FinalValue {
                    value,
                    converted: *converted == b'1',
                });
                None
            }
            Event::Note(_) | Event::Value(_) => None,
        }
    }

    fn completed(self, reply: StepReply) -> (StepOutcome, Option<Instance>) {
        let denied = self.instance.memory.denied();
        let error = reply.error.map(|text| self.explain(text, denied));
        let instance = if denied {
            InstanceState::Exhausted
        } else {
            InstanceState::Alive
        };
        let outcome = StepOutcome {
            error,
            written: reply.written,
            deleted: reply.deleted,
            imports: reply.imports,
            ..self.outcome(instance)
        };
        (outcome, Some(self.instance))
    }

    /// The outcome as far as it does not depend on the kernel's reply.
    fn outcome(&self, instance: InstanceState) -> StepOutcome {
        let (text, total_bytes) = self.instance.link.output.finish();
        StepOutcome {
            output: StepOutput { text, total_bytes },
            error: None,
            final_value: self.final_value.clone(),
            written: Vec::new(),
            deleted: Vec::new(),
            imports: Vec::new(),
            readings: self.readings.clone(),
            duration: self.start.elapsed(),
            execution: self.instance.link.meter.elapsed(),
            instance,
        }
    }

    /// Adds to a traceback what Python could not know: why it was cancelled, which limit memory hit.
    fn explain(&self, traceback: String, denied: bool) -> StepError {
        let last = traceback.trim_end().rsplit('\n').next().unwrap_or_default();
        let kind = match &self.stopping {
            Some(stopping) => stopping.kind,
            None if denied => StepErrorKind::Memory,
            // Python's own word, where nobody else knows.
            None if self.instance.memory.is_of_system() && last.starts_with("MemoryError") => StepErrorKind::Memory,
            None if last.starts_with("OutputLimitError") => StepErrorKind::Output,
            None => StepErrorKind::Exception,
        };
        let sentence = match kind {
            StepErrorKind::Exception | StepErrorKind::Output => return StepError { kind, text: traceback },
            _ => self.sentence(kind),
        };
        StepError {
            kind,
            text: format!("{}\n{sentence}\n", traceback.trim_end()),
        }
    }

    fn sentence(&self, kind: StepErrorKind) -> String {
        match kind {
            StepErrorKind::Timeout => {
                let limit = self.limits.step_timeout.as_secs_f64();
                format!(
                    "Step stopped: it ran longer than {limit} s, the limit of one step (time spent awaiting calls not counted)"
                )
            }
            StepErrorKind::Memory => {
                format!(
                    "Step failed: it needed more memory than the limit of {} MB",
                    self.limits.memory_bytes >> 20
                )
            }
            StepErrorKind::Output => format!("Step stopped: it printed more than {} bytes", self.limits.flood_bytes),
            StepErrorKind::Cancelled => "Step stopped: it was cancelled".into(),
            _ => "Step failed: the Python interpreter ended".into(),
        }
    }

    async fn lost(self) -> (StepOutcome, Option<Instance>) {
        let denied = self.instance.memory.denied();
        let kind = match &self.stopping {
            Some(stopping) => stopping.kind,
            None if self.is_over_time() => StepErrorKind::Timeout,
            None if denied => StepErrorKind::Memory,
            None => StepErrorKind::Crash,
        };
        let (mut outcome, sentence) = (self.outcome(InstanceState::Lost), self.sentence(kind));
        let why = self.instance.end().await;
        let text = format!("{sentence}; the interpreter is gone, and what the step did to variables with it ({why})\n");
        outcome.error = Some(StepError { kind, text });
        (outcome, None)
    }

    fn is_over_time(&self) -> bool {
        self.instance.link.meter.elapsed() > self.limits.step_timeout
    }
}
