//! Branches: a new session that has everything of another one up to a step, and goes its own way from there. The
//! original is only read.

mod copy;
mod tail;

pub(super) use tail::{as_recorded, bindings, reply};
pub use tail::{check_syntax, edited_tail, injected_tail, literal};

use super::error::{LabError, shown};
use super::recorded::{RecordedStep, RecordedTurn, Recording};
use super::remove::remove;
use super::replay::{Source, suffices};
use crate::disk::atomic;
use crate::engine::{CONVERSATION, Pending, Rerun, RerunStep, custom_event, memory_before, now, restore_set};
use crate::model::names_read;
use crate::store::payload::{Custom, ForkedFrom, Outcome, Swept, TurnEnded};
use crate::store::{At, BindingKind, Digest, NewEvent, NewSession, Origin, SessionWriter};
use std::fmt::Display;
use std::path::Path;

/// Where a branch's namespace comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceFrom {
    /// Restored from what was saved.
    Saved,
    /// The steps before are run again from the tape: what comes reads something that could not be saved, or what was
    /// saved is kept no more.
    Tape,
}

/// A branch that has not gone its own way yet.
pub struct Branch {
    /// The new session.
    pub source: Source,
    /// What it branched off.
    pub parent: Source,
    /// The turn that it branched in, as the parent has it.
    pub turn: RecordedTurn,
    /// Before this step, 0-based.
    pub at: u32,
}

/// What is told of a branch that came to nothing and could not be removed.
pub(crate) fn left_behind(session: String, error: &dyn Display) -> LabError {
    let why = error.to_string();
    LabError::LeftBehind { session, why }
}

/// Branches before the step `at` of a turn, or of the last one. Everything is checked first: a refused branch leaves
/// nothing behind.
///
/// # Errors
///
/// [`LabError::TurnOutOfRange`], [`LabError::StepOutOfRange`], [`LabError::NotReplayable`], [`LabError::Conversation`],
/// and those of the store and of files.
pub fn branch(
    parent: &Source,
    sessions: &Path,
    turn: Option<u32>,
    at: u32,
    origin: Origin,
    change: Option<String>,
) -> Result<Branch, LabError> {
    let recording = parent.recording()?;
    let turn = checked(parent, recording, turn, at)?;
    let new = NewSession::branch(&parent.session, origin, now());
    let row = parent.store.events.create_session(&new)?;
    let source = Source {
        store: parent.store.clone(),
        session: row.id.clone(),
        dir: sessions.join(&row.id),
    };
    let branch = Branch {
        source,
        parent: parent.clone(),
        turn,
        at,
    };
    let from = ForkedFrom {
        session: parent.session.clone(),
        turn: branch.turn.number,
        step: at,
        origin,
        change,
    };
    match branch.fill(from) {
        Ok(()) => Ok(branch),
        Err(error) => Err(branch.give_up(error)),
    }
}

fn checked(parent: &Source, recording: Recording, turn: Option<u32>, at: u32) -> Result<RecordedTurn, LabError> {
    let turns = recording.turns.len();
    if turns == 0 {
        return Err(parent.not_replayable("no query of it has a record"));
    }
    let index = turn.map_or(turns - 1, |turn| turn as usize);
    let missing = || LabError::TurnOutOfRange {
        session: parent.shown(),
        turn: turn.unwrap_or_default(),
        turns,
    };
    let turn = recording.turns.into_iter().nth(index).ok_or_else(missing)?;
    if at as usize >= turn.steps.len() {
        return Err(LabError::StepOutOfRange {
            turn: turn.number,
            step: at,
            steps: turn.steps.len(),
        });
    }
    suffices(parent, &turn)?;
    let broken = |invariant: String| LabError::Conversation {
        session: parent.shown(),
        invariant,
    };
    for (number, step) in (0..=at).zip(&turn.steps) {
        conversation_holds(number, step).map_err(broken)?;
    }
    Ok(turn)
}

/// A model can go on only from a conversation in which each reply answers something.
fn conversation_holds(number: u32, step: &RecordedStep) -> Result<(), String> {
    let number = shown(number);
    if step.call.is_none() {
        return Err(format!("the reply of step {number} is lost"));
    }
    match step.told().last() {
        Some(last) if last.role == "user" => Ok(()),
        Some(last) => Err(format!(
            "step {number} answers a message of role {:?}, not of the user",
            last.role
        )),
        None => Err(format!("step {number} answers no message")),
    }
}

impl Branch {
    fn fill(&self, from: ForkedFrom) -> Result<(), LabError> {
        let writer = SessionWriter::take_over(&self.source.store, &self.source.session)?;
        let mut events = copy::events_before(&self.parent, &self.turn)?;
        events.push(NewEvent::of_session("forked_from", now(), from.into()));
        events.extend(copy::events_of_steps(&self.parent, self.turn.number, 0..self.at)?);
        let ended = TurnEnded {
            outcome: Outcome::Halted,
            error: Some("branched off here".into()),
            limit: None,
        };
        events.push(self.conversation(self.at)?);
        events.push(NewEvent::of_turn(self.turn.number, now(), ended.into()));
        writer.append(events)?;
        copy::share_points(&self.parent, &writer, At::after(self.turn.number, 0), None)?;
        self.settle(&writer, 0..self.at)
    }

