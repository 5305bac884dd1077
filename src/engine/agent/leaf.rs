//! The one way out of the interpreter: every leaf call of every agent is served from a tape or passes the gate, and its
//! result is in the log before Python gets it.

use super::calls::Begun;
use super::host::Host;
use super::mcp::gate_name;
use crate::engine::accounts::Used;
use crate::engine::clock;
use crate::engine::error::RunError;
use crate::engine::gate::{Decision, GateCall};
use crate::engine::groups::Observation;
use crate::engine::journal::cell_outcome;
use crate::engine::nesting::too_deep;
use crate::engine::person::Question;
use crate::engine::tape::{Call, Recorded, Served, tool_input};
use crate::engine::truncate::head;
use crate::repl::{HostError, PythonException};
use crate::store::StoreError;
use crate::store::payload::{CellOutcome, LeafCall, SubAgent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Characters that are kept of a value that nests too deep.
const DEEP_HEAD: usize = 200;

impl Host {
    /// [`Host::known`], which never comes where the code gave the call up.
    pub(super) async fn recorded(&self, call: &str, input: &Value) -> Result<Option<Recorded>, HostError> {
        let known = self.known(call, input).await?;
        if let Some(recorded) = &known {
            recorded.wait().await;
        }
        Ok(known)
    }

    /// What the call gets without being made: as its step got it before, or as another run got it.
    pub(super) async fn known(&self, call: &str, input: &Value) -> Result<Option<Recorded>, HostError> {
        let Some(journal) = self.spec.journal.upgrade() else {
            return Ok(None);
        };
        let digest = journal.input_digest(&input.to_string());
        if let Some(tape) = self.talk.tape() {
            if let Some(recorded) = tape.serve(call, digest) {
                return Ok(Some(recorded));
            }
            if tape.is_all() {
                return Err(HostError::new(format!("{call} was not recorded with this input")));
            }
        }
        let Some(tape) = self.run.tape.as_ref().filter(|_| self.spec.id.depth == 0) else {
            return Ok(None);
        };
        if tape.asks_first() {
            self.pass(call, input).await?;
        }
        let step = journal.step();
        let asked = Call {
            name: call,
            step,
            digest,
            input,
        };
        match tape.serve(&asked) {
            Served::Live => Ok(None),
            Served::Halt(why) => {
                self.run.halt_on(&RunError::Halted(why.clone()));
                Err(HostError::new(why))
            }
            Served::Recorded(recorded) => {
                let cell = self.cell(call, input);
                self.log(cell.map(|cell| ended(cell, &recorded)).into_iter().collect())?;
                Ok(Some(recorded))
            }
        }
    }

    /// The answer that another run's step got after it had waited for it: with a cell of its own from here on.
    pub(super) async fn answered(&self, question: &Question, args: &Value) -> Result<Option<Recorded>, HostError> {
        let Some(tape) = self.run.tape.as_ref().filter(|_| self.spec.id.depth == 0) else {
            return Ok(None);
        };
        let step = self.spec.journal.upgrade().map_or(0, |journal| journal.step());
        let Some(answer) = tape.answer(step, question) else {
            return Ok(None);
        };
        if tape.asks_first() {
            self.pass("ask", args).await?;
        }
        let recorded = Recorded {
            outcome: CellOutcome::Returned(answer),
            pickle: None,
        };
        let cell = self.cell("ask", args);
        self.log(cell.map(|cell| ended(cell, &recorded)).into_iter().collect())?;
        Ok(Some(recorded))
    }

    /// A call begins.
    pub(super) fn begin(&self, call: &str, input: &Value) -> Begun {
        let cell = self.cell(call, input);
        Begun::new(cell, &self.talk, &self.run, &self.spec.cancel, &self.spec.journal)
    }

    /// A cell of a call that begins; `None` where cells are not kept.
    fn cell(&self, call: &str, input: &Value) -> Option<LeafCall> {
        let journal = self.spec.journal.upgrade().filter(|_| self.run.settings.cassette)?;
        Some(LeafCall {
            call: call.into(),
            number: journal.next_call(),
            run_id: self.spec.id.run_id.to_string(),
            input: Some(journal.input_digest(&input.to_string())),
            shown_input: Some(input.clone()),
            started: clock::now(),
            ..LeafCall::default()
        })
    }

    /// Logs how a call ended.
    pub(super) fn end(&self, call: &Begun, answer: &Result<Value, HostError>) -> Result<(), HostError> {
        let cell = call.end(&Used::default(), cell_outcome(answer));
        let ended = cell.map(|cell| LeafCall {
            ended: clock::now(),
            ..cell
        });
        self.log(ended.into_iter().collect())
    }

    pub(super) fn log(&self, cells: Vec<LeafCall>) -> Result<(), HostError> {
        self.log_with(cells, Vec::new())
    }

    /// Logs cells with what it takes to run the sub-agents of some again, by the cells' numbers.
    pub(super) fn log_with(&self, cells: Vec<LeafCall>, agents: Vec<(u64, SubAgent)>) -> Result<(), HostError> {
        let journal = self.spec.journal.upgrade().filter(|_| !cells.is_empty());
        let cells = cells.into_iter().map(recordable).collect();
        let logged = journal.map_or(Ok(()), |journal| journal.cells(cells, agents));
        logged.map_err(|error| self.unkept(error))
    }

    /// A result or question that cannot be logged ends the query: it could not be kept.
    pub(super) fn unkept(&self, error: StoreError) -> HostError {
        let error = RunError::from(error);
        self.run.halt_on(&error);
        HostError::new(error.to_string())
    }

    /// Asks at the gate. A refusal is a cell, and a `PermissionError` in Python.
    pub(super) async fn pass(&self, call: &str, input: &Value) -> Result<(), HostError> {
        let Some(approver) = &self.run.settings.approver else {
            return Ok(());
        };
        let asked = GateCall {
            name: gate_name(call, input),
            input: input.clone(),
            depth: self.spec.id.depth,
        };
        let reason = match approver.decide(&asked).await {
            Decision::Allow => return Ok(()),
            Decision::Deny(reason) => reason,
        };
        let outcome = CellOutcome::Denied { reason: reason.clone() };
        let cell = self.cell(call, input);
        let denied = cell.map(|cell| ended(cell, &Recorded { outcome, pickle: None }));
        self.log(denied.into_iter().collect())?;
        Err(HostError {
            exception: PythonException::Permission,
            message: reason,
        })
    }

    /// A Python tool is about to run: its recorded result, or leave to run.
    pub(super) async fn tool_begin(&self, args: &Value) -> Result<Value, HostError> {
        let (name, input) = tool_input(args);
        if let Some(recorded) = self.recorded(&name, &input).await? {
            return recorded.tool_reply();
        }
        self.is_shown(&name, &input)?;
        self.pass(&name, &input).await?;
        if let Some(cell) = self.cell(&name, &input) {
            self.talk.tool_begins(cell);
        }
        Ok(json!({"run": true}))
    }

    /// A Python tool has run.
    pub(super) fn tool_end(&self, args: &Value) -> Result<Value, HostError> {
        let (name, input) = tool_input(args);
        let Some(cell) = self.talk.tool_ended(&name, &input) else {
            return Ok(Value::Null);
        };
        self.log(vec![ended(cell, &self.tool_result(args))])?;
        Ok(Value::Null)
    }

    fn tool_result(&self, args: &Value) -> Recorded {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(error) = args.get("error").filter(|error| error.is_object()) {
            let (kind, message) = (text(error, "type"), text(error, "message"));
            let outcome = CellOutcome::Raised { kind, message };
            return Recorded { outcome, pickle: None };
        }
        let pickle = args.get("pickle").and_then(Value::as_str).map(str::to_owned);
        let clean = |pickle: &String| {
            let bytes = STANDARD.decode(pickle).unwrap_or_default();
            self.run.settings.secrets.find_in(&bytes).is_none()
        };
        Recorded {
            outcome: CellOutcome::Returned(args.get("value").cloned().unwrap_or_default()),
            pickle: pickle.filter(clean),
        }
    }

    /// A tool of the host.
    pub(super) async fn tool_call(&self, args: &Value) -> Result<Value, HostError> {
        let (name, input) = tool_input(args);
        if let Some(recorded) = self.recorded(&name, &input).await? {
            return recorded.answer();
        }
        self.is_shown(&name, &input)?;
        let tool = self.spec.host_tools.iter().find(|tool| tool.describe().name == name);
        let tool = tool.ok_or_else(|| HostError::new(format!("{name} is not available in this run")))?;
        self.pass(&name, &input).await?;
        let cell = self.begin(&name, &input);
        let positional = input.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
        let by_name = input.get("kwargs").cloned().unwrap_or_default();
        let answer = tool.call(&positional, &by_name).await;
        self.end(&cell, &answer)?;
        for observation in answer.iter().flat_map(|value| tool.observations(value)) {
            self.observe(&observation)?;
        }
        answer
    }

    /// A tool of a hidden group is not there yet.
    fn is_shown(&self, name: &str, input: &Value) -> Result<(), HostError> {
        if !self.run.groups.hides(name) {
            return Ok(());
        }
        let refused = HostError::new(format!("{name} is not available yet"));
        self.end(&self.begin(name, input), &Err(refused.clone()))?;
        Err(refused)
    }

    /// What a tool observed; what it shows stays shown for the session.
    fn observe(&self, observation: &Observation) -> Result<(), HostError> {
        self.talk.show_tools(self.run.groups.observe(observation));
        let journal = self.spec.journal.upgrade();
        let kept = journal.map_or(Ok(()), |journal| journal.observed(observation));
        kept.map_err(|error| self.unkept(error))
    }
}

fn ended(begun: LeafCall, result: &Recorded) -> LeafCall {
    LeafCall {
        outcome: result.outcome.clone(),
        pickle: result.pickle.clone(),
        ended: clock::now(),
        ..begun
    }
}

/// A cell as a record can hold it: of a value that nests too deep only the beginning of its text is kept, and it is
/// never served.
pub(super) fn recordable(cell: LeafCall) -> LeafCall {
    let outcome = match cell.outcome {
        CellOutcome::Returned(value) if too_deep("", &value).is_some() => {
            let text = value.to_string();
            let bytes = text.len() as u64;
            CellOutcome::Truncated {
                head: head(&text, DEEP_HEAD).0.to_owned(),
                bytes,
                cap: bytes,
            }
        }
        other => other,
    };
    LeafCall {
        shown_input: cell.shown_input.filter(|input| too_deep("", input).is_none()),
        outcome,
        ..cell
    }
}
