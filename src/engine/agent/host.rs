//! What an agent's REPL can call: sub-agents, the person, tools. Arguments come from model-written code.

use super::calls::Begun;
use super::delegate::{Delegation, Owned, delegations};
use super::mcp;
use super::talk::Talk;
use super::{Run, Spec, Unanswered};
use crate::engine::accounts::{Purpose, Used};
use crate::engine::clock;
use crate::engine::event::What;
use crate::engine::journal::{cell_outcome, model_call, unanswered_call};
use crate::engine::person::Question;
use crate::engine::prompts::{guard_question, guard_refuses};
use crate::engine::run::Caller;
use crate::engine::seats::Seat;
use crate::engine::tape::Recorded;
use crate::engine::truncate::head;
use crate::provider::{Cancel, Message, Usage};
use crate::repl::{HostCall, HostCalls, HostError, PythonException};
use crate::store::payload::{LeafCall, ModelCall};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

/// Answers the calls of one agent.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) run: Arc<Run>,
    pub(super) spec: Arc<Spec>,
    pub(super) talk: Arc<Talk>,
    seat: Seat,
}

#[async_trait]
impl HostCalls for Host {
    async fn call(&self, call: HostCall) -> Result<Value, HostError> {
        match call.name.as_str() {
            "llm_query" => self.query_one(&call.args).await,
            "batch_llm_query" => self.query_batch(&call.args).await,
            "tool_begin" => self.tool_begin(&call.args).await,
            "tool_end" => self.tool_end(&call.args),
            "tool_call" => self.tool_call(&call.args).await,
            "ask" => self.ask(&call.args).await,
            name if mcp::FUNCTIONS.contains(&name) => self.mcp(name, &call.args).await,
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

    fn delegations(&self, args: &[&Value]) -> Result<Vec<Delegation>, HostError> {
        if self.spec.id.depth >= self.run.settings.limits.max_depth {
            return Err(HostError::new(
                "the greatest depth is reached: do this part yourself, without llm_query",
            ));
        }
        let settings = &self.run.settings;
        let owned = Owned {
            tools: (&self.talk.tools(), settings.inherit_tools),
            mcp: (self.spec.mcp.as_deref().unwrap_or_default(), settings.inherit_mcp),
            structured: settings.structured_io,
        };
        delegations(args, &owned)
    }

    /// Runs sub-agents at the same time, standing meanwhile. All end before anything is answered. What was recorded is
    /// not asked again.
    async fn delegate(&self, args: &[Value]) -> Result<Vec<Result<Value, HostError>>, HostError> {
        let mut known = Vec::with_capacity(args.len());
        for args in args {
            known.push(self.known("llm_query", args).await.transpose());
        }
        // All of them have their cells by now.
        for recorded in known.iter().flatten().flatten() {
            recorded.wait().await;
        }
        let missing: Vec<&Value> = known
            .iter()
            .zip(args)
            .filter(|(known, _)| known.is_none())
            .map(|(_, args)| args)
            .collect();
        let mut made = self.run_children(&missing).await?.into_iter();
        let answer = |known: Option<Result<Recorded, _>>| {
            let known = known.map(|known| known.and_then(Recorded::answer));
            known.or_else(|| made.next()).unwrap_or(Ok(Value::Null))
        };
        Ok(known.into_iter().map(answer).collect())
    }

    /// Who stops waiting for it stops it; it ends in good order all the same.
    async fn run_children(&self, args: &[&Value]) -> Result<Vec<Result<Value, HostError>>, HostError> {
        if args.is_empty() {
            return Ok(Vec::new());
        }
        let calls: Vec<_> = args.iter().map(|args| self.begin("llm_query", args)).collect();
        let asked = self.delegations(args).map_err(|error| self.refuse(error, &calls))?;
        let cancel = self.spec.cancel.part();
        let open = calls.iter().filter_map(Begun::id).collect();
        let (host, stop) = (self.clone(), cancel.clone());
        let work = async move {
            let passed = host.guard(&asked, &cancel).await;
            passed.map_err(|error| host.refuse(error, &calls))?;
            host.together(asked, calls, &cancel).await
        };
        let tended = self.talk.calls.tend(open, stop, work);
        self.seat.stand_during(tended).await?
    }

    /// None of these calls is made.
    fn refuse(&self, error: HostError, calls: &[Begun]) -> HostError {
        let outcome = cell_outcome(&Err(error.clone()));
        let cells = calls
            .iter()
            .filter_map(|call| call.end(&Used::default(), outcome.clone()));
        let cells = cells.map(|cell| LeafCall {
            ended: clock::now(),
            ..cell
        });
        self.log(cells.collect()).map_or_else(|unkept| unkept, |()| error)
    }

    /// A recorded answer, the person's, or none yet: then the step parks, durably, and this call never returns.
    async fn ask(&self, args: &Value) -> Result<Value, HostError> {
        let asked = Question::from_call(args)?;
        let mut question = asked.redacted(&self.run.settings.secrets);
        question.number = self.talk.number_of(&question.text);
        let tape = self.talk.tape();
        if let Some(answer) = tape.as_ref().and_then(|tape| tape.questions().answer(question.number)) {
            return Ok(answer.into());
        }
        if let Some(recorded) = self.answered(&question, args).await? {
            return recorded.answer();
        }
        if let Some(recorded) = self.recorded("ask", args).await? {
            return recorded.answer();
        }
        self.pass("ask", args).await?;
        self.run.tell(&self.spec.id, What::Asked(question.clone()));
        let cell = self.begin("ask", args);
        if let Some(person) = &self.run.person
            && let Some(answer) = self.seat.stand_during(person.ask(&question)).await
        {
            let answer = Ok(Value::from(asked.chosen(&question, answer)));
            self.end(&cell, &answer)?;
            return answer;
        }
        let Some(journal) = self.spec.journal.upgrade() else {
            return Err(HostError::new(
                "nobody is there to answer: decide yourself, or end with what you have",
            ));
        };
        if self.talk.begins_to_park() {
            journal.park(&question).map_err(|error| self.unkept(error))?;
            self.talk.park(question);
        }
        std::future::pending().await
    }

    /// The root's own question about a delegation is in the log; a sub-agent's is part of its record, and what it used
    /// counts to its cell.
    fn log_guard(&self, call: ModelCall) -> Result<(), HostError> {
        let Some(journal) = self.spec.journal.upgrade() else {
            return Ok(());
        };
        let call = ModelCall { guard: true, ..call };
        if self.spec.id.depth > 0 {
            self.talk.keep_guard_call(call);
            return Ok(());
        }
        journal.guard_call(call).map_err(|error| self.unkept(error))
    }

    /// Asks once for the whole batch before a sub-agent is given nearly everything its parent has.
    async fn guard(&self, asked: &[Delegation], cancel: &Cancel) -> Result<(), HostError> {
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
        let caller = Caller {
            agent: &self.spec.id,
            cancel,
            purpose: Purpose::Guard,
        };
        let reply = match self.run.call(&caller, model, messages).await {
            Ok(reply) => reply,
            Err(failed) => return Err(self.unguarded(failed)),
        };
        let passed = !guard_refuses(&reply.text);
        let call = model_call(&self.spec.id.run_id, &model.name, &[], &reply);
        self.guarded(passed, reply.usage, call)?;
        if passed { Ok(()) } else { Err(refused(&reply.text)) }
    }

    /// The question was not answered, and is billed all the same.
    fn unguarded(&self, failed: Unanswered) -> HostError {
        let Unanswered { error, used } = failed;
        self.run.halt_on(&error);
        let model = &self.run.settings.sub_model.name;
        let told = used.map(|used| {
            let call = unanswered_call(&self.spec.id.run_id, model, &used, &error);
            self.guarded(false, used, call)
        });
        let unkept = told.and_then(Result::err);
        unkept.unwrap_or_else(|| HostError::new(error.to_string()))
    }

    /// Keeps what a question about a delegation used, and tells it.
    fn guarded(&self, passed: bool, usage: Usage, call: ModelCall) -> Result<(), HostError> {
        self.log_guard(call)?;
        self.run.tell(&self.spec.id, What::Guarded { passed, usage });
        Ok(())
    }
}

fn refused(reason: &str) -> HostError {
    let message = format!(
        "delegation refused: the sub-agent would get nearly all of your context. Narrow it down with code first. The \
         review said: {}",
        head(reason.trim(), 600).0
    );
    HostError {
        exception: PythonException::Runtime,
        message,
    }
}
