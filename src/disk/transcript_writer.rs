//! Writing a run's transcript: one JSON object a line, appended and flushed as things happen, in the format that
//! existing programs read. Keys of ours are optional ones (`outcome`, `error`, `limit`, `guard`, `unanswered`).

use super::advice::advice;
use super::files::{is_in_place, open_regular_with};
use crate::model::Cost;
use crate::text::exact_money;
use serde::Serialize;
use serde_json::value::RawValue;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Who a line is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRef {
    /// Its id.
    pub run_id: String,
    /// Its parent's; `None` for the root.
    pub parent_run_id: Option<String>,
    /// 0 for the root.
    pub depth: u32,
}

/// Tokens and cost of calls, with the keys that existing programs write.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UsageRecord {
    /// Prompt tokens, cached ones included.
    pub prompt_tokens: u64,
    /// Completion tokens, reasoning included.
    pub completion_tokens: u64,
    /// Their sum, or as reported.
    pub total_tokens: u64,
    /// Prompt tokens from a cache.
    pub cached_tokens: u64,
    /// Reasoning tokens.
    pub reasoning_tokens: u64,
    /// US dollars as exact decimal text; absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Box<RawValue>>,
    /// The same of the part that is known, where not all of it is. Existing programs know the cost as unknown then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_at_least: Option<Box<RawValue>>,
}

impl UsageRecord {
    /// Sets the cost.
    #[must_use]
    pub fn with_cost(mut self, cost: Cost) -> Self {
        match cost {
            Cost::Unknown => {}
            Cost::Known(nano) => self.cost = decimal(nano),
            Cost::AtLeast(nano) => self.cost_at_least = decimal(nano),
        }
        self
    }
}

fn decimal(nano: i64) -> Option<Box<RawValue>> {
    let decimal = exact_money(i128::from(nano)).replace(['$', ','], "");
    RawValue::from_string(decimal).ok()
}

/// Instants of a step, unix milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Instants {
    /// The model call.
    pub call: Option<(i64, i64)>,
    /// The execution of the code.
    pub execution: Option<(i64, i64)>,
}

/// A step as it is recorded.
#[derive(Clone, Debug)]
pub struct StepRecord<'a> {
    /// 0 for the probe, else from 1.
    pub number: u64,
    /// Its code; empty when the model wrote none.
    pub code: &'a str,
    /// Its output as the model sees it, and whether it failed; `None` when there is none to record (no code was
    /// written, or the step called FINAL).
    pub output: Option<(&'a str, bool)>,
    /// The model's reasoning.
    pub reasoning: Option<&'a str>,
    /// Its call's usage.
    pub usage: UsageRecord,
    /// Usage of compression-guard calls made for it (ours).
    pub guard: Option<UsageRecord>,
    /// Instants.
    pub instants: Instants,
}

/// How an agent ended, for `agent_end`; all `None` for a plain success.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EndRecord<'a> {
    /// `error`, `limit`, `cancelled`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'a str>,
    /// The error's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
    /// The limit that stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<&'a str>,
    /// Usage of a call that was cut before its reply was there: no step counts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<UsageRecord>,
}

/// One line.
#[derive(Serialize)]
struct Line<'a> {
    level: u8,
    time: String,
    run_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_run_id: Option<&'a str>,
    depth: u32,
    #[serde(flatten)]
    event: EventFields<'a>,
}

#[derive(Serialize)]
#[serde(tag = "event_type", rename_all = "snake_case")]
enum EventFields<'a> {
    AgentStart,
    AgentEnd(&'a EndRecord<'a>),
    CodeGenerated(StepFields<'a>),
    ExecutionResult(StepFields<'a>),
    FinalResult {
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a RawValue>,
    },
}

#[derive(Serialize)]
struct StepFields<'a> {
    step: u64,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    #[serde(rename = "hasError", skip_serializing_if = "Option::is_none")]
    has_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a str>,
    usage: &'a UsageRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<&'a UsageRecord>,
    timestamps: Timestamps,
}

