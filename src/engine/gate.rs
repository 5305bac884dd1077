//! The gate that every tool call and every question passes: who may refuse it, and the tools that a host runs.

use super::groups::Observation;
use super::person::{Person, Question};
use crate::repl::{HostError, HostTool};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A call at the gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateCall {
    /// The tool's name, or `ask`.
    pub name: String,
    /// Its input: `{name, args, kwargs}` of a tool, `{question, options}` of a question.
    pub input: Value,
    /// Depth of the agent that calls; 0 is the root.
    pub depth: u32,
}

/// What an approver decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call is made.
    Allow,
    /// It is not: Python gets a `PermissionError` with this reason.
    Deny(String),
}

/// Decides about calls before they are made. A replay asks nobody.
#[async_trait]
pub trait Approver: Send + Sync + std::fmt::Debug {
    /// Decides about one call.
    async fn decide(&self, call: &GateCall) -> Decision;
}

/// Allows every tool that a query was given.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn decide(&self, _call: &GateCall) -> Decision {
        Decision::Allow
    }
}

/// Refuses everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

#[async_trait]
impl Approver for DenyAll {
    async fn decide(&self, call: &GateCall) -> Decision {
        Decision::Deny(format!("{} is not allowed here", call.name))
    }
}

/// Asks a person about each tool, and remembers "always" until it is dropped. Questions of the model pass.
pub struct AskPerson {
    person: Arc<dyn Person>,
    always: Mutex<HashSet<String>>,
}

impl AskPerson {
    /// Asks `person`; without an answer the call is refused.
    pub fn new(person: Arc<dyn Person>) -> Self {
        Self {
            person,
            always: Mutex::default(),
        }
    }

    fn remembered(&self, name: &str) -> bool {
        self.always
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(name)
    }
}

impl std::fmt::Debug for AskPerson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AskPerson")
    }
}

#[async_trait]
impl Approver for AskPerson {
    async fn decide(&self, call: &GateCall) -> Decision {
        if call.name == "ask" || self.remembered(&call.name) {
            return Decision::Allow;
        }
        let question = Question {
            number: 0,
            text: format!("Allow {} with {}?", call.name, call.input),
            options: ["yes", "always", "no"].map(str::to_owned).to_vec(),
        };
        match self.person.ask(&question).await.as_deref() {
            Some("always") => {
                let mut always = self.always.lock().unwrap_or_else(PoisonError::into_inner);
                always.insert(call.name.clone());
                Decision::Allow
            }
            Some("yes") => Decision::Allow,
            _ => Decision::Deny(format!("a person refused {}", call.name)),
        }
    }
}

/// A tool that the host runs: a function in the REPL, work outside of it.
#[async_trait]
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// How it is shown in the REPL.
    fn describe(&self) -> HostTool;

    /// One call. `args` are the positional arguments, `kwargs` an object of those by name. Dropped when the step is
    /// cancelled.
    ///
    /// # Errors
    ///
    /// Raised in Python.
    async fn call(&self, args: &[Value], kwargs: &Value) -> Result<Value, HostError>;

    /// What a result shows: signals that let groups of tools appear.
    fn observations(&self, _result: &Value) -> Vec<Observation> {
        Vec::new()
    }
}
