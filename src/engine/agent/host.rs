//! What an agent's REPL can call: sub-agents, the person, tools. Arguments come from model-written code.

use super::delegate::{Delegation, delegations};
use super::talk::Talk;
use super::{Run, Spec, run_agent};
use crate::engine::clock;
use crate::engine::error::RunError;
use crate::engine::event::What;
use crate::engine::journal::cell_outcome;
use crate::engine::person::Question;
use crate::engine::prompts::{guard_question, guard_refuses};
use crate::engine::seats::Seat;
use crate::engine::truncate::head;
use crate::provider::Message;
use crate::repl::{HostCall, HostCalls, HostError, PythonException};
use crate::store::StoreError;
use crate::store::payload::{CellOutcome, LeafCall};
use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;

/// Answers the calls of one agent.
pub(super) struct Host {
    run: Arc<Run>,
    spec: Arc<Spec>,
    talk: Arc<Talk>,
    seat: Seat,
}

#[async_trait]
impl HostCalls for Host {
    async fn call(&self, call: HostCall) -> Result<Value, HostError> {
        match call.name.as_str() {
            "llm_query" => self.query_one(&call.args).await,
            "batch_llm_query" => self.query_batch(&call.args).await,
            // Python tools run inside the sandbox and need no leave to.
            "tool_begin" => Ok(json!({"run": true})),
            "tool_end" => Ok(Value::Null),
            "ask" => self.ask(&call.args).await,
            other => Err(HostError::new(format!("{other} is not available in this run"))),
        }
    }
}

impl Host {
    pub(super) fn new(run: Arc<Run>, spec: Arc<Spec>, talk: Arc<Talk>, seat: Seat) -> Self {
        Self { run, spec, talk, seat }
    }

    async fn query_one(&self, args: &Value) -> Result<Value, HostError> {
        let mut answers = self.delegate(std::slice::from_ref(args)).await?;
        answers.pop().unwrap_or(Ok(Value::Null))
    }

