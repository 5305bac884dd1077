//! Lines of a transcript that the log has and the file lacks: they are appended when the session is opened for writing.

use super::project::ProjectError;
use super::recover::RecoverError;
use crate::disk::files::open_regular;
use crate::disk::transcript_writer::{AgentRef, Instants, StepRecord, TranscriptWriter, UsageRecord};
use crate::model::{Cost, Usage};
use crate::store::payload::{ModelCall, StepStarted, TurnStarted};
use crate::store::{Fact, StoredEvent};
use serde_json::value::to_raw_value;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Bytes of a line that are held; the pieces of a longer one are no events.
const LONGEST_LINE: u64 = 256 << 20;

/// The parts of a turn's steps, as they come by.
#[derive(Default)]
pub(super) struct Lines {
    turn: TurnStarted,
    call: ModelCall,
    code: StepStarted,
    /// Questions about delegations that the step asked.
    guards: Vec<ModelCall>,
}

impl Lines {
    /// Of the turn in flight.
    pub(super) fn of(turn: TurnStarted) -> Self {
        Self {
            turn,
            ..Self::default()
        }
    }

    /// Takes an event, and appends the line that it is, where that is missing.
    pub(super) fn take(&mut self, dir: &Path, event: &StoredEvent) -> Result<(), RecoverError> {
        match &event.fact {
            Fact::TurnStarted(started) => self.turn = started.clone(),
            Fact::ModelCall(call) if call.is_reply() => {
                self.call = call.clone();
                self.guards.clear();
            }
            Fact::ModelCall(call) if call.guard => self.guards.push(call.clone()),
            Fact::StepStarted(started) => self.code = started.clone(),
            Fact::StepEnded(ended) => {
                let number = u64::from(event.step.unwrap_or_default()) + 1;
                let failed = ended.exception.is_some();
                let output = (!ended.output.is_empty()).then_some((ended.output.as_str(), failed));
                self.add_step(dir, event.time, number, output)?;
            }
            Fact::Final(result) => self.add_final(dir, event.time, &result.value)?,
            _ => {}
        }
        Ok(())
    }

    fn add_step(&self, dir: &Path, time: i64, number: u64, output: Option<(&str, bool)>) -> Result<(), RecoverError> {
        let Some(path) = self.path(dir) else {
            return Ok(());
        };
        if present(&path, &self.turn.run_id).steps.contains(&number) {
            return Ok(());
        }
        let step = StepRecord {
            number,
            code: &self.code.code,
            output,
            reasoning: self.call.reasoning.as_deref(),
            usage: usage_of_calls(std::slice::from_ref(&self.call)),
            guard: (!self.guards.is_empty()).then(|| usage_of_calls(&self.guards)),
            instants: Instants {
                call: Some((self.call.started, self.call.ended)),
                execution: None,
            },
        };
        Ok(TranscriptWriter::open(&path)?.step(&self.root(), time, &step)?)
    }

    fn add_final(&self, dir: &Path, time: i64, value: &serde_json::Value) -> Result<(), RecoverError> {
        let Some(path) = self.path(dir) else {
            return Ok(());
        };
        if present(&path, &self.turn.run_id).has_final {
            return Ok(());
        }
        // None is an absent key in transcripts (session-format).
        let result = (!value.is_null()).then(|| to_raw_value(value)).transpose();
        let result = result.map_err(ProjectError::from)?;
        Ok(TranscriptWriter::open(&path)?.result(&self.root(), time, result.as_deref())?)
    }

    fn path(&self, dir: &Path) -> Option<PathBuf> {
        transcript_of(dir, &self.turn)
    }

    fn root(&self) -> AgentRef {
        AgentRef {
            run_id: self.turn.run_id.clone(),
            parent_run_id: None,
            depth: 0,
        }
    }
}

/// A recorded turn's transcript, to be written on. A log may be a stranger's and name any file: outside of the
/// session's directory only one counts that this very run has begun.
pub(in crate::engine) fn transcript_of(dir: &Path, turn: &TurnStarted) -> Option<PathBuf> {
    let path = dir.join(turn.log_file.as_deref()?);
    let is_its_own = || !turn.run_id.is_empty() && present(&path, &turn.run_id).any;
    (is_inside(dir, &path).unwrap_or(false) || is_its_own()).then_some(path)
}

/// Whether a file, which need not be there yet, is in a directory and no link out of it.
fn is_inside(dir: &Path, path: &Path) -> std::io::Result<bool> {
    let parent = path.parent().unwrap_or(dir).canonicalize()?;
    let plain = std::fs::symlink_metadata(path).map_or(true, |metadata| metadata.is_file());
    let named = path.file_name().is_some();
    Ok(plain && named && parent.starts_with(dir.canonicalize()?))
}

/// What a transcript has of a run.
#[derive(Debug, Default)]
struct Present {
    any: bool,
    steps: HashSet<u64>,
    has_final: bool,
}

impl Present {
    fn take(&mut self, head: &Head) {
        self.any = true;
        self.steps.extend(head.step);
        self.has_final |= head.event_type == "final_result";
    }
}

#[derive(serde::Deserialize)]
struct Head {
    run_id: String,
    event_type: String,
    step: Option<u64>,
}

/// Reads what a transcript has of a run. A torn last line counts as missing; so does what is no regular file.
fn present(path: &Path, run_id: &str) -> Present {
    let mut found = Present::default();
    each_line(path, |line| {
        let head = serde_json::from_slice::<Head>(line).ok();
        if let Some(head) = head.filter(|head| head.run_id == run_id) {
            found.take(&head);
        }
    });
    found
}

/// Hands on the lines of a transcript; none of what is no regular file.
pub(super) fn each_line(path: &Path, mut take: impl FnMut(&[u8])) {
    let Ok((file, _)) = open_regular(path) else {
        return;
    };
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    while (&mut lines)
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)
        .is_ok_and(|read| read > 0)
    {
        take(&line);
        line.clear();
    }
}

/// What calls used, as transcripts have it.
fn usage_of_calls(calls: &[ModelCall]) -> UsageRecord {
    let (mut used, mut cost) = (Usage::default(), Cost::Known(0));
    for call in calls {
        used.add(&call.usage.unwrap_or_default());
        cost = cost.plus(call.cost);
    }
    UsageRecord {
        prompt_tokens: used.prompt,
        completion_tokens: used.completion,
        total_tokens: used.total,
        cached_tokens: used.cached,
        reasoning_tokens: used.reasoning,
        ..UsageRecord::default()
    }
    .with_cost(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_that_is_no_file_has_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (file, pipe) = (dir.path().join("a.jsonl"), dir.path().join("pipe.jsonl"));
        let lines = "{\"run_id\":\"r\",\"event_type\":\"execution_result\",\"step\":1}\n{\"run_id\":\"r\",\"ev";
        std::fs::write(&file, lines).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let found = present(&file, "r");
        assert!(found.any && found.steps.contains(&1) && !found.has_final);
        for odd in [pipe.as_path(), Path::new("/dev/zero"), dir.path()] {
            assert!(!present(odd, "r").any, "{odd:?}");
        }
        assert!(TranscriptWriter::open(&pipe).is_err());
    }
}
