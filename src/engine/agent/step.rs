//! One step: the reply's code is run, judged, kept, and what came of it is told to the model.

use super::opening::tools_notice;
use super::{Agent, Next, RunError, What};
use crate::disk::transcript_writer::{Instants, StepRecord};
use crate::engine::blocks::repl_code;
use crate::engine::clock;
use crate::engine::journal::{Tape, model_call, step_ended};
use crate::engine::keeper::{Keeper, KeptStep};
use crate::engine::nesting::too_deep;
use crate::engine::prompts::{no_code_message, schema_rejection, step_message};
use crate::engine::run::usage_record;
use crate::engine::truncate::{head, shown_output};
use crate::provider::{Message, Reply};
use crate::repl::{FinalValue, InstanceState, OutputChunk, RestoreReport, Step, StepErrorKind, StepOutcome, Sweep};
use crate::store::payload::StepEnded;
use crate::text::secret::LiveRedactor;
use std::sync::Arc;

/// What came of a step's code.
struct Judged {
    /// FINAL, accepted.
    result: Option<FinalValue>,
    /// What the model is shown otherwise.
    text: String,
    failed: bool,
}

/// A step about to be kept.
struct Ran<'a> {
    code: &'a str,
    judged: &'a Judged,
    /// The code did not raise.
    ok: bool,
    sweep: Option<Sweep>,
    ended: StepEnded,
    /// What the clocks showed it.
    readings: Vec<u64>,
    execution: Option<(i64, i64)>,
}

impl Agent {
    /// Runs a parked step again, from its start; what it got before is served from the tape.
    pub(super) async fn step_again(&mut self, reply: &Reply, tape: Arc<Tape>) -> Result<Next, RunError> {
        self.talk.begin_step(Some(tape));
        let code = repl_code(&reply.text).unwrap_or_default();
        // Who watches did not see the reply: it came before the question.
        self.tell(What::CallStarted { step: self.steps });
        self.tell(What::CallEnded {
            code: Some(code.clone()),
            usage: reply.usage,
        });
        self.run_step(reply, &code).await
    }

    pub(super) async fn step(&mut self, reply: &Reply) -> Result<Next, RunError> {
        self.talk.begin_step(None);
        let code = repl_code(&reply.text);
        self.tell(What::CallEnded {
            code: code.clone(),
            usage: reply.usage,
        });
        self.start_step(reply, code.as_deref().unwrap_or_default())?;
        match code {
            Some(code) => self.run_step(reply, &code).await,
            None => self.empty_step(reply),
        }
    }

    /// Logs the reply and its code before the code runs.
    fn start_step(&mut self, reply: &Reply, code: &str) -> Result<(), RunError> {
        if let Some(keeper) = &self.keeper {
            let messages = self.talk.messages();
            let added = messages.get(self.logged..).unwrap_or_default();
            let call = model_call(&self.spec.id.run_id, &self.spec.model.name, added, reply);
            keeper.start_step(self.steps, call, code)?;
            self.logged = messages.len() + 1;
        }
        self.keep_start(reply, code);
        self.talk.push(Message::assistant(reply.text.as_str()));
        Ok(())
    }

    fn empty_step(&mut self, reply: &Reply) -> Result<Next, RunError> {
        let judged = Judged {
            result: None,
            text: String::new(),
            failed: false,
        };
        let ended = StepEnded::default();
        let ran = Ran {
            code: "",
            judged: &judged,
            ok: true,
            sweep: None,
            ended,
            readings: Vec::new(),
            execution: None,
        };
        self.keep(reply, ran, None)?;
        Ok(Next::Message(no_code_message(self.steps_left())))
    }

