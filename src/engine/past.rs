//! What a session remembered at an earlier moment, from its log.

use super::journal::{ProjectError, Projection};
use super::memory::SessionMemory;
use crate::disk::state_doc::StateDoc;
use crate::repl::RestoreSet;
use crate::store::{Select, Store};

/// What state.json held, or would have held, before the event `before` (a `stream_seq`); `None`: what it holds now.
///
/// # Errors
///
/// Those of the store, and what is recorded there but is no state.
pub fn memory_before(store: &Store, session: &str, before: Option<u64>) -> Result<StateDoc, ProjectError> {
    let events = store.events.read_all(session, &Select::all())?.events;
    let mut projection = Projection::new(StateDoc::default(), None);
    let until = before.unwrap_or(u64::MAX);
    for event in events.into_iter().take_while(|event| event.stream_seq < until) {
        projection.apply(event)?;
    }
    projection.into_doc(store, session)
}

/// What a fresh REPL is given back of a memory.
pub fn restore_set(doc: StateDoc) -> RestoreSet {
    SessionMemory::of_doc(doc).restore_set()
}
