//! The conversation as the root's model saw it.

use crate::lab::reading::Reading;
use crate::lab::{RecordedTurn, Recording};
use crate::store::payload::{Message, Outcome};
use crate::store::{Fact, Kind, Select, Store, StoreError};

/// [`history`] of a session's log, of which nothing else is read.
///
/// # Errors
///
/// Those of the store.
pub fn read_history(store: &Store, session: &str) -> Result<Vec<Message>, StoreError> {
    let mut recording = Reading::TALK.read(store, session)?;
    let last = recording.turns.len().saturating_sub(1);
    for (at, turn) in recording.turns.iter_mut().enumerate() {
        if closing(turn, at == last).is_some() {
            bring_last_output(store, session, turn)?;
        }
    }
    Ok(history(&recording))
}

/// Only a turn without FINAL is closed by what its last step printed. That stands behind the step's reply: looking for
/// it there spares all the rows of a long turn.
fn bring_last_output(store: &Store, session: &str, turn: &mut RecordedTurn) -> Result<(), StoreError> {
    let (number, from) = (turn.number, turn.start_seq);
    let Some((last, step)) = turn.steps.iter_mut().enumerate().last() else {
        return Ok(());
    };
    let select = Select::all()
        .only(&[Kind::StepEnded])
        .starting(step.call_seq.unwrap_or(from));
    store.events.scan(session, &select, &mut |row| {
        let is_last = row.turn == Some(number) && row.step.is_some_and(|step| step as usize == last);
        if let (true, Some(Fact::StepEnded(ended))) = (is_last, row.fact()) {
            step.ended = Some(ended);
        }
        !is_last && row.turn.is_some_and(|turn| turn <= number)
    })
}

/// The root's messages of every turn in order, without system prompts. Roles alternate: a turn without FINAL is closed
/// by a word of the assistant's about how it ended.
pub fn history(recording: &Recording) -> Vec<Message> {
    let last = recording.turns.len().saturating_sub(1);
    let turns = recording.turns.iter().enumerate();
    turns.flat_map(|(at, turn)| conversation(turn, at == last)).collect()
}

fn conversation(turn: &RecordedTurn, is_last: bool) -> Vec<Message> {
    let mut messages = Vec::new();
    for call in turn.steps.iter().filter_map(|step| step.call.as_ref()) {
        messages.extend(call.added.iter().cloned());
        messages.push(message("assistant", &call.reply));
    }
    let Some(closing) = closing(turn, is_last) else {
        return messages;
    };
    match messages.last() {
        None => messages.push(message("user", &turn.query())),
        Some(last) if last.role == "assistant" => messages.push(message("user", &last_output(turn))),
        Some(_) => {}
    }
    messages.push(message("assistant", &closing));
    messages
}

fn last_output(turn: &RecordedTurn) -> String {
    match turn.steps.last().and_then(|step| step.ended.as_ref()) {
        Some(ended) => format!("Output:\n{}", ended.output),
        None => "(the step did not end)".into(),
    }
}

/// How a turn without FINAL ended; `None` for one that has it, or that may go on.
fn closing(turn: &RecordedTurn, is_last: bool) -> Option<String> {
    let Some(ended) = &turn.ended else {
        return (!is_last).then(|| "(turn interrupted)".into());
    };
    let word = match ended.outcome {
        Outcome::Ok | Outcome::Suspended => return None,
        Outcome::Cancelled => "cancelled",
        Outcome::Limit => "stopped by a limit",
        Outcome::Halted => "halted",
        Outcome::Interrupted => "interrupted",
        Outcome::Error => "ended in an error",
    };
    Some(format!("(turn {word})"))
}

fn message(role: &str, text: &str) -> Message {
    Message {
        role: role.into(),
        text: text.into(),
    }
}
