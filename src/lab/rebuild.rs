//! A state.json that was removed, from the log: the log forgets nothing.

use super::error::LabError;
use super::replay::Source;
use crate::disk::atomic;
use crate::disk::lock::SessionLock;
use crate::engine::{BeginError, ProjectError, memory_before, now};
use crate::store::payload::{ClearReason, Swept};
use crate::store::{Digest, Fact, Kind, NewEvent, Select, SessionWriter};
use std::time::Duration;

/// Writes state.json as the log has it: where it was removed and the session cleared for that, as before.
///
/// # Errors
///
/// [`LabError::Begin`] while another process writes to the session; those of the store and of files.
pub fn rebuild(source: &Source) -> Result<(), LabError> {
    std::fs::create_dir_all(&source.dir).map_err(|cause| LabError::File {
        path: source.dir.clone(),
        doing: "creating",
        cause,
    })?;
    let _lock = SessionLock::acquire(&source.dir, Duration::ZERO).map_err(BeginError::from)?;
    let doc = memory_before(&source.store, &source.session, cleared(source)?)?;
    let mut text = Vec::new();
    doc.write(&mut text).map_err(ProjectError::from)?;
    let writer = SessionWriter::take_over(&source.store, &source.session)?;
    let swept = Swept {
        state: Some(Digest::of(&text)),
        ..Swept::default()
    };
    let id = format!("rebuilt.{}", writer.row()?.events);
    writer.append(vec![NewEvent::of_session(&id, now(), swept.into())])?;
    Ok(atomic::write(&source.dir.join("state.json"), &text)?)
}

/// Where the session was cleared because its file was gone, and has not been asked since.
fn cleared(source: &Source) -> Result<Option<u64>, LabError> {
    let kinds = [Kind::Cleared, Kind::TurnStarted];
    let events = source
        .store
        .events
        .read_all(&source.session, &Select::all().only(&kinds))?
        .events;
    let last = events.last();
    Ok(last.and_then(|event| match &event.fact {
        Fact::Cleared(cleared) if cleared.reason == ClearReason::FileMissing => Some(event.stream_seq),
        _ => None,
    }))
}