    async fn run_step(&mut self, reply: &Reply, code: &str) -> Result<Next, RunError> {
        let started = clock::now();
        let readings = self.script().and_then(|script| script.readings());
        let (mut outcome, sweep) = self.execute(self.steps, code, readings).await?;
        self.run.unkept()?;
        self.keep_answers(&mut outcome);
        let cancelled = outcome
            .error
            .as_ref()
            .is_some_and(|error| error.kind == StepErrorKind::Cancelled);
        if cancelled && self.keeper.as_ref().is_some_and(Keeper::is_resuming) {
            // Not kept: the answer can be given again.
            return Err(self.run.why_cancelled());
        }
        let judged = self.judge(&outcome);
        let shown = judged
            .result
            .is_none()
            .then(|| shown_output(&judged.text, self.run.settings.limits.truncate_len));
        let ended = StepEnded {
            seed: self.seeded,
            ..step_ended(&outcome, shown.as_deref().unwrap_or_default())
        };
        let execution = Some((started, clock::now()));
        let ran = Ran {
            code,
            judged: &judged,
            ok: !outcome.failed(),
            sweep,
            ended,
            readings: outcome.readings.clone(),
            execution,
        };
        self.keep(reply, ran, shown.as_deref())?;
        if let Some(value) = judged.result {
            self.tell(What::Final(value.value.clone()));
            return Ok(Next::Final(value));
        }
        if cancelled || self.spec.cancel.is_cancelled() {
            return Err(self.run.why_cancelled());
        }
        self.halt_on_a_raise(&outcome)?;
        let lost = self.revive(outcome.instance).await?;
        let message = step_message(self.steps_left(), &judged.text, self.run.settings.limits.truncate_len);
        let shown = self.shown_tools();
        Ok(Next::Message(format!("{message}{lost}{shown}")))
    }

    /// The number that the randomness of a step begins with, where its REPL is fresh. Another one after each restart: a
    /// REPL that was lost must not draw the same numbers again.
    fn reseed(&mut self, number: u64) -> Option<u64> {
        let seed = self.seed.filter(|_| std::mem::take(&mut self.fresh))?;
        let number = if std::mem::take(&mut self.as_probe) { 0 } else { number };
        Some(seed.wrapping_add(number))
    }

    /// Runs code and, where it left an instance with a session, sweeps it. The clocks show `readings`, where there are
    /// some.
    pub(super) async fn execute(
        &mut self,
        number: u64,
        code: &str,
        readings: Option<Vec<u64>>,
    ) -> Result<(StepOutcome, Option<Sweep>), RunError> {
        self.seeded = self.reseed(number);
        let step = Step {
            seed: self.seeded,
            readings,
            ..Step::new(u32::try_from(number).unwrap_or(u32::MAX), code)
        };
        let canceller = self.repl.canceller();
        let (run, id) = (Arc::clone(&self.run), self.spec.id.clone());
        let mut live = LiveRedactor::new(run.settings.secrets.clone());
        let mut output = |chunk: OutputChunk| run.tell_output(&id, live_text(&mut live, &chunk));
        let ran = {
            let mut running = std::pin::pin!(self.repl.run(step, &mut output));
            let _attended = self.talk.calls.attend();
            tokio::select! {
                // In this order: a step that has not begun would not notice that it is to stop.
                biased;
                outcome = &mut running => Ok(outcome),
                // The instance is given up: the step runs again from its start when the answer is there.
                question = self.talk.parked() => Err(RunError::Parked(question)),
                () = self.spec.cancel.cancelled() => {
                    canceller.cancel();
                    Ok(running.await)
                }
            }
        };
        run.tell_output(&id, live.finish());
        self.close_calls(ran.is_err()).await?;
        let mut outcome = ran?;
        let sweep = match outcome.instance {
            _ if self.keeper.is_none() || number == 0 => None,
            InstanceState::Lost => None,
            InstanceState::Alive | InstanceState::Exhausted => self.save_names(&mut outcome).await,
        };
        Ok((outcome, sweep))
    }