    /// Removes the branch: nothing is left of it. Its id is not used again.
    ///
    /// # Errors
    ///
    /// Those of the store and of files.
    pub fn discard(self) -> Result<(), LabError> {
        remove(&self.source)
    }

    /// Removes the branch because of an error, which is the one to tell: with what is left where it cannot be removed.
    pub fn give_up<E: From<LabError> + Display>(self, error: E) -> E {
        let session = self.source.session.clone();
        match self.discard() {
            Ok(()) => error,
            Err(_) => left_behind(session, &error).into(),
        }
    }

    /// Takes over the recorded steps up to `at` too, with what they got.
    pub fn advance(&mut self, at: u32) -> Result<(), LabError> {
        let writer = SessionWriter::take_over(&self.source.store, &self.source.session)?;
        let mut events = copy::events_of_steps(&self.parent, self.turn.number, self.at..at)?;
        events.push(self.conversation(at)?);
        writer.append(events)?;
        let from = std::mem::replace(&mut self.at, at);
        self.settle(&writer, from..at)
    }

    /// What the step `at` of the branch answers.
    fn conversation(&self, at: u32) -> Result<NewEvent, LabError> {
        let messages = self.turn.steps.get(at as usize).map(|step| step.told().to_vec());
        let pending = Pending {
            step: at,
            messages: messages.unwrap_or_default(),
        };
        let data = serde_json::to_value(pending).map_err(crate::engine::ProjectError::from)?;
        let custom = Custom {
            name: CONVERSATION.into(),
            data,
        };
        let event = custom_event(self.turn.number, now(), custom);
        Ok(event.numbered(u64::from(at)))
    }

    /// Shares the namespaces of these steps, and brings the files in step with the log.
    fn settle(&self, writer: &SessionWriter, steps: std::ops::Range<u32>) -> Result<(), LabError> {
        let turn = self.turn.number;
        copy::share_points(
            &self.parent,
            writer,
            At::after(turn, steps.start),
            Some(At::after(turn, steps.end)),
        )?;
        copy::transcripts(&self.parent, &self.source, &self.turn, self.at)?;
        let doc = memory_before(&self.source.store, &self.source.session, None)?;
        let mut text = Vec::new();
        doc.write(&mut text).map_err(crate::engine::ProjectError::from)?;
        let swept = Swept {
            state: Some(Digest::of(&text)),
            ..Swept::default()
        };
        let id = format!("branched.{}", self.at);
        writer.append(vec![NewEvent::of_session(&id, now(), swept.into())])?;
        let path = self.source.dir.join("state.json");
        Ok(atomic::write(&path, &text)?)
    }

    /// Where the namespace comes from for code that reads `tail`.
    pub fn namespace(&self, tail: &[&str]) -> NamespaceFrom {
        if self.at == 0 {
            return NamespaceFrom::Saved;
        }
        let at = At::after(self.turn.number, self.at - 1);
        let Ok(Some(saved)) = self.parent.store.flow.namespace(&self.parent.session, at) else {
            return NamespaceFrom::Tape;
        };
        let lost: Vec<_> = saved
            .bindings
            .iter()
            .filter(|binding| binding.kind == BindingKind::Dropped)
            .collect();
        if lost.is_empty() {
            return NamespaceFrom::Saved;
        }
        let read = names_read(&tail.join("\n"), &self.functions());
        match lost.iter().any(|binding| read.contains(&binding.name)) {
            true => NamespaceFrom::Tape,
            false => NamespaceFrom::Saved,
        }
    }

    /// Functions and classes that are there before the tail, with their sources.
    fn functions(&self) -> Vec<(String, String)> {
        let step = self.turn.steps.get(self.at as usize);
        let before = step.and_then(|step| step.call_seq);
        let memory = memory_before(&self.parent.store, &self.parent.session, before);
        memory.map(|doc| restore_set(doc).functions).unwrap_or_default()
    }

    /// What has to run again before the tail.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn rerun(&self, tail: &[&str]) -> Result<Option<Rerun>, LabError> {
        if self.namespace(tail) == NamespaceFrom::Saved {
            return Ok(None);
        }
        let before = memory_before(&self.parent.store, &self.parent.session, Some(self.turn.start_seq))?;
        let steps = self.turn.steps.iter().zip(0..self.at);
        let steps = steps.map(|(step, number)| RerunStep {
            step: number,
            code: step.code.clone().unwrap_or_default(),
            cells: step.cells.clone(),
            questions: step.questions(),
            readings: step.clock.clone(),
            failed: None,
        });
        Ok(Some(Rerun {
            restore: restore_set(before),
            steps: steps.collect(),
        }))
    }
}