#[derive(Serialize)]
struct Timestamps {
    #[serde(skip_serializing_if = "Option::is_none")]
    llm_call_start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    llm_call_end: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_end: Option<String>,
}

/// A transcript could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the transcript {}: {cause}; {}", path.display(), advice(cause))]
pub struct TranscriptError {
    /// Which file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub cause: io::Error,
}

/// A transcript open for appending, shared by all agents of a run.
#[derive(Debug)]
pub struct TranscriptWriter {
    path: PathBuf,
    file: Mutex<File>,
}

impl TranscriptWriter {
    /// Creates (or continues) the transcript at `path`; its directory must exist. A torn last line, left by a writer
    /// that died, is closed first, so that the next one is not welded to it.
    ///
    /// # Errors
    /// [`TranscriptError`] with the path and cause.
    pub fn open(path: &Path) -> Result<Self, TranscriptError> {
        let fail = |cause| TranscriptError {
            path: path.to_owned(),
            cause,
        };
        let mut options = OpenOptions::new();
        options.create(true).append(true).read(true);
        let mut file = open_regular_with(&mut options, path).map_err(fail)?;
        if is_torn(&mut file).map_err(fail)? {
            file.write_all(b"\n").map_err(fail)?;
        }
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
        })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `agent_start`.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn start(&self, agent: &AgentRef, now: i64) -> Result<(), TranscriptError> {
        self.append(agent, now, EventFields::AgentStart)
    }

    /// A step: `execution_result` when its output is recorded, else `code_generated`.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn step(&self, agent: &AgentRef, now: i64, step: &StepRecord<'_>) -> Result<(), TranscriptError> {
        self.append(agent, now, step_event(step))
    }

    /// `final_result`; `None` for `FINAL(None)`, as existing programs write it.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn result(&self, agent: &AgentRef, now: i64, result: Option<&RawValue>) -> Result<(), TranscriptError> {
        self.append(agent, now, EventFields::FinalResult { result })
    }

    /// `agent_end`.
    ///
    /// # Errors
    /// [`TranscriptError`].
    pub fn end(&self, agent: &AgentRef, now: i64, end: &EndRecord<'_>) -> Result<(), TranscriptError> {
        self.append(agent, now, EventFields::AgentEnd(end))
    }

    /// One line in one write, so that readers and parallel agents never see half of another's.
    fn append(&self, agent: &AgentRef, now: i64, event: EventFields<'_>) -> Result<(), TranscriptError> {
        let fail = |cause| TranscriptError {
            path: self.path.clone(),
            cause,
        };
        let line = Line {
            level: 30,
            time: iso(now),
            run_id: &agent.run_id,
            parent_run_id: agent.parent_run_id.as_deref(),
            depth: agent.depth,
            event,
        };
        let mut bytes = serde_json::to_vec(&line).map_err(|error| fail(error.into()))?;
        bytes.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&bytes).map_err(fail)?;
        is_in_place(&file).map_err(fail)
    }
}

fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn step_event<'a>(step: &'a StepRecord<'a>) -> EventFields<'a> {
    let fields = StepFields {
        step: step.number,
        code: step.code,
        output: step.output.map(|(text, _)| text),
        has_error: step.output.map(|(_, failed)| failed),
        reasoning: step.reasoning,
        usage: &step.usage,
        guard: step.guard.as_ref(),
        timestamps: timestamps(step.instants),
    };
    if step.output.is_some() {
        EventFields::ExecutionResult(fields)
    } else {
        EventFields::CodeGenerated(fields)
    }
}

fn timestamps(instants: Instants) -> Timestamps {
    let (call, execution) = (instants.call, instants.execution);
    Timestamps {
        llm_call_start: call.map(|(start, _)| iso(start)),
        llm_call_end: call.map(|(_, end)| iso(end)),
        execution_start: execution.map(|(start, _)| iso(start)),
        execution_end: execution.map(|(_, end)| iso(end)),
    }
}

/// ISO 8601 in UTC with milliseconds, as existing programs write it.
fn iso(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms)
        .map(|at| format!("{at:.3}"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