    /// Accepts FINAL or not, and puts together what the model is shown.
    fn judge(&self, outcome: &StepOutcome) -> Judged {
        let refused = outcome.final_value.as_ref().and_then(|value| self.refusal(value));
        if let (Some(value), None, false) = (&outcome.final_value, &refused, outcome.failed()) {
            return Judged {
                result: Some(value.clone()),
                text: String::new(),
                failed: false,
            };
        }
        let failed = outcome.failed() || refused.is_some();
        let parts = [Some(outcome.text()), refused]
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty());
        let text = parts.collect::<Vec<_>>().join("\n");
        Judged {
            result: None,
            text: self.run.settings.secrets.redact(&text).into_owned(),
            failed,
        }
    }

    /// What the model is told of tools that the step let appear.
    fn shown_tools(&self) -> String {
        let names = self.talk.take_shown();
        let shown: Vec<_> = self
            .tools
            .iter()
            .filter(|tool| names.contains(&tool.name))
            .cloned()
            .collect();
        match tools_notice(&shown).as_str() {
            "" => String::new(),
            notice => format!("\n[New tools are there from now on.]\n{notice}"),
        }
    }

    /// A script goes on only from what it expects.
    fn halt_on_a_raise(&self, outcome: &StepOutcome) -> Result<(), RunError> {
        match (&outcome.error, self.script()) {
            (Some(error), Some(script)) if !script.may_raise() => {
                Err(RunError::Halted(error.text.trim_end().to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn refusal(&self, value: &FinalValue) -> Option<String> {
        if let Some(told) = too_deep("FINAL was not accepted: its value", &value.value) {
            return Some(told);
        }
        let errors = self.spec.schema.as_ref()?.errors(&value.value);
        (!errors.is_empty()).then(|| schema_rejection(&errors))
    }

    /// Keeps a step durably, then tells it. `shown` is its output as recorded.
    fn keep(&mut self, reply: &Reply, ran: Ran<'_>, shown: Option<&str>) -> Result<(), RunError> {
        let start = reply.timings.started_unix_ms;
        let took = i64::try_from(reply.timings.total.as_millis()).unwrap_or(i64::MAX);
        let guard = self.run.accounts.take_guard(&self.spec.id.run_id);
        let record = StepRecord {
            number: self.steps,
            code: ran.code,
            output: shown.map(|text| (text, ran.judged.failed)),
            reasoning: Some(reply.reasoning.as_str()).filter(|text| !text.is_empty()),
            usage: usage_record(&reply.usage),
            guard: guard.as_ref().map(usage_record),
            instants: Instants {
                call: Some((start, start.saturating_add(took))),
                execution: ran.execution,
            },
        };
        let result = ran.judged.result.as_ref().map(|value| &value.value);
        let (run, id) = (&self.run, &self.spec.id);
        let transcript = || {
            run.record_step(id, &record)?;
            result.map_or(Ok(()), |value| run.record_final(id, value))
        };
        match &mut self.keeper {
            None => {
                transcript()?;
                self.keep_end(ran.ended, ran.readings);
            }
            Some(keeper) => {
                let (number, sweep) = (self.steps, ran.sweep.as_ref());
                let step = KeptStep {
                    number,
                    code: ran.code,
                    ok: ran.ok,
                    sweep,
                    ended: ran.ended,
                    readings: ran.readings,
                    result,
                };
                keeper.end_step(step, transcript)?;
            }
        }
        let output = shown.map(str::to_owned);
        self.tell(What::StepEnded {
            step: self.steps,
            failed: ran.judged.failed,
            output,
        });
        Ok(())
    }

    /// Replaces an instance that a step used up; what the model is told about it, or nothing.
    pub(super) async fn revive(&mut self, instance: InstanceState) -> Result<String, RunError> {
        if instance == InstanceState::Alive && self.repl.is_alive() {
            return Ok(String::new());
        }
        let restore = self.keeper.as_ref().map(|keeper| keeper.memory.restore_set());
        let in_session = restore.is_some();
        let report = self.repl.restart(restore.unwrap_or_default()).await?;
        self.fresh = true;
        if let Some(keeper) = &mut self.keeper {
            keeper.memory.restored(&report);
        }
        Ok(revived_notice(in_session, &report))
    }
}

/// What of a chunk can be shown: a secret may be split between two.
fn live_text(live: &mut LiveRedactor, chunk: &OutputChunk) -> String {
    if chunk.skipped_bytes > 0 {
        live.push_after_gap(&chunk.text)
    } else {
        live.push(&chunk.text)
    }
}

fn revived_notice(in_session: bool, report: &RestoreReport) -> String {
    if !in_session {
        return "\n[The REPL was lost in this step and is new: only `context` is there. Earlier variables are gone.]"
            .into();
    }
    let failed: Vec<&str> = report.failed.iter().map(|failure| failure.name.as_str()).collect();
    let missing = match failed.as_slice() {
        [] => String::new(),
        names => format!(" Not restored: {}.", head(&names.join(", "), 500).0),
    };
    format!("\n[The REPL was lost in this step and was restored from the last save.{missing}]")
}