    async fn query_batch(&self, args: &Value) -> Result<Value, HostError> {
        let queries = args
            .get("queries")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let answers = self.delegate(queries).await?;
        answers.into_iter().collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn delegations(&self, args: &[Value]) -> Result<Vec<Delegation>, HostError> {
        if self.spec.id.depth >= self.run.settings.limits.max_depth {
            return Err(HostError::new(
                "the greatest depth is reached: do this part yourself, without llm_query",
            ));
        }
        delegations(args, &self.talk.tools(), self.run.settings.inherit_tools)
    }

    /// Runs sub-agents at the same time, standing meanwhile. All end before anything is answered, and their results
    /// are in the log before they reach Python.
    async fn delegate(&self, args: &[Value]) -> Result<Vec<Result<Value, HostError>>, HostError> {
        let asked = self.delegations(args)?;
        let work = async {
            self.guard(&asked).await?;
            let children = asked
                .into_iter()
                .zip(args)
                .map(|(delegation, args)| self.child(delegation, args));
            let (answers, cells): (Vec<_>, Vec<_>) = join_all(children).await.into_iter().unzip();
            self.log(cells.into_iter().flatten().collect())?;
            Ok(answers)
        };
        self.seat.stand_during(work).await
    }

    /// A recorded answer, the person's, or none yet: then the step parks, durably, and this call never returns.
    async fn ask(&self, args: &Value) -> Result<Value, HostError> {
        let asked = Question::from_call(self.talk.next_question(), args)?;
        let question = asked.redacted(&self.run.settings.secrets);
        if let Some(answer) = self
            .talk
            .tape()
            .and_then(|tape| tape.answer(question.number).map(str::to_owned))
        {
            return Ok(answer.into());
        }
        self.run.tell(&self.spec.id, What::Asked(question.clone()));
        if let Some(person) = &self.run.person
            && let Some(answer) = self.seat.stand_during(person.ask(&question)).await
        {
            return Ok(asked.chosen(&question, answer).into());
        }
        let Some(journal) = self.spec.journal.upgrade() else {
            return Err(HostError::new(
                "nobody is there to answer: decide yourself, or end with what you have",
            ));
        };
        journal.park(&question).map_err(|error| self.unkept(error))?;
        self.talk.park(question);
        std::future::pending().await
    }

    /// What this call returned when its step was run before, if it parked then.
    fn recorded(&self, args: &Value) -> Option<Result<Value, HostError>> {
        let (tape, journal) = (self.talk.tape()?, self.spec.journal.upgrade()?);
        let outcome = tape.serve("llm_query", journal.input_digest(&args.to_string()))?;
        Some(answer_of(outcome))
    }

    async fn child(&self, delegation: Delegation, args: &Value) -> (Result<Value, HostError>, Option<LeafCall>) {
        if let Some(answer) = self.recorded(args) {
            return (answer, None);
        }
        let journal = self.spec.journal.upgrade();
        let spec = delegation.into_spec(&self.run.settings, &self.spec);
        let begun = journal.map(|journal| LeafCall {
            call: "llm_query".into(),
            number: journal.next_call(),
            run_id: self.spec.id.run_id.to_string(),
            input: Some(journal.input_digest(&args.to_string())),
            shown_input: Some(args.clone()),
            child_run: Some(spec.id.run_id.to_string()),
            started: clock::now(),
            ..LeafCall::default()
        });
        let answer = match run_agent(Arc::clone(&self.run), spec).await.result {
            Ok(value) => Ok(value.value),
            Err(error) => Err(HostError::new(format!("the sub-agent has no answer: {error}"))),
        };
        let cell = begun.map(|begun| LeafCall {
            outcome: cell_outcome(&answer),
            ended: clock::now(),
            ..begun
        });
        (answer, cell)
    }

    fn log(&self, cells: Vec<LeafCall>) -> Result<(), HostError> {
        let journal = self.spec.journal.upgrade().filter(|_| !cells.is_empty());
        let logged = journal.map_or(Ok(()), |journal| journal.cells(cells));
        logged.map_err(|error| self.unkept(error))
    }

    /// A result or question that cannot be logged ends the query: it could not be kept.
    fn unkept(&self, error: StoreError) -> HostError {
        let error = RunError::from(error);
        self.run.halt_on(&error);
        HostError::new(error.to_string())
    }

    /// Asks once for the whole batch before a sub-agent is given nearly everything its parent has.
    async fn guard(&self, asked: &[Delegation]) -> Result<(), HostError> {
        let guard = self.run.settings.guard;
        let parent = self.spec.context_chars;
        let largest = asked
            .iter()
            .map(|delegation| delegation.chars)
            .max()
            .unwrap_or_default();
        let share = largest as f64 / parent.max(1) as f64;
        if !guard.enabled || parent < guard.min_chars || share < guard.ratio {
            return Ok(());
        }
        let mut messages = self.talk.messages();
        messages.push(Message::user(guard_question(asked.len(), largest, parent)));
        let model = &self.run.settings.sub_model;
        let called = self.run.call(&self.spec.id, model, messages, true).await;
        let reply = called
            .inspect_err(|error| self.run.halt_on(error))
            .map_err(|error| HostError::new(error.to_string()))?;
        self.talk.add_guard(&reply.usage);
        let passed = !guard_refuses(&reply.text);
        self.run.tell(
            &self.spec.id,
            What::Guarded {
                passed,
                usage: reply.usage,
            },
        );
        if passed { Ok(()) } else { Err(refused(&reply.text)) }
    }
}

/// A recorded outcome, as it reached Python then.
fn answer_of(outcome: CellOutcome) -> Result<Value, HostError> {
    match outcome {
        CellOutcome::Returned(value) => Ok(value),
        CellOutcome::Raised { kind, message } => Err(HostError {
            exception: PythonException::named(&kind),
            message,
        }),
        CellOutcome::Denied { reason } => Err(HostError {
            exception: PythonException::Permission,
            message: reason,
        }),
        CellOutcome::Truncated { head, .. } => Ok(head.into()),
    }
}

fn refused(reason: &str) -> HostError {
    let message = format!(
        "delegation refused: the sub-agent would get nearly all of your context. Narrow it down with code first. The review said: {}",
        head(reason.trim(), 600).0
    );
    HostError {
        exception: PythonException::Runtime,
        message,
    }
}
