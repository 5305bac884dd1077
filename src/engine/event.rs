//! What a running query tells whoever watches it: live displays, the terminal program, a library's caller.
//!
//! Everything durable was written before it is told (design: durable first, then shown). Deltas and output are told
//! as they come; what they add up to is in the step's end.

use super::person::Question;
use super::truncate::CUTS;
use crate::provider::Usage;
use crate::store::Redact;
use crate::text::secret::Secrets;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// Which agent an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentId {
    /// Its id in transcripts.
    pub run_id: Arc<str>,
    /// Its parent's; `None` for the root.
    pub parent: Option<Arc<str>>,
    /// 0 for the root.
    pub depth: u32,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEvent {
    /// To whom.
    pub agent: AgentId,
    /// When, unix milliseconds.
    pub time: i64,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The agent started; `task` is what it was given to do, one line, cut.
    Started {
        /// One line.
        task: String,
    },
    /// The probe ran.
    Probed {
        /// What it showed.
        output: String,
    },
    /// A model call began, for the step of this number.
    CallStarted {
        /// From 1.
        step: u64,
    },
    /// Text of the reply, as it streams.
    Text(String),
    /// Reasoning, as it streams.
    Reasoning(String),
    /// The call ended; the code it asked for, if any.
    CallEnded {
        /// Code to be run.
        code: Option<String>,
        /// What the call used.
        usage: Usage,
    },
    /// REPL output, as it is printed.
    Output(String),
    /// A step was recorded.
    StepEnded {
        /// From 1.
        step: u64,
        /// Its code raised, or FINAL was refused.
        failed: bool,
        /// Its output as the model sees it; `None` where none is recorded.
        output: Option<String>,
    },
    /// The compression guard asked about `count` sub-agents and was answered.
    Guarded {
        /// It let them pass.
        passed: bool,
        /// What the question cost.
        usage: Usage,
    },
    /// The run asks the person.
    Asked(Question),
    /// FINAL, as JSON; for the root: accepted and recorded.
    Final(Value),
    /// The agent ended; the reason, when it has no FINAL.
    Ended {
        /// In one line.
        error: Option<String>,
    },
    /// Something to tell a person once: an unknown price, a tool file that did not load.
    Notice(String),
}

impl What {
    /// Without secrets, as it may be shown. Streamed text comes here without any: pieces tell too little.
    pub(super) fn redacted(self, secrets: &Secrets) -> Self {
        let hide = |text: String| secrets.redact_cut(&text, &CUTS).into_owned();
        match self {
            Self::Started { task } => Self::Started { task: hide(task) },
            Self::Probed { output } => Self::Probed { output: hide(output) },
            Self::CallEnded { code, usage } => Self::CallEnded {
                code: code.map(hide),
                usage,
            },
            Self::Output(text) => Self::Output(hide(text)),
            Self::StepEnded { step, failed, output } => Self::StepEnded {
                step,
                failed,
                output: output.map(hide),
            },
            Self::Asked(question) => Self::Asked(question.redacted(secrets)),
            Self::Final(value) => Self::Final(redacted_value(value, secrets)),
            Self::Ended { error } => Self::Ended { error: error.map(hide) },
            Self::Notice(text) => Self::Notice(hide(text)),
            other => other,
        }
    }
}

/// A value without secrets; the same value where there is none in it. Text by text: a number that is a secret becomes
/// a string, as it does in the log.
pub(crate) fn redacted_value(mut value: Value, secrets: &Secrets) -> Value {
    hiding(secrets).value(&mut value);
    value
}

/// Hides registered secrets in what is recorded.
pub(super) fn hiding(secrets: &Secrets) -> Redact {
    let secrets = secrets.clone();
    let replaced = move |text: &str| match secrets.redact_cut(text, &CUTS) {
        Cow::Borrowed(_) => None,
        Cow::Owned(redacted) => Some(redacted),
    };
    Redact::with(move |text| replaced(text).map_or(Cow::Borrowed(text), Cow::Owned))
}

/// Takes events as they happen. Called on the engine's tasks: must not block.
pub trait Watch: Send + Sync {
    /// Takes one event.
    fn event(&self, event: RunEvent);
}

impl<F: Fn(RunEvent) + Send + Sync> Watch for F {
    fn event(&self, event: RunEvent) {
        self(event);
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn event(&self, _event: RunEvent) {}
}
